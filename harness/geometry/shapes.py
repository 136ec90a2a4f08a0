# SPDX-License-Identifier: Apache-2.0
"""Shapes of the operators that are not windows over an image: int8 tensors HWC, sizes in scalars."""

from __future__ import annotations

from dataclasses import dataclass

from harness.errors import ConfigError
from harness.geometry.conv import Pad
from harness.geometry.shape import Shape, check_range
from harness.schema.constants import OPERANDS_MAX


@dataclass(frozen=True)
class ElementwiseGeometry:
    """One value out for one value of each operand: add, multiply, tables, clamps, softmax over c.

    broadcast: the second operand is 1 x 1 x c, as in squeeze-and-excitation. Errors: ConfigError.
    """

    h: int
    w: int
    c: int
    operands: int = 1
    broadcast: bool = False

    def __post_init__(self) -> None:
        _ = self.output
        if self.operands not in (1, 2) or (self.broadcast and self.operands == 1):
            raise ConfigError(f"an element-wise operator of {self.operands} operands is not known")

    @property
    def inputs(self) -> tuple[Shape, ...]:
        second = Shape(1, 1, self.c) if self.broadcast else self.output
        return (self.output, second)[: self.operands]

    @property
    def output(self) -> Shape:
        return Shape(self.h, self.w, self.c)

    def __str__(self) -> str:
        return " and ".join(str(shape) for shape in self.inputs)


@dataclass(frozen=True)
class MeanGeometry:
    """The mean over all pixels: h x w x c to 1 x 1 x c."""

    h: int
    w: int
    c: int

    @property
    def inputs(self) -> tuple[Shape, ...]:
        return (Shape(self.h, self.w, self.c),)

    @property
    def output(self) -> Shape:
        return Shape(1, 1, self.c)

    def __str__(self) -> str:
        return f"{self.inputs[0]} -> {self.output}"


@dataclass(frozen=True)
class UpsampleGeometry:
    """Nearest neighbour by whole factors: h x w x c to f_h h x f_w w x c."""

    h: int
    w: int
    c: int
    f_h: int = 2
    f_w: int = 2

    def __post_init__(self) -> None:
        for name in ("f_h", "f_w"):
            check_range(name, getattr(self, name), 1)
        _ = self.inputs, self.output

    @property
    def inputs(self) -> tuple[Shape, ...]:
        return (Shape(self.h, self.w, self.c),)

    @property
    def output(self) -> Shape:
        return Shape(self.h * self.f_h, self.w * self.f_w, self.c)

    def __str__(self) -> str:
        return f"{self.inputs[0]} -> {self.output}"


@dataclass(frozen=True)
class ConcatGeometry:
    """Along the channels: operands h x w x channels[i] to h x w x sum(channels)."""

    h: int
    w: int
    channels: tuple[int, ...]

    def __post_init__(self) -> None:
        if not 1 <= len(self.channels) <= OPERANDS_MAX:
            raise ConfigError(
                f"a concatenation of {len(self.channels)} tensors",
                hint=f"1 to {OPERANDS_MAX} are possible; a longer one is several",
            )
        _ = self.inputs, self.output

    @property
    def inputs(self) -> tuple[Shape, ...]:
        return tuple(Shape(self.h, self.w, c) for c in self.channels)

    @property
    def output(self) -> Shape:
        return Shape(self.h, self.w, sum(self.channels))

    def __str__(self) -> str:
        return f"{self.h}x{self.w}x({'+'.join(map(str, self.channels))})"


@dataclass(frozen=True)
class PadGeometry:
    """A border of the zero point around h x w x c."""

    h: int
    w: int
    c: int
    pad: Pad

    def __post_init__(self) -> None:
        for side in ("top", "left", "bottom", "right"):
            check_range(f"pad.{side}", getattr(self.pad, side), 0)
        _ = self.inputs, self.output

    @property
    def inputs(self) -> tuple[Shape, ...]:
        return (Shape(self.h, self.w, self.c),)

    @property
    def output(self) -> Shape:
        p = self.pad
        return Shape(self.h + p.top + p.bottom, self.w + p.left + p.right, self.c)

    def __str__(self) -> str:
        return f"{self.inputs[0]} -> {self.output}"
