# SPDX-License-Identifier: Apache-2.0
"""The bound of every operator for a kernel that makes a step at a time, by formula.

A step of one scalar is harness.bounds.exact. Convolutions, and depthwise ones in gather order, are
harness.bounds.steps. What is left is little: an operator over scalars has read scalar n when floor(n /
Q) Q are written, so its worst one begins a step; a window whose output channels each read their own
input channel has read input channel i, of its last output channel o = (i + 1) m - 1, when floor(o / Q) Q
scalars of the pixel are written.
"""

from __future__ import annotations

from harness.bounds import steps
from harness.bounds.axis import axes, window_debt
from harness.bounds.exact import bound_of, channel_debt
from harness.bounds.rip import Bound, clamped
from harness.bounds.steps import Steps
from harness.errors import ConfigError
from harness.geometry import ConvGeometry, ElementwiseGeometry, Execution, Geometry
from harness.geometry.step import Step
from harness.schema.constants import OpKind, Traversal

_OWN_CHANNEL = (OpKind.DEPTHWISE, OpKind.AVERAGE_POOL, OpKind.MAX_POOL)


def stepped_bound(
    kind: OpKind, geometry: Geometry, execution: Execution, onto: int = 0, step: Step | None = None
) -> Bound:
    """Gap, debt and workspace of operand `onto`. Errors: ConfigError where no kernel can run so."""
    exact = bound_of(kind, geometry, execution, onto)
    if step is None or step.single:
        return exact
    if isinstance(geometry, ConvGeometry):
        return _window(kind, geometry, execution, step, exact)
    if step.pixels > 1 or step.prefetch or step.ring:
        raise refused(kind, execution, step)
    if isinstance(geometry, ElementwiseGeometry):
        size = geometry.output.size
        alone = min(step.channels, geometry.c) if kind is OpKind.SOFTMAX else step.channels
        return clamped(0, 0 if size > alone else None, size, size)
    return exact  # a whole pixel is read before any of it is written


def refused(kind: OpKind, execution: Execution, step: Step) -> ConfigError:
    return ConfigError(
        f"{kind.name.lower()} does not run as {execution.label[1:] or 'gather'} in such steps",
        evidence={"step": str(step)},
        hint="harness/bounds/stepped.py has the bounds that are known",
    )


def _window(kind: OpKind, g: ConvGeometry, execution: Execution, step: Step, exact: Bound) -> Bound:
    if execution.traversal is Traversal.CHANNEL:
        return _channels(g, execution, step, exact)
    if execution.traversal is not Traversal.ROW or (execution.direct and step.prefetch):
        raise refused(kind, execution, step)
    if step.ring:
        if execution.direct or step.prefetch:
            raise refused(kind, execution, step)
        return steps.ring(g, execution.layout)
    made = Steps(step.pixels, step.channels, step.runs_on(g.w_out))
    if not execution.direct:
        return (steps.pipelined if step.prefetch else steps.gather)(g, made, execution.layout)
    if kind not in _OWN_CHANNEL:
        return steps.direct(g, made, execution.layout)
    if step.channels >= g.c_out:
        return steps.gather(g, made, execution.layout)
    if step.pixels > 1:
        raise refused(kind, execution, step)
    return _own_channels(g, execution, step.channels, exact)


def _own_channels(g: ConvGeometry, execution: Execution, channels: int, exact: Bound) -> Bound:
    m = g.c_out // g.c_in
    sigma = max(((i + 1) * m - 1) // channels * channels - i for i in range(g.c_in))
    debt = window_debt(*axes(g, execution), sigma, first=True)
    return clamped(sigma, debt, exact.workspace - exact.gap, g.n_out)


def _channels(g: ConvGeometry, execution: Execution, step: Step, exact: Bound) -> Bound:
    """Whether equal bases are safe does not depend on Q: another channel lies at other addresses. Where
    they are not, blocks of several channels are as one of all of them, or as one channel after
    another. Bands of rows are safe wherever single rows are."""
    band = step.rows(g.w_out)
    if band is None or step.prefetch:
        raise refused(OpKind.DEPTHWISE, execution, step)
    if step.channels < g.c_in:
        debt = channel_debt(g, execution, band)
        return clamped(0, debt, exact.workspace - exact.gap, g.n_out)
    ring = steps.ring(g, execution.layout, band)
    if ring.debt is None or ring.debt > 0:
        return ring
    return clamped(0, 0, ring.workspace - ring.gap, g.n_out)
