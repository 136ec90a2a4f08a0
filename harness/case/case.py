# SPDX-License-Identifier: Apache-2.0
"""A case: a plan with its weights, and what the host says about its outputs."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.case.inputs import generate_input
from harness.case.weights import draw_parameters
from harness.geometry import ConvGeometry
from harness.plan import Plan
from harness.reference import (
    ConvParameters,
    Parameters,
    compute,
    compute_in_place,
    stored_input,
    stored_output,
)

Int8s = NDArray[np.int8]
_SEEDS = 2**32


@dataclass(frozen=True, eq=False)
class Case:
    """What one run executes but for the input's seed, which the run itself names. given: operands, int8
    [h, w, c], in place of what any seed draws."""

    id: str
    plan: Plan
    parameters: Parameters
    given: tuple[Int8s, ...] | None = None

    @property
    def given_bytes(self) -> bytes:
        """The given operands as stored, for the pack; none where the firmware draws them."""
        return b"".join(self._stored_input(x).tobytes() for x in self.given or ())

    @property
    def name_crc(self) -> int:
        return zlib.crc32(self.id.encode())

    @property
    def arena_bytes(self) -> int:
        return self.plan.arena_bytes

    @property
    def scratch_bytes(self) -> int:
        return self.plan.scratch_bytes

    @property
    def macs(self) -> int:
        return self.plan.layer.macs

    @property
    def n_out(self) -> int:
        """Scalars that the ops make, all together."""
        return self.plan.layer.n_out

    def inputs(self, seed: int) -> tuple[Int8s, ...]:
        """int8 [h, w, c] of each operand, the n-th from the n-th seed after this one, or the given
        ones."""
        if self.given is not None:
            return self.given
        return tuple(
            generate_input((seed + n) % _SEEDS, shape.size).reshape(shape.h, shape.w, shape.c)
            for n, shape in enumerate(self.plan.layer.inputs)
        )

    def input_crc(self, seed: int) -> int:
        """CRC-32 of the operands one after the other, as stored."""
        crc = 0
        for x in self.inputs(seed):
            crc = zlib.crc32(self._stored_input(x).tobytes(), crc)
        return crc

    def expected(self, seed: int) -> Int8s:
        """The right output as stored, int8 [n_out]."""
        layer = self.plan.layer
        return self._stored_output(
            compute(layer.kind, layer.geometry, self.parameters, *self.inputs(seed))
        )

    def predicted(self, seed: int) -> Int8s:
        """What the plain kernel leaves where this plan puts the output, right or wrong, as stored."""
        layer, mode = self.plan.layer, self.plan.mode
        return self._stored_output(
            compute_in_place(
                layer.kind,
                layer.geometry,
                self.parameters,
                self.inputs(seed),
                self.plan.distance,
                mode.execution,
                mode.onto,
            )
        )

    def _stored_input(self, x: Int8s) -> Int8s:
        geometry, execution = self.plan.layer.geometry, self.plan.mode.execution
        if not isinstance(geometry, ConvGeometry):
            return x.ravel()
        return stored_input(geometry, execution, x, self.fill)

    def _stored_output(self, y: Int8s) -> Int8s:
        geometry, traversal = self.plan.layer.geometry, self.plan.mode.execution.traversal
        if not isinstance(geometry, ConvGeometry):
            return y.ravel()
        return stored_output(geometry, traversal, y)

    @property
    def fill(self) -> int:
        """What stored padding holds: the input's zero point."""
        p = self.parameters
        return p.input_zero_point if isinstance(p, ConvParameters) else 0


def make_case(plan: Plan, parameters: Parameters | None = None) -> Case:
    """A case with drawn weights, or with the given ones. Its id says layer, plan and distance."""
    drawn = draw_parameters(plan.layer) if parameters is None else parameters
    return Case(f"{plan.layer.id}/{plan.label}@{plan.distance}", plan, drawn)
