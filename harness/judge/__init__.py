# SPDX-License-Identifier: Apache-2.0
"""Measurements to verdicts. Pure: nothing here talks to a board or reads a file."""

from harness.judge.judge import judge
from harness.judge.kernel import KernelVerdict, judge_kernel
from harness.judge.network import judge_network

__all__ = ["KernelVerdict", "judge", "judge_kernel", "judge_network"]
