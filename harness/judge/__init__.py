# SPDX-License-Identifier: Apache-2.0
"""Measurements to verdicts. Pure: nothing here talks to a board or reads a file."""

from harness.judge.judge import judge
from harness.judge.network import judge_network

__all__ = ["judge", "judge_network"]
