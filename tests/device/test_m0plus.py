# SPDX-License-Identifier: Apache-2.0
"""The kernels of the set m0plus on an emulated RP2040: what the host reference gives, on geometries and
weights of every kind, in place at the exact gap of their own steps, with nothing else touched."""

from __future__ import annotations

import itertools
import re
import shutil
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from harness import resources
from harness.boards import Board
from harness.build import RunnerImage, build_runner
from harness.case import Case, build_pack, make_case
from harness.errors import ConfigError
from harness.geometry import ConvGeometry, ElementwiseGeometry, Execution, Pad
from harness.kernels import KernelTraits, find_kernels
from harness.kernels.cost import Limits
from harness.network import Layer
from harness.plan import Mode, Plan, Strategy, plan_at_distance, plan_layer, proof_distances
from harness.reference import AddParameters, ConvParameters
from harness.reference.conv import finish
from harness.reference.fields import Field
from harness.schema.constants import Layout, OpKind, Traversal
from harness.schema.records import OpResult
from tests.device.bulk import problem, run_all
from tests.device.support import MISS_CYCLES, new_entry

CHANNEL = Execution(traversal=Traversal.CHANNEL)
M0PLUS = KernelTraits("m0plus", "rp2040")
SHIPPED = resources.firmware() / "kernels" / "m0plus"
MOST_STEP = 196  # pixels: more than any output here has
RANDOM = 5000  # random ops of a kind, in `make test-all`; SOME in `make test`
SOME = 150
_SHARE = [pytest.param(SOME, id="some"), pytest.param(RANDOM, id="all", marks=pytest.mark.extra)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return _any_step(tmp_path_factory.mktemp("steps"))


@pytest.fixture(scope="module")
def image(folder: str) -> RunnerImage:
    return build_runner("rp2040", kernels=find_kernels(folder).all())


def _any_step(to: Path) -> str:
    """The set's own files, but that its convolution may be given steps of 1 to MOST_STEP pixels: the
    largest that the limit of the scratch allows. A pixel more asks for a byte more."""
    folder = to / "any_step"
    shutil.copytree(SHIPPED, folder)
    declared = (SHIPPED / "kernels.yaml").read_text()
    sizes = "".join(f"      - min({n}, h_out * w_out)\n" for n in range(1, MOST_STEP + 1))
    changes = (
        (r"accepts: \[h_out \* w_out >= 3\]", "accepts: [h_out >= 1]"),
        (r"(?s)    # columns of.*?(?=    over_rows)", f"    pixels:\n{sizes}"),
        (r"(scratch: 8 \* .*)", r"\1 + b"),
        (r"(?s)cycles: >-.*?(?=    sources)", f"cycles: {MOST_STEP} - b\n"),
    )
    for old, new in changes:
        declared, count = re.subn(old, new, declared, count=1)
        assert count == 1, old
    (folder / "kernels.yaml").write_text(declared)
    return str(folder)


def _scratch(g: ConvGeometry, step: int) -> int:
    """Of a convolution: columns of the step's quads and a channel's stream, words; a run of padding."""
    return 8 * g.field * (-(-step // 4) + 1) + 4 + g.k_w * g.c_in


def _kernels(folder: str, g: ConvGeometry, step: int) -> KernelTraits:
    """That give it steps of so many pixels."""
    return KernelTraits(folder, "rp2040", Limits(scratch_bytes=_scratch(g, step) + step))


def _plan(folder: str, layer: Layer, step: int, mode: Mode | None = None) -> Plan:
    """Of a convolution in such steps, which it gets."""
    kernels = _kernels(folder, layer.window, step)
    plan = plan_layer(layer, Strategy.RIP, Mode() if mode is None else mode, kernels)
    assert (plan.choice.kernel.name, plan.choice.step.pixels) == ("m0plus_conv", step)
    return plan


def _wrong(image: RunnerImage, cases: Sequence[Case]) -> list[str]:
    """All of them by kernels of the set."""
    assert all(case.plan.choice.kernel.set != "plain" for case in cases)
    with Board(new_entry()) as board:
        return [
            said
            for case, seed, result in run_all(board, image, cases, range(len(cases)))
            if (said := problem(case, seed, result, zlib.crc32(case.expected(seed).tobytes())))
        ]


# ---- geometries ----


def _conv(rng: np.random.Generator) -> ConvGeometry:
    """Small, of every kind: sizes, strides, dilations, padding up to beyond the kernel."""
    while True:
        k = rng.integers(1, 5, 2) if rng.random() < 0.6 else (1, 1)
        try:
            return ConvGeometry(
                *map(int, rng.integers(1, 11, 2)),
                *map(int, rng.integers(1, 24, 2)),
                *map(int, k),
                *map(int, rng.integers(1, 4, 2)),
                *map(int, rng.integers(1, 3, 2)),
                pad=Pad(*map(int, rng.integers(0, 4, 4))),
            )
        except ConfigError:
            continue


def _depthwise(rng: np.random.Generator) -> ConvGeometry:
    while True:
        k, s = int(rng.choice([3, 5, 7])), int(rng.integers(1, 3))
        c = int(rng.integers(1, 9))
        pad = Pad(*map(int, rng.integers(0, k, 2)), *map(int, rng.integers(0, k + 2, 2)))
        try:
            h, w = map(int, rng.integers(1, 15, 2))
            return ConvGeometry(h, w, c, c, k, k, s, s, pad=pad)
        except ConfigError:
            continue


def _random_conv(count: int, folder: str) -> Iterator[Case]:
    rng = np.random.default_rng(11)
    for number in range(count):
        g = _conv(rng)
        step = int(rng.integers(1, g.pixels_out + 1))
        layout = Layout.PADDED if rng.random() < 0.2 and g.pad != Pad() else Layout.DENSE
        layer = Layer(f"conv-{number}", g)
        yield make_case(_plan(folder, layer, step, Mode(Execution(layout))))


def _channel_case(layer: Layer, kernels: KernelTraits) -> Case:
    """Base on base; with two buffers where the output would overtake its input, which no plan allows."""
    try:
        plan = plan_layer(layer, Strategy.RIP, Mode(CHANNEL), kernels)
    except ConfigError:
        plan = plan_layer(layer, Strategy.DUAL, Mode(CHANNEL), kernels)
    return make_case(plan)


def _random_depthwise(count: int, folder: str) -> Iterator[Case]:
    rng = np.random.default_rng(12)
    for number in range(count):
        layer = Layer(f"depthwise-{number}", _depthwise(rng), OpKind.DEPTHWISE)
        yield _channel_case(layer, KernelTraits(folder, "rp2040"))


def _random_add(count: int, folder: str) -> Iterator[Case]:
    """In place on either operand, and with two buffers."""
    rng = np.random.default_rng(13)
    for number in range(count):
        h, w, c = map(int, rng.integers(1, 12, 3))
        layer = Layer(f"add-{number}", ElementwiseGeometry(h, w, c, 2), OpKind.ADD)
        strategy = Strategy.DUAL if number % 3 == 2 else Strategy.RIP
        plan = plan_layer(layer, strategy, Mode(onto=number % 2), KernelTraits(folder, "rp2040"))
        yield make_case(plan, _any_add(rng, make_case(plan).parameters))


def _any_add(rng: np.random.Generator, p: object) -> AddParameters:
    """As drawn, or with a multiplier or a shift for which nothing can be proved."""
    assert isinstance(p, AddParameters)
    kind = rng.integers(0, 4)
    if kind == 0:
        return replace(p, output_shift=int(rng.integers(-20, 8)))
    if kind == 1:
        return replace(p, multiplier_2=-p.multiplier_2, zero_point_1=-128)
    return p


MAKERS = {"conv": _random_conv, "depthwise": _random_depthwise, "add": _random_add}


@pytest.mark.parametrize("count", _SHARE)
@pytest.mark.parametrize("operator", MAKERS)
def test_random_ops(operator: str, count: int, image: RunnerImage, folder: str) -> None:
    cases = list(MAKERS[operator](count, folder))
    wrong = _wrong(image, cases)
    assert not wrong, f"{len(wrong)} of {len(cases)}: {wrong[0]}"


def test_every_width_and_step(image: RunnerImage, folder: str) -> None:
    """Of a pointwise convolution and of one with padding: all tails of a row and of a step."""
    cases = []
    for k, width in itertools.product((1, 3), range(1, 8)):
        g = ConvGeometry(2, width, 5, 3, k, k, pad=Pad.same(k // 2, k // 2))
        for step in range(1, g.pixels_out + 1):
            cases.append(make_case(_plan(folder, Layer(f"k{k}-{width}-{step}", g), step)))
    wrong = _wrong(image, cases)
    assert not wrong, wrong[0]


def test_every_number_of_taps(image: RunnerImage, folder: str) -> None:
    """Gathering goes by fours, groups by twos."""
    cases = [
        make_case(_plan(folder, Layer(f"{c_in}-{c_out}", ConvGeometry(3, 3, c_in, c_out)), 5))
        for c_in, c_out in itertools.product(range(1, 36), (1, 2, 5))
    ]
    wrong = _wrong(image, cases)
    assert not wrong, wrong[0]


@pytest.mark.parametrize("k", [3, 5, 7])
def test_every_depthwise_width_stride_and_padding(k: int) -> None:
    """By the set as it is shipped."""
    cases = []
    for s, pad, width in itertools.product((1, 2), range(k), range(1, 14)):
        if width + 2 * pad < k:
            continue
        g = ConvGeometry(width, width, 2, 2, k, k, s, s, pad=Pad.same(pad, pad))
        layer = Layer(f"k{k}s{s}p{pad}w{width}", g, OpKind.DEPTHWISE)
        cases.append(_channel_case(layer, M0PLUS))
    assert {case.plan.choice.kernel.name for case in cases} == {f"m0plus_depthwise_k{k}"}
    wrong = _wrong(build_runner("rp2040", kernels=M0PLUS.kernels.all()), cases)
    assert not wrong, wrong[0]


# ---- weights and scales ----

_BIASES = (2**31 - 1, -(2**31), 0, 2**30, -12345)
_SHIFTS = (-31, -20, -9, -7, -5, -4, -1, 0, 1, 6, 30)


def _hostile(rng: np.random.Generator, p: object) -> ConvParameters:
    """Whole channels of one value, spikes and dead channels; any multiplier, shift, bias and clamp."""
    assert isinstance(p, ConvParameters)
    weights = p.weights.copy()
    depthwise = weights.ndim == 3
    rows = np.moveaxis(weights, -1, 0) if depthwise else weights
    for row in rows:
        kind = rng.integers(0, 7)
        if kind < 4:
            row[...] = (127, -127, -128, 0)[kind]
        elif kind == 4:
            row[...] = 0
            row[tuple(int(rng.integers(0, n)) for n in row.shape)] = rng.choice([-128, 127])
        elif kind == 5:
            row[...] = rng.choice([-128, 127], row.shape)
    count = len(rows)
    low, high = sorted(map(int, rng.integers(-128, 128, 2)))
    bias = np.where(rng.random(count) < 0.5, rng.choice(_BIASES, count), p.bias)
    multiplier = rng.integers(-(2**31) + 1, 2**31, count)
    usual = rng.random(count) < 0.5
    return replace(
        p,
        weights=weights,
        bias=bias.astype(np.int32),
        multiplier=np.where(usual, p.multiplier, multiplier).astype(np.int32),
        shift=np.where(usual, p.shift, rng.choice(_SHIFTS, count)).astype(np.int32),
        input_zero_point=int(rng.choice([-128, 127, 0, p.input_zero_point])),
        output_zero_point=int(rng.choice([-128, 127, 0, p.output_zero_point])),
        activation_min=low,
        activation_max=high,
    )


@pytest.mark.parametrize("count", _SHARE)
@pytest.mark.parametrize("operator", ["conv", "depthwise"])
def test_hostile_weights(operator: str, count: int, image: RunnerImage, folder: str) -> None:
    rng = np.random.default_rng(14)
    made = MAKERS[operator](count, folder)
    cases = [replace(case, parameters=_hostile(rng, case.parameters)) for case in made]
    wrong = _wrong(image, cases)
    assert not wrong, f"{len(wrong)} of {len(cases)}: {wrong[0]}"


# ---- in place ----


def _in_steps(case: Case, seed: int, step: int) -> bytes:
    """The output where input and output share one memory and each step reads all of its fields before
    it writes, by the definition."""
    g, p = case.plan.layer.window, case.parameters
    assert isinstance(p, ConvParameters)
    memory = np.zeros(case.arena_bytes, np.int8)
    start, to = case.plan.inputs[0].offset, case.plan.output.offset
    memory[start : start + g.n_in] = case.inputs(seed)[0].ravel()
    matrix = p.weights.reshape(g.c_out, -1).T.astype(np.int64)
    for first in range(0, g.pixels_out, step):
        pixels = np.arange(first, min(first + step, g.pixels_out))
        where = Field(g, Execution()).scalars(pixels)
        taps = memory[start + where].astype(np.int64) - p.input_zero_point
        made = finish(p, np.where(where < 0, 0, taps) @ matrix)
        at = to + first * g.c_out
        memory[at : at + made.size] = made.ravel()
    return memory[to : to + g.n_out].tobytes()


def _below_the_debt(count: int, folder: str) -> Iterator[tuple[Case, Case]]:
    """Random convolutions at their debt, and 4 bytes below it, where that must show."""
    rng = np.random.default_rng(15)
    while count:
        g = _conv(rng)
        step = int(rng.integers(1, g.pixels_out + 1))
        layer = Layer(f"steps-{count}", g)
        plan = _plan(folder, layer, step)
        if plan.bound.debt is None or proof_distances(plan) is None:
            continue
        distance = -(-plan.bound.debt // 4) * 4
        at, below = (
            make_case(plan_at_distance(layer, d, Mode(), plan.kernel, plan.bound))
            for d in (distance, distance - 4)
        )
        if _in_steps(below, 0, step) != below.expected(0).tobytes():
            assert _in_steps(at, 0, step) == at.expected(0).tobytes()
            yield at, below
            count -= 1


def test_both_sides_of_the_debt(image: RunnerImage, folder: str) -> None:
    """Right at the debt of its own steps; below it, the very bytes that the definition gives."""
    cases = [case for pair in _below_the_debt(60, folder) for case in pair]
    with Board(new_entry()) as board:
        for case, seed, result in run_all(board, image, cases, [0] * len(cases)):
            step = case.plan.choice.step.pixels
            assert not problem(case, seed, result, zlib.crc32(_in_steps(case, seed, step)))


# ---- placement ----


def _core_cycles(op: OpResult) -> int:
    return op.cycles - MISS_CYCLES["rp2040"] * (op.xip_accesses - op.xip_hits)


@pytest.mark.parametrize("before", [6, *(pytest.param(n, marks=pytest.mark.extra) for n in (2, 4))])
def test_where_the_code_lies_changes_nothing(before: int, tmp_path: Path) -> None:
    """Code of so many bytes, which is no whole number of words, before each kernel's C functions."""
    moved = tmp_path / "moved"
    shutil.copytree(SHIPPED, moved)
    space = (
        '\n#ifdef __arm__\nRAM_CODE("before")\nstatic void before_them(void)\n{\n'
        f'    __asm volatile(".space {before}");\n}}\n'
        "void (*const volatile m0plus_keep_FILE)(void) = before_them;\n#endif\n"
    )
    for name in ("conv", "depthwise", "add", "exact"):
        path = moved / f"{name}.c"
        text = path.read_text()
        include = '#include "port/placement.h"\n'
        at = text.index("#include")
        path.write_text(text[:at] + include + space.replace("FILE", name) + text[at:])
    layers = [
        Layer("pointwise", ConvGeometry(4, 5, 13, 7)),
        Layer("window", ConvGeometry(5, 7, 3, 4, 3, 3, pad=Pad.same(1, 1))),
        Layer("depthwise", ConvGeometry(6, 7, 3, 3, 5, 5, pad=Pad.same(2, 2)), OpKind.DEPTHWISE),
        Layer("add", ElementwiseGeometry(3, 5, 7, 2), OpKind.ADD),
    ]
    found = []
    for name in ("m0plus", str(moved)):
        kernels = KernelTraits(name, "rp2040")
        built = build_runner("rp2040", kernels=kernels.kernels.all())
        cases = [make_case(plan_layer(layer, Strategy.RIP, kernel=kernels)) for layer in layers]
        with Board(new_entry()) as board:
            pack = build_pack(cases)
            board.start(built, pack)
            runs = [board.run(index, seed=1) for index in range(len(cases))]
            # not the misses: the kernels' constants in flash may lie across a line more
            found.append([(r.results[0].output_crc, *map(_core_cycles, r.ops[0])) for r in runs])
    assert found[0] == found[1]
