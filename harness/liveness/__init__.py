# SPDX-License-Identifier: Apache-2.0
"""The corruption simulator: it replays reads and writes, and knows no formula.

`literal` replays every read and write of every scalar and is meant to be obviously right; `fast`
keeps one number per input scalar and is what the bench uses. Neither imports anything of the bounds.
"""

from harness.liveness.fast import debt, first_collision

__all__ = ["debt", "first_collision"]
