# SPDX-License-Identifier: Apache-2.0
"""A second schedule of an inverted bottleneck, pixel pull: less memory, and a gap by enumeration.

Expand, depthwise, project, and perhaps add. Of the expanded rows only the k - s that the next output
row needs again are kept whole; of the s newest ones a strip of k columns is in memory, which moves along
with the window. Pixels of X are read one by one, in s rows at once, so what is live is no row but a
corner.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.bounds.rip import Bound, clamped
from harness.errors import ConfigError
from harness.geometry import ConvGeometry
from harness.geometry.segment import Segment
from harness.schema.constants import OpKind


def check_pixel_pull(segment: Segment) -> ConvGeometry:
    """The window of its depthwise stage. Errors: ConfigError for what pixel pull does not run."""
    kinds = tuple(stage.kind for stage in segment.stages)
    pointwise = all(
        stage.window == ConvGeometry(*_extents(segment, number - 1), stage.window.c_out)
        for number, stage in enumerate(segment.stages, 1)
        if number != 2
    )
    g = segment.stages[1].window
    bottleneck = kinds[:3] == (OpKind.CONV, OpKind.DEPTHWISE, OpKind.CONV)
    if not bottleneck or kinds[3:] not in ((), (OpKind.ADD,)) or not pointwise:
        raise ConfigError(
            "pixel pull runs expand, depthwise, project, and an add, no other segment"
        )
    if g.k_h_eff < g.s_h or g.k_w_eff < g.s_w:
        raise ConfigError("pixel pull runs no stride beyond the kernel")
    return g


def _extents(segment: Segment, tensor: int) -> tuple[int, int, int]:
    shape = segment.shape(tensor)
    return shape.h, shape.w, shape.c


def pixel_pull_scalars(segment: Segment) -> int:
    """Of the whole rows, the strip, and the one depthwise pixel. Errors: as check_pixel_pull."""
    g = check_pixel_pull(segment)
    expanded = (g.k_h_eff - g.s_h) * g.w_in + g.s_h * g.k_w_eff
    return expanded * g.c_in + g.c_out


def pixel_pull_bound(segment: Segment) -> Bound:
    """Y laid onto X, in scalars; O(pixels of Y). Errors: as check_pixel_pull."""
    g = check_pixel_pull(segment)
    x, y = segment.shape(0), segment.shape(segment.last)
    debts = [(n + 1) * y.c - live * x.c for n, live in _live_pixels(segment, g)]
    return clamped(0, max(debts, default=None), x.size, y.size)


def _live_pixels(segment: Segment, g: ConvGeometry) -> Iterator[tuple[int, int]]:
    """Of each pixel of Y, as it is stored, the first pixel of X that is still to be read; not of those
    after which nothing is."""
    rows = min(g.h_in, (g.h_out - 1) * g.s_h - g.pad.top + g.k_h_eff)
    columns = min(g.w_in, (g.w_out - 1) * g.s_w - g.pad.left + g.k_w_eff)
    adds = segment.stages[-1].other == 0
    for n in range(g.pixels_out):
        r, c = divmod(n, g.w_out)
        whole = r * g.s_h - g.pad.top + g.k_h_eff - g.s_h  # rows that are read to their end
        column = max(0, c * g.s_w - g.pad.left + g.k_w_eff)  # of the s_h rows below these
        row = max(0, whole)
        if column >= columns or whole + g.s_h <= 0:
            row, column = max(0, whole + g.s_h), 0
        live = [row * g.w_in + column] if row < rows and columns > 0 else []
        if adds and n + 1 < g.pixels_out:
            live.append(n + 1)
        if live:
            yield n, min(live)
