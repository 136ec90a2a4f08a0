# SPDX-License-Identifier: Apache-2.0
"""A kernel of one's own on the bench: its speed from every place, and what is validated when."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from harness import resources
from harness.bench import Bench, BenchOptions
from harness.geometry import ConvGeometry
from harness.network import Layer
from harness.report.kernels import sensitivity
from harness.validation import Wanted, own_kernels, validate
from tests.device.own_kernel import own_folder
from tests.device.support import new_entry

SMALL = Layer("small", ConvGeometry(6, 6, 8, 8))
SUITES = [str(resources.layers() / name) for name in ("test_layers.py", "test_kernels.py")]


@pytest.mark.extra
def test_a_kernel_in_flash_depends_on_its_place(tmp_path: Path) -> None:
    """Its lines of the flash cache are others. In SRAM nothing of that."""
    for name, changes, moves in (
        ("ram", (), False),
        ("flash", (('RAM_CODE("mine")\n', ""),), True),
    ):
        (tmp_path / name).mkdir()
        folder = own_folder(tmp_path / name, "conv", *changes)
        bench = Bench(new_entry("rp2040"), BenchOptions(seeds=(1,), repeats=2, kernels=folder))
        (kernel,) = own_kernels(bench.kernels)
        try:
            verdict = validate(bench, kernel, Wanted(trials=16, layers=(SMALL,)))
        finally:
            bench.close()
        assert verdict.failures == ()
        assert [padding for padding, _ in verdict.moved] == [0, 2, 4, 6]
        assert (sensitivity(verdict.moved) != "no cycle") is moves


def _collected(tmp_path: Path, *words: str) -> list[str]:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--collect-only", "-q"]
    done = subprocess.run(
        [*command, *SUITES, "--board", "pico2-emu", *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return [line.split("::")[1] for line in done.stdout.splitlines() if "::" in line]


@pytest.mark.parametrize(
    ("words", "kernels", "layers"),
    [
        pytest.param(*((), False, True), marks=pytest.mark.extra),
        pytest.param(*(("--kernels", "m33"), False, True), marks=pytest.mark.extra),
        (("--kernels", "{folder}"), True, False),
        (("--kernels", "{folder}", "--layers", "first#odd-3x3"), False, True),
        pytest.param(
            *(("--kernels", "{folder}", "--layers", "first#odd-3x3", "-m", "kernels"), True, False),
            marks=pytest.mark.extra,
        ),
        pytest.param(
            *(("--kernels", "m33", "-m", "kernels"), True, False), marks=pytest.mark.extra
        ),
    ],
)
def test_what_is_asked_for(
    words: tuple[str, ...], kernels: bool, layers: bool, tmp_path: Path
) -> None:
    folder = own_folder(tmp_path, "conv")
    found = _collected(tmp_path, *(word.format(folder=folder) for word in words))
    assert any(name.startswith("test_kernel[") for name in found) is kernels
    assert any(name.startswith("test_layer[") for name in found) is layers
