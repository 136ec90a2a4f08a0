# SPDX-License-Identifier: Apache-2.0
"""A case: a plan with its weights, and what the host says about its outputs."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.case.inputs import generate_input
from harness.case.weights import draw_parameters
from harness.plan import Plan
from harness.reference import ConvParameters, convolve, convolve_in_place

Int8s = NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class Case:
    """What one run executes but for the input's seed, which the run itself names."""

    id: str
    plan: Plan
    parameters: ConvParameters

    @property
    def name_crc(self) -> int:
        return zlib.crc32(self.id.encode())

    def input(self, seed: int) -> Int8s:
        """int8 [h_in, w_in, c_in]"""
        g = self.plan.layer.geometry
        return generate_input(seed, g.n_in).reshape(g.h_in, g.w_in, g.c_in)

    def expected(self, seed: int) -> Int8s:
        """The right output, int8 [h_out, w_out, c_out]."""
        return convolve(self.plan.layer.geometry, self.parameters, self.input(seed))

    def predicted(self, seed: int) -> Int8s:
        """What the plain kernel leaves where this plan puts the tensors, right or wrong."""
        plan = self.plan
        return convolve_in_place(
            plan.layer.geometry, self.parameters, self.input(seed), plan.distance, plan.tap_order
        )


def make_case(plan: Plan, parameters: ConvParameters | None = None) -> Case:
    """A case with drawn weights, or with the given ones. Its id says layer, plan and distance."""
    drawn = draw_parameters(plan.layer) if parameters is None else parameters
    return Case(f"{plan.layer.id}/{plan.label}@{plan.distance}", plan, drawn)
