# SPDX-License-Identifier: Apache-2.0
"""Set m33 on an emulated Pico 2: every output is the host's, in place at the exact gap of its steps.

`make test` takes 300 layers an operator, `make test-all` 5,000."""

from __future__ import annotations

import re
import shutil
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from harness.boards import Board
from harness.build import RunnerImage, build_runner
from harness.case import Case, draw_parameters, make_case
from harness.errors import ConfigError
from harness.geometry import ConvGeometry, ElementwiseGeometry, Pad
from harness.judge import judge
from harness.kernels import KernelTraits, find_kernels
from harness.measure import measure_layer
from harness.network import Layer
from harness.plan import Plan, Strategy, modes, plan_at_distance, plan_layer
from harness.reference import AddParameters, ConvParameters, convolve
from harness.schema.constants import OpKind
from tests.device.bulk import clean_crc, packs, problem
from tests.device.m33_layers import (
    add_layers,
    conv_layers,
    depthwise_layers,
    fully_connected_layers,
    unusual,
)
from tests.device.support import new_entry

OPS: dict[str, Callable[[int], list[Layer]]] = {
    "conv": conv_layers,
    "depthwise": depthwise_layers,
    "add": add_layers,
    "fully_connected": fully_connected_layers,
}
_COUNT = [pytest.param(150, id="150"), pytest.param(5000, id="5000", marks=pytest.mark.extra)]
_FEW = [pytest.param(30, id="30"), pytest.param(2000, id="2000", marks=pytest.mark.extra)]


M33 = KernelTraits("m33", "rp2350")


@dataclass(frozen=True)
class _Tight(KernelTraits):
    """With nothing aligned: the gap is exact, tensors begin at any byte."""

    @property
    def alignment(self) -> int:
        return 1


def _tight(kernel: KernelTraits) -> KernelTraits:
    return _Tight(kernel.name, kernel.chip)


def _image(kernel: KernelTraits, cases: Sequence[Case]) -> RunnerImage:
    """With what these need."""
    chosen = kernel.select(case.plan.choice for case in cases)
    return build_runner("rp2350", kernels=chosen)


@pytest.fixture(scope="module")
def m33() -> RunnerImage:
    return build_runner("rp2350", kernels=M33.kernels.all())


def _changed(
    folder: Path, change: Callable[[str], str], name: str = "kernels.yaml"
) -> KernelTraits:
    """The set from a folder of its own, one file of which is another."""
    shutil.copytree(find_kernels("m33").kernels[-1].folder, folder, dirs_exist_ok=True)
    text = (folder / name).read_text()
    (folder / name).write_text(change(text))
    assert (folder / name).read_text() != text
    return KernelTraits(str(folder), "rp2350")


def _in_steps_of(pixels: str, folder: Path) -> KernelTraits:
    """With this size of a step alone, wherever the set offers several."""
    return _changed(
        folder, lambda text: re.sub(r"pixels:\n( +- .*\n)+", f"pixels: {pixels}\n", text)
    )


def _plan(layer: Layer, kernel: KernelTraits) -> Plan:
    """In place in the layer's usual mode, or else apart."""
    mode = modes(layer)[0]
    try:
        plan = plan_layer(layer, Strategy.RIP, mode, kernel)
    except ConfigError:
        plan = plan_layer(layer, Strategy.DUAL, mode, kernel)
    return plan


def _cases(layers: Sequence[Layer], kernel: KernelTraits) -> list[Case]:
    """Every other one with nothing aligned."""
    tight = _tight(kernel)
    return [
        make_case(_plan(layer, kernel if number % 2 else tight))
        for number, layer in enumerate(layers)
    ]


def _wrong(
    image: RunnerImage, cases: Sequence[Case], expected: Callable[[Case, int], int] = clean_crc
) -> list[str]:
    """Each case once, paints in turn."""
    found, number = [], 0
    with Board(new_entry("rp2350")) as board:
        for pack in packs(cases):
            board.start(image, pack)
            for index, case in enumerate(pack.cases):
                (result,) = board.run(index, seed=number, paint=number % 2).results
                said = problem(case, number, result, expected(case, number))
                if said is not None:
                    found.append(said)
                number += 1
    return found


@pytest.mark.parametrize("count", _COUNT)
@pytest.mark.parametrize("op", OPS)
def test_outputs_are_the_references(op: str, count: int, m33: RunnerImage) -> None:
    cases = _cases(OPS[op](count), M33)
    assert sum(case.plan.choice.kernel.name == f"m33_{op}" for case in cases) > 0.8 * count
    wrong = _wrong(m33, cases)
    assert not wrong, f"{len(wrong)} of {count}: {wrong[0]}"


@pytest.mark.parametrize("count", _FEW)
@pytest.mark.parametrize("op", OPS)
def test_unusual_records(op: str, count: int, m33: RunnerImage) -> None:
    cases = [
        make_case(_plan(layer, M33), unusual(layer, seed))
        for seed, layer in enumerate(OPS[op](count))
    ]
    wrong = _wrong(m33, cases)
    assert not wrong, f"{len(wrong)} of {count}: {wrong[0]}"


@pytest.mark.parametrize("shifts", [(0, 0), (1, 0), (1, 1), (2, 1), (3, 2)])
def test_sums_that_hardly_fit(shifts: tuple[int, int], m33: RunnerImage) -> None:
    """Terms of an addition up to 255 * 2^20 * 2^shift: twice their sum fits 32 bits, or just not."""
    (layer,) = add_layers(1, seed=7)
    layer = replace(layer, geometry=ElementwiseGeometry(8, 8, 9, 2))
    drawn = draw_parameters(layer)
    assert isinstance(drawn, AddParameters)
    most = 2**31 - 1
    large = replace(
        drawn, multiplier_1=most, multiplier_2=most, shift_1=shifts[0], shift_2=shifts[1],
        zero_point_1=-128, zero_point_2=-128, output_multiplier=2**30, output_shift=-22,
        output_zero_point=-100, activation_min=-128, activation_max=127,
    )  # fmt: skip
    assert not _wrong(m33, [make_case(_plan(layer, M33), large)])


@pytest.mark.parametrize("count", _FEW)
@pytest.mark.parametrize("pixels", ["1", "2", "3", "w_out", "h_out * w_out"])
def test_convolution_in_any_steps(pixels: str, count: int, tmp_path: Path) -> None:
    """The gap is that of these steps, by harness.bounds.steps."""
    stepped = _in_steps_of(pixels, tmp_path)
    drawn = _cases(conv_layers(count, seed=2), stepped)
    cases = [case for case in drawn if case.plan.choice.kernel.name == "m33_conv"]
    assert len(cases) > 0.99 * count, "of a few the whole tensor takes more scratch than there is"
    wrong = _wrong(_image(stepped, cases), cases)
    assert not wrong, f"{len(wrong)} of {count}: {wrong[0]}"


@pytest.mark.parametrize("count", _FEW)
@pytest.mark.parametrize("rows", ["1", "min(2, h_out)", "h_out"])
def test_depthwise_in_any_bands(rows: str, count: int, tmp_path: Path) -> None:
    stepped = _in_steps_of(f"{rows} * w_out", tmp_path)
    cases = _cases(depthwise_layers(count, seed=2), stepped)
    wrong = _wrong(_image(stepped, cases), cases)
    assert not wrong, f"{len(wrong)} of {count}: {wrong[0]}"


def _in_steps(case: Case, seed: int, pixels: int) -> bytes:
    """What a gather-first convolution leaves in `pixels` steps: in one memory, fields before writes."""
    plan, p = case.plan, case.parameters
    g = plan.layer.geometry
    assert isinstance(g, ConvGeometry) and isinstance(p, ConvParameters)
    (x,) = case.inputs(seed)
    memory = np.zeros(plan.arena_bytes, np.int8)
    stored = memory[plan.inputs[0].offset :][: x.size]
    made = memory[plan.output.offset :][: g.n_out]
    stored[:] = x.ravel()
    for first in range(0, g.pixels_out, pixels):
        step = slice(first * g.c_out, (first + pixels) * g.c_out)
        made[step] = convolve(g, p, stored.reshape(x.shape)).ravel()[step]
    return made.tobytes()


@pytest.mark.parametrize("count", _FEW)
@pytest.mark.parametrize("pixels", ["1", "3", "w_out"])
def test_one_byte_below_the_debt(pixels: str, count: int, tmp_path: Path) -> None:
    """The very bytes that the declared steps predict, which mostly are not the right ones."""
    tight = _tight(_in_steps_of(pixels, tmp_path))
    cases: list[Case] = []
    for layer in conv_layers(8 * count, seed=3):
        g, mode = layer.window, modes(layer)[0]
        bound = tight.bound(layer.kind, g, mode.execution)
        if bound.debt is not None and bound.debt > max(0, g.n_out - g.n_in):
            cases.append(make_case(plan_at_distance(layer, bound.debt - 1, mode, tight, bound)))

    def predicted(case: Case, seed: int) -> int:
        return zlib.crc32(_in_steps(case, seed, case.plan.choice.step.pixels))

    differ = [predicted(case, seed) != clean_crc(case, seed) for seed, case in enumerate(cases)]
    assert len(cases) >= count // 2 and sum(differ) > 0.8 * len(cases)
    wrong = _wrong(_image(tight, cases), cases, predicted)
    assert not wrong, f"{len(wrong)} of {len(cases)}: {wrong[0]}"


def _odd(kind: OpKind, c_in: int, c_out: int, k: int, h: int = 9, w: int = 7) -> Layer:
    g = ConvGeometry(h, w, c_in, c_out, k, k, pad=Pad.same(k // 2, k // 2))
    return Layer(f"m33-witnessed-{kind.name}-{c_in}-{k}", g, kind)


@pytest.mark.parametrize(
    "layer",
    [
        _odd(OpKind.CONV, 13, 6, 3),
        _odd(OpKind.CONV, 8, 7, 3),
        _odd(OpKind.CONV, 6, 5, 1),
        _odd(OpKind.CONV, 8, 9, 1),
        _odd(OpKind.DEPTHWISE, 6, 6, 3),
        _odd(OpKind.DEPTHWISE, 7, 7, 5),
        _odd(OpKind.DEPTHWISE, 4, 4, 7),
        Layer("m33-witnessed-add", ElementwiseGeometry(5, 5, 7, 2), OpKind.ADD),
    ],
    ids=lambda layer: layer.id,
)
def test_the_witness_agrees(layer: Layer, m33: RunnerImage) -> None:
    """No byte is read that nobody wrote, in the arena or in scratch; no live scalar is overwritten, but
    below the debt."""
    with Board(new_entry("rp2350")) as board:
        runs = measure_layer(
            board, m33, layer, mode=modes(layer)[0], kernel=M33, seeds=(1, 2), repeats=2,
            witness=board.witness,
        )  # fmt: skip
    for plan in (Strategy.DUAL, Strategy.RIP):
        verdict = judge(runs, plan)
        assert verdict is not None and verdict.failures == ()
        assert verdict.kernel == f"m33_{layer.kind.name.lower()}"


@pytest.mark.extra
def test_where_code_lies_changes_nothing(tmp_path: Path) -> None:
    """All three are of a folder, whose kernels have other numbers than the set's."""
    section = '    .section .ram_code.m33_sweep, "ax", %progbits\n'
    places, numbers = [], []
    for shift in (0, 4, 20):
        traits = _moved(tmp_path / str(shift), section, shift)
        cases = [c for op in OPS for c in _cases(OPS[op](12), traits)]
        moved = build_runner("rp2350", kernels=traits.kernels.all())
        with Board(new_entry("rp2350")) as board:
            (pack,) = packs(cases)
            board.start(moved, pack)
            runs = [board.run(index, seed=index, repeats=2) for index in range(len(cases))]
        seen = [(run.results[1].output_crc, run.results[1].cycles) for run in runs]
        assert [crc for crc, _ in seen] == [clean_crc(c, seed) for seed, c in enumerate(cases)]
        places.append(_place(moved, "m33_sweep"))
        numbers.append(seen)
    assert [place - places[0] for place in places] == [0, 4, 20]
    assert numbers[0] == numbers[1] == numbers[2]


def _moved(folder: Path, section: str, shift: int) -> KernelTraits:
    return _changed(
        folder, lambda text: text.replace(section, f"{section}    .space {shift}\n"), "sweep.S"
    )


def _place(image: RunnerImage, function: str) -> int:
    return next(start for start, name in image.functions if name == function)
