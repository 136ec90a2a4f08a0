# SPDX-License-Identifier: Apache-2.0
"""The plain kernels that are no windows under the address and the undefined-behaviour sanitizer."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from harness.schema.constants import FrameType, OpKind, Rounding
from harness.schema.records import QuantRecord
from tests.firmware.hostile import RUNS, run_sanitized
from tests.firmware.one_op import STRAIGHT, OneOp
from tests.firmware.support import build
from tests.firmware.test_elementwise import one_operand, two_operands
from tests.firmware.test_rearranging import draw as rearranging
from tests.firmware.test_rearranging import move
from tests.firmware.test_softmax import draw as softmax

_EACH = 15
_EXTREMES = (0, 1, -1, 2**31 - 1, -(2**31))


def _ops() -> Iterator[OneOp]:
    """Drawn ones, then scales and tables that no host makes."""
    for traversal in STRAIGHT:
        for seed in range(_EACH):
            for kind in (OpKind.ADD, OpKind.MUL):
                for rounding in (Rounding.DOUBLE, Rounding.SINGLE):
                    op = two_operands(seed, kind, traversal, rounding)
                    shift = (-31, 0, 30)[seed % 3]
                    quants = (QuantRecord(0, 2**31 - 1, shift),) * len(op.quants)
                    yield from (op, replace(op, quants=quants))
            for kind in (OpKind.TABLE, OpKind.CLAMP):
                yield one_operand(seed, kind, traversal)
            for kind in (OpKind.UPSAMPLE, OpKind.CONCAT, OpKind.PAD):
                yield rearranging(seed, kind, traversal)
            op = softmax(seed, traversal)
            yield from (op, replace(op, weights=struct.pack("<i", _EXTREMES[seed % 5]) * 256))
            yield move((1, seed + 1, 9), 4 * seed, 60 - 4 * seed)


def test_no_report(sanitized: Path) -> None:
    ops = list(_ops())
    packs = [build([op.parts() for op in ops[at : at + RUNS]]) for at in range(0, len(ops), RUNS)]
    answers = run_sanitized(sanitized, packs)
    ran = sum(answer == [FrameType.CASE, FrameType.OP, FrameType.RESULT] for answer in answers)
    assert ran == len(ops)
