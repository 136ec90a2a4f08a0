# SPDX-License-Identifier: Apache-2.0
"""A whole segment as the only step of a network, laid out as tightly as its gap allows, or less."""

from __future__ import annotations

from dataclasses import replace

from harness.bounds import round_up
from harness.bounds.fused import segment_bound
from harness.case import NetworkCase, network_case
from harness.geometry import GATHER
from harness.geometry.segment import Segment
from harness.kernels import PLAIN, KernelTraits
from harness.plan import NetworkPlan, Step, Strategy
from harness.plan.fused_kernel import SetFused
from harness.plan.network import Buffer
from harness.plan.segments import fuse
from tests.plan.test_fused import network_of_segment

_SCRATCH_ALIGNMENT = 4


def gap_of(segment: Segment) -> int:
    """Of Y onto X, to the byte."""
    return max(0, segment_bound(segment, 0).debt or 0)


def forced_plan(
    segment: Segment,
    name: str,
    *,
    kernel: KernelTraits = PLAIN,
    closer: int = 0,
    raised: int = 0,
    fewer_rows: int = 0,
) -> NetworkPlan:
    """X lies at the gap above Y, everything else apart behind both. closer: X, raised: Y so many bytes
    nearer to the other; fewer_rows: of the first ring."""
    network = replace(network_of_segment(segment), name=name)
    ops = tuple(range(len(network.nodes)))
    found = fuse(network, ops)
    assert found is not None
    segment = found.segment  # operands from outside as the network numbers them
    gap = gap_of(segment)
    y = found.tensors[segment.last]
    offsets = [0] * len(network.tensors)
    offsets[y] = raised
    offsets[found.tensors[0]] = gap - closer
    end = max(raised + network.tensors[y].size, gap + segment.shape(0).size)
    for tensor in segment.operands[1:]:
        offsets[found.tensors[tensor]] = end
        end += segment.shape(tensor).size
    runs = SetFused(kernel)
    rings = list(runs.rings(segment))
    rings[0] = replace(rings[0], rows=rings[0].rows - fewer_rows)
    buffers = []
    for ring in rings:
        buffers.append(Buffer(end, ring.size, ring))
        end += ring.size
    roundings = [node.layer.rounding for node in network.nodes]
    scratch = Buffer(round_up(end, _SCRATCH_ALIGNMENT), runs.scratch_bytes(segment, roundings))
    step = Step(ops, GATHER, 0, gap, None, (*buffers, scratch))
    return NetworkPlan(
        network, Strategy.FUSED, (step,), tuple(offsets), scratch.end, 0, None, 0, 1, kernel
    )


def forced_case(plan: NetworkPlan) -> NetworkCase:
    """With drawn weights."""
    return network_case(plan.network, plan)
