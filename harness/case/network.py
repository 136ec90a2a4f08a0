# SPDX-License-Identifier: Apache-2.0
"""A case of a whole network: its plan with the parameters of every op, and what the host says."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.case.inputs import generate_input
from harness.plan import NetworkPlan
from harness.reference import Parameters, compute_network

Int8s = NDArray[np.int8]
_SEEDS = 2**32


@dataclass(frozen=True, eq=False)
class NetworkCase:
    """parameters: of each op of the plan's network."""

    id: str
    plan: NetworkPlan
    parameters: tuple[Parameters, ...]

    @property
    def name_crc(self) -> int:
        return zlib.crc32(self.id.encode())

    @property
    def arena_bytes(self) -> int:
        return self.plan.peak

    @property
    def scratch_bytes(self) -> int:
        return self.plan.scratch_bytes

    @property
    def macs(self) -> int:
        return self.plan.network.macs

    @property
    def n_out(self) -> int:
        """Scalars that the ops make, all together."""
        return sum(node.layer.n_out for node in self.plan.network.nodes)

    def inputs(self, seed: int) -> tuple[Int8s, ...]:
        """int8 [h, w, c] of each input, the n-th from the n-th seed after this one."""
        network = self.plan.network
        shapes = [network.tensors[tensor] for tensor in network.inputs]
        return tuple(
            generate_input((seed + n) % _SEEDS, shape.size).reshape(shape.h, shape.w, shape.c)
            for n, shape in enumerate(shapes)
        )

    def input_crc(self, seed: int) -> int:
        """CRC-32 of the inputs one after the other."""
        return _crc(self.inputs(seed))

    def tensors(self, seed: int) -> list[Int8s]:
        """Every tensor of the network, int8 [h, w, c], as the host computes it."""
        return compute_network(self.plan.network, self.parameters, self.inputs(seed))

    def output_crc(self, tensors: list[Int8s]) -> int:
        """CRC-32 of the outputs one after the other, from what `tensors` gives."""
        return _crc(tuple(tensors[tensor] for tensor in self.plan.network.outputs))


def _crc(tensors: tuple[Int8s, ...]) -> int:
    crc = 0
    for tensor in tensors:
        crc = zlib.crc32(np.ascontiguousarray(tensor).tobytes(), crc)
    return crc


def make_network_case(plan: NetworkPlan, parameters: tuple[Parameters, ...]) -> NetworkCase:
    """Its id says network and strategy."""
    return NetworkCase(f"{plan.network.name}/{plan.strategy}", plan, parameters)
