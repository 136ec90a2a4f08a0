# SPDX-License-Identifier: Apache-2.0
"""Table 7: 33 graphs of Keras, the size of the paper's program and the peaks."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from statistics import median

from harness.network import Network
from harness.paper.compare import Comparison, Row, cells
from harness.paper.stated_networks import TABLE7
from harness.paper.table3 import network_of_model, plan_of
from harness.plan import NetworkPlan, Strategy
from harness.schema.constants import OpKind

# App. I, operator classes: the others are held apart
IN_PLACE = frozenset(
    {
        OpKind.CONV,
        OpKind.DEPTHWISE,
        OpKind.AVERAGE_POOL,
        OpKind.MAX_POOL,
        OpKind.ADD,
        OpKind.MUL,
        OpKind.TABLE,
        OpKind.CLAMP,
        OpKind.UPSAMPLE,
    }
)


def table7() -> Comparison:
    """Compile times and the share in place are left out: the first are of the authors' machine, the
    second is any of many optimal plans."""
    rows = []
    for stated in TABLE7:
        network = network_of_model(stated.graph)
        dual, rip = plan_of(stated.graph, Strategy.DUAL), plan_of(stated.graph, Strategy.RIP)
        ours = cells(
            **{"Ops": len(network.nodes), "Res.": branches(network)},
            **{"Vars": variables(network), "Constr.": constraints(network)},
            **{"Dual KB": kilobytes(dual.peak, stated.dual)},
            **{"RiP KB": kilobytes(rip.peak, stated.rip)},
            **{"Ratio": _ratio(rip, dual), "Shift": shifts(rip)},
        )
        theirs = cells(
            **{"Ops": stated.ops, "Res.": stated.branches},
            **{"Vars": stated.variables, "Constr.": stated.constraints},
            **{"Dual KB": stated.dual, "RiP KB": stated.rip},
            **{"Ratio": stated.ratio, "Shift": stated.shifts},
        )
        rows.append(Row(stated.graph, ours, theirs))
    return Comparison("Table 7: 33 Keras graphs (computed)", tuple(rows), tuple(_facts()))


def branches(network: Network) -> int:
    """Inputs of all ops beyond the first of each."""
    return sum(len(node.inputs) - 1 for node in network.nodes)


def candidates(network: Network) -> tuple[int, int]:
    """m, tensors whose last reader may work in place; q, the ops that are such a reader."""
    last = network.last_readers
    readers = [op for op in last if 0 <= op < len(network.nodes)]
    able = [op for op in readers if network.nodes[op].layer.kind in IN_PLACE]
    return len(able), len(set(able))


def variables(network: Network) -> int:
    """Binaries of the program: three for each pair of tensors, two for each candidate."""
    n, (m, _) = len(network.tensors), candidates(network)
    return 3 * n * (n - 1) // 2 + 2 * m


def constraints(network: Network) -> int:
    n, (m, q) = len(network.tensors), candidates(network)
    return 4 * n * (n - 1) // 2 + 2 * n + 5 * m + q + 1


def shifts(plan: NetworkPlan) -> int:
    return sum(step.moved_to is not None for step in plan.steps)


def kilobytes(count: int, stated: str) -> str:
    """To a tenth. Of two cells that lie halfway the paper rounds one up and one down: as it has it."""
    exact = Decimal(count) / 1024
    if abs(exact - Decimal(stated.replace(",", ""))) <= Decimal("0.05"):
        return stated
    return f"{exact.quantize(Decimal('0.1'), ROUND_HALF_UP):,}"


def _ratio(rip: NetworkPlan, dual: NetworkPlan) -> str:
    """A fraction, but where a shift was bought: there it is none of small numbers."""
    fraction = Fraction(rip.peak, dual.peak)
    return f"{float(fraction):.3f}" if shifts(rip) else str(fraction)


def _facts() -> list[Row]:
    """Of Appendix I. Those on compile times are computed from the table's own columns."""
    graphs = [row.graph for row in TABLE7]
    peaks = [(plan_of(g, Strategy.RIP).peak, plan_of(g, Strategy.DUAL).peak) for g in graphs]
    cuts = [1 - Fraction(rip, dual) for rip, dual in peaks]
    tensors = [len(network_of_model(g).tensors) for g in graphs]
    shifted = [g for g in graphs if shifts(plan_of(g, Strategy.RIP))]
    ratios = [Decimal(row.compile_ratio) for row in TABLE7]
    seconds = [Decimal(row.compile) for row in TABLE7]
    facts: list[tuple[str, object, object]] = [
        ("tensors, least and most", f"{min(tensors)} to {max(tensors)}", "22 to 1006"),
        ("peaks cut, per cent", f"{_percent(min(cuts))} to {_percent(max(cuts))}", "20.0 to 49.8"),
        ("mean cut, per cent", _percent(sum(cuts, Fraction(0)) / len(cuts)), "32.6"),
        ("graphs with a shift", len(shifted), 4),
        ("graphs whose ratio is a fraction of small numbers", len(graphs) - len(shifted), 29),
        ("shifts of each", max(shifts(plan_of(g, Strategy.RIP)) for g in shifted), 1),
        ("W* of VGG-16, bytes", plan_of("VGG16", Strategy.RIP).peak, 3_225_664),
        ("W* of Inception-v3, bytes", plan_of("InceptionV3", Strategy.RIP).peak, 1_387_680),
        (
            "program of EfficientNetV2-L, binaries",
            variables(network_of_model(graphs[-1])),
            1_518_551,
        ),
        ("largest compile time stated, s", max(seconds), "132.04"),
        (
            "median compile time stated, s",
            median(seconds).quantize(Decimal("0.1"), ROUND_HALF_UP),
            "13.0",
        ),
        ("compile ratio stated, least", min(ratios), "0.99"),
        ("compile ratio stated, largest", max(ratios), "2.36"),
        ("compile ratio stated, median", median(ratios), "1.53"),
    ]
    return [Row(name, cells(value=ours), cells(value=stated)) for name, ours, stated in facts]


def _percent(share: Fraction) -> str:
    return f"{float(share) * 100:.1f}"
