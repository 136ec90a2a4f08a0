# SPDX-License-Identifier: Apache-2.0
"""500 random small convolutions: the kernel gives on an emulated board of each chip, and compiled for
the host, what NumPy gives."""

from __future__ import annotations

import random
import zlib
from dataclasses import replace

import pytest

from harness.boards import Board, BoardEntry
from harness.build import RunnerImage
from harness.case import Case, build_pack, make_case
from harness.errors import ConfigError
from harness.geometry import ConvGeometry, Execution, Pad
from harness.network import Layer
from harness.plan import Mode, Strategy, plan_layer
from harness.schema.constants import FrameType, Rounding, TapOrder
from harness.schema.records import RunResult
from tests.firmware.support import HostRunner, compile_host

COUNT = 250
A_PACK = 125


def random_layer(rng: random.Random, number: int) -> Layer:
    """Asymmetric padding, stride 1 to 3, dilation 1 to 2, odd channel counts."""
    while True:
        try:
            geometry = ConvGeometry(
                rng.randint(1, 8),
                rng.randint(1, 8),
                rng.choice((1, 2, 3, 5, 7, 9, 11)),
                rng.choice((1, 2, 3, 5, 7, 9)),
                rng.randint(1, 4),
                rng.randint(1, 4),
                rng.randint(1, 3),
                rng.randint(1, 3),
                rng.randint(1, 2),
                rng.randint(1, 2),
                Pad(*(rng.randint(0, 3) for _ in range(4))),
            )
            return Layer(f"random-{number}", geometry)
        except ConfigError:
            continue


def random_cases() -> list[Case]:
    rng = random.Random(20260101)
    cases = []
    for number in range(COUNT):
        order = rng.choice(list(TapOrder))
        plan = plan_layer(random_layer(rng, number), Strategy.RIP, Mode(Execution(tap_order=order)))
        cases.append(make_case(plan))
    return cases


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> HostRunner:
    """The same runner and kernels, compiled for this machine."""
    library = tmp_path_factory.mktemp("host") / "runner.so"
    compile_host("cc", library, ["-O2", "-shared", "-fPIC"], [])
    return HostRunner(library)


def _on_host(host: HostRunner, index: int) -> RunResult:
    (frame,) = (f for f in host.run(index, seed=index) if f.type == FrameType.RESULT)
    return RunResult.unpack(frame.payload)


@pytest.mark.parametrize("part", range(COUNT // A_PACK))
def test_random_geometries(
    part: int, entry: BoardEntry, image: RunnerImage, host: HostRunner
) -> None:
    pack = build_pack(random_cases()[part * A_PACK : (part + 1) * A_PACK])
    host.flash(pack.data)
    host.hello()
    with Board(entry) as board:
        board.start(image, pack)
        for index, case in enumerate(pack.cases):
            (result,) = board.run(index, seed=index).results
            expected = zlib.crc32(case.expected(index).tobytes())
            assert result.output_crc == expected, f"{case.id}: {case.plan.layer.geometry}"
            assert _on_host(host, index).output_crc == expected, case.id
            assert result.outside_count == 0, case.id


def test_single_rounding(image: RunnerImage, entry: BoardEntry) -> None:
    """The kernel's other rounding, on geometries whose outputs the two roundings tell apart."""
    cases = [
        Case(f"{case.id}-single", case.plan, replace(case.parameters, rounding=Rounding.SINGLE))
        for case in random_cases()[:80]
    ]
    pack = build_pack(cases)
    with Board(entry) as board:
        board.start(image, pack)
        for index, case in enumerate(pack.cases):
            (result,) = board.run(index, seed=index).results
            assert result.output_crc == zlib.crc32(case.expected(index).tobytes()), case.id
    double = random_cases()[:80]
    apart = sum(
        int((case.expected(n) != other.expected(n)).sum())
        for n, (case, other) in enumerate(zip(cases, double, strict=True))
    )
    assert apart > 0
