# SPDX-License-Identifier: Apache-2.0
"""The small ops on which a kernel is tried."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from harness.case.trials import modes_of, trial_layers
from harness.errors import ConfigError
from harness.geometry import ConvGeometry
from harness.kernels import Kernel, KernelTraits
from harness.kernels.scaffold import new_kernel
from harness.network import Layer
from harness.schema.constants import Rounding, Traversal
from harness.validation import own_kernels


def _kernel(folder: Path, op: str, *changes: tuple[str, str]) -> tuple[Kernel, KernelTraits]:
    new_kernel(folder / "mine", op, (), "pico2-emu")
    file = folder / "mine" / "kernels.yaml"
    text = file.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    file.write_text(text)
    traits = KernelTraits(str(folder / "mine"), "rp2350")
    (kernel,) = own_kernels(traits)
    return kernel, traits


def test_each_is_one_that_the_kernel_runs(tmp_path: Path) -> None:
    kernel, traits = _kernel(tmp_path, "conv", ("w_out >= 2", "[w_out >= 2, c_out % 2 == 0]"))
    found = trial_layers(kernel, traits, 100, 1)
    assert len({layer.id for layer, _ in found}) == 100
    for layer, mode in found:
        assert layer.output.w >= 2 and layer.output.c % 2 == 0
        assert mode in modes_of(kernel, traits, layer)
        assert traits.choose(layer.kind, layer.geometry, mode.execution).kernel is kernel


def test_the_same_for_the_same_seed(tmp_path: Path) -> None:
    kernel, traits = _kernel(tmp_path, "depthwise")
    first = [layer.id for layer, _ in trial_layers(kernel, traits, 60, 1)]
    assert [layer.id for layer, _ in trial_layers(kernel, traits, 60, 1)] == first
    assert [layer.id for layer, _ in trial_layers(kernel, traits, 60, 2)] != first


def test_any_two_values_meet_in_a_systematic_one(tmp_path: Path) -> None:
    """Of an addition all pairs of extents, each of which it accepts."""
    kernel, traits = _kernel(tmp_path, "add")
    layers = [layer for layer, _ in trial_layers(kernel, traits, 2000, 1)]
    extents, channels = (1, 2, 3, 4, 5, 8, 12), (1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 17)
    met = {(layer.output.h, layer.output.w) for layer in layers}
    assert met >= set(itertools.product(extents, extents))
    met = {(layer.output.w, layer.output.c) for layer in layers}
    assert met >= set(itertools.product(extents, channels))


def test_every_rounding_and_mode_that_is_declared(tmp_path: Path) -> None:
    declared = (
        "    traversal: channel\n",
        "    traversal: [row, channel]\n    rounding: [double, single]\n",
    )
    kernel, traits = _kernel(tmp_path, "depthwise", declared, ("h_out * w_out", "w_out"))
    found = trial_layers(kernel, traits, 60, 1)
    assert {layer.rounding for layer, _ in found} == {Rounding.DOUBLE, Rounding.SINGLE}
    ways = {mode.execution.traversal for _, mode in found}
    assert ways == {Traversal.ROW, Traversal.CHANNEL}


def test_a_kernel_that_takes_none_of_them(tmp_path: Path) -> None:
    kernel, traits = _kernel(tmp_path, "conv", ("w_out >= 2", "c_in == 999"))
    with pytest.raises(ConfigError, match="none of 6000 small geometries") as caught:
        trial_layers(kernel, traits, 10, 1)
    assert caught.value.evidence["accepts"] == ["c_in == 999"]
    assert "--layers FILE" in caught.value.hint


def test_modes_of_a_layer_that_another_kernel_takes(tmp_path: Path) -> None:
    kernel, traits = _kernel(tmp_path, "conv")
    assert modes_of(kernel, traits, Layer("narrow", ConvGeometry(4, 1, 2, 2))) == []
    assert len(modes_of(kernel, traits, Layer("wide", ConvGeometry(4, 2, 2, 2)))) == 1
