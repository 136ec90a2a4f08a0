# SPDX-License-Identifier: Apache-2.0
"""A case of a whole network: its plan with the parameters of every op, and what the host says."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.case.inputs import generate_input
from harness.case.network_weights import draw_network_parameters
from harness.case.quantised import quantised_parameters
from harness.geometry import ElementwiseGeometry
from harness.kernels import PLAIN, KernelTraits
from harness.network import Model, Network, Node
from harness.plan import NetworkPlan, Strategy, plan_network
from harness.reference import Parameters, TableParameters, compute, compute_network
from harness.schema.constants import OpKind

Int8s = NDArray[np.int8]
_SEEDS = 2**32


@dataclass(frozen=True, eq=False)
class NetworkCase:
    """parameters: of each op of the plan's network. given: inputs, int8 [h, w, c], in place of what any
    seed draws."""

    id: str
    plan: NetworkPlan
    parameters: tuple[Parameters, ...]
    given: tuple[Int8s, ...] | None = None

    @property
    def given_bytes(self) -> bytes:
        """The given inputs as stored, for the pack; none where the firmware draws them."""
        return b"".join(np.ascontiguousarray(x).tobytes() for x in self.given or ())

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
        """int8 [h, w, c] of each input, the n-th from the n-th seed after this one, or the given
        ones."""
        if self.given is not None:
            return self.given
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


def network_cases(
    model: Network | Model, strategies: Sequence[Strategy], kernel: KernelTraits = PLAIN
) -> tuple[NetworkCase, ...]:
    """One for each strategy, by the kernels of this set, all with the same weights: the model's own, or
    drawn ones. Errors: ConfigError for an op without a kernel; all that planning can raise."""
    network = model.network if isinstance(model, Model) else model
    plans = [plan_network(network, strategy, kernel=kernel) for strategy in strategies]
    return tuple(network_case(model, plan) for plan in plans)


def network_case(model: Network | Model, plan: NetworkPlan) -> NetworkCase:
    """Of a plan of this model, with the model's own weights or drawn ones. Errors: as network_cases."""
    if not isinstance(model, Model):
        return make_network_case(plan, draw_network_parameters(plan.network))
    parameters = _with_tables(model.network, quantised_parameters(model), plan)
    return make_network_case(plan, parameters)


def _with_tables(
    network: Network, own: tuple[Parameters, ...], plan: NetworkPlan
) -> tuple[Parameters, ...]:
    """Of the plan's network, in which some ops became tables: those by the parameters of both steps."""
    if plan.network == network:
        return own
    known = {
        node.layer.id: (node, parameters)
        for node, parameters in zip(network.nodes, own, strict=True)
    }
    made = []
    for node in plan.network.nodes:
        original, parameters = known[node.layer.id]
        swish = original.layer.kind is OpKind.MUL and node.layer.kind is OpKind.TABLE
        made.append(_swish(network, own, original) if swish else parameters)
    return tuple(made)


def _swish(network: Network, own: tuple[Parameters, ...], product: Node) -> TableParameters:
    """What product(x, logistic(x)) makes of each of the 256 values, by the ops themselves."""
    values = np.arange(-128, 128, dtype=np.int8).reshape(1, 256, 1)
    one, two = ElementwiseGeometry(1, 256, 1), ElementwiseGeometry(1, 256, 1, 2)
    producers = network.producers
    operands = []
    for tensor in product.inputs:
        maker = producers[tensor]
        gate = maker >= 0 and network.nodes[maker].inputs[0] in product.inputs
        operands.append(compute(OpKind.TABLE, one, own[maker], values) if gate else values)
    number = network.nodes.index(product)
    return TableParameters(compute(OpKind.MUL, two, own[number], *operands).ravel())
