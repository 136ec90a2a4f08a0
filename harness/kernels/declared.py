# SPDX-License-Identifier: Apache-2.0
"""A kernel as kernels.yaml declares it, and the ops that it takes.

Everything that the bench knows of a kernel beforehand is in its declaration: the C table, the scratch
and the gap all come from here, and nothing of them is written a second time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.errors import ConfigError
from harness.geometry import (
    ConvGeometry,
    ElementwiseGeometry,
    Execution,
    Geometry,
    PadGeometry,
    Step,
    UpsampleGeometry,
)
from harness.kernels.formula import Formula
from harness.schema.constants import Layout, OpKind, Rounding, TapOrder, Traversal

INT8 = "int8"  # the form of weights that harness.schema.records.OpRecord describes
STAGES = "stages"  # of a segment: of each stage the form of the set's own kernel for it alone


@dataclass(frozen=True)
class Situation:
    """An op as a kernel is asked about it. names: the values of formula.NAMES."""

    kind: OpKind
    execution: Execution
    rounding: Rounding
    names: Mapping[str, int]


@dataclass(frozen=True, eq=False)
class Kernel:
    """One entry of kernels.yaml (docs/kernels.md has the keys). Two are the same only if they are one.

    chips: empty for all. pixels: the values that B may have, of which the cost model takes one. ring:
    its rows, 0 for none. weights: INT8, STAGES of a segment, or the packer that makes its constants;
    weights_bytes: the least that these take; sound: the C function that says before a run whether the
    kernel can read them, None where it can read any. cycles: an estimate without flash, None where there
    is none. sources: C and assembler files, relative to `folder`. library: such files that are somebody
    else's: compiled with less asked of them (harness.build.runner, LIBRARY). run: the name of its C
    function.

    Of a segment's kernel `accepts` must hold for every stage, each must have one of the roundings, and
    scratch is the most that any asks for; spare, of all of them together, is what it makes use of beyond
    that, where there is memory (harness.kernels.segments). None: nothing.
    """

    name: str
    set: str
    kind: OpKind
    chips: frozenset[str]
    accepts: tuple[Formula, ...]
    roundings: frozenset[Rounding]
    layouts: frozenset[Layout]
    tap_orders: frozenset[TapOrder]
    traversals: frozenset[Traversal]
    pixels: tuple[Formula, ...]
    channels: Formula
    ring: Formula
    over_rows: bool
    prefetch: bool
    scratch: Formula
    spare: Formula | None
    alignment: int
    weights: str
    weights_bytes: Formula | None
    sound: str | None
    cycles: Formula | None
    sources: tuple[str, ...]
    library: tuple[str, ...]
    folder: Path
    run: str

    @property
    def packed(self) -> bool:
        return self.weights not in (INT8, STAGES)

    @property
    def packed_stages(self) -> bool:
        return self.weights == STAGES

    @property
    def has_ring(self) -> bool:
        """Whatever the geometry is?"""
        return self.ring.text != "0"

    def runs_on(self, chip: str | None) -> bool:
        """None: on all of them?"""
        return not self.chips or chip in self.chips

    def runs_as(self, kind: OpKind, execution: Execution, rounding: Rounding) -> bool:
        """Whatever the geometry is?"""
        return (
            kind is self.kind
            and rounding in self.roundings
            and execution.layout in self.layouts
            and execution.tap_order in self.tap_orders
            and execution.traversal in self.traversals
        )

    def takes(self, asked: Situation) -> bool:
        """As the table's accepts does, but for B, which the host chooses."""
        return self.runs_as(asked.kind, asked.execution, asked.rounding) and all(
            formula.evaluate(asked.names) for formula in self.accepts
        )

    def step_sizes(self, asked: Situation) -> tuple[int, ...]:
        """The values of B for this op, each once, in the order of the file. Errors: ConfigError for
        0."""
        found = tuple(dict.fromkeys(formula.evaluate(asked.names) for formula in self.pixels))
        if 0 in found:
            raise ConfigError(
                f"{self.name}: a step of 0 pixels",
                evidence={"pixels": [formula.text for formula in self.pixels]},
            )
        return found

    def step(self, asked: Situation, pixels: int) -> Step:
        """Errors: ConfigError for no channels, and for a ring that is too small for the op's windows."""
        rows = self.ring.evaluate(asked.names)
        needed = (asked.names["k_h"] - 1) * asked.names["d_h"] + 1
        if 0 < rows < needed:
            raise ConfigError(
                f"{self.name}: a ring of {rows} rows, and the window spans {needed}",
                evidence={"ring": self.ring.text},
                hint="ring: (k_h - 1) * d_h + 1",
            )
        by_channel = asked.execution.traversal is Traversal.CHANNEL  # its ring is what it is
        return Step(
            pixels,
            self.channels.evaluate(asked.names),
            self.over_rows,
            self.prefetch,
            ring=rows > 0 and not by_channel,
        )

    def scratch_bytes(self, asked: Situation, pixels: int) -> int:
        return self.scratch.evaluate({**asked.names, "b": pixels})


def situation_of(
    kind: OpKind, geometry: Geometry, execution: Execution, rounding: Rounding
) -> Situation:
    """What harness.case writes into the op's record."""
    source, output = geometry.inputs[0], geometry.output
    names = {
        **{"h_in": source.h, "w_in": source.w, "c_in": source.c},
        **{"h_out": output.h, "w_out": output.w, "c_out": output.c},
        **dict.fromkeys(("k_h", "k_w", "s_h", "s_w", "d_h", "d_w"), 1),
        **dict.fromkeys(("pad_top", "pad_left", "pad_bottom", "pad_right"), 0),
        "operands": len(geometry.inputs),
        "broadcast": 0,
    }
    match geometry:
        case ConvGeometry() as g:
            names |= {name: getattr(g, name) for name in ("k_h", "k_w", "s_h", "s_w", "d_h", "d_w")}
            if execution.layout is Layout.PADDED:
                names["h_in"] += g.pad.top + g.pad.bottom
                names["w_in"] += g.pad.left + g.pad.right
        case UpsampleGeometry() as g:
            names |= {"s_h": g.f_h, "s_w": g.f_w}
        case ElementwiseGeometry(operands=2) as g:
            names["broadcast"] = int((g.inputs[1].h, g.inputs[1].w) != (g.h, g.w))
    if isinstance(geometry, ConvGeometry | PadGeometry):
        pad = geometry.pad
        names |= {f"pad_{side}": getattr(pad, side) for side in ("top", "left", "bottom", "right")}
    return Situation(kind, execution, rounding, names)
