# SPDX-License-Identifier: Apache-2.0
"""Histories drawn from a seed: nights of a rack, with noise on boards, and levels that change."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from harness.report.site import Change
from harness.results import Point, SeriesKey

FIRST_NIGHT = datetime(2025, 10, 27, 2, 0, tzinfo=UTC)
COMPILER = "arm-none-eabi-gcc (15:12.2.rel1-1) 12.2.1 20221205"
HOSTILE = (
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    "\"'><img src=x onerror=alert(3)>",
    "a\u202egnp.exe\u2066\u2028b\x1b[31m",
    "../../../../etc/passwd",
    "javascript:alert(4)",
    "{{ 7 * 7 }}{% raw %}<!--",
    "x" * 300,
)


@dataclass
class MadeHistory:
    """As harness.report.site.History wants it."""

    kept: Mapping[SeriesKey, Sequence[Point]]
    changed: Mapping[SeriesKey, Sequence[Change]] = field(default_factory=dict)

    def series(self) -> Iterable[SeriesKey]:
        return self.kept

    def points(self, key: SeriesKey) -> Sequence[Point]:
        return self.kept[key]

    def changes(self, key: SeriesKey, points: Sequence[Point]) -> Sequence[Change]:
        del points
        return self.changed.get(key, ())


def key_of(
    case: str = "a-layer", plan: str = "rip", board: str = "pico1-emu", **more: object
) -> SeriesKey:
    kind = "emulated" if board.endswith("-emu") else "board"
    chip = "rp2350" if board.startswith("pico2") else "rp2040"
    values: dict[str, object] = {
        "board": board, "kind": kind, "chip": chip, "clock_hz": 125_000_000, "toolchain": COMPILER,
        "kernels": "plain", "case": case, "plan": plan,
    }  # fmt: skip
    return SeriesKey(**{**values, **more})  # type: ignore[arg-type]


def point_of(night: int = 0, cycles: int = 1000, **more: object) -> Point:
    """Of a night, five samples of the same cycles unless it says so."""
    values: dict[str, object] = {
        "run": night + 1, "time": (FIRST_NIGHT + timedelta(days=night)).isoformat(),
        "commit": f"{night + 1:07x}" * 5 + "00000", "dirty": False, "build": "e1f", "ok": True,
        "cycles": cycles, "samples": (cycles,) * 5, "cold_cycles": cycles + 200, "arena_bytes": 4096,
        "scratch_bytes": 576, "stack_peak": 956, "flash_bytes": 40_960, "xip_misses": 7,
    }  # fmt: skip
    return Point(**{**values, **more})  # type: ignore[arg-type]


def drawn(
    cases: Sequence[str],
    boards: Sequence[str] = ("pico1", "pico1-emu"),
    plans: Sequence[str] = ("dual", "rip"),
    nights: int = 60,
    samples: int = 5,
    seed: int = 1,
) -> MadeHistory:
    """Every fifth series changes its level once, by up to 3 %."""
    draw = random.Random(seed)
    kept: dict[SeriesKey, list[Point]] = {}
    changed: dict[SeriesKey, list[Change]] = {}
    for case in cases:
        for board in boards:
            level = draw.randrange(200_000, 40_000_000)
            for plan in plans:
                key = key_of(case, plan, board)
                at = draw.randrange(nights // 2, nights) if draw.random() < 0.2 else nights
                ratio = 1 + draw.choice((-1, 1)) * draw.uniform(0.004, 0.03)
                near = int(level * draw.uniform(0.98, 1.02))
                kept[key] = _series(draw, key, near, nights, samples, at, ratio)
                if at < nights:
                    changed[key] = [Change(at, ratio, kept[key][at].commit)]
    return MadeHistory(kept, changed)


def _series(
    draw: random.Random,
    key: SeriesKey,
    level: int,
    nights: int,
    samples: int,
    at: int,
    ratio: float,
) -> list[Point]:
    arena, stack = draw.randrange(1000, 200_000), draw.randrange(500, 1500)
    flash = draw.randrange(30_000, 900_000)
    found = []
    for night in range(nights):
        now = level * (ratio if night >= at else 1)
        noise = 0.001 if key.kind == "board" else 0.0
        taken = tuple(sorted(int(now * (1 + draw.gauss(0, noise))) for _ in range(samples)))
        found.append(
            point_of(
                night,
                taken[len(taken) // 2],
                samples=taken,
                arena_bytes=arena,
                stack_peak=stack + (16 if night > nights // 3 else 0),
                flash_bytes=flash + 8 * (night // 9),
            )
        )
    return found
