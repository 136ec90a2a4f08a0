# SPDX-License-Identifier: Apache-2.0
"""The schedule of every operator in every way of executing it: the plain kernels' definition.

Within a step, gather reads all before the first write; direct reads again before each write what that
write needs. Operators without a window go by ROW or in REVERSE, and have no tap order.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

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
from harness.geometry.traversal import (
    input_positions,
    last_readers,
    pad_sources,
    stored_geometry,
    upsample_sources,
)
from harness.liveness.schedule import NEVER_READ, Int64s, Schedule
from harness.schema.constants import Layout, OpKind, Traversal

Release = Literal["scalar", "pixel"]
_ELEMENTWISE = (OpKind.ADD, OpKind.MUL, OpKind.TABLE, OpKind.CLAMP)
_WITHOUT_WINDOW = (Traversal.ROW, Traversal.REVERSE)


def schedule(
    kind: OpKind,
    geometry: Geometry,
    execution: Execution,
    onto: int = 0,
    *,
    release: Release = "scalar",
) -> Schedule:
    """onto: the operand that shares memory with the output; the others lie elsewhere.

    release, of windows in direct order: `scalar`, a tap is live until its last read; `pixel`, the
    paper's convention (sigma = c_out), until all of the pixel's scalars are written. Errors:
    ConfigError when the operator does not run so.
    """
    built = None
    if isinstance(geometry, ConvGeometry):
        if onto == 0 and _is_window(kind, geometry, execution):
            if execution.traversal is not Traversal.CHANNEL:
                return _window(kind, geometry, execution, release)
            if kind is OpKind.DEPTHWISE and geometry.c_out == geometry.c_in:
                return _channel(stored_geometry(geometry, execution))
    elif execution.layout is Layout.DENSE and execution.traversal in _WITHOUT_WINDOW:
        built = _other(kind, geometry, execution, onto)
    if built is None:
        raise ConfigError(
            f"{kind.name.lower()} does not run as {execution.label[1:] or 'gather'}",
            evidence={"geometry": str(geometry), "onto operand": onto},
        )
    return built


def _is_window(kind: OpKind, g: ConvGeometry, execution: Execution) -> bool:
    if kind in (OpKind.AVERAGE_POOL, OpKind.MAX_POOL):
        return g.c_out == g.c_in and execution.layout is Layout.DENSE  # padding is no value to it
    if kind is OpKind.FULLY_CONNECTED:
        return g.h_in == g.w_in == g.pixels_out == 1
    return kind is OpKind.CONV or (kind is OpKind.DEPTHWISE and g.c_out % g.c_in == 0)


def _window(
    kind: OpKind, geometry: ConvGeometry, execution: Execution, release: Release
) -> Schedule:
    g = stored_geometry(geometry, execution)
    last = np.empty(g.h_in * g.w_in, dtype=np.int64)
    last[input_positions(geometry, execution)] = last_readers(g, execution.traversal)
    within = np.zeros(g.c_in, dtype=np.int64)
    if execution.direct and release == "pixel":
        within += g.c_out
    elif execution.direct and kind in (OpKind.CONV, OpKind.FULLY_CONNECTED):
        within += g.c_out - 1
    elif execution.direct:  # each output channel reads its own input channel alone
        within = _last_of_channel(g, reverse=execution.traversal is Traversal.REVERSE)
    return _by_pixels(execution.traversal, last, g.pixels_out, g.c_out, within)


def _last_of_channel(g: ConvGeometry, *, reverse: bool) -> Int64s:
    """Writes of a pixel before the last one that reads input channel c, for each c."""
    channels = np.arange(g.c_in, dtype=np.int64)
    multiplier = g.c_out // g.c_in
    return g.c_out - 1 - channels * multiplier if reverse else (channels + 1) * multiplier - 1


def _by_pixels(
    traversal: Traversal, last: Int64s, steps: int, unit: int, within: Int64s
) -> Schedule:
    """Steps of `unit` scalars, written one after the other in ascending order, descending in REVERSE.

    last: for each pixel of the operand, in order of memory, the last step that reads it. within: for
    each of its channels how many scalars of that step are written before.
    """
    read = (last != NEVER_READ)[:, None]
    addresses = np.arange(steps * unit, dtype=np.int64)
    return Schedule(
        traversal=traversal,
        unit=unit,
        addresses=addresses[::-1] if traversal is Traversal.REVERSE else addresses,
        released=np.where(read, last[:, None] * unit + within, 0).ravel(),
        last_reader=np.repeat(last, len(within)),
    )


def _channel(g: ConvGeometry) -> Schedule:
    """One channel after the other. Before each output row the rows of its field that have not been
    read yet are copied to a ring; a row that lies before the field by then is skipped."""
    last_row = np.full(g.h_in, NEVER_READ, dtype=np.int64)
    following = 0
    for row in range(g.h_out):
        top = row * g.s_h - g.pad.top
        first, end = max(following, top), min(g.h_in, top + g.k_h_eff)
        if first < end:
            last_row[first:end] = row
            following = end
    channels = np.arange(g.c_in, dtype=np.int64)
    steps = np.where(last_row == NEVER_READ, 0, last_row)[:, None] + channels * g.h_out
    steps = np.repeat(steps[:, None], g.w_in, axis=1).ravel()
    read = np.repeat(last_row != NEVER_READ, g.w_in * g.c_in)
    return Schedule(
        traversal=Traversal.CHANNEL,
        unit=g.w_out,
        addresses=np.arange(g.n_out, dtype=np.int64).reshape(g.pixels_out, g.c_out).T.ravel(),
        released=np.where(read, steps * g.w_out, 0),
        last_reader=np.where(read, steps, NEVER_READ),
    )


def _other(kind: OpKind, geometry: Geometry, execution: Execution, onto: int) -> Schedule | None:
    """None where there is no such operator."""
    match geometry:
        case ElementwiseGeometry() if onto < geometry.operands:
            if onto == 1 and geometry.broadcast:
                return None  # every pixel reads it: no place for an output
            if kind in _ELEMENTWISE:
                return _one_to_one(execution, geometry.output.size, 1, np.zeros(1, np.int64))
            if kind is OpKind.SOFTMAX and geometry.operands == 1:
                # the third pass reads a scalar and writes it
                within = _in_turn(geometry.c, execution.traversal)
                return _one_to_one(execution, geometry.output.pixels, geometry.c, within)
        case MeanGeometry() if kind is OpKind.MEAN and onto == 0:
            last = np.zeros(geometry.h * geometry.w, dtype=np.int64)
            within = np.zeros(geometry.c, dtype=np.int64)
            return _by_pixels(execution.traversal, last, 1, geometry.c, within)
        case ConcatGeometry() if kind is OpKind.CONCAT and onto < len(geometry.channels):
            within = np.zeros(geometry.channels[onto], dtype=np.int64)
            return _one_to_one(execution, geometry.output.pixels, geometry.output.c, within)
        case UpsampleGeometry() if kind is OpKind.UPSAMPLE and onto == 0:
            return _copies(geometry, execution, upsample_sources(geometry))
        case PadGeometry() if kind is OpKind.PAD and onto == 0:
            return _copies(geometry, execution, pad_sources(geometry))
    return None


def _one_to_one(execution: Execution, steps: int, unit: int, within: Int64s) -> Schedule:
    """The n-th pixel of the operand is read for the n-th pixel of the output."""
    return _by_pixels(
        execution.traversal, _in_turn(steps, execution.traversal), steps, unit, within
    )


def _copies(
    geometry: UpsampleGeometry | PadGeometry, execution: Execution, sources: Int64s
) -> Schedule:
    """sources: for each output pixel the input pixel that is read whole, then written, or -1."""
    turns = _in_turn(len(sources), execution.traversal)
    last = np.full(geometry.h * geometry.w, NEVER_READ, dtype=np.int64)
    copied = sources >= 0
    np.maximum.at(last, sources[copied], turns[copied])
    within = np.zeros(geometry.c, dtype=np.int64)
    return _by_pixels(execution.traversal, last, len(sources), geometry.c, within)


def _in_turn(count: int, traversal: Traversal) -> Int64s:
    numbers = np.arange(count, dtype=np.int64)
    return numbers[::-1] if traversal is Traversal.REVERSE else numbers
