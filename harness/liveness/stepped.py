# SPDX-License-Identifier: Apache-2.0
"""The schedule of a kernel that makes a step at a time: what it has written when it reads.

Of the order inside a step nothing is known but this: all that a step's block reads it reads before it
writes any of it. Writes are listed block by block, pixels and channels ascending; last_reader names the
output pixel at which the frontier stands when a scalar is read for the last time.
"""

from __future__ import annotations

import numpy as np

from harness.errors import ConfigError
from harness.geometry import ConvGeometry, ElementwiseGeometry, Execution, Geometry
from harness.geometry.step import Step
from harness.geometry.traversal import last_readers, stored_geometry
from harness.liveness.operators import schedule
from harness.liveness.schedule import NEVER_READ, Int64s, Schedule
from harness.schema.constants import OpKind, Traversal

_OWN_CHANNEL = (OpKind.DEPTHWISE, OpKind.AVERAGE_POOL, OpKind.MAX_POOL)


def stepped_schedule(
    kind: OpKind, geometry: Geometry, execution: Execution, onto: int = 0, step: Step | None = None
) -> Schedule:
    """onto: the operand that shares memory with the output. Errors: ConfigError where it cannot be."""
    single = schedule(kind, geometry, execution, onto)
    if step is None or step.single:
        return single
    if isinstance(geometry, ElementwiseGeometry):
        return _scalars(kind, geometry, execution, step)
    if not isinstance(geometry, ConvGeometry):
        return single  # a whole pixel is read before any of it is written
    stored = stored_geometry(geometry, execution)
    if execution.traversal is Traversal.CHANNEL:
        band = step.rows(stored.w_out)
        if band is None:
            raise ConfigError(f"channel by channel there are no steps of {step.pixels} pixels")
        return _channels(stored, step.channels, band)
    if execution.traversal is not Traversal.ROW:
        raise ConfigError(f"no steps of several pixels by {execution.traversal.name.lower()}")
    if step.ring:
        return _schedule(stored, _ring(stored), np.arange(stored.n_out, dtype=np.int64))
    if kind in _OWN_CHANNEL and execution.direct and step.channels < stored.c_out:
        released = _own_channels(stored, step.channels)
        return _schedule(stored, released, np.arange(stored.n_out, dtype=np.int64))
    return _conv(stored, execution, step)


def _schedule(g: ConvGeometry, released: Int64s, addresses: Int64s) -> Schedule:
    """released: NEVER_READ where a scalar is not read."""
    read = released != NEVER_READ
    return Schedule(
        traversal=Traversal.ROW,
        unit=g.c_out,
        addresses=addresses,
        released=np.where(read, released, 0),
        last_reader=np.where(read, released // g.c_out, NEVER_READ),
    )


def _starts(g: ConvGeometry, step: Step) -> Int64s:
    """The first pixels of all steps, and one past the last pixel."""
    if step.runs_on(g.w_out):
        firsts = np.arange(0, g.pixels_out, step.pixels, dtype=np.int64)
    else:
        rows = np.arange(g.h_out, dtype=np.int64)[:, None] * g.w_out
        firsts = (rows + np.arange(0, g.w_out, step.pixels, dtype=np.int64)).ravel()
    return np.append(firsts, g.pixels_out)


def _conv(g: ConvGeometry, execution: Execution, step: Step) -> Schedule:
    """Gather reads a step's fields before its first write, prefetch before the one of the step before;
    direct anew before each block of channels."""
    firsts = _starts(g, step)
    number = np.repeat(np.arange(len(firsts) - 1), np.diff(firsts))  # of each pixel its step
    last = last_readers(g, execution.traversal)
    reader = number[np.maximum(last, 0)]
    if execution.direct:
        blocks = range(0, g.c_out, step.channels)
        widths = np.diff(firsts)[reader]
        written = firsts[reader] * g.c_out + widths * blocks[-1]
        addresses = np.concatenate(
            [
                (np.arange(f, e)[:, None] * g.c_out + np.arange(q, min(q + step.channels, g.c_out)))
                .ravel()
                .astype(np.int64)
                for f, e in zip(firsts[:-1].tolist(), firsts[1:].tolist(), strict=True)
                for q in blocks
            ]
        )
    else:
        written = firsts[np.maximum(reader - step.prefetch, 0)] * g.c_out
        addresses = np.arange(g.n_out, dtype=np.int64)
    released = np.where(last == NEVER_READ, NEVER_READ, written)
    return _schedule(g, np.repeat(released, g.c_in), addresses)


def _own_channels(g: ConvGeometry, channels: int) -> Int64s:
    """Pixel by pixel, Q output channels at a time, each of which reads its own input channel."""
    last = last_readers(g, Traversal.ROW)[:, None]
    last_output = (np.arange(g.c_in, dtype=np.int64) + 1) * (g.c_out // g.c_in) - 1
    written = last * g.c_out + last_output // channels * channels
    found: Int64s = np.where(last == NEVER_READ, NEVER_READ, written).ravel()
    return found


def _ring_rows(g: ConvGeometry, band: int = 1) -> Int64s:
    """For each input row the output row before which it is copied to the ring, or NEVER_READ: the first
    of a band, of which all that lies between the ends of its fields is copied."""
    rows = np.full(g.h_in, NEVER_READ, dtype=np.int64)
    following = 0
    for row in range(0, g.h_out, band):
        top = row * g.s_h - g.pad.top
        last = min(row + band, g.h_out) - 1
        first = max(following, top)
        end = min(g.h_in, last * g.s_h - g.pad.top + g.k_h_eff)
        if first < end:
            rows[first:end] = row
            following = end
    return rows


def _ring(g: ConvGeometry) -> Int64s:
    rows = _ring_rows(g)
    released = np.where(rows == NEVER_READ, NEVER_READ, rows * g.w_out * g.c_out)
    return np.repeat(released, g.w_in * g.c_in)


def _channels(g: ConvGeometry, channels: int, band: int) -> Schedule:
    """Q channels after Q others; of each block, a band of output rows after the other, from a ring of
    rows; of each band, a channel after the other."""
    block = np.arange(g.c_in, dtype=np.int64) // channels
    width = np.minimum(channels, g.c_in - block * channels)  # of each channel's block
    rows = np.repeat(_ring_rows(g, band), g.w_in)[:, None]
    written = block * channels * g.pixels_out + rows * g.w_out * width
    pixels = np.arange(g.pixels_out, dtype=np.int64) * g.c_out
    addresses = [
        (np.arange(q, min(q + channels, g.c_out))[:, None] + pixels[at : at + band * g.w_out])
        .ravel()
        .astype(np.int64)
        for q in range(0, g.c_out, channels)
        for at in range(0, g.pixels_out, band * g.w_out)
    ]
    unit = min(band, g.h_out) * g.w_out * min(channels, g.c_out)
    read = rows != NEVER_READ
    return Schedule(
        traversal=Traversal.CHANNEL,
        unit=unit,
        addresses=np.concatenate(addresses),
        released=np.where(read, written, 0).ravel(),
        last_reader=np.where(read, written // unit, NEVER_READ).ravel(),
    )


def _scalars(
    kind: OpKind, geometry: ElementwiseGeometry, execution: Execution, step: Step
) -> Schedule:
    """Q scalars are read, then written; of a softmax, of one pixel."""
    size = geometry.output.size
    turns = np.arange(size, dtype=np.int64)
    within = geometry.c if kind is OpKind.SOFTMAX else size
    released = turns - turns % within % step.channels
    reverse = execution.traversal is Traversal.REVERSE
    return Schedule(
        traversal=execution.traversal,
        unit=1,
        addresses=turns[::-1] if reverse else turns,
        released=released[::-1] if reverse else released,
        last_reader=released[::-1] if reverse else released,
    )
