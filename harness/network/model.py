# SPDX-License-Identifier: Apache-2.0
"""A network with its own weights, as a file gives them: scales and raw integers, nothing derived."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.network.network import Network

if TYPE_CHECKING:  # a set of layers is listed without it
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Quantisation:
    """Of a tensor: real = scale (q - zero_point). scale: a float32, positive."""

    scale: float
    zero_point: int


@dataclass(frozen=True, eq=False)
class Facts:
    """Of one op. inputs: one for each operand, as the op itself sees it (a reshape may relabel a tensor
    without changing a byte). weights: int8, shaped as harness.reference.ConvParameters wants them for
    the op's kind; bias: int32 [c_out]; filter_scales: float32 [c_out]. beta: of a softmax.
    mean_of_axis: an AVERAGE_POOL that the file calls a MEAN over rows or columns alone. The two do not
    round alike for every number of values; harness.case looks before it runs one."""

    inputs: tuple[Quantisation, ...]
    output: Quantisation
    weights: NDArray[np.int8] | None = None
    bias: NDArray[np.int32] | None = None
    filter_scales: NDArray[np.float32] | None = None
    beta: float = 1.0
    mean_of_axis: bool = False


@dataclass(frozen=True, eq=False)
class Model:
    """facts: one for each node of the network. inputs, outputs: of the network's, in its order.
    float_inputs, float_outputs: of which the file itself takes or gives float32; the network's are int8
    all the same."""

    network: Network
    facts: tuple[Facts, ...]
    inputs: tuple[Quantisation, ...]
    outputs: tuple[Quantisation, ...]
    float_inputs: tuple[bool, ...] = ()
    float_outputs: tuple[bool, ...] = ()

    @property
    def name(self) -> str:
        return self.network.name
