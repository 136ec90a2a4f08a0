# SPDX-License-Identifier: Apache-2.0
"""The corruption simulator: it replays reads and writes, and knows no formula.

`schedule` says of an op what its kernel reads and writes, and when; `debt`, `collides` and
`first_collision` ask about it, at the speed of a real layer. `literal` replays every read and write of
every scalar by its own code and is meant to be obviously right. None imports anything of the bounds.
"""

from harness.liveness.operators import Release, schedule
from harness.liveness.schedule import Schedule, collides, debt, first_collision
from harness.liveness.stepped import stepped_schedule

__all__ = [
    "Release",
    "Schedule",
    "collides",
    "debt",
    "first_collision",
    "schedule",
    "stepped_schedule",
]
