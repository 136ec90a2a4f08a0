# SPDX-License-Identifier: Apache-2.0
"""What a witness is told, and how what it saw is put into the words of painting."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from harness.build import RunnerImage
from harness.emulator.witness import Access, Extent, Window, Zone
from harness.errors import ProtocolError
from harness.geometry import ConvGeometry, Pad
from harness.measure.observer import Observer
from harness.network import Layer
from harness.plan import Strategy, plan_layer
from harness.results import Collision, Touched

POOL, POOL_BYTES = 0x2000_2000, 0x1_0000
ARENA = POOL + 1024
SYMBOLS = {
    "port_window_begin": 0x2000_0101,
    "port_window_end": 0x2000_0201,
    "__pool_start": POOL,
    "__pool_end": POOL + POOL_BYTES,
    "__stack_bottom": 0x2004_1000,
    "__stack_top": 0x2004_2000,
}
IMAGE = RunnerImage(
    elf=Path("x.elf"),
    flash=b"",
    symbols=SYMBOLS,
    functions=((0x2000_0300, "writer"), (0x2000_0400, "reader")),
    function_ends=(0x2000_0400, 0x2000_0500),
)
# rip at distance 48: input [48, 503), output [0, 210), scratch of 117 bytes
PLAN = plan_layer(
    Layer("odd", ConvGeometry(5, 7, 13, 6, 3, 3, pad=Pad.same(1, 1))),
    Strategy.RIP,
)
SCRATCH = POOL + 1592  # 1024 + 503 + 64, on the next 8 bytes
NOTHING = Extent(0, 0, 0)
UNTOUCHED = Zone(NOTHING, NOTHING, NOTHING, None, None, 0)


def _zone(first: int, end: int) -> Zone:
    extent = Extent(end - first, first, end)
    return Zone(extent, extent, NOTHING, Access(first, 0x2000_0302, 9, 0), None, 0)


def _window(overwritten: Access | None = None, **zones: Zone) -> Window:
    names = ("arena", "scratch", "outside", "stack", "elsewhere")
    return Window(
        opened=1,
        closed=2,
        zones={name: zones.get(name, UNTOUCHED) for name in names},
        collisions=1 if overwritten else 0,
        overwritten=overwritten,
        last_read=Access(overwritten.address, 0x2000_0406, 8, 13) if overwritten else None,
        lowest_sp=0x2004_1F00,
    )


@dataclass
class _Told:
    """A witness that remembers what it was told and says what it is given."""

    says: tuple[Window, ...] = ()
    told: dict[str, Any] = field(default_factory=dict)

    def watch(self, **words: Any) -> None:
        self.told = words

    def windows(self) -> tuple[Window, ...]:
        return self.says

    def stop(self) -> None:
        self.told = {}


def _observe(*windows: Window) -> tuple[_Told, Observer]:
    witness = _Told(windows)
    observer = Observer(witness, IMAGE)
    observer.watch(PLAN)
    return witness, observer


def test_what_it_is_told() -> None:
    told = _observe()[0].told
    assert (told["begin"], told["end"]) == (0x2000_0101, 0x2000_0201)
    assert told["areas"] == {
        "arena": [(ARENA, 503)],
        "scratch": [(SCRATCH, 117)],
        "outside": [
            (POOL, 1024),
            (ARENA + 503, 65),
            (SCRATCH + 117, POOL_BYTES - 1592 - 117),
        ],
        "stack": [(0x2004_1000, 4096)],
    }
    assert told["inputs"] == [(ARENA + 48, 455)]
    assert told["outputs"] == [(ARENA, 210)]


def test_waters_are_those_of_painting() -> None:
    window = _window(arena=_zone(ARENA, ARENA + 210), scratch=_zone(SCRATCH, SCRATCH + 117))
    (seen,) = _observe(window)[1].witnessed(1)
    assert seen.visible == seen.written == Touched(0, 503, 0, 0, 117)
    assert (seen.outside_store, seen.collision, seen.stack_depth) == ("", None, 0)


def test_nothing_but_the_input() -> None:
    (seen,) = _observe(_window())[1].witnessed(1)
    assert seen.visible == Touched(48, 503, 0, 0, 0)


def test_outside_and_the_stack() -> None:
    outside, stack = _zone(ARENA + 503, ARENA + 505), _zone(0x2004_1E00, 0x2004_2000)
    (seen,) = _observe(_window(outside=outside, stack=stack))[1].witnessed(1)
    assert seen.written == Touched(48, 505, 2, 503, 0)
    assert seen.outside_store.startswith("503 from the arena's base (0x200025f7), by writer+0x2")
    assert seen.stack_depth == 0x200


def test_a_collision_in_the_simulators_terms() -> None:
    """Output 6 channels: 12 bytes stored is pixel 2, 13 too; address 50 holds input scalar 2."""
    store = Access(ARENA + 50, 0x2000_0304, 7, 12)
    (seen,) = _observe(_window(overwritten=store))[1].witnessed(1)
    assert seen.collision == Collision(writer=2, address=50, live=2, last_reader=2)
    assert seen.collided_in == "stored by writer+0x4, read by reader+0x6"


def test_a_window_for_each_repeat() -> None:
    with pytest.raises(ProtocolError, match="saw 1 kernels run, the firmware reports 2"):
        _observe(_window())[1].witnessed(2)
