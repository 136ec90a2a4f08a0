# SPDX-License-Identifier: Apache-2.0
"""Table 6: RiP against herringbone on 84 layers, computed by the closed forms and held against the
simulator.

Conventions that reproduce the table. Both traversals read their taps from the workspace (sigma =
c_out) and store the padding; herringbone releases by blocks. Save compares RiP's workspace with two
buffers whose input is *not* padded; Dense compares the dense layout's workspace with the padded one's.
Timed: input and output, unpadded, are together at most 512 KiB of int8.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from harness.bounds import batch
from harness.geometry import ConvGeometry, Pad
from harness.liveness.pixels import Debts, row_and_herringbone
from harness.network import Layer, find_set, load_set
from harness.paper.compare import Comparison, Row, cells
from harness.paper.stated import TABLE6, Table6Row

SET = "paper84"
_TIMED_BYTES = 512 * 1024


@dataclass(frozen=True)
class Measured:
    """One layer's sizes, all in scalars; gaps are of the closed forms, sigma c_out."""

    layer: Layer
    family: str
    architecture: str
    herringbone: int
    rip: int
    rip_gap: int
    dense: int
    dense_gap: int
    dual: int
    dual_padded: int

    @property
    def general(self) -> bool:
        """Outside the restrictions under which herringbone was first published?"""
        return not restricted(self.layer.window)

    @property
    def ratio(self) -> float:
        return self.rip / self.herringbone

    @property
    def save(self) -> float:
        """Per cent."""
        return 100 * (1 - self.rip / self.dual)

    @property
    def dense_save(self) -> float:
        """Per cent."""
        return 100 * (1 - self.dense / self.rip)

    @property
    def timed(self) -> bool:
        return self.dual <= _TIMED_BYTES

    @property
    def pads(self) -> bool:
        return self.layer.window.pad != Pad()

    @property
    def shrinks(self) -> bool:
        """Is the output no larger than the padded input?"""
        return self.layer.n_out <= self.rip - self.rip_gap


def restricted(g: ConvGeometry) -> bool:
    """No padding, unit stride and dilation, an odd square kernel."""
    steps = (g.s_h, g.s_w, g.d_h, g.d_w)
    return g.pad == Pad() and steps == (1, 1, 1, 1) and g.k_h == g.k_w and g.k_h % 2 == 1


def measure() -> list[Measured]:
    """All 84 layers, in the set's order."""
    found = load_set(find_set(SET))
    layers = batch.layers_of(layer.window for layer in found)
    herringbone, rip = batch.herringbone(layers), batch.padded(layers, True)
    dense = batch.dense(layers, True)
    dual = batch.dual(layers, stores_padding=False)["workspace"]
    padded = batch.dual(layers, stores_padding=True)["workspace"]
    rows = []
    for n, layer in enumerate(found):
        family, architecture, _ = layer.source.split("; ")
        rows.append(
            Measured(
                layer=layer,
                family=family,
                architecture=architecture,
                herringbone=int(herringbone["workspace"][n]),
                rip=int(rip["workspace"][n]),
                rip_gap=int(rip["gap"][n]),
                dense=int(dense["workspace"][n]),
                dense_gap=int(dense["gap"][n]),
                dual=int(dual[n]),
                dual_padded=int(padded[n]),
            )
        )
    return rows


def simulated(rows: Sequence[Measured]) -> list[str]:
    """What the simulator does not confirm: empty when all is well."""
    wrong = []
    for row in rows:
        g = row.layer.window
        debts: Debts = row_and_herringbone(g)
        n_in = row.rip - row.rip_gap
        for name, ours, debt, size in (
            ("padded", row.rip_gap, debts.padded_direct, n_in),
            ("dense", row.dense_gap, debts.dense_direct, g.n_in),
            ("herringbone", row.herringbone - n_in, debts.herringbone, n_in),
        ):
            least = max(0, g.n_out - size, debt if debt is not None else 0)
            if ours != least:
                wrong.append(f"{row.layer.id}, {name}: gap {ours}, simulated {least}")
    return wrong


def table6() -> Comparison:
    """Seventeen families, the total, and what the text says of them."""
    rows = measure()
    families = {stated.family for stated in TABLE6[:-1]}
    assert {row.family for row in rows} == families, "a family of the set is not the paper's"
    compared = []
    for stated in TABLE6:
        own = rows if stated.family == "All" else [r for r in rows if r.family == stated.family]
        compared.append(Row(stated.family, _ours(own), _stated(stated)))
    return Comparison("Table 6: family by family", tuple(compared), tuple(_facts(rows)))


def _ours(rows: Sequence[Measured]) -> dict[str, str]:
    return cells(
        **{"n": len(rows), "Gen": sum(row.general for row in rows)},
        **{"Exact": sum(row.rip == row.herringbone for row in rows)},
        **{"<=5%": sum(100 * row.rip <= 105 * row.herringbone for row in rows)},
        **{"Max": f"{max(row.ratio for row in rows):.3f}"},
        **{"Save": f"{statistics.fmean(row.save for row in rows):.1f}"},
        **{"Dense": f"{statistics.fmean(row.dense_save for row in rows):.1f}"},
        **{"Timed": sum(row.timed for row in rows)},
    )


def _stated(row: Table6Row) -> dict[str, str]:
    return cells(
        **{"n": row.n, "Gen": row.general, "Exact": row.exact, "<=5%": row.within},
        **{"Max": row.worst, "Save": row.save, "Dense": row.dense, "Timed": row.timed},
    )


def _facts(rows: Sequence[Measured]) -> list[Row]:
    """Sections 5.3 and appendix H, of the same 84 layers."""
    shrinking = [row for row in rows if row.shrinks]
    over = {row.family for row in rows if 100 * row.rip > 105 * row.herringbone}
    families = {row.family for row in rows}
    calm = [f for f in families if max(r.ratio for r in rows if r.family == f) <= 1.01]
    saves = [row.save for row in rows]
    found: list[tuple[str, object, object]] = [
        ("architectures", len({row.architecture for row in rows}), 25),
        ("output no larger than padded input", len(shrinking), 25),
        ("of these, equal to herringbone", sum(r.rip == r.herringbone for r in shrinking), 25),
        ("layers with padding", sum(row.pads for row in rows), 38),
        ("layers without padding", sum(not row.pads for row in rows), 46),
        ("Dense zero, layers without padding", sum(r.dense == r.rip for r in rows if not r.pads), 46),
        ("Dense above zero, layers with padding", sum(r.dense < r.rip for r in rows if r.pads), 38),
        ("dense gap below padded gap", sum(row.dense_gap < row.rip_gap for row in rows), 0),
        ("median save, %", f"{statistics.median(saves):.1f}", "25.0"),
        ("best save, %", f"{max(saves):.1f}", "50.0"),
        ("most saved by the dense layout, %", f"{max(row.dense_save for row in rows):.1f}", "25.3"),
        ("families with no ratio above 1.01", len(calm), 11),
        ("families of the layers above 5%", " ".join(sorted(over)), "Inception-v3 VGG-16 (pruned)"),
        ("closed forms that the simulator does not confirm", len(simulated(rows)), 0),
    ]  # fmt: skip
    return [Row(name, cells(value=ours), cells(value=stated)) for name, ours, stated in found]
