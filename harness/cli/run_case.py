# SPDX-License-Identifier: Apache-2.0
"""From the words of `ripbench run` to one case and the runner for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from harness.bench import Bench, BenchOptions
from harness.boards import BoardEntry
from harness.build import RunnerImage, build_runner
from harness.case import Case, NetworkCase, make_case
from harness.errors import ConfigError
from harness.geometry import Shape
from harness.network import Layer, load_network
from harness.plan import Strategy, find_mode, in_place, plan_layer
from harness.selection import choose_layers
from harness.strictyaml import nearest

Int8s = NDArray[np.int8]


@dataclass(frozen=True)
class Subject:
    """inputs: shapes of the tensors that a run loads."""

    case: Case | NetworkCase
    image: RunnerImage
    inputs: tuple[Shape, ...]

    @property
    def outputs(self) -> int:
        """How many."""
        case = self.case
        return 1 if isinstance(case, Case) else len(case.plan.network.outputs)

    def given(self, tensors: Sequence[Int8s]) -> Subject:
        """The same with these inputs, [h, w, c] each."""
        return replace(self, case=replace(self.case, given=tuple(tensors)))


def subject_of(words: str, strategy: str | None, kernels: str, entry: BoardEntry) -> Subject:
    """words: `set#slug` or `FILE#slug` of a layer, else a network by name or file. strategy: of a layer
    the name of a plan; by default the paper's, where it can be had. Errors: ConfigError names the
    nearest word; BuildError."""
    bench = Bench(entry, BenchOptions(kernels=kernels))
    if "#" in words:
        return _layer(words, strategy, bench)
    return _network(words, strategy, bench)


def _layer(words: str, strategy: str | None, bench: Bench) -> Subject:
    layers = choose_layers(words)
    if len(layers) != 1:
        raise ConfigError(
            f"{words!r} are {len(layers)} layers", hint="one case is run: set#slug or FILE#slug"
        )
    layer: Layer = layers[0]
    name = strategy or str(Strategy.RIP if in_place(layer) else Strategy.DUAL)
    chosen, mode = find_mode(layer, name)
    traits = bench.kernels
    choice = traits.choose(layer.kind, layer.geometry, mode.execution, layer.rounding)
    case = make_case(plan_layer(layer, chosen, mode, traits))
    image = build_runner(
        bench.entry.chip, kernels=traits.select([choice]), sram_bytes=bench.entry.sram_bytes
    )
    return Subject(case, image, tuple(layer.inputs))


def _network(words: str, strategy: str | None, bench: Bench) -> Subject:
    known = [each.value for each in Strategy]
    if strategy is not None and strategy not in known:
        raise ConfigError(f"--strategy {strategy!r} is not known", hint=nearest(strategy, known))
    model = load_network(words)
    (case,) = bench.network_cases(model, [Strategy(strategy or Strategy.RIP)])
    network = case.plan.network
    image = build_runner(
        bench.entry.chip, kernels=case.plan.kernels, sram_bytes=bench.entry.sram_bytes
    )
    return Subject(case, image, tuple(network.tensors[t] for t in network.inputs))
