# SPDX-License-Identifier: Apache-2.0
"""Results that last.

A history is an SQLite file; where its name ends in `.jsonl`, one JSON line for each verdict and failure.
Judges and pages read it by `series`, `points`, `all_points`, `runs` and `failures` of an open one:

    with reading(Path("reports/history.sqlite")) as db:
        for key in series(db):
            print(key.case, [point.cycles for point in points(db, key)])
"""

from harness.history.database import reading, writing
from harness.history.jsonl import append
from harness.history.queries import (
    FailureRow,
    RunRow,
    all_points,
    failures,
    points,
    runs,
    series,
)
from harness.history.recorder import Recorder, Taken
from harness.history.rows_of import read, read_failures

__all__ = [
    "FailureRow",
    "Recorder",
    "RunRow",
    "Taken",
    "all_points",
    "append",
    "failures",
    "points",
    "read",
    "read_failures",
    "reading",
    "runs",
    "series",
    "writing",
]
