# SPDX-License-Identifier: Apache-2.0
"""A segment: ops of a chain that run as one, an output row after the other.

Row pull: to make row t of a tensor a stage first pulls, of its source, all rows up to the end of its
window that are not made yet; each is made once, whole, into a ring of rows. Only the input X, operands
from outside and the output Y are ever stored whole.
"""

from __future__ import annotations

from dataclasses import dataclass

from harness.errors import ConfigError
from harness.geometry.conv import ConvGeometry
from harness.geometry.shape import Shape
from harness.schema.constants import OpKind

WINDOWS = (OpKind.CONV, OpKind.DEPTHWISE, OpKind.AVERAGE_POOL, OpKind.MAX_POOL)


@dataclass(frozen=True)
class Stage:
    """One op. window: over its source, the output of the stage before; of an add 1 x 1. other: of an
    add, the operand that is not its source: 0 for X, l for the output of stage l, -1, -2, ... for
    operands from outside; None for every other kind, and for an add of a tensor to itself."""

    kind: OpKind
    window: ConvGeometry
    other: int | None = None

    @property
    def output(self) -> Shape:
        return self.window.output

    def rows_of(self, row: int) -> range:
        """Rows of the source that its output row `row` reads, padding and rows between taps included."""
        g = self.window
        first = row * g.s_h - g.pad.top
        return range(first, first + g.k_h_eff)

    def reads(self, row: int) -> tuple[int, ...]:
        """Of these the ones that a tap lies on and that exist."""
        g = self.window
        return tuple(y for y in self.rows_of(row)[:: g.d_h] if 0 <= y < g.h_in)


@dataclass(frozen=True)
class Segment:
    """stages: 1 to m, in order; tensor 0 is X, tensor l what stage l makes, tensor m is Y.

    Errors: ConfigError for fewer than two stages, shapes that do not follow each other, an operand
    that is none, or a skip over ops that bring it too late.
    """

    stages: tuple[Stage, ...]

    def __post_init__(self) -> None:
        if len(self.stages) < 2:
            raise ConfigError("a segment has at least two ops")
        for number, stage in enumerate(self.stages, 1):
            self._check(number, stage)

    @property
    def last(self) -> int:
        """m: the number of stages, and of Y."""
        return len(self.stages)

    def stage(self, number: int) -> Stage:
        """The one that makes tensor `number`, from 1."""
        return self.stages[number - 1]

    def shape(self, tensor: int) -> Shape:
        """Of an operand from outside, too: it is added to a tensor of its own shape."""
        if tensor == 0:
            return self.stages[0].window.inputs[0]
        if tensor < 0:
            return next(stage.output for stage in self.stages if stage.other == tensor)
        return self.stage(tensor).output

    @property
    def operands(self) -> tuple[int, ...]:
        """Tensors that are in memory before: X, then those from outside."""
        outside = {stage.other for stage in self.stages if stage.other is not None}
        return (0, *sorted((t for t in outside if t < 0), reverse=True))

    def adders(self, tensor: int) -> tuple[int, ...]:
        """Stages that add `tensor` to their source."""
        return tuple(n for n, stage in enumerate(self.stages, 1) if stage.other == tensor)

    def _check(self, number: int, stage: Stage) -> None:
        where = f"stage {number} ({stage.kind.name.lower()})"
        source = stage.window.inputs[0]
        if number > 1 and source != self.stage(number - 1).output:
            made = self.stage(number - 1).output
            raise ConfigError(f"{where} reads {source}, and the stage before makes {made}")
        if stage.kind is OpKind.ADD:
            if stage.window != ConvGeometry(source.h, source.w, source.c, source.c):
                raise ConfigError(f"{where} is no element-wise op")
        elif stage.kind not in WINDOWS or stage.other is not None:
            raise ConfigError(f"{where} is no op of a segment")
        if stage.other is None:
            return
        if stage.other >= number - 1:
            raise ConfigError(f"{where} adds tensor {stage.other}, which is its source or later")
        if stage.other >= 0 and self.shape(stage.other) != source:
            raise ConfigError(f"{where} adds {self.shape(stage.other)} to {source}")
        if stage.other > 0:
            self._check_skip(where, stage.other, number)

    def _check_skip(self, where: str, tensor: int, adder: int) -> None:
        """Row t of the skip must be made before row t of the main path is: it is in one of its windows
        or above them."""
        ahead = 1
        for stage in reversed(self.stages[tensor : adder - 1]):
            g = stage.window
            ahead += g.k_h_eff - 1 - g.pad.top
            if g.s_h != 1 or ahead < 1:
                raise ConfigError(
                    f"{where} adds tensor {tensor} before the ops between have pulled it",
                    cause="a stride, or padding on top that is larger than the kernel needs",
                )


@dataclass(frozen=True)
class Ring:
    """Rows of an inner tensor, of w pixels of c bytes; row y lies in slot y mod rows.

    planar: [c][rows][w] instead of [rows][w][c], and w has the reader's padding in it. guest: the
    tensor, made by a depthwise stage out of this one, whose rows are parked in it, channel by channel,
    in the slot of the row that retires: it has no memory of its own.
    """

    tensor: int
    rows: int
    w: int
    c: int
    guest: int | None = None
    planar: bool = False

    @property
    def size(self) -> int:
        return self.rows * self.w * self.c


def guest_slot(window: ConvGeometry, rows: int, row: int) -> int:
    """Where row `row` of a depthwise stage's output lies in its source's ring of so many rows: in the
    slot of the topmost row of its window, which no later row reads, or which is still free. Where all of
    the input is shorter than the kernel none retires, and the ring has a slot beyond the last row."""
    if rows == window.h_in + 1:
        return window.h_in
    return (row * window.s_h - window.pad.top) % rows
