# SPDX-License-Identifier: Apache-2.0
"""A whole segment as the only step of a network, laid out as tightly as its gap allows, or less
(harness.case.segment_layout)."""

from __future__ import annotations

from harness.case import NetworkCase, network_case
from harness.case.segment_layout import Tightness, gap_of, lay_out, network_of_segment
from harness.geometry.segment import Segment
from harness.kernels import PLAIN, KernelTraits
from harness.plan import NetworkPlan

__all__ = ["forced_case", "forced_plan", "gap_of"]


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
    how = Tightness(nearer=closer + raised, rows=(-fewer_rows,))
    return lay_out(network_of_segment(segment, name), kernel, how)


def forced_case(plan: NetworkPlan) -> NetworkCase:
    """With drawn weights."""
    return network_case(plan.network, plan)
