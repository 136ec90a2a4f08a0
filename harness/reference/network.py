# SPDX-License-Identifier: Apache-2.0
"""A whole network on the host: every tensor, exact."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from harness.errors import ConfigError
from harness.network import Network
from harness.reference.operators import Parameters, compute

Int8s = NDArray[np.int8]


def compute_network(
    network: Network, parameters: Sequence[Parameters], inputs: Sequence[Int8s]
) -> list[Int8s]:
    """parameters: one for each node. inputs: int8 of each input of the network, in any shape of its
    size. Answers int8 [h, w, c] of each tensor by its number. Errors: ConfigError when there are too
    many or too few, or an input is of another size."""
    if len(parameters) != len(network.nodes) or len(inputs) != len(network.inputs):
        raise ConfigError(
            f"{network.name}: {len(parameters)} parameters for {len(network.nodes)} ops, "
            f"{len(inputs)} inputs for {len(network.inputs)}"
        )
    # a tensor that nothing makes is no tensor of an op; it stays empty
    tensors: list[Int8s] = [np.zeros(0, np.int8) for _ in network.tensors]
    for tensor, x in zip(network.inputs, inputs, strict=True):
        shape = network.tensors[tensor]
        if x.size != shape.size or x.dtype != np.int8:
            raise ConfigError(
                f"{network.name}: an input of {x.size} {x.dtype} where {shape} is due"
            )
        tensors[tensor] = x.reshape(shape.h, shape.w, shape.c)
    for node, p in zip(network.nodes, parameters, strict=True):
        layer = node.layer
        tensors[node.output] = compute(
            layer.kind, layer.geometry, p, *(tensors[tensor] for tensor in node.inputs)
        )
    return tensors
