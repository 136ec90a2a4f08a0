# SPDX-License-Identifier: Apache-2.0
"""The arena as the checker sees it: which byte of which tensor lies where."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass


@dataclass(frozen=True)
class Tag:
    """Bytes of a tensor: the one at address a is its scalar a - base."""

    tensor: int
    base: int


class Tags:
    """Every byte's tag, kept as runs of bytes with the same one; nothing is there at first."""

    def __init__(self) -> None:
        self._starts = [0]  # of runs, ascending; the last run has no end
        self._tags: list[Tag | None] = [None]

    def write(self, start: int, end: int, tag: Tag) -> None:
        """Bytes start to end - 1 now hold what the tag says."""
        first = bisect_left(self._starts, start)
        last = bisect_right(self._starts, end) - 1  # the run in which `end` lies
        behind = self._tags[last]
        starts, tags = [start], [tag]
        after = bisect_left(self._starts, end)
        if after == len(self._starts) or self._starts[after] != end:
            starts.append(end)
            self._starts[first:after] = starts
            self._tags[first:after] = [*tags, behind]
        else:
            self._starts[first:after] = starts
            self._tags[first:after] = tags

    def find_other(self, start: int, end: int, tag: Tag) -> tuple[int, Tag | None] | None:
        """The first of bytes start to end - 1 with another tag, and that one."""
        run = bisect_right(self._starts, start) - 1
        while run < len(self._starts) and self._starts[run] < end:
            if self._tags[run] != tag:
                return max(start, self._starts[run]), self._tags[run]
            run += 1
        return None
