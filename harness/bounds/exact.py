# SPDX-License-Identifier: Apache-2.0
"""The exact bound of every operator in every execution: what harness.liveness.schedule knows, closed.

Each form is derived from the same definition. Input scalar x is read for the last time when
released(x) scalars have been written; the write frontier ascends (descends in REVERSE, where all is
seen from the ends), so the least distance from which on no write meets a live scalar is

    debt = max over x with released(x) > 0 of (released(x) - x).

CHANNEL writes with a stride and is safe at distance 0 or not; see `channel_debt`.
"""

from __future__ import annotations

from typing import Literal

from harness.bounds.axis import axes, window_debt
from harness.bounds.herringbone import literal_debt
from harness.bounds.ring import first_row, worst_row
from harness.bounds.rip import Bound, clamped
from harness.errors import ConfigError
from harness.geometry import (
    ConcatGeometry,
    ConvGeometry,
    ElementwiseGeometry,
    Execution,
    Geometry,
    MeanGeometry,
    PadGeometry,
    UpsampleGeometry,
)
from harness.schema.constants import Layout, OpKind, Traversal

Release = Literal["scalar", "pixel"]
_ELEMENTWISE = (OpKind.ADD, OpKind.MUL, OpKind.TABLE, OpKind.CLAMP, OpKind.SOFTMAX)
_POOLS = (OpKind.AVERAGE_POOL, OpKind.MAX_POOL)


def bound_of(
    kind: OpKind,
    geometry: Geometry,
    execution: Execution,
    onto: int = 0,
    *,
    release: Release = "scalar",
) -> Bound:
    """Gap, debt and workspace of operand `onto`, which shares memory with the output.

    release, of windows in direct order: `scalar`, a tap is live until its last read, as in the plain
    kernels; `pixel`, until all of the pixel's scalars are written, as in the paper. O(1), or O(k) of
    a window; HERRINGBONE, by literal liveness, O(k^2). Errors: ConfigError when the operator does not
    run so.
    """
    if isinstance(geometry, ConvGeometry):
        if onto == 0 and _is_window(kind, geometry, execution):
            return _window(kind, geometry, execution, release)
    elif execution.layout is Layout.DENSE and execution.traversal in (
        Traversal.ROW,
        Traversal.REVERSE,
    ):
        found = _other(kind, geometry, onto, reverse=execution.traversal is Traversal.REVERSE)
        if found is not None:
            (debt,) = found
            return clamped(0, debt, geometry.inputs[onto].size, geometry.output.size)
    raise ConfigError(
        f"{kind.name.lower()} does not run as {execution.label[1:] or 'gather'}",
        evidence={"geometry": str(geometry), "onto operand": onto},
    )


def headroom(
    kind: OpKind, g: ConvGeometry, execution: Execution, release: Release
) -> tuple[int, bool]:
    """sigma, and whether output 0 itself can be harmed.

    sigma is the maximum over input channels of (scalars of its own pixel that are written before its
    last read - its place in the pixel). Where each output channel reads its own input channel alone,
    input channel c is done before output (c + 1) m - 1 is written, m = c_out / c_in: that is
    c_out - c_in, at the last channel, and 0 in a pool.
    """
    if not execution.direct:
        return 0, False
    if release == "pixel":
        return g.c_out, True
    own_channel = kind is OpKind.DEPTHWISE or kind in _POOLS
    return g.c_out - (g.c_in if own_channel else 1), g.c_out > 1


def is_safe_at_zero(g: ConvGeometry, execution: Execution) -> bool:
    """Executions of CHANNEL: may input and output have the same base?

    When row r of the output is written, the input's rows up to the end of its field are in the ring. So
    it is safe if and only if no row y of the input is read for an output row r with r w_out > y w_in.
    """
    rows, columns = axes(g, execution)
    worst = worst_row(rows, write=columns.n_out, read=columns.n)
    return worst is None or worst <= 0


def _is_window(kind: OpKind, g: ConvGeometry, execution: Execution) -> bool:
    if execution.traversal is Traversal.CHANNEL:
        return kind is OpKind.DEPTHWISE and g.c_in == g.c_out
    if kind in _POOLS:
        return g.c_in == g.c_out and execution.layout is Layout.DENSE
    if kind is OpKind.FULLY_CONNECTED:
        return g.h_in == g.w_in == g.pixels_out == 1
    return kind is OpKind.CONV or (kind is OpKind.DEPTHWISE and g.c_out % g.c_in == 0)


def _window(kind: OpKind, g: ConvGeometry, execution: Execution, release: Release) -> Bound:
    sigma, first = headroom(kind, g, execution, release)
    if execution.traversal is Traversal.CHANNEL:
        sigma = 0
        debt = channel_debt(g, execution)
    elif execution.traversal is Traversal.HERRINGBONE:
        debt = literal_debt(g, execution.layout, sigma, first=first)
    else:
        debt = window_debt(*axes(g, execution), sigma, first=first)
    p = g.pad
    n_in = g.n_in
    if execution.layout is Layout.PADDED:
        n_in = (g.h_in + p.top + p.bottom) * (g.w_in + p.left + p.right) * g.c_in
    return clamped(sigma, debt, n_in, g.n_out)


def channel_debt(g: ConvGeometry, execution: Execution, band: int = 1) -> int | None:
    """Of an output row after the other, or of bands of rows.

    0 where equal bases are safe, although some larger distances are not; else the least distance from
    which on all are. Of several channels the first one's last write lies at the end of the output while
    all others are still to be read, so that end has to stay below the first row that is read."""
    rows, columns = axes(g, execution)
    start = first_row(rows, band)
    worst = worst_row(rows, write=columns.n_out, read=columns.n, band=band)
    if start is None or (g.c_in == 1 and worst is None):
        return None
    if worst is None or worst <= 0:
        return 0
    return worst if g.c_in == 1 else (g.pixels_out - 1) * g.c_out - start * columns.n * g.c_in


def _other(
    kind: OpKind, geometry: Geometry, onto: int, *, reverse: bool
) -> tuple[int | None] | None:
    """The debt; None where there is no such operator. All but the padding are their own mirror."""
    match geometry:
        case ElementwiseGeometry() if kind in _ELEMENTWISE and onto < geometry.operands:
            if (onto == 1 and geometry.broadcast) or (
                kind is OpKind.SOFTMAX and geometry.operands > 1
            ):
                return None
            # scalar n is read right before it is written; with a single one nothing is left to harm
            return (0 if geometry.output.size > 1 else None,)
        case MeanGeometry() if kind is OpKind.MEAN and onto == 0:
            return (None,)  # all is read before the first write
        case ConcatGeometry() if kind is OpKind.CONCAT and onto < len(geometry.channels):
            later = geometry.output.pixels - 1
            return (later * (geometry.output.c - geometry.channels[onto]) if later else None,)
        case UpsampleGeometry() if kind is OpKind.UPSAMPLE and onto == 0:
            # the last pixel of the input is read for the last of the output: the ends meet
            grown = geometry.output.size - geometry.inputs[0].size
            return (grown if geometry.output.pixels > 1 else None,)
        case PadGeometry() if kind is OpKind.PAD and onto == 0:
            return (_pad_debt(geometry, reverse=reverse),)
    return None


def _pad_debt(g: PadGeometry, *, reverse: bool) -> int | None:
    """Pixel (y, x) is copied at turn (y + top) w_out + x + left; the worst is the last row's."""
    p = g.pad
    top, left = (p.bottom, p.right) if reverse else (p.top, p.left)
    last_turn = (g.h - 1 + top) * g.output.w + g.w - 1 + left
    if last_turn == 0:
        return None
    return g.c * (last_turn - (g.h * g.w - 1))
