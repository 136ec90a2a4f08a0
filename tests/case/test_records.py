# SPDX-License-Identifier: Apache-2.0
"""A pack, taken apart again, says of every operator what its layer, plan and parameters say."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace

import numpy as np
import pytest

from harness.case import Case, build_pack, generate_input, make_case
from harness.errors import ConfigError
from harness.geometry import (
    ConvGeometry,
    ElementwiseGeometry,
    Execution,
    Pad,
    PadGeometry,
    UpsampleGeometry,
)
from harness.geometry.traversal import input_positions, output_positions, stored_by
from harness.network import Layer
from harness.plan import Mode, Place, Strategy, find_mode, modes, plan_layer
from harness.reference import (
    AddParameters,
    ClampParameters,
    ConvParameters,
    MeanParameters,
    MoveParameters,
    MulParameters,
    PoolParameters,
    SoftmaxParameters,
    TableParameters,
)
from harness.schema.constants import Layout, OpKind, Rounding, StoredBy, TapOrder, Traversal
from harness.schema.records import CaseEntry, OpRecord, QuantRecord, TensorRecord
from tests.layers import shipped

ONE_EACH = {
    "conv": "conv-5x6x3-5-k3x3-p0.1.2.3",
    "conv-truncate": "conv-5x6x3-4-k3x3-p1.1.1.1-truncate",
    "conv-strides": "conv-5x6x3-5-k2x3-s3x2-p1.1.1.1",
    "depthwise": "depthwise-5x6x3-9-k3x3-p1.1.1.1",
    "depthwise-dilated": "depthwise-5x6x5-5-k3x3-d1x2-p2.2.2.2",
    "average_pool": "average_pool-5x6x5-5-k3x3-p0.1.2.0",
    "max_pool": "max_pool-5x6x5-5-k3x3-p1.1.1.1-relu",
    "add": "add-4x5x5",
    "mul": "mul-4x5x6-broadcast",
    "mean": "mean-4x5x5",
    "fully_connected": "fully_connected-63-7",
    "upsample": "upsample-3x4x5-f4x2",
    "concat": "concat-3x4-1.2.3.4",
    "logistic": "logistic-4x5x5",
    "clamp": "clamp-4x5x5-relu6",
    "softmax": "softmax-4x5x5",
    "pad": "pad-3x4x5-p2.0.1.3",
}


@dataclass(frozen=True)
class _Unpacked:
    """A case as the firmware finds it: its slices of the pack's sections."""

    entry: CaseEntry
    ops: list[OpRecord]
    tensors: list[TensorRecord]
    quants: list[QuantRecord]
    weights: bytes


def _unpack(case: Case) -> _Unpacked:
    pack = build_pack([case])
    header, (entry,) = pack.header, pack.entries

    def part(section: int, name: str) -> bytes:
        piece = getattr(entry, name)
        data = pack.data[section + piece.offset : section + piece.offset + piece.bytes]
        assert zlib.crc32(data) == piece.crc
        return data

    def records(section: int, name: str, kind: type) -> list:
        data, size = part(section, name), kind.size()
        return [kind.unpack(data[at : at + size]) for at in range(0, len(data), size)]

    return _Unpacked(
        entry,
        records(header.ops_offset, "ops", OpRecord),
        records(header.tensors_offset, "tensors", TensorRecord),
        records(header.quants_offset, "quants", QuantRecord),
        part(header.weights_offset, "weights"),
    )


def _cases(name: str) -> list[Case]:
    """Of one layer, in every mode it can be planned in, and dual."""
    layer = shipped()[ONE_EACH[name]]
    plans = [plan_layer(layer, Strategy.DUAL)]
    if layer.kind is not OpKind.FULLY_CONNECTED:
        plans += [
            plan_layer(layer, Strategy.RIP, replace(mode, copied=copied))
            for mode in modes(layer)
            if mode.execution.traversal is not Traversal.CHANNEL
            for copied in (False, True)
        ]
    return [make_case(plan) for plan in plans]


ALL = [(name, case) for name in ONE_EACH for case in _cases(name)]
each_case = pytest.mark.parametrize(
    "case", [case for _, case in ALL], ids=[f"{name}-{case.plan.label}" for name, case in ALL]
)


def test_every_kind_is_here() -> None:
    assert {case.plan.layer.kind for _, case in ALL} == set(OpKind) - {OpKind.MOVE, OpKind.SEGMENT}


@each_case
def test_entry(case: Case) -> None:
    entry, plan = _unpack(case).entry, case.plan
    count = len(plan.inputs)
    loaded = list(range(count))
    if plan.arrival is not None:
        loaded[plan.mode.onto] = count + 1
    assert entry.name_crc == zlib.crc32(case.id.encode())
    assert (entry.arena_bytes, entry.scratch_bytes) == (plan.arena_bytes, plan.scratch_bytes)
    assert entry.input_count == count
    assert entry.inputs == tuple(loaded + [0] * (4 - count))
    assert (entry.output_count, entry.outputs) == (1, (count, 0, 0, 0))


@each_case
def test_kernel_op(case: Case) -> None:
    """Its last op. Fields that an operator has not are those of a 1 x 1 window without padding."""
    op, layer, execution = _unpack(case).ops[-1], case.plan.layer, case.plan.mode.execution
    count = len(layer.inputs)
    assert (op.kind, op.rounding) == (layer.kind, _rounding(case))
    assert (op.layout, op.tap_order) == (execution.layout, execution.tap_order)
    assert op.traversal == execution.traversal
    assert (op.input_count, op.output, op.step_pixels) == (count, count, 1)
    assert op.kernel == case.plan.choice.index
    assert op.inputs == tuple([*range(count), 0, 0, 0, 0][:4])
    g = layer.geometry
    window, pad = (1, 1, 1, 1, 1, 1), Pad()
    if isinstance(g, ConvGeometry):
        window, pad = (g.k_h, g.k_w, g.s_h, g.s_w, g.d_h, g.d_w), g.pad
    if isinstance(g, UpsampleGeometry):
        window = (1, 1, 4, 2, 1, 1)
    if isinstance(g, PadGeometry):
        pad = Pad(2, 0, 1, 3)
    assert (op.k_h, op.k_w, op.s_h, op.s_w, op.d_h, op.d_w) == window
    assert Pad(op.pad_top, op.pad_left, op.pad_bottom, op.pad_right) == pad


def _rounding(case: Case) -> Rounding:
    requantised = ConvParameters | AddParameters | MulParameters | MeanParameters
    return case.plan.layer.rounding if isinstance(case.parameters, requantised) else Rounding.DOUBLE


@each_case
def test_constants(case: Case) -> None:
    """Weights at the start of the slice, quantisation from its start, zero points and the clamp."""
    made, p = _unpack(case), case.parameters
    op = made.ops[-1]
    zero_points, clamp = (op.input_zero_points, op.output_zero_point), None
    assert (op.weights_offset, op.quant_first) == (0, 0)
    weights = made.weights[: op.weights_bytes]
    quants = [(q.bias, q.multiplier, q.shift) for q in made.quants]
    assert len(quants) == op.quant_count
    match p:
        case ConvParameters():
            assert weights == p.weights.tobytes()
            assert op.weights_bytes == case.plan.layer.window.c_out * _taps(case)
            assert quants == list(zip(p.bias, p.multiplier, p.shift, strict=True))
            assert zero_points == ((p.input_zero_point, 0), p.output_zero_point)
            clamp = (p.activation_min, p.activation_max)
        case PoolParameters():
            assert (weights, quants, zero_points) == (b"", [], ((0, 0), 0))
            clamp = (p.activation_min, p.activation_max)
        case MeanParameters():
            assert (weights, quants) == (b"", [(0, p.multiplier, p.shift)])
            assert zero_points == ((p.input_zero_point, 0), p.output_zero_point)
        case AddParameters():
            assert weights == b""
            assert quants == [
                (0, p.multiplier_1, p.shift_1),
                (0, p.multiplier_2, p.shift_2),
                (0, p.output_multiplier, p.output_shift),
            ]
            assert zero_points == ((p.zero_point_1, p.zero_point_2), p.output_zero_point)
            clamp = (p.activation_min, p.activation_max)
        case MulParameters():
            assert (weights, quants) == (b"", [(0, p.output_multiplier, p.output_shift)])
            assert zero_points == ((p.zero_point_1, p.zero_point_2), p.output_zero_point)
            clamp = (p.activation_min, p.activation_max)
        case SoftmaxParameters():
            assert np.frombuffer(weights, "<i4").tolist() == p.table.tolist()
            assert (quants, zero_points) == ([], ((0, 0), -128))
        case TableParameters():
            assert (len(weights), weights) == (256, p.table.tobytes())
            assert (quants, zero_points) == ([], ((0, 0), 0))
        case ClampParameters():
            assert (weights, quants, zero_points) == (b"", [], ((0, 0), 0))
            clamp = (p.low, p.high)
        case MoveParameters():
            assert (weights, quants, zero_points) == (b"", [], ((0, 0), p.zero_point))
    assert (op.activation_min, op.activation_max) == (clamp or (-128, 127))


def _taps(case: Case) -> int:
    g = case.plan.layer.window
    return g.k_h * g.k_w * (1 if case.plan.layer.kind is OpKind.DEPTHWISE else g.c_in)


@each_case
def test_tensors(case: Case) -> None:
    made, plan = _unpack(case), case.plan
    places = [*plan.inputs, plan.output] + ([plan.arrival] if plan.arrival else [])
    assert len(made.tensors) == len(places)
    window = isinstance(plan.layer.geometry, ConvGeometry)
    how = stored_by(plan.mode.execution) if window else StoredBy.ROW
    for tensor, place in zip(made.tensors, places, strict=True):
        _check_tensor(tensor, place)
        assert tensor.stored_by == how
    fill = case.parameters.input_zero_point if isinstance(case.parameters, ConvParameters) else 0
    assert [tensor.fill for tensor in made.tensors[: len(plan.inputs)]] == [fill] * len(plan.inputs)
    if how is not StoredBy.ORDER:
        assert {tensor.positions_offset for tensor in made.tensors} == {0}
        assert len(made.weights) == made.ops[-1].weights_bytes


def _check_tensor(tensor: TensorRecord, place: Place) -> None:
    assert (tensor.offset, tensor.bytes) == (place.offset, place.shape.size)
    assert (tensor.h, tensor.w, tensor.c) == (place.shape.h, place.shape.w, place.shape.c)
    pads = (tensor.pad_top, tensor.pad_left, tensor.pad_bottom, tensor.pad_right)
    assert Pad(*pads) == place.pad


@each_case
def test_a_copied_operand_is_moved_first(case: Case) -> None:
    made, plan = _unpack(case), case.plan
    if plan.arrival is None:
        assert [op.kind for op in made.ops] == [plan.layer.kind]
        return
    onto, arrival = plan.mode.onto, len(plan.inputs) + 1
    move, kernel = made.ops
    assert (move.kind, kernel.kind) == (OpKind.MOVE, plan.layer.kind)
    assert (move.input_count, move.inputs, move.output) == (1, (arrival, 0, 0, 0), onto)
    assert (move.weights_bytes, move.quant_count) == (0, 0)
    assert (move.layout, move.tap_order, move.traversal) == (0, 0, 0)
    source, target = made.tensors[arrival], made.tensors[onto]
    assert replace(source, offset=0) == replace(target, offset=0)
    assert source.offset == plan.arrival.offset
    assert made.entry.inputs[onto] == arrival
    assert onto not in made.entry.inputs[: made.entry.input_count]


@pytest.mark.parametrize("padded", [False, True])
def test_herringbone_tables(padded: bool) -> None:
    layer = shipped()[ONE_EACH["conv"]]
    g, way = layer.window, Execution(Layout(padded), TapOrder.DIRECT, Traversal.HERRINGBONE)
    case = make_case(plan_layer(layer, Strategy.RIP, Mode(way)))
    made = _unpack(case)

    def table(tensor: TensorRecord) -> list[int]:
        assert tensor.stored_by == StoredBy.ORDER
        at = tensor.positions_offset
        assert at % 2 == 0
        assert at >= made.ops[0].weights_bytes
        return np.frombuffer(made.weights, "<u2", tensor.h * tensor.w, at).tolist()

    source, output = made.tensors
    assert table(source) == input_positions(g, way).tolist()
    assert table(output) == output_positions(g, way.traversal).tolist()
    assert sorted(table(source)) == list(range(source.h * source.w))
    assert source.positions_offset + 2 * source.h * source.w <= output.positions_offset


def test_column_and_padding() -> None:
    layer = shipped()[ONE_EACH["conv"]]
    case = make_case(plan_layer(layer, *find_mode(layer, "rip-padded-column")))
    source, output = _unpack(case).tensors
    assert (source.stored_by, output.stored_by) == (StoredBy.COLUMN, StoredBy.COLUMN)
    assert (source.h, source.w) == (5 + 0 + 2, 6 + 1 + 3)
    assert source.fill == case.fill != 0
    assert output.fill == 0


@each_case
def test_operands_come_from_following_seeds(case: Case) -> None:
    shapes = case.plan.layer.inputs
    found = case.inputs(7)
    assert [x.shape for x in found] == [(s.h, s.w, s.c) for s in shapes]
    for n, x in enumerate(found):
        assert x.ravel().tolist() == generate_input(7 + n, x.size).tolist()


def test_the_last_seed_is_followed_by_the_first() -> None:
    case = _cases("add")[0]
    first, second = case.inputs(2**32 - 1)
    assert first.ravel().tolist() == generate_input(2**32 - 1, 100).tolist()
    assert second.ravel().tolist() == generate_input(0, 100).tolist()


@each_case
def test_input_crc(case: Case) -> None:
    """Of all operands as they lie in memory: as many bytes, the same values but for padding."""
    plan, expected = case.plan, b""
    for x, place in zip(case.inputs(5), plan.inputs, strict=True):
        g = plan.layer.geometry
        if not isinstance(g, ConvGeometry):
            expected += x.tobytes()
            continue
        p = place.pad
        padded = np.full((place.shape.h, place.shape.w, place.shape.c), case.fill, np.int8)
        padded[p.top : p.top + g.h_in, p.left : p.left + g.w_in] = x
        memory = np.zeros((place.shape.pixels, place.shape.c), np.int8)
        memory[input_positions(g, plan.mode.execution)] = padded.reshape(-1, place.shape.c)
        expected += memory.tobytes()
    assert case.input_crc(5) == zlib.crc32(expected)
    assert case.input_crc(5) != case.input_crc(6)


def test_too_many_pixels_for_a_table() -> None:
    layer = Layer("wide", ConvGeometry(1, 65_535, 1, 1, pad=Pad(0, 0, 1, 0)))
    way = Execution(Layout.PADDED, TapOrder.DIRECT, Traversal.HERRINGBONE)
    case = make_case(plan_layer(layer, Strategy.DUAL, Mode(way)))
    with pytest.raises(ConfigError, match="131070 pixels are too many for a table"):
        build_pack([case])


def test_ids_of_cases() -> None:
    layer = Layer("two", ElementwiseGeometry(2, 3, 4, 2), OpKind.ADD)
    rip = make_case(plan_layer(layer, *find_mode(layer, "rip-reverse-onto1-copy")))
    assert rip.id == "two/rip-reverse-onto1-copy@0"
    assert make_case(plan_layer(layer, Strategy.DUAL)).id == "two/dual@24"
