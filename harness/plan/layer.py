# SPDX-License-Identifier: Apache-2.0
"""Plans for a network of one op."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from harness.bounds import Bound, round_up
from harness.errors import ConfigError
from harness.geometry import DIRECT, GATHER, ConvGeometry, Execution, Pad, Shape
from harness.kernels import (
    PLAIN,
    Choice,
    KernelTraits,
    executions,
    operands_to_share,
    schedule_of,
)
from harness.liveness import Schedule, collides
from harness.network import Layer
from harness.schema.constants import Layout, OpKind, Traversal
from harness.strictyaml import nearest


class Strategy(StrEnum):
    """dual: every tensor its own place. baseline: depthwise in place, as TinyEngine. rip: one operand at
    its gap, the output on it. extended: and reversed, in-place concat, swish as one table. fused: as
    rip, and ops run as segments with rings of rows."""

    DUAL = "dual"
    BASELINE = "baseline"
    RIP = "rip"
    EXTENDED = "extended"
    FUSED = "fused"


LAYER_STRATEGIES = (Strategy.DUAL, Strategy.RIP)  # the others differ from these in networks alone


@dataclass(frozen=True)
class Mode:
    """How an op is run. onto: the operand that shares memory with the output. copied: that operand
    arrives where the output will start (REVERSE: end to end with it) and is shifted to its gap by
    memmove, inside the measured time, unless it is there already (else it is placed at its gap)."""

    execution: Execution = GATHER
    onto: int = 0
    copied: bool = False

    @property
    def label(self) -> str:
        """All that is not usual for a convolution: ``, `-direct`, `-onto1`, `-padded-copy`."""
        onto = f"-onto{self.onto}" if self.onto else ""
        return f"{self.execution.label}{onto}{'-copy' if self.copied else ''}"


@dataclass(frozen=True)
class Place:
    """A tensor in the arena: offset in bytes, shape as stored, and how much of it is padding."""

    offset: int
    shape: Shape
    pad: Pad

    @property
    def end(self) -> int:
        return self.offset + self.shape.size


@dataclass(frozen=True)
class Plan:
    """Where things are, in bytes from the arena's base.

    inputs: the operands. arrival: where the shared operand is loaded, if that is not its place (a
    `copied` mode). arena_bytes: all that they and the output may touch (the workspace W). distance: base
    of the shared operand above the output's; for rip it is the gap rounded up. bound: of the kernel that
    really runs, and of the shared operand alone. unit: scalars of an output pixel; 1 of an op that goes
    over scalars; channel by channel, what is written between two rows read. kernel: the set it is of.
    """

    layer: Layer
    strategy: Strategy
    mode: Mode
    kernel: KernelTraits
    inputs: tuple[Place, ...]
    output: Place
    arrival: Place | None
    scratch_bytes: int
    bound: Bound
    unit: int

    @property
    def distance(self) -> int:
        return self.inputs[self.mode.onto].offset - self.output.offset

    @property
    def loaded(self) -> tuple[Place, ...]:
        """Where the operands are before the run."""
        onto = self.mode.onto
        return tuple(
            self.arrival if n == onto and self.arrival is not None else place
            for n, place in enumerate(self.inputs)
        )

    @property
    def arena_bytes(self) -> int:
        return max(place.end for place in (*self.inputs, *self.loaded, self.output))

    @property
    def exact_workspace(self) -> int:
        """Scalars before anything is rounded up to the alignment."""
        stored = [place.shape.size for place in self.inputs]
        if self.strategy is Strategy.DUAL:
            return sum(stored) + self.output.shape.size
        return self.bound.workspace + sum(stored) - stored[self.mode.onto]

    @property
    def choice(self) -> Choice:
        """The kernel that runs the op, and its steps."""
        layer = self.layer
        return self.kernel.choose(layer.kind, layer.geometry, self.mode.execution, layer.rounding)

    @property
    def choices(self) -> tuple[Choice, ...]:
        """Of each op that runs: before it the memmove, where there is one."""
        if self.arrival is None:
            return (self.choice,)
        return (self.kernel.mover(self.arrival.shape), self.choice)

    @property
    def schedule(self) -> Schedule:
        """What that kernel reads of the shared operand and writes, for the simulator."""
        return _steps(self.layer, self.mode, self.kernel)

    @property
    def name(self) -> str:
        return self.layer.id

    @property
    def label(self) -> str:
        """As in test ids: `rip`, `dual`, `rip-direct`."""
        return f"{self.strategy}{mode_name(self.layer, self.mode)}"


def modes(layer: Layer) -> tuple[Mode, ...]:
    """All that a layer can be run in, placed, the usual one first: channel by channel only where that
    is safe. An op whose output shares no memory has one, for `dual`."""
    ways = [way for way in executions(layer.kind, layer.geometry) if _is_safe(layer, way)]
    onto = operands_to_share(layer.kind, layer.geometry)
    return tuple(Mode(way, operand) for way in ways for operand in onto) or (Mode(DIRECT),)


def _is_safe(layer: Layer, way: Execution) -> bool:
    """Channel by channel the output may overtake the input (padding beyond the kernel)."""
    by_channel = way.traversal is Traversal.CHANNEL
    return not by_channel or not collides(schedule_of(layer.kind, layer.geometry, way), 0)


def mode_name(layer: Layer, mode: Mode) -> str:
    """What follows the strategy in a plan's name: empty for the layer's usual mode. A mode that is
    usual for a convolution and not for this layer is called `-row`."""
    usual = modes(layer)[0]
    if mode in (usual, replace(usual, copied=True)):
        return "-copy" if mode.copied else ""
    plain = replace(mode, copied=False).label or "-row"
    return f"{plain}-copy" if mode.copied else plain


def find_mode(layer: Layer, plan: str) -> tuple[Strategy, Mode]:
    """From a plan's name, as `rip-direct`. Errors: ConfigError names the nearest one."""
    known: dict[str, tuple[Strategy, Mode]] = {}
    for mode in modes(layer):
        name = mode_name(layer, mode)
        known[f"{Strategy.DUAL}{name}"] = (Strategy.DUAL, mode)
        if in_place(layer):
            copied = replace(mode, copied=True)
            known[f"{Strategy.RIP}{name}"] = (Strategy.RIP, mode)
            known[f"{Strategy.RIP}{mode_name(layer, copied)}"] = (Strategy.RIP, copied)
    if plan not in known:
        raise ConfigError(f"no plan {plan!r} of {layer.id}", hint=nearest(plan, known))
    return known[plan]


def in_place(layer: Layer) -> bool:
    """Can its output share memory with an operand at all?"""
    return bool(executions(layer.kind, layer.geometry))


def plan_layer(
    layer: Layer, strategy: Strategy, mode: Mode | None = None, kernel: KernelTraits = PLAIN
) -> Plan:
    """dual: output at 0, operands behind it. rip: output and shared operand in one workspace at the
    gap rounded up to V, other operands behind it. mode: the layer's usual one by default.

    Errors: ConfigError for rip where the output shares no memory, or no distance is safe."""
    mode = modes(layer)[0] if mode is None else mode
    if strategy is Strategy.DUAL:
        mode = Mode(mode.execution, mode.onto)
        return _dual(layer, mode, kernel)
    if not in_place(layer):
        raise ConfigError(
            f"{layer.id}: the output of {layer.kind.name.lower()} shares no memory with its input",
            hint="use --strategy dual",
        )
    bound = kernel.bound(layer.kind, layer.geometry, mode.execution, mode.onto, layer.rounding)
    steps = _steps(layer, mode, kernel)
    if mode.execution.traversal is Traversal.CHANNEL:
        if collides(steps, 0):
            raise ConfigError(
                f"{layer.id}: channel by channel the output overtakes the input",
                evidence={"geometry": str(layer.geometry)},
                hint="run it spatially: --traversal row",
            )
        return plan_at_distance(layer, 0, mode, kernel, bound)
    distance = aligned_distance(steps.distance(bound.gap), mode, kernel)
    return plan_at_distance(layer, distance, mode, kernel, bound)


def _steps(layer: Layer, mode: Mode, kernel: KernelTraits) -> Schedule:
    return kernel.schedule(layer.kind, layer.geometry, mode.execution, mode.onto, layer.rounding)


def aligned_distance(distance: int, mode: Mode, kernel: KernelTraits) -> int:
    """On the safe side: more, or in REVERSE, where the output lies above, less."""
    if mode.execution.traversal is Traversal.REVERSE:
        return -round_up(-distance, kernel.alignment)
    return round_up(distance, kernel.alignment)


def proof_distances(plan: Plan) -> tuple[int, int] | None:
    """Distances of the debt's two sides: at the debt, and V on the other side of it, where a live
    scalar is destroyed; None without a debt, or where none is destroyed there (the two tensors no
    longer meet, or a stride leaves a hole). Channel by channel that is 0, and V to a side that is
    not safe."""
    if plan.bound.debt is None:
        return None
    step = plan.kernel.alignment
    steps = plan.schedule
    if plan.mode.execution.traversal is Traversal.CHANNEL:
        wrong = [distance for distance in (-step, step) if collides(steps, distance)]
        return (0, wrong[0]) if wrong else None
    at = aligned_distance(steps.distance(plan.bound.debt), plan.mode, plan.kernel)
    below = at + (step if plan.mode.execution.traversal is Traversal.REVERSE else -step)
    return (at, below) if collides(steps, below) else None


def plan_at_distance(
    layer: Layer,
    distance: int,
    mode: Mode,
    kernel: KernelTraits = PLAIN,
    bound: Bound | None = None,
) -> Plan:
    """The shared operand at any `distance` above the output (below it when negative)."""
    below = round_up(max(0, -distance), kernel.alignment)
    shapes = _stored(layer, mode.execution)
    shared = Place(below + distance, *shapes[mode.onto])
    output = Place(below, layer.output, Pad())
    end = max(shared.end, output.end)
    places = []
    for n, (shape, pad) in enumerate(shapes):
        if n == mode.onto:
            places.append(shared)
            continue
        places.append(Place(round_up(end, kernel.alignment), shape, pad))
        end = places[-1].end
    arrival = _arrival(output, shared, mode, kernel) if mode.copied else shared
    shifted = None if arrival == shared else arrival
    return _plan(layer, Strategy.RIP, mode, kernel, tuple(places), output, shifted, bound)


def _arrival(output: Place, shared: Place, mode: Mode, kernel: KernelTraits) -> Place:
    """Where the output will start: at its base, in REVERSE at its end, rounded down to V. Either lies
    within the memory of the two, also where the operand is larger than the output."""
    start = output.offset
    if mode.execution.traversal is Traversal.REVERSE:
        start = max(0, -round_up(shared.shape.size - output.end, kernel.alignment))
    return replace(shared, offset=start)


def _dual(layer: Layer, mode: Mode, kernel: KernelTraits) -> Plan:
    output = Place(0, layer.output, Pad())
    end, places = output.end, []
    for shape, pad in _stored(layer, mode.execution):
        places.append(Place(round_up(end, kernel.alignment), shape, pad))
        end = places[-1].end
    return _plan(layer, Strategy.DUAL, mode, kernel, tuple(places), output, None, None)


def _stored(layer: Layer, execution: Execution) -> list[tuple[Shape, Pad]]:
    """Shapes of the operands as stored, with the padding in them."""
    if isinstance(layer.geometry, ConvGeometry) and execution.layout is Layout.PADDED:
        g, p = layer.geometry, layer.geometry.pad
        shape = Shape(g.h_in + p.top + p.bottom, g.w_in + p.left + p.right, g.c_in)
        return [(shape, p)]
    return [(shape, Pad()) for shape in layer.inputs]


def _plan(
    layer: Layer,
    strategy: Strategy,
    mode: Mode,
    kernel: KernelTraits,
    inputs: tuple[Place, ...],
    output: Place,
    arrival: Place | None,
    bound: Bound | None,
) -> Plan:
    kind, geometry, execution = layer.kind, layer.geometry, mode.execution
    alone = kind is OpKind.FULLY_CONNECTED  # no schedule in one memory
    unit = 1 if alone else _steps(layer, mode, kernel).unit
    known = bound
    if bound is None and not alone:
        known = kernel.bound(kind, geometry, execution, mode.onto, layer.rounding)
    return Plan(
        layer=layer,
        strategy=strategy,
        mode=mode,
        kernel=kernel,
        inputs=inputs,
        output=output,
        arrival=arrival,
        scratch_bytes=kernel.scratch_bytes(kind, geometry, execution, layer.rounding),
        bound=known if known is not None else Bound(0, 0, None, layer.n_in + layer.n_out),
        unit=unit,
    )
