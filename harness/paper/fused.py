# SPDX-License-Identifier: Apache-2.0
"""Fused plans beside the paper's Table 3 and beside what others have published: each figure with what
it counts and what it costs in multiply-accumulates. Ours are computed by the planner."""

from __future__ import annotations

from dataclasses import dataclass

from harness.kernels import PLAIN
from harness.network import Network, load_network
from harness.paper.stated_fused import PEERS, Peer
from harness.paper.stated_networks import TABLE3
from harness.plan import FUSED_KERNELS, RingForm, Strategy, plan_network, streamed_peak

MACS = "1.00"  # of every plan of ours: each row of each tensor is made once


@dataclass(frozen=True)
class Ours:
    """Bytes of one model. image: of the input. stated, stated_buffer: the paper's RiP and Buffer, None
    of a model that it does not have. rip, rip_scratch: of our plain kernels, layer by layer. fused: a
    checked plan's arena, rings and all scratch, input included, by form. streamed: the same with the
    input streamed into a ring of rows, a peak that the planner places and no board has run."""

    model: str
    image: int
    stated: int | None
    stated_buffer: int | None
    rip: int
    rip_scratch: int
    fused: dict[RingForm, int]
    streamed: dict[RingForm, int]

    def beside(self, peer: Peer) -> dict[RingForm, int]:
        """What of ours counts as little as the peer's figure: without the input where that leaves it
        out, else, and where it does not say, with it."""
        return self.streamed if peer.input_counted is False else self.fused


def fused_models() -> tuple[Ours, ...]:
    """The eleven of Table 3, and the Keras graphs that peers name."""
    found = [ours_of(row.model, row.rip, row.buffer) for row in TABLE3]
    known = {ours.model for ours in found}
    more = dict.fromkeys(peer.model for peer in PEERS if peer.model and peer.model not in known)
    return (*found, *(ours_of(model) for model in more))


def ours_of(model: str, stated: int | None = None, buffer: int | None = None) -> Ours:
    network = load_network(model)
    assert isinstance(network, Network), "a shipped model is a shape"
    rip = plan_network(network, Strategy.RIP)
    return Ours(
        model=model,
        image=sum(network.tensors[tensor].size for tensor in network.inputs),
        stated=stated,
        stated_buffer=buffer,
        rip=rip.peak,
        rip_scratch=rip.scratch_bytes,
        fused={
            form: plan_network(network, Strategy.FUSED, fused=kernel).peak
            for form, kernel in FUSED_KERNELS.items()
        },
        streamed={
            form: streamed_peak(network, PLAIN, kernel) for form, kernel in FUSED_KERNELS.items()
        },
    )
