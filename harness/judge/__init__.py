# SPDX-License-Identifier: Apache-2.0
"""Measurements to verdicts. Pure: nothing here talks to a board or reads a file."""

from harness.judge.ab import ABVerdict, judge_ab
from harness.judge.judge import judge
from harness.judge.kernel import KernelVerdict, judge_kernel
from harness.judge.network import judge_network
from harness.judge.run import RunVerdict, judge_run
from harness.judge.trend import (
    State,
    TrendVerdict,
    change_points,
    judge_trend,
    vanished,
    with_confirmation,
)

__all__ = [
    "ABVerdict",
    "KernelVerdict",
    "RunVerdict",
    "State",
    "TrendVerdict",
    "change_points",
    "judge",
    "judge_ab",
    "judge_kernel",
    "judge_network",
    "judge_run",
    "judge_trend",
    "vanished",
    "with_confirmation",
]
