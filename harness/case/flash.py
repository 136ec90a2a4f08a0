# SPDX-License-Identifier: Apache-2.0
"""Plans whose constants fit the flash: packed ones take more of it than int8 weights.

Where they do not fit, ops go back to kernels that read int8 weights, those first that give most flash
for each MAC that is slower then: late pointwise ones, of many channels and few pixels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from harness.case.network import NetworkCase, network_case
from harness.case.pack import build_pack
from harness.case.records import constants_of, packed_for
from harness.geometry import Geometry
from harness.kernels import KernelTraits
from harness.network import Model, Network
from harness.plan import NetworkPlan
from harness.schema.constants import SECTION_ALIGNMENT, OpKind, Rounding

Op = tuple[OpKind, Geometry, Rounding]


@dataclass(frozen=True)
class Saving:
    """Of all single ops that are alike: bytes of flash as int8, and the MACs that are slower then."""

    op: Op
    saved: int
    macs: int


def plan_that_fits(
    model: Network | Model,
    plan_by: Callable[[KernelTraits], NetworkPlan],
    kernels: KernelTraits,
    fits: Callable[[NetworkPlan], bool],
    room: int,
) -> NetworkPlan:
    """With the most scratch for the kernels' steps with which the plan fits the SRAM, or the least where
    none does; then within a flash that has `room` bytes for its pack. Errors: as plan_within."""
    for tried in kernels.with_less_scratch():
        plan = plan_by(tried)
        if fits(plan):
            break
    return plan_within(model, plan_by, plan, room)


def plan_within(
    model: Network | Model,
    plan_by: Callable[[KernelTraits], NetworkPlan],
    plan: NetworkPlan,
    room: int,
) -> NetworkPlan:
    """The plan, or one that plan_by makes of the same kernels with as few packed ops fewer as it takes
    for its pack to have at most `room` bytes. One that has more even so is given as it is: who flashes
    it says so. Errors: as network_case; what plan_by raises."""
    while more := _too_large(model, plan, room):
        as_int8 = plan.kernel.as_int8 | more
        plan = plan_by(replace(plan.kernel, as_int8=as_int8))
    return plan


def _too_large(model: Network | Model, plan: NetworkPlan, room: int) -> frozenset[Op]:
    """Which ops should be int8, too, for the pack to fit; none where it fits, or where none is left."""
    if not any(choice.kernel.packed for choice in plan.choices):
        return frozenset()
    case = network_case(model, plan)
    excess = len(build_pack([case]).data) - room
    chosen: list[Op] = []
    for saving in sorted(savings(case), key=lambda s: (s.macs / s.saved, -s.saved)):
        if excess <= 0 or (chosen and excess < SECTION_ALIGNMENT):
            break  # of the last sector part is padding: it may be enough
        chosen.append(saving.op)
        excess -= saving.saved
    return frozenset(chosen)


def savings(case: NetworkCase) -> Iterator[Saving]:
    """By what is alike, of the steps that are no segments and whose constants are packed."""
    found: dict[Op, Saving] = {}
    for step, choice in zip(case.plan.steps, case.plan.step_choices, strict=True):
        if not choice.kernel.packed:
            continue
        layer = case.plan.network.nodes[step.ops[0]].layer
        parameters = case.parameters[step.ops[0]]
        own = constants_of(parameters)
        saved = len(packed_for(choice, layer, parameters).weights) - len(own.weights)
        op = layer.kind, layer.geometry, own.rounding
        known = found.get(op, Saving(op, 0, 0))
        found[op] = Saving(op, known.saved + saved, known.macs + layer.macs)
    yield from (saving for saving in found.values() if saving.saved > 0)
