# SPDX-License-Identifier: Apache-2.0
"""The history that `ripbench trend` shows: JSON lines of verdicts."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.errors import ConfigError
from harness.history import read
from harness.report.site import Change, History
from harness.results import Point, SeriesKey

HISTORY = Path("reports/history.jsonl")


class Lines:
    """Verdicts of a file. A line says neither commit nor kernel set nor flash."""

    def __init__(self, path: Path) -> None:
        self._kept: dict[SeriesKey, list[Point]] = {}
        for number, row in enumerate(read(path), 1):
            try:
                key, point = _key(row), _point(row, number)
            except (KeyError, TypeError) as error:
                raise ConfigError(f"row {number} of {path} is no verdict") from error
            self._kept.setdefault(key, []).append(point)

    def series(self) -> Sequence[SeriesKey]:
        return list(self._kept)

    def points(self, key: SeriesKey) -> Sequence[Point]:
        return self._kept[key]


@contextlib.contextmanager
def opened(path: Path) -> Iterator[History]:
    """Errors: ConfigError for a file that cannot be read or is no history."""
    yield Lines(path)


def changes(key: SeriesKey, points: Sequence[Point]) -> Sequence[Change]:
    """None: nobody looks for them yet."""
    del key, points
    return ()


def _text(row: Mapping[str, Any], name: str) -> str:
    value = row[name]
    if not isinstance(value, str):
        raise TypeError(name)
    return value


def _count(row: Mapping[str, Any], name: str) -> int:
    value = row[name]
    if not isinstance(value, int):
        raise TypeError(name)
    return value


def _key(row: Mapping[str, Any]) -> SeriesKey:
    p = row["provenance"]
    return SeriesKey(
        board=_text(p, "board"),
        kind=_text(p, "kind"),
        chip=_text(p, "chip"),
        clock_hz=_count(p, "clk_sys_hz"),
        toolchain=_text(p, "compiler"),
        kernels="kernels not said",
        case=_text(row, "layer"),
        plan=_text(row, "plan"),
    )


def _point(row: Mapping[str, Any], number: int) -> Point:
    cycles = _count(row, "cycles")
    return Point(
        run=number,
        time=_text(row, "time"),
        commit="",
        dirty=False,
        build=_text(row["provenance"], "elf_hash"),
        ok=bool(row["ok"]),
        cycles=cycles,
        samples=(cycles,),
        cold_cycles=_count(row, "cold_cycles"),
        arena_bytes=_count(row, "workspace_given"),
        scratch_bytes=_count(row, "scratch_bytes"),
        stack_peak=_count(row, "stack_peak"),
        flash_bytes=0,
        xip_misses=_count(row, "xip_misses"),
    )
