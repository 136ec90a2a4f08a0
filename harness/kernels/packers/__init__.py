# SPDX-License-Identifier: Apache-2.0
"""Forms of an op's constants other than int8 weights: what a kernel's `weights` may name.

A packer turns the constants into the bytes that op_call.weights points to, 8-byte aligned, numbers
little-endian. The exact records of quantisation stay beside them (op_call.quants).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from harness.geometry import Geometry
from harness.kernels.packers import m0plus
from harness.kernels.packers.int16 import widened
from harness.schema.constants import OpKind, Rounding
from harness.schema.records import QuantRecord


@dataclass(frozen=True)
class Unpacked:
    """An op's constants as its record has them without a packer. clamp: the activation's."""

    kind: OpKind
    geometry: Geometry
    weights: bytes
    quants: tuple[QuantRecord, ...]
    rounding: Rounding
    input_zero_points: tuple[int, int]
    output_zero_point: int
    clamp: tuple[int, int]


Packer = Callable[[Unpacked], bytes]

PACKERS: dict[str, Packer] = {
    "int16": lambda unpacked: widened(unpacked.weights),
    **m0plus.PACKERS,
}


@lru_cache(maxsize=512)
def pack(packer: str, unpacked: Unpacked) -> bytes:
    """As PACKERS has it, kept: grouping a network's weights takes seconds, and every strategy has the
    same. Errors: KeyError for a packer that is none."""
    return PACKERS[packer](unpacked)
