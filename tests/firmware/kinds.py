# SPDX-License-Identifier: Apache-2.0
"""Sound cases, to be spoilt: of every kind of op and of executions that need other records."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.schema.constants import Layout, OpKind, StoredBy, TapOrder, Traversal
from harness.schema.records import QuantRecord, TensorRecord
from tests.firmware import one_op, window_op
from tests.firmware.executions import make_walk, walk_parts
from tests.firmware.support import CaseParts, Conv, parts, tensor

ARENA = 8192  # room for tensors that grow
SCRATCH = 512
_SPARE = 64  # bytes of weights and records of quantisation that no op names


def _quants(count: int) -> list[QuantRecord]:
    return [QuantRecord(3, 2**30 + number, -9) for number in range(count)]


def _conv() -> CaseParts:
    return parts(Conv(4, 5, 3, 2, (3, 3), pad=(1, 1, 1, 1), order=TapOrder.DIRECT, seed=8))


def _conv_stored(layout: Layout, traversal: Traversal) -> CaseParts:
    conv = Conv(4, 5, 3, 2, (3, 3), pad=(1, 1, 1, 1), order=TapOrder.DIRECT, seed=8)
    return walk_parts(make_walk(conv, layout, traversal, None, random.Random(1)))


def _window(kind: OpKind, c_out: int, **changes: Any) -> CaseParts:
    window = window_op.Window(4, 5, 3, (3, 3), pad=(1, 1, 1, 1))
    output = tensor(600, window.h_out, window.w_out, c_out)
    weighs = kind is OpKind.DEPTHWISE
    op = window_op.OneOp(
        kind, window.input(0, 0), output, SCRATCH,
        [tap % 7 - 3 for tap in range(9 * c_out)] if weighs else (),
        _quants(c_out) if weighs else [], {**window.fields(), **changes},
    )  # fmt: skip
    return op.parts()


def _plain(
    kind: OpKind, input: TensorRecord, output: TensorRecord, weights: int = 0, quants: int = 0,
    **changes: Any,
) -> CaseParts:  # fmt: skip
    values = [number % 100 for number in range(weights)]
    return window_op.OneOp(kind, input, output, SCRATCH, values, _quants(quants), changes).parts()


def _several(kind: OpKind, inputs: tuple[one_op.Shape, ...], output: one_op.Shape) -> CaseParts:
    quants = {OpKind.ADD: 3, OpKind.MUL: 1}.get(kind, 0)
    offsets = tuple(number * 300 for number in range(len(inputs)))
    op = one_op.OneOp(kind, inputs, offsets, output, 1200, quants=tuple(_quants(quants)))
    return op.parts()


_X = tensor(0, 3, 4, 5)
_Y = tensor(600, 3, 4, 5)
_SHAPE = (3, 4, 5)
_GOOD: dict[str, Callable[[], CaseParts]] = {
    "conv": _conv,
    "conv-padded": lambda: _conv_stored(Layout.PADDED, Traversal.ROW),
    "conv-column": lambda: _conv_stored(Layout.DENSE, Traversal.COLUMN),
    "conv-herringbone": lambda: _conv_stored(Layout.DENSE, Traversal.HERRINGBONE),
    "depthwise": lambda: _window(OpKind.DEPTHWISE, 6),
    "depthwise-channel": lambda: _window(OpKind.DEPTHWISE, 3, traversal=Traversal.CHANNEL),
    "average-pool": lambda: _window(OpKind.AVERAGE_POOL, 3, tap_order=TapOrder.DIRECT),
    "max-pool": lambda: _window(OpKind.MAX_POOL, 3, tap_order=TapOrder.DIRECT),
    "mean": lambda: _plain(OpKind.MEAN, _X, tensor(600, 1, 1, 5), quants=1),
    "fully-connected": lambda: _plain(
        OpKind.FULLY_CONNECTED, _X, tensor(600, 1, 1, 2), 120, 2, tap_order=TapOrder.DIRECT
    ),
    "add": lambda: _several(OpKind.ADD, (_SHAPE, _SHAPE), _SHAPE),
    "add-broadcast": lambda: _several(OpKind.ADD, (_SHAPE, (1, 1, 5)), _SHAPE),
    "mul": lambda: _several(OpKind.MUL, (_SHAPE, _SHAPE), _SHAPE),
    "mul-broadcast": lambda: _several(OpKind.MUL, (_SHAPE, (1, 1, 5)), _SHAPE),
    "table": lambda: _plain(OpKind.TABLE, _X, _Y, 256),
    "clamp": lambda: _plain(OpKind.CLAMP, _X, _Y),
    "softmax": lambda: _plain(OpKind.SOFTMAX, _X, _Y, 1024, output_zero_point=-128),
    "upsample": lambda: _plain(OpKind.UPSAMPLE, _X, tensor(600, 6, 12, 5), s_h=2, s_w=3),
    "concat": lambda: _several(OpKind.CONCAT, (_SHAPE, (3, 4, 2), (3, 4, 1)), (3, 4, 8)),
    "pad": lambda: _plain(
        OpKind.PAD, _X, tensor(600, 6, 11, 5),
        pad_top=1, pad_left=3, pad_bottom=2, pad_right=4,
    ),
    "move": lambda: _plain(OpKind.MOVE, _X, _Y),
}  # fmt: skip
KINDS = list(_GOOD)


def good(name: str) -> CaseParts:
    """Arena and slices have room to spare: what is refused is refused for its record."""
    case = _GOOD[name]()
    case.arena, case.scratch = ARENA, SCRATCH
    case.weights += bytes(_SPARE)
    case.quants = [*case.quants, *_quants(_SPARE)]
    return case


def reshaped(record: TensorRecord, h: int, w: int, c: int) -> TensorRecord:
    return replace(record, h=h, w=w, c=c, bytes=h * w * c)


def stored(record: TensorRecord, by: StoredBy) -> TensorRecord:
    return replace(record, stored_by=by)
