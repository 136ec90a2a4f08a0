# SPDX-License-Identifier: Apache-2.0
"""A small network with tensors in every relation, on both boards; broken plans, traced to their op."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.bench import Bench, BenchOptions, demand
from harness.boards import BoardEntry
from harness.case import NetworkCase, draw_parameters, make_network_case
from harness.errors import Mismatch
from harness.geometry import (
    DIRECT,
    GATHER,
    ConvGeometry,
    ElementwiseGeometry,
    Execution,
    Pad,
    UpsampleGeometry,
)
from harness.kernels import PLAIN
from harness.network import Layer, Network, Node
from harness.plan import NetworkPlan, Step, Strategy
from harness.schema.constants import OpKind, Traversal

CHANNEL = Execution(traversal=Traversal.CHANNEL)
REVERSE = Execution(traversal=Traversal.REVERSE)

STEM = Layer(
    "small.0", ConvGeometry(9, 8, 3, 8, 3, 3, 2, 2, pad=Pad(1, 1, 1, 1)), activation="relu6"
)
DEEP = Layer("small.1", ConvGeometry(5, 4, 8, 8, 3, 3, pad=Pad(1, 1, 1, 1)), OpKind.DEPTHWISE)
SUM = Layer("small.2", ElementwiseGeometry(5, 4, 8, operands=2), OpKind.ADD)
POOL = Layer("small.3", ConvGeometry(5, 4, 8, 8, 5, 4), OpKind.AVERAGE_POOL)
LARGE = Layer("small.4", UpsampleGeometry(5, 4, 8), OpKind.UPSAMPLE)
NETWORK = Network(
    "small",
    (
        STEM.inputs[0], STEM.output, DEEP.output, SUM.output, POOL.output, LARGE.output,
    ),
    (
        Node(STEM, (0,), 1),
        Node(DEEP, (1,), 2),
        Node(SUM, (2, 1), 3),
        Node(POOL, (3,), 4),
        Node(LARGE, (3,), 5),
    ),
    inputs=(0,),
    outputs=(4, 5),
)  # fmt: skip
PARAMETERS = tuple(draw_parameters(node.layer) for node in NETWORK.nodes)
WAYS = (GATHER, CHANNEL, GATHER, DIRECT, REVERSE)
SCRATCH = max(
    PLAIN.scratch_bytes(node.layer.kind, node.layer.geometry, way)
    for node, way in zip(NETWORK.nodes, WAYS, strict=True)
)


def _plan(strategy: Strategy, offsets: tuple[int, ...], **moved: int) -> NetworkPlan:
    """offsets: of the six tensors. The stem is laid onto the input, shifted where `moved` says."""
    steps = tuple(
        Step((number,), way, onto=0 if number == 0 and strategy is Strategy.RIP else None)
        for number, way in enumerate(WAYS)
    )
    if moved:
        steps = (replace(steps[0], moved_to=moved["to"]), *steps[1:])
    sizes = [shape.size for shape in NETWORK.tensors]
    peak = max(at + size for at, size in zip(offsets, sizes, strict=True))
    peak = max([peak, *(at + sizes[0] for at in moved.values())])
    return NetworkPlan(NETWORK, strategy, steps, offsets, peak, 0, None, SCRATCH)


# Tensors of 216, 160, 160, 160, 8 and 640 bytes. In place: the stem's debt is 17; the sum lies on
# the depthwise output, and the upsampled one begins where the sum does.
DUAL = _plan(Strategy.DUAL, (0, 216, 376, 536, 696, 704))
PLACED = _plan(Strategy.RIP, (612, 500, 660, 660, 500, 660))
SHIFTED = _plan(Strategy.RIP, (500, 500, 720, 720, 500, 720), to=612)


def _cases(*plans: NetworkPlan) -> list[NetworkCase]:
    return [make_network_case(plan, PARAMETERS) for plan in plans]


def _bench(entry: BoardEntry, **options: object) -> Bench:
    return Bench(entry, BenchOptions(seeds=(1, 2), repeats=2, **options))  # type: ignore[arg-type]


@pytest.mark.parametrize("rip", [PLACED, SHIFTED], ids=["placed", "shifted"])
def test_a_network_runs_the_same_in_any_places(entry: BoardEntry, rip: NetworkPlan) -> None:
    bench = _bench(entry)
    try:
        verdicts = bench.judge_network(_cases(DUAL, rip))
    finally:
        bench.close()
    for verdict in verdicts:
        demand(verdict)
    dual, found = verdicts
    assert dual.output_crc == found.output_crc
    assert found.workspace_reached <= rip.peak == found.workspace_given
    assert found.ratio is None  # there is no baseline among them
    assert bench.unfit == []


def _broken(number: int, offset: int) -> NetworkPlan:
    """PLACED with one tensor elsewhere."""
    offsets = tuple(offset if n == number else at for n, at in enumerate(PLACED.offsets))
    return replace(PLACED, offsets=offsets, peak=1300)


@pytest.mark.parametrize(
    ("plan", "says"),
    [
        (_broken(0, 500), r"after op 0 \(conv\) tensor 1 is wrong"),
        (
            _broken(2, 560),
            r"after op 1 \(depthwise\) tensor 2 is wrong|after op 1 .* tensor 1 is wrong",
        ),
        (_broken(4, 660), r"after op 3 \(average_pool\) tensor 3 is wrong"),
        (_broken(5, 640), r"after op 4 \(upsample\) tensor 5 is wrong"),
    ],
    ids=["gap", "live operand", "live bystander", "reversed"],
)
def test_a_broken_plan_is_traced_to_its_op(entry: BoardEntry, plan: NetworkPlan, says: str) -> None:
    bench = _bench(entry)
    try:
        (verdict,) = bench.judge_network(_cases(plan))
    finally:
        bench.close()
    with pytest.raises(Mismatch, match=says):
        demand(verdict)


def test_a_plan_that_does_not_fit_is_said_and_not_run(entry: BoardEntry) -> None:
    large = replace(DUAL, strategy=Strategy.BASELINE, peak=600_000)
    bench = _bench(entry)
    try:
        verdicts = bench.judge_network(_cases(large, DUAL))
    finally:
        bench.close()
    assert [(verdict.plan, verdict.ok) for verdict in verdicts] == [("dual", True)]
    (unfit,) = bench.unfit
    assert str(unfit).startswith(f"small on {entry.name}: baseline does not fit, ")
    assert unfit.needed == 1024 + 600_000 + 64 + SCRATCH + 64
