# SPDX-License-Identifier: Apache-2.0
"""Table 2: the two regimes in which the published herringbone form (Eq. 1) does not hold."""

from __future__ import annotations

from harness.bounds import published
from harness.geometry import ConvGeometry, Execution
from harness.liveness.pixels import conv_debt
from harness.network import find_set, load_set
from harness.paper.compare import Comparison, Row, cells
from harness.paper.stated import TABLE2
from harness.schema.constants import TapOrder, Traversal

SET = "table2"
_HERRINGBONE = Execution(tap_order=TapOrder.DIRECT, traversal=Traversal.HERRINGBONE)
_LOSES_32 = ConvGeometry(14, 14, 16, 64, 3, 3)  # Sec. 3.1: "a 16 -> 64, k = 3 layer loses 32"


def table2() -> Comparison:
    """Truth is the simulator's; Corollary 1 and Theorem 11 stand beside it, as the caption says."""
    layers = {layer.id: layer.window for layer in load_set(find_set(SET))}
    rows = []
    for stated in TABLE2:
        g = layers[stated.layer]
        form, truth = published.gural_murmann(g), herringbone_truth(g)
        ours = cells(
            **{"x*": _critical(g), "G&M": form, "Truth": truth, "Err.": form - truth},
            **{"Corollary 1": published.corollary_1(g), "Theorem 11": published.theorem_11(g)},
        )
        theirs = cells(
            **{"x*": stated.critical, "G&M": stated.published, "Truth": stated.truth},
            **{"Err.": stated.error, "Corollary 1": stated.truth, "Theorem 11": stated.truth},
        )
        rows.append(Row(f"{g.c_in} -> {g.c_out}, k {g.k_h}, {g.h_in}x{g.w_in}", ours, theirs))
    return Comparison("Table 2: Eq. 1 against the simulator", tuple(rows), tuple(_facts(layers)))


def herringbone_truth(g: ConvGeometry) -> int:
    """The least gap without corruption, taps read from the workspace; literal liveness."""
    debt = conv_debt(g, _HERRINGBONE, release="pixel")
    return max(0, g.n_out - g.n_in, debt if debt is not None else 0)


def _critical(g: ConvGeometry) -> str:
    whole, rest = published.critical_leg(g)
    return f"{whole + rest / (g.c_out - g.c_in):.1f}" if rest else str(whole)


def _facts(layers: dict[str, ConvGeometry]) -> list[Row]:
    errors = [
        (published.gural_murmann(g), herringbone_truth(g), published.shortfall(g))
        for g in layers.values()
    ]
    lost = herringbone_truth(_LOSES_32) - published.gural_murmann(_LOSES_32)
    deployed = [layers[row.layer] for row in TABLE2[:3]]
    found: list[tuple[str, object, object]] = [
        ("largest overestimate, times", max(form // truth for form, truth, _ in errors), 2432),
        ("scalars that a 16 -> 64, k 3 layer loses", lost, 32),
        (
            "shortfall of Lemma 9, first three rows",
            " ".join(str(short) for _, _, short in errors[:3]),
            "2 1 1",
        ),
        (
            "layers of the deployed network with x* not whole",
            sum(published.critical_leg(g)[1] != 0 for g in deployed),
            3,
        ),
    ]
    return [Row(name, cells(value=ours), cells(value=stated)) for name, ours, stated in found]
