# SPDX-License-Identifier: Apache-2.0
"""The bench where a new kernel is validated: trials, proofs of its bound, speed, one verdict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_

from harness.bench import Bench
from harness.build import RunnerImage, build_runner
from harness.case.segment_trials import trial_segments, usual_segments
from harness.case.trials import modes_of, trial_layers
from harness.errors import BoundViolation, ConfigError, FirmwareFault, Mismatch
from harness.geometry import ConvGeometry, ElementwiseGeometry, Pad
from harness.judge import KernelVerdict, judge_kernel
from harness.judge.segment_kernel import judge_segment_kernel
from harness.kernels import PLAIN_SET, Choice, Kernel, KernelTraits, Selection, shipped_sets
from harness.measure import SpeedRuns, measure_speeds, measure_trials
from harness.measure.kernel import Contender
from harness.measure.segment_kernel import (
    SegmentRuns,
    fused_plan,
    kernels_of,
    measure_segment_speeds,
    measure_segments,
    single_plan,
)
from harness.measure.segment_trials import make_segment_trials
from harness.measure.trials import make_trials
from harness.network import Layer, Network
from harness.network.names import name_of
from harness.plan import (
    Mode,
    NetworkPlan,
    Strategy,
    in_place,
    mode_name,
    plan_layer,
    proof_distances,
)
from harness.results import Verdict
from harness.schema.constants import OpKind

OWN = "own"
PADDINGS = (0, 2, 4, 6)  # bytes: every place in a line of the flash cache, and in a word of SRAM
_PROOFS = 2  # of small layers, beside those whose speed is measured
_SPEEDS = 2
_NO_SEGMENTS = (  # of what is found out about other kernels, or could be asked of it
    "reads and writes one by one: no witness watches a segment's trials",
    "weights as no model has them: these are drawn",
)
_LEAST_OUTPUTS = 24  # of a layer to prove a bound on: what is corrupted has to show


@dataclass(frozen=True)
class Wanted:
    """trials: how many small ops. seed: that they are drawn from. layers: of the user's own, whose speed
    is measured instead of the usual ones'."""

    trials: int = 240
    seed: int = 1
    layers: tuple[Layer, ...] = ()


def own_kernels(traits: KernelTraits) -> tuple[Kernel, ...]:
    """Those of the set itself."""
    return tuple(kernel for kernel in traits.kernels.kernels if kernel.set != PLAIN_SET)


def validate(bench: Bench, kernel: Kernel, wanted: Wanted) -> KernelVerdict:
    """Of one kernel of the bench's set. A fault of the firmware is a finding. Errors: ConfigError where
    the kernel accepts nothing that the bench can think of; BuildError; all that a board can raise."""
    if kernel.kind is OpKind.SEGMENT:
        return _validate_segments(bench, kernel, wanted)
    layers = trial_layers(kernel, bench.kernels, wanted.trials, wanted.seed)
    trials = make_trials(kernel, bench.kernels, layers, wanted.seed)
    image = _image(bench, bench.kernels, [kernel])
    runs = bench.recovering(
        ("trials", kernel.name), lambda board: measure_trials(board, image, trials)
    )
    timed = _timed(kernel, bench.kernels, wanted.layers, layers)
    proofs: list[Verdict] = []
    speeds, others = SpeedRuns(()), []
    try:
        for layer, mode in (*timed, *_telling(layers, bench.kernels)):
            proofs += _prove(bench, layer, mode)
        contenders = list(_contenders(bench, kernel, timed))
        speeds = bench.recovering(
            ("speeds", kernel.name), lambda board: measure_speeds(board, timed, contenders)
        )
    except FirmwareFault as fault:
        others.append(f"{fault.message}: {fault.cause}")
    return judge_kernel(kernel.name, runs, proofs, speeds, others)


def _validate_segments(bench: Bench, kernel: Kernel, wanted: Wanted) -> KernelVerdict:
    networks = trial_segments(kernel, bench.kernels, wanted.trials, wanted.seed)
    trials = make_segment_trials(kernel, bench.kernels, networks, wanted.seed)
    image = _built(bench, kernels_of(trials))
    runs = bench.recovering(
        ("trials", kernel.name), lambda board: measure_segments(board, image, trials)
    )
    assert isinstance(runs, SegmentRuns), "what measure_segments gave"
    timed = usual_segments(kernel, bench.kernels)[:_SPEEDS] or [
        max(networks, key=lambda one: one.macs)
    ]
    speeds, others = SpeedRuns(()), []
    try:
        fused = list(_segment_contenders(bench, kernel, timed))
        single = list(_single_contenders(bench, kernel, timed))
        speeds = bench.recovering(
            ("speeds", kernel.name),
            lambda board: measure_segment_speeds(board, timed, fused, single),
        )
    except FirmwareFault as fault:
        others.append(f"{fault.message}: {fault.cause}")
    unchecked = list(_NO_SEGMENTS)
    if wanted.layers:
        unchecked.append("the layers of --layers: a segment is none")
    return judge_segment_kernel(kernel.name, runs, speeds, others, unchecked)


def demand_kernel(verdict: KernelVerdict) -> None:
    """Errors: Mismatch or BoundViolation with every failure and what explains it, when there is one."""
    if verdict.ok:
        return
    wrong_output = any("output is wrong" in failure for failure in verdict.failures)
    raise (Mismatch if wrong_output else BoundViolation)(
        f"the kernel {verdict.kernel} fails on {verdict.provenance.board}",
        cause="; ".join(verdict.reasons),
        evidence={f"{n}": failure for n, failure in enumerate(verdict.failures, 1)},
        hint="docs/kernels.md says what a declaration promises",
    )


def _prove(bench: Bench, layer: Layer, mode: Mode) -> Iterator[Verdict]:
    strategy = Strategy.RIP if in_place(layer) else Strategy.DUAL
    verdict = bench.judge(layer, f"{strategy}{mode_name(layer, mode)}")
    if verdict is not None:
        yield verdict


def _telling(
    layers: Sequence[tuple[Layer, Mode]], kernels: KernelTraits
) -> list[tuple[Layer, Mode]]:
    """The largest few that have a debt with two sides. Without activation, so that what is corrupted is
    not clamped away."""
    found: list[tuple[Layer, Mode]] = []
    for layer, mode in sorted(layers, key=lambda one: -one[0].n_out):
        open_layer = replace(layer, activation="none")
        open_layer = replace(open_layer, id=name_of(open_layer))
        if len(found) == _PROOFS or layer.n_out < _LEAST_OUTPUTS:
            break
        if _has_two_sides(open_layer, mode, kernels):
            found.append((open_layer, mode))
    return found


def _has_two_sides(layer: Layer, mode: Mode, kernels: KernelTraits) -> bool:
    if not in_place(layer):
        return False
    try:
        return proof_distances(plan_layer(layer, Strategy.RIP, mode, kernels)) is not None
    except ConfigError:  # no distance is safe
        return False


def _timed(
    kernel: Kernel,
    kernels: KernelTraits,
    asked: Sequence[Layer],
    tried: Sequence[tuple[Layer, Mode]],
) -> list[tuple[Layer, Mode]]:
    """Layers of the user's own, or usual ones, that the kernel takes, or else its largest trial."""
    found: list[tuple[Layer, Mode]] = []
    for layer in asked or _USUAL.get(kernel.kind, ()):
        fitting = modes_of(kernel, kernels, layer)
        if fitting:
            found.append((layer, fitting[0]))
    return found[: None if asked else _SPEEDS] or [max(tried, key=lambda one: one[0].macs)]


def _contenders(
    bench: Bench, kernel: Kernel, timed: Sequence[tuple[Layer, Mode]]
) -> Iterator[Contender]:
    """The kernel from each place, then the plain kernels and those shipped sets that have one for these
    layers."""
    for padding in PADDINGS:
        image = _image(bench, bench.kernels, [kernel], padding)
        yield Contender(OWN, image, bench.kernels, padding)
    for name in (PLAIN_SET, *(s for s in shipped_sets() if s not in (PLAIN_SET, kernel.set))):
        kernels = replace(bench.kernels, name=name)
        chosen = {_chosen(kernels, layer, mode) for layer, mode in timed}
        if name == PLAIN_SET or any(one.set == name for one in chosen):
            yield Contender(name, _image(bench, kernels, list(chosen)), kernels)


def _segment_contenders(
    bench: Bench, kernel: Kernel, timed: Sequence[Network]
) -> Iterator[Contender]:
    """The kernel from each place, then the plain one and those of shipped sets that take all of
    these."""
    for padding in PADDINGS:
        plans = [fused_plan(network, bench.kernels) for network in timed]
        yield Contender(OWN, _built(bench, _all_of(plans), padding), bench.kernels, padding)
    for kernels in _other_sets(bench, kernel):
        try:
            plans = [fused_plan(network, kernels) for network in timed]
        except ConfigError:  # there is none of that
            continue
        if kernels.name == PLAIN_SET or any(c.kernel.set == kernels.name for c in _ran(plans)):
            yield Contender(kernels.name, _built(bench, _all_of(plans)), kernels)


def _single_contenders(
    bench: Bench, kernel: Kernel, timed: Sequence[Network]
) -> Iterator[Contender]:
    """The same ops one by one: by the kernel's set, the plain ones, and shipped ones."""
    for kernels in (bench.kernels, *_other_sets(bench, kernel)):
        plans = [single_plan(network, kernels) for network in timed]
        label = OWN if kernels is bench.kernels else kernels.name
        if label in (OWN, PLAIN_SET) or any(c.kernel.set == kernels.name for c in _ran(plans)):
            yield Contender(label, _built(bench, _all_of(plans)), kernels)


def _other_sets(bench: Bench, kernel: Kernel) -> Iterator[KernelTraits]:
    for name in (PLAIN_SET, *(s for s in shipped_sets() if s not in (PLAIN_SET, kernel.set))):
        yield replace(bench.kernels, name=name)


def _ran(plans: Sequence[NetworkPlan]) -> Iterator[Choice]:
    for plan in plans:
        yield from plan.step_choices


def _all_of(plans: Sequence[NetworkPlan]) -> Selection:
    return reduce(or_, (plan.kernels for plan in plans))


def _chosen(kernels: KernelTraits, layer: Layer, mode: Mode) -> Kernel:
    return kernels.choose(layer.kind, layer.geometry, mode.execution, layer.rounding).kernel


def _image(
    bench: Bench, kernels: KernelTraits, chosen: Sequence[Kernel], padding: int = 0
) -> RunnerImage:
    return _built(bench, kernels.kernels.select(chosen), padding)


def _built(bench: Bench, selection: Selection, padding: int = 0) -> RunnerImage:
    return build_runner(
        bench.entry.chip,
        kernels=selection,
        sram_bytes=bench.entry.sram_bytes,
        padding=padding,
    )


def _windows(kind: OpKind, *geometries: ConvGeometry) -> tuple[Layer, ...]:
    unnamed = [Layer("", geometry, kind) for geometry in geometries]
    return tuple(replace(layer, id=name_of(layer)) for layer in unnamed)


def _square(h: int, c_in: int, c_out: int, k: int) -> ConvGeometry:
    return ConvGeometry(h, h, c_in, c_out, k, k, pad=Pad.same(k // 2, k // 2))


_ADDED = Layer("", ElementwiseGeometry(20, 20, 24, 2), OpKind.ADD)
_USUAL: dict[OpKind, tuple[Layer, ...]] = {  # of MobileNets: first what most kernels are made for
    OpKind.CONV: _windows(
        OpKind.CONV,
        _square(10, 144, 24, 1),
        _square(12, 16, 16, 3),
        _square(20, 16, 96, 1),
        _square(24, 3, 16, 3),
    ),
    OpKind.DEPTHWISE: _windows(
        OpKind.DEPTHWISE, _square(20, 24, 24, 3), _square(20, 24, 24, 5), _square(20, 24, 24, 7)
    ),
    OpKind.ADD: (replace(_ADDED, id=name_of(_ADDED)),),
}
