# SPDX-License-Identifier: Apache-2.0
"""A whole network on the host, every tensor with memory of its own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from harness.network import Network
from harness.reference.operators import Parameters, compute

Int8s = NDArray[np.int8]


def compute_network(
    network: Network, parameters: Sequence[Parameters], inputs: Sequence[Int8s]
) -> list[Int8s]:
    """All tensors, int8 [h, w, c], by number; a tensor that nothing makes is empty.

    inputs: int8 [h, w, c] of each input of the network. Exact, as `compute`.
    """
    tensors: list[Int8s] = [np.zeros((0, 0, 0), np.int8) for _ in network.tensors]
    for tensor, values in zip(network.inputs, inputs, strict=True):
        tensors[tensor] = values
    for node, used in zip(network.nodes, parameters, strict=True):
        layer, shape = node.layer, network.tensors[node.output]
        operands = [tensors[tensor] for tensor in node.inputs]
        made = compute(layer.kind, layer.geometry, used, *operands)
        tensors[node.output] = made.reshape(shape.h, shape.w, shape.c)
    return tensors
