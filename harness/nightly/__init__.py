# SPDX-License-Identifier: Apache-2.0
"""A night: every suite on every board, kept, judged and summed up; and one that broke off goes on."""

from harness.nightly.judged import Judged, judge_night
from harness.nightly.night import Night, Suite, begin_night, last_night, open_night
from harness.nightly.summary import summary

__all__ = [
    "Judged",
    "Night",
    "Suite",
    "begin_night",
    "judge_night",
    "last_night",
    "open_night",
    "summary",
]
