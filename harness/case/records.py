# SPDX-License-Identifier: Apache-2.0
"""A case as the records that the firmware reads: ops, tensors, quantisation, constants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from harness.bounds import round_up
from harness.case.case import Case
from harness.errors import ConfigError
from harness.geometry import ConvGeometry, Execution, Pad, PadGeometry, UpsampleGeometry
from harness.geometry.traversal import input_positions, output_positions, stored_by
from harness.kernels import Choice, KernelTraits
from harness.kernels.packers import Unpacked, pack
from harness.network import Layer
from harness.plan import Place
from harness.reference import (
    AddParameters,
    ClampParameters,
    ConvParameters,
    MeanParameters,
    MoveParameters,
    MulParameters,
    Parameters,
    PoolParameters,
    SoftmaxParameters,
    TableParameters,
)
from harness.schema.constants import (
    OPERANDS_MAX,
    SCRATCH_APART,
    Layout,
    OpKind,
    Rounding,
    StoredBy,
    TapOrder,
    Traversal,
)
from harness.schema.records import OpRecord, QuantRecord, TensorRecord

_POSITION = np.dtype("<u2")
_MOST_POSITIONS = 0x1_0000


@dataclass(frozen=True)
class Constants:
    """Of one op, as its record wants them. clamp: the activation's range."""

    weights: bytes = b""
    quants: tuple[QuantRecord, ...] = ()
    rounding: Rounding = Rounding.DOUBLE
    input_zero_points: tuple[int, int] = (0, 0)
    output_zero_point: int = 0
    clamp: tuple[int, int] = (-128, 127)


@dataclass
class CaseRecords:
    """inputs: the tensors that are loaded. Tensors are the operands, the output, and where the shared
    operand arrives if that is elsewhere."""

    ops: list[OpRecord] = field(default_factory=list)
    tensors: list[TensorRecord] = field(default_factory=list)
    quants: tuple[QuantRecord, ...] = ()
    weights: bytes = b""
    inputs: tuple[int, ...] = ()
    outputs: tuple[int, ...] = ()


def records_of(case: Case) -> CaseRecords:
    """Errors: ConfigError for a tensor with too many pixels for a table of positions."""
    plan = case.plan
    layer, execution = plan.layer, plan.mode.execution
    constants, choice = prepared(plan.kernel, layer, execution, case.parameters)
    made = CaseRecords(quants=constants.quants, weights=constants.weights)
    for place in plan.inputs:
        made.tensors.append(_input(case, place, made))
    made.tensors.append(_output(case, made))
    operands = tuple(range(len(plan.inputs)))
    made.outputs = (len(operands),)
    loaded = list(operands)
    if plan.arrival is not None:
        onto = plan.mode.onto
        loaded[onto] = len(made.tensors)
        made.tensors.append(moved_record(made.tensors[onto], plan.arrival))
        mover = plan.kernel.mover(plan.arrival.shape)
        made.ops.append(move_record(loaded[onto], onto, mover))
    made.inputs = tuple(loaded)
    made.ops.append(op_record(layer, execution, operands, len(operands), constants, choice))
    return made


def prepared(
    kernel: KernelTraits, layer: Layer, execution: Execution, parameters: Parameters
) -> tuple[Constants, Choice]:
    """An op's constants in the form that the kernel wants which will run it."""
    rounding = constants_of(parameters).rounding
    choice = kernel.choose(layer.kind, layer.geometry, execution, rounding)
    return packed_for(choice, layer, parameters), choice


def packed_for(choice: Choice, layer: Layer, parameters: Parameters) -> Constants:
    """In the form that this kernel wants, of a segment's stage, too."""
    constants = constants_of(parameters)
    if not choice.kernel.packed:
        return constants
    unpacked = Unpacked(
        layer.kind,
        layer.geometry,
        constants.weights,
        constants.quants,
        constants.rounding,
        constants.input_zero_points,
        constants.output_zero_point,
        constants.clamp,
    )
    return replace(constants, weights=pack(choice.kernel.weights, unpacked))


def constants_of(p: Parameters) -> Constants:
    """In the order that the op's record gives (harness.schema.records)."""
    match p:
        case ConvParameters():
            return Constants(
                np.ascontiguousarray(p.weights).tobytes(),
                _quants(p.bias, p.multiplier, p.shift),
                p.rounding,
                (p.input_zero_point, 0),
                p.output_zero_point,
                (p.activation_min, p.activation_max),
            )
        case PoolParameters():
            return Constants(clamp=(p.activation_min, p.activation_max))
        case MeanParameters():
            quants = _quants([0], [p.multiplier], [p.shift])
            return Constants(b"", quants, p.rounding, (p.input_zero_point, 0), p.output_zero_point)
        case AddParameters():
            quants = _quants(
                [0, 0, 0],
                [p.multiplier_1, p.multiplier_2, p.output_multiplier],
                [p.shift_1, p.shift_2, p.output_shift],
            )
            return _of_two(p, quants)
        case MulParameters():
            return _of_two(p, _quants([0], [p.output_multiplier], [p.output_shift]))
        case SoftmaxParameters():
            return Constants(p.table.astype("<i4").tobytes(), output_zero_point=-128)
        case TableParameters():
            return Constants(p.table.tobytes())
        case ClampParameters():
            return Constants(clamp=(p.low, p.high))
        case MoveParameters():
            return Constants(output_zero_point=p.zero_point)


def _of_two(p: AddParameters | MulParameters, quants: tuple[QuantRecord, ...]) -> Constants:
    return Constants(
        b"",
        quants,
        p.rounding,
        (p.zero_point_1, p.zero_point_2),
        p.output_zero_point,
        (p.activation_min, p.activation_max),
    )


def _quants(
    bias: Sequence[int] | NDArray[np.int32],
    multiplier: Sequence[int] | NDArray[np.int32],
    shift: Sequence[int] | NDArray[np.int32],
) -> tuple[QuantRecord, ...]:
    return tuple(
        QuantRecord(int(b), int(m), int(s)) for b, m, s in zip(bias, multiplier, shift, strict=True)
    )


def _input(case: Case, place: Place, made: CaseRecords) -> TensorRecord:
    geometry, execution = case.plan.layer.geometry, case.plan.mode.execution
    if not isinstance(geometry, ConvGeometry):
        return tensor_record(place, StoredBy.ROW, 0, 0)
    how = stored_by(execution)
    table = input_positions(geometry, execution) if how is StoredBy.ORDER else None
    return tensor_record(place, how, case.fill, _add_positions(made, table))


def _output(case: Case, made: CaseRecords) -> TensorRecord:
    geometry, execution = case.plan.layer.geometry, case.plan.mode.execution
    if not isinstance(geometry, ConvGeometry):
        return tensor_record(case.plan.output, StoredBy.ROW, 0, 0)
    how = stored_by(execution)
    table = output_positions(geometry, execution.traversal) if how is StoredBy.ORDER else None
    return tensor_record(case.plan.output, how, 0, _add_positions(made, table))


def _add_positions(made: CaseRecords, positions: NDArray[np.int64] | None) -> int:
    """Behind the weights; its offset among them, 0 where there is none."""
    if positions is None:
        return 0
    if len(positions) > _MOST_POSITIONS:
        raise ConfigError(f"{len(positions)} pixels are too many for a table of 16-bit positions")
    at = round_up(len(made.weights), _POSITION.itemsize)
    made.weights = made.weights.ljust(at, b"\0") + positions.astype(_POSITION).tobytes()
    return at


def tensor_record(place: Place, how: StoredBy, fill: int, positions: int) -> TensorRecord:
    shape, pad = place.shape, place.pad
    return TensorRecord(
        offset=place.offset,
        bytes=shape.size,
        h=shape.h,
        w=shape.w,
        c=shape.c,
        stored_by=how,
        pad_top=pad.top,
        pad_left=pad.left,
        pad_bottom=pad.bottom,
        pad_right=pad.right,
        fill=fill,
        positions_offset=positions,
        rows=0,
    )


def moved_record(tensor: TensorRecord, place: Place) -> TensorRecord:
    return TensorRecord(**{**vars(tensor), "offset": place.offset})


def op_record(
    layer: Layer,
    execution: Execution,
    operands: tuple[int, ...],
    output: int,
    constants: Constants,
    choice: Choice,
) -> OpRecord:
    """An op whose constants are the first of its case. operands, output: numbers of tensors."""
    k, s, d, pad = (1, 1), (1, 1), (1, 1), Pad()
    match layer.geometry:
        case ConvGeometry() as g:
            k, s, d, pad = (g.k_h, g.k_w), (g.s_h, g.s_w), (g.d_h, g.d_w), g.pad
        case UpsampleGeometry() as g:
            s = (g.f_h, g.f_w)
        case PadGeometry() as g:
            pad = g.pad
    return _record(
        layer.kind,
        operands,
        output,
        choice,
        constants,
        layout=execution.layout,
        tap_order=execution.tap_order,
        traversal=execution.traversal,
        k=k,
        s=s,
        d=d,
        pad=pad,
    )


def segment_record(
    operands: tuple[int, ...], output: int, stages: Sequence[OpRecord], choice: Choice
) -> OpRecord:
    """Of stages that follow it, whose constants lie one after the other."""
    first, last = stages[0], stages[-1]
    return replace(
        _record(OpKind.SEGMENT, operands, output, choice),
        weights_offset=first.weights_offset,
        weights_bytes=last.weights_offset + last.weights_bytes - first.weights_offset,
        quant_first=first.quant_first,
        quant_count=last.quant_first + last.quant_count - first.quant_first,
        stages=len(stages),
    )


def move_record(source: int, target: int, mover: Choice) -> OpRecord:
    """A tensor to another place, which may overlap its own."""
    return _record(OpKind.MOVE, (source,), target, mover)


def _record(
    kind: OpKind,
    inputs: tuple[int, ...],
    output: int,
    choice: Choice,
    constants: Constants | None = None,
    *,
    layout: Layout = Layout.DENSE,
    tap_order: TapOrder = TapOrder.GATHER,
    traversal: Traversal = Traversal.ROW,
    k: tuple[int, int] = (1, 1),
    s: tuple[int, int] = (1, 1),
    d: tuple[int, int] = (1, 1),
    pad: Pad | None = None,
) -> OpRecord:
    used = constants or Constants()
    border = pad or Pad()
    return OpRecord(
        kind=kind,
        rounding=used.rounding,
        layout=layout,
        tap_order=tap_order,
        traversal=traversal,
        input_count=len(inputs),
        inputs=(*inputs, *(0,) * OPERANDS_MAX)[:OPERANDS_MAX],
        output=output,
        k_h=k[0],
        k_w=k[1],
        s_h=s[0],
        s_w=s[1],
        d_h=d[0],
        d_w=d[1],
        pad_top=border.top,
        pad_left=border.left,
        pad_bottom=border.bottom,
        pad_right=border.right,
        kernel=choice.index,
        input_zero_points=used.input_zero_points,
        output_zero_point=used.output_zero_point,
        activation_min=used.clamp[0],
        activation_max=used.clamp[1],
        weights_offset=0,
        weights_bytes=len(used.weights),
        quant_first=0,
        quant_count=len(used.quants),
        step_pixels=choice.step.pixels,
        scratch_offset=SCRATCH_APART,
        scratch_bytes=0,
        stages=0,
    )
