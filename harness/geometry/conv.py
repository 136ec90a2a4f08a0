# SPDX-License-Identifier: Apache-2.0
"""Windows over an image, in the paper's symbols: convolutions, depthwise ones and pools."""

from __future__ import annotations

from dataclasses import dataclass

from harness.errors import ConfigError
from harness.geometry.shape import Shape, check_range


@dataclass(frozen=True)
class Pad:
    """Rows and columns of padding on each side of the input."""

    top: int = 0
    left: int = 0
    bottom: int = 0
    right: int = 0

    @classmethod
    def same(cls, h: int, w: int) -> Pad:
        """h rows above and below, w columns left and right."""
        return cls(h, w, h, w)


@dataclass(frozen=True)
class ConvGeometry:
    """A convolution from h_in x w_in x c_in to h_out x w_out x c_out, HWC, scalars of one byte.

    Depthwise convolutions (c_out a multiple of c_in) and pools (c_out = c_in) have the same shapes;
    fully connected is 1 x 1 x c_in to 1 x 1 x c_out.

    Output sizes round down (a ragged right or bottom edge is not read). Errors: ConfigError when an
    extent is not positive or too large, a padding is negative, or there is no output.
    """

    h_in: int
    w_in: int
    c_in: int
    c_out: int
    k_h: int = 1
    k_w: int = 1
    s_h: int = 1
    s_w: int = 1
    d_h: int = 1
    d_w: int = 1
    pad: Pad = Pad()

    def __post_init__(self) -> None:
        for name in ("h_in", "w_in", "c_in", "c_out", "k_h", "k_w", "s_h", "s_w", "d_h", "d_w"):
            check_range(name, getattr(self, name), 1)
        for side in ("top", "left", "bottom", "right"):
            check_range(f"pad.{side}", getattr(self.pad, side), 0)
        if self._span_h < self.k_h_eff or self._span_w < self.k_w_eff:
            raise ConfigError(
                "this convolution has no output",
                cause="the kernel with its dilation is larger than the padded input",
                evidence={
                    "padded input": f"{self._span_h} x {self._span_w}",
                    "kernel with dilation": f"{self.k_h_eff} x {self.k_w_eff}",
                },
                hint="add padding or use a smaller kernel",
            )
        check_range("h_out", self.h_out, 1)
        check_range("w_out", self.w_out, 1)

    @property
    def _span_h(self) -> int:
        return self.h_in + self.pad.top + self.pad.bottom

    @property
    def _span_w(self) -> int:
        return self.w_in + self.pad.left + self.pad.right

    @property
    def k_h_eff(self) -> int:
        """Rows that the dilated kernel spans."""
        return (self.k_h - 1) * self.d_h + 1

    @property
    def k_w_eff(self) -> int:
        """Columns that the dilated kernel spans."""
        return (self.k_w - 1) * self.d_w + 1

    @property
    def h_out(self) -> int:
        return (self._span_h - self.k_h_eff) // self.s_h + 1

    @property
    def w_out(self) -> int:
        return (self._span_w - self.k_w_eff) // self.s_w + 1

    @property
    def inputs(self) -> tuple[Shape, ...]:
        """Without padding."""
        return (Shape(self.h_in, self.w_in, self.c_in),)

    @property
    def output(self) -> Shape:
        return Shape(self.h_out, self.w_out, self.c_out)

    @property
    def n_in(self) -> int:
        """Scalars of the unpadded input."""
        return self.h_in * self.w_in * self.c_in

    @property
    def n_out(self) -> int:
        """Scalars of the output."""
        return self.h_out * self.w_out * self.c_out

    @property
    def pixels_out(self) -> int:
        return self.h_out * self.w_out

    @property
    def field(self) -> int:
        """Scalars of one receptive field, padding included."""
        return self.k_h * self.k_w * self.c_in

    @property
    def macs(self) -> int:
        """Multiply-accumulates, taps on padding included, as the literature counts them."""
        return self.pixels_out * self.c_out * self.field

    def __str__(self) -> str:
        text = f"{self.h_in}x{self.w_in}x{self.c_in} -> {self.h_out}x{self.w_out}x{self.c_out}"
        text += f", {self.k_h}x{self.k_w}"
        if (self.s_h, self.s_w) != (1, 1):
            text += f" s({self.s_h},{self.s_w})"
        if (self.d_h, self.d_w) != (1, 1):
            text += f" d({self.d_h},{self.d_w})"
        if self.pad != Pad():
            text += f" p({self.pad.top},{self.pad.left},{self.pad.bottom},{self.pad.right})"
        return text
