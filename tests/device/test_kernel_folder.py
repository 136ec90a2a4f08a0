# SPDX-License-Identifier: Apache-2.0
"""A kernel of one's own, declared in a folder: it runs, both sides of its bound are shown, and a
declaration or a kernel that is wrong fails for the right reason."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from harness import resources
from harness.bench import Bench, BenchOptions
from harness.boards import Board, BoardEntry
from harness.build import build_runner
from harness.case import build_pack, make_case
from harness.errors import BuildError, ConfigError
from harness.geometry import ConvGeometry, Pad
from harness.judge import judge
from harness.kernels import KernelTraits, find_kernels
from harness.measure import measure_layer
from harness.network import Layer
from harness.plan import Mode, Strategy, plan_layer
from harness.results import Verdict
from tests.device.support import ODD

FOLDER = Path(__file__).parent / "firmware" / "two_pixels"
DEBT = 42  # of two pixels a step in ODD's rows of 7, one of which is left alone at the end
WIDE = Layer("wide", ConvGeometry(5, 8, 4, 8, 3, 3, pad=Pad.same(1, 1)))
EVEN = Layer("even", ConvGeometry(5, 8, 13, 6, 3, 3, pad=Pad.same(1, 1)))  # debt 48: no V hides it
WIDE_DEBTS = {1: 192, 2: 188, 4: 180}  # by the pixels of a step
SUITE = resources.layers() / "test_layers.py"


def _changed(folder: Path, *changes: tuple[str, str]) -> str:
    """The folder with texts of its files replaced, each of which is there."""
    for name in ("kernels.yaml", "two_pixels.c"):
        shutil.copy(FOLDER / name, folder / name)
    for old, new in changes:
        files = [path for path in sorted(folder.iterdir()) if old in path.read_text()]
        assert files, old
        for path in files:
            path.write_text(path.read_text().replace(old, new, 1))
    return str(folder)


def _judged(entry: BoardEntry, kernels: str, layer: Layer = ODD, plan: str = "rip") -> Verdict:
    bench = Bench(entry, BenchOptions(seeds=(1, 2), repeats=1, kernels=kernels))
    try:
        verdict = bench.judge(layer, plan)
    finally:
        bench.close()
    assert verdict is not None
    return verdict


def test_both_sides_of_its_own_bound(entry: BoardEntry) -> None:
    verdict = _judged(entry, str(FOLDER))
    assert verdict.failures == ()
    assert verdict.kernel == "two_pixels"
    assert verdict.debt == f"{DEBT} (5 of 5 seeds)"
    assert verdict.workspace_bound == DEBT + ODD.n_in
    assert verdict.scratch_bytes == 2 * 9 * 13
    assert verdict.witness == "13 runs"


def test_the_debt_depends_on_the_step(entry: BoardEntry, tmp_path: Path) -> None:
    for pixels, debt in WIDE_DEBTS.items():
        folder = tmp_path / str(pixels)
        folder.mkdir()
        kernels = KernelTraits(_changed(folder, ("pixels: 2", f"pixels: {pixels}")))
        assert plan_layer(WIDE, Strategy.RIP, kernel=kernels).bound.debt == debt
    verdict = _judged(entry, str(FOLDER), WIDE)
    assert verdict.failures == ()
    assert verdict.debt.startswith(f"{WIDE_DEBTS[2]} (")


def test_what_it_does_not_take_a_plain_one_runs(entry: BoardEntry) -> None:
    """An odd number of channels; and direct order."""
    assert isinstance(ODD.geometry, ConvGeometry)
    odd = replace(ODD, id="odd-channels", geometry=replace(ODD.geometry, c_out=5))
    verdict = _judged(entry, str(FOLDER), odd, "dual")
    assert (verdict.failures, verdict.kernel) == ((), "plain")
    verdict = _judged(entry, str(FOLDER), plan="rip-direct")
    assert (verdict.failures, verdict.kernel) == ((), "plain")


@pytest.mark.parametrize(
    ("layer", "change", "says"),
    [
        # a step that is larger than the kernel's: the gap is too small
        (WIDE, ("pixels: 2", "pixels: 4"), "unsafe"),
        # a smaller one: it is larger than it has to be
        (WIDE, ("pixels: 2", "pixels: 1"), "the bound is loose"),
        # two channels are written before the second field is gathered
        (EVEN, ("/* SPDX", "#define LATE\n/* SPDX"), "live input scalars overwritten"),
        # half of the scratch that it uses
        (EVEN, ("2 * k_h * k_w * c_in", "k_h * k_w * c_in"), "bytes changed outside the arena"),
    ],
    ids=["gap-too-small", "gap-too-large", "written-before-it-was-read", "scratch-too-small"],
)
def test_a_wrong_declaration(
    layer: Layer, change: tuple[str, str], says: str, entry: BoardEntry, tmp_path: Path
) -> None:
    folder = _changed(tmp_path, change, ("call->step_pixels", "2"))
    verdict = _judged(entry, folder, layer)
    assert any(says in failure for failure in verdict.failures), verdict.failures


def test_a_kernel_that_was_not_asked_for_is_told(entry: BoardEntry) -> None:
    """The runner states another number than the plan's: it ran a table of another build."""
    kernels = KernelTraits(str(FOLDER), entry.chip)
    image = build_runner(entry.chip, kernels=kernels.kernels.all())
    with Board(entry) as board:
        runs = measure_layer(board, image, ODD, mode=Mode(), kernel=kernels, seeds=(1,), repeats=1)
    index = len(kernels.kernels.kernels) - 1
    assert runs.rip is not None
    assert runs.rip.kernels == ((index, "two_pixels"),)
    assert {sample.op_kernels for sample in runs.rip.samples} == {(index,)}
    lying = replace(runs.rip, kernels=((0, "plain_conv_gather_double"),))
    verdict = judge(replace(runs, rip=lying), Strategy.RIP)
    assert verdict is not None
    says = f"op 0 was run by kernel {index}, not by 0, plain_conv_gather_double"
    assert any(says in failure for failure in verdict.failures)


def test_a_runner_without_the_kernel_refuses_the_case(entry: BoardEntry) -> None:
    """Its table has no such number, or a hole there."""
    kernels = KernelTraits(str(FOLDER), entry.chip)
    pack = build_pack([make_case(plan_layer(ODD, Strategy.RIP, kernel=kernels))])
    plain = kernels.kernels.select([kernels.kernels.kernels[0]])
    for image in (build_runner(entry.chip), build_runner(entry.chip, kernels=plain)):
        with Board(entry) as board:
            board.start(image, pack)
            with pytest.raises(ConfigError, match="no kernel"):
                board.run(0, 1)


@pytest.mark.parametrize(
    "chip", ["rp2350", pytest.param("rp2040", marks=pytest.mark.extra)], indirect=True
)
def test_builds_of_a_folder(entry: BoardEntry, tmp_path: Path) -> None:
    """The same files are built once; another byte in one of them, a header too, is another build; a
    warning is an error."""
    (tmp_path / "same").mkdir()
    (tmp_path / "other").mkdir()

    def built(folder: str) -> Path:
        find_kernels.cache_clear()
        return build_runner(entry.chip, kernels=find_kernels(folder).all()).elf

    same = _changed(tmp_path / "same")
    first = built(same)
    assert built(same) == first
    other = _changed(tmp_path / "other", ("LATE", "TOO_LATE"))
    assert built(other) != first
    (tmp_path / "same" / "new.h").write_text("/* a header */\n")
    assert built(same) != first
    _changed(tmp_path / "other", ("const bool both", "const int unused = 1;\n const bool both"))
    with pytest.raises(BuildError, match="unused"):
        built(other)


def test_by_the_option(tmp_path: Path) -> None:
    """pytest --kernels DIR, and names that are none."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", str(SUITE), "--seeds", "1"]
    command += ["--layers", "first#odd-3x3", "--tap-order", "gather", "--board", "pico1-emu"]

    def run(kernels: str) -> subprocess.CompletedProcess[str]:
        words = [*command, "--kernels", kernels]
        return subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)

    done = run(str(FOLDER))
    assert done.returncode == 0, done.stdout
    assert done.stdout.count(" two_pixels ") == 2
    for name, says in (("plian", "did you mean 'plain'?"), (str(tmp_path), "no kernel set")):
        done = run(name)
        assert done.returncode == pytest.ExitCode.USAGE_ERROR
        assert says in done.stderr
    (tmp_path / "kernels.yaml").write_text("kernels: [{name: a, op: conv, sources: [a.c]}]")
    done = run(str(tmp_path))
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "kernels.yaml:1:41: 'a.c' is not a file of this folder" in done.stderr


def test_packed_constants(entry: BoardEntry, tmp_path: Path) -> None:
    """Weights of 16 bits, which the harness makes and the runner checks the length of."""
    folder = _changed(
        tmp_path,
        ("pixels: 2", "weights: int16, weights_bytes: 2 * k_h * k_w * c_in * c_out, pixels: 2"),
        ("call->weights[", "((const int16_t *)(const void *)call->weights)["),
    )
    layer = Layer("packed", ConvGeometry(5, 6, 4, 6, 3, 3, pad=Pad.same(1, 1)))
    verdict = _judged(entry, folder, layer)
    assert (verdict.failures, verdict.kernel) == ((), "two_pixels")
