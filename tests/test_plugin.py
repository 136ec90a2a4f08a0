# SPDX-License-Identifier: Apache-2.0
"""The plugin as its users meet it: a pytest of their own, in a folder of their own."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from harness import resources
from harness.history import read
from harness.paper.fits import board_fits

SUITE = resources.layers() / "test_layers.py"
PAPER84 = resources.layers() / "test_paper84.py"
OWN_TEST = """
from harness.geometry import ConvGeometry, Pad
from harness.network import Layer

def test_my_layer(bench):
    layer = Layer("mine", ConvGeometry(6, 6, 4, 8, 3, 3, pad=Pad.same(1, 1)))
    assert bench.prove(layer).ok
    assert bench.run(layer, plan="dual").reached == 6 * 6 * 12
"""
OWN_FIXTURES = """
import pytest

@pytest.fixture
def bench():
    return 3

@pytest.fixture(params=[1, None])
def layer(request):
    return request.param

def test_mine(bench, layer):
    assert layer is None or bench + layer == 4
"""


def _pytest(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def test_ids_table_junit_and_history(tmp_path: Path) -> None:
    words = [
        "--board",
        "pico1-emu",
        "--layers",
        "first#odd-3x3",
        "--tap-order",
        "gather",
        "--seeds",
        "1",
        "-v",
    ]
    done = _pytest(tmp_path, str(SUITE), *words, "--junitxml=junit.xml")
    assert done.returncode == 0, done.stdout
    assert "test_layer[pico1-emu-odd-3x3-dual] PASSED" in done.stdout
    assert "test_layer[pico1-emu-odd-3x3-rip] PASSED" in done.stdout
    row = next(line for line in done.stdout.splitlines() if " rip " in line)
    assert "emulated" in row
    assert row.split()[4:7] == ["plain", "503", "503"]
    assert row.rstrip().endswith("pass")

    cases = list(ElementTree.parse(tmp_path / "junit.xml").iter("testcase"))
    properties = {p.get("name"): p.get("value") for p in cases[1].iter("property")}
    assert properties["ripbench.plan"] == "rip"
    assert properties["ripbench.kind"] == "emulated"
    assert properties["ripbench.workspace_bound"] == "503"
    assert properties["ripbench.verdict"] == "pass"
    assert properties["ripbench.witness"] == "5 runs"

    rows = list(read(tmp_path / "reports" / "history.sqlite"))
    assert [(row["layer"], row["plan"], row["ok"]) for row in rows] == [
        ("odd-3x3", "dual", True),
        ("odd-3x3", "rip", True),
    ]
    assert rows[1]["cycles"] == int(properties["ripbench.cycles"] or 0)


def test_a_seed_changes_inputs_and_crcs_and_nothing_else(tmp_path: Path) -> None:
    fixed = ["--layers", "first#odd-3x3", "--tap-order", "gather", "--seeds", "1", "--nonce", "1"]
    for seed in ("1", "7"):
        done = _pytest(tmp_path, str(SUITE), *fixed, "--seed", seed, "--history", f"{seed}.jsonl")
        assert done.returncode == 0, done.stdout
    first, second = (list(read(tmp_path / f"{seed}.jsonl")) for seed in ("1", "7"))
    for one, other in zip(first, second, strict=True):
        changed = {name for name in one if one[name] != other[name]}
        assert changed - {"time"} == {"output_crc", "seeds"}


def test_a_project_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "test_own.py").write_text(OWN_TEST)
    done = _pytest(tmp_path, "--tap-order", "gather", "--seeds", "1")
    assert done.returncode == 0, done.stdout
    assert "mine" in done.stdout


def test_other_peoples_fixtures_stay_theirs(tmp_path: Path) -> None:
    (tmp_path / "test_own.py").write_text(OWN_FIXTURES)
    done = _pytest(tmp_path)
    assert done.returncode == 0, done.stdout
    assert "2 passed" in done.stdout
    assert "ripbench:" not in done.stdout


def _usage_error(folder: Path, *words: str) -> str:
    done = _pytest(folder, str(SUITE), *words)
    assert done.returncode == 4, done.stdout
    return done.stdout + done.stderr


def test_a_board_that_nobody_knows(tmp_path: Path) -> None:
    text = _usage_error(tmp_path, "--board", "pico1-emo")
    assert "no board 'pico1-emo'" in text
    assert "did you mean 'pico1-emu'?" in text


def test_a_board_that_is_not_attached(tmp_path: Path) -> None:
    """`pico1` is a prefix of `pico1-emu`, and must not be taken for it."""
    (tmp_path / "boards.yaml").write_text(
        'boards: {pico1: {chip: rp2040, probe: "cmsisdap:E6616407E3646B29", clock_hz: 125000000}}'
    )
    text = _usage_error(tmp_path, "--board", "pico1")
    assert "cmsisdap:E6616407E3646B29, is not attached" in text
    assert "attached: emu:pico1-emu" in text
    assert "--board pico1-emu" in text


def test_a_misspelt_key(tmp_path: Path) -> None:
    (tmp_path / "boards.yaml").write_text("boards: {a: {chip: rp2040, prob: x, clock_hz: 1}}")
    text = _usage_error(tmp_path, "--board", "a")
    assert "boards.yaml:1:28: unknown key 'prob'" in text
    assert "did you mean 'probe'?" in text


def test_an_unknown_layer(tmp_path: Path) -> None:
    done = _pytest(tmp_path, str(SUITE), "--layers", "first#nothing")
    assert done.returncode != 0
    assert "no layer 'nothing' in first" in done.stdout + done.stderr


def test_a_failure_is_told_without_a_traceback(tmp_path: Path) -> None:
    """A layer that cannot fit: the error's own words are the report."""
    (tmp_path / "big.yaml").write_text(
        "layers: [{id: big, h_in: 160, w_in: 160, c_in: 8, c_out: 16}]"
    )
    done = _pytest(tmp_path, str(SUITE), "--layers", "big.yaml", "--strategy", "rip")
    assert done.returncode == 1
    assert "ConfigError: big does not fit under rip: " in done.stdout
    assert "bytes too large" in done.stdout
    assert "Traceback" not in done.stdout
    assert "measure_layer" not in done.stdout


def test_no_cross_compiler(tmp_path: Path) -> None:
    (tmp_path / "test_own.py").write_text(OWN_TEST)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
    environment = {"PATH": str(tmp_path), "RIPBENCH_CACHE": str(tmp_path / "cache")}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 1
    assert "BuildError: arm-none-eabi-gcc is not installed" in done.stdout
    assert "apt-get install" in done.stdout


def test_the_plugin_is_light(tmp_path: Path) -> None:
    """A project that does not use it pays for no pyocd and no numpy."""
    (tmp_path / "test_own.py").write_text(
        "import sys\ndef test_light():\n"
        "    assert not {'pyocd', 'numpy', 'serial', 'tabulate'} & set(sys.modules)\n"
    )
    done = _pytest(tmp_path)
    assert done.returncode == 0, done.stdout


def test_faults_by_plan(tmp_path: Path) -> None:
    (tmp_path / "test_own.py").write_text(OWN_TEST)
    done = _pytest(tmp_path, "--faults", "hello-protocol,value=9", "--no-recovery")
    assert done.returncode == 1
    assert "ProtocolError: the firmware speaks protocol 9" in done.stdout
    done = _pytest(tmp_path, "--faults", "usb-deef")
    assert "--faults, fault 1: unknown fault 'usb-deef'" in done.stdout
    assert "did you mean 'usb-deaf'?" in done.stdout


def test_all_of_table_6_that_fits(tmp_path: Path) -> None:
    """What does not fit is no test and no skip; it is counted, in words."""
    words = [
        "--collect-only",
        "-q",
        "-m",
        "paper84",
        "--board",
        "pico1-emu",
        "--board",
        "pico2-emu",
    ]
    done = _pytest(tmp_path, str(PAPER84), *words)
    assert done.returncode == 0, done.stdout
    ids = [line for line in done.stdout.splitlines() if "::" in line]
    for fit in board_fits():
        board = {"rp2040": "pico1-emu", "rp2350": "pico2-emu"}[fit.chip]
        here = [i for i in ids if f"[{board}-" in i and i.endswith(f"-{fit.strategy}]")]
        assert len(here) == fit.count
        missing = 84 - fit.count
        assert f"{fit.count} of 84 layers fit under {fit.strategy}, {missing} do not" in done.stdout
    assert len(ids) == sum(fit.count for fit in board_fits())
    assert "skipped" not in done.stdout


def test_quick_ones_of_table_6_alone_where_it_is_not_named(tmp_path: Path) -> None:
    done = _pytest(tmp_path, str(PAPER84), "--collect-only", "-q")
    ids = [line for line in done.stdout.splitlines() if "::" in line]
    assert len(ids) == 6
    assert "3 of 3 layers fit under rip, 0 do not" in done.stdout
    assert "only the quick ones of 84: -m paper84 runs all that fit" in done.stdout


def test_other_layers_are_not_run_twice(tmp_path: Path) -> None:
    """--layers asks for the other tests, but where -m names the set."""
    words = ["--collect-only", "-q", "--tap-order", "gather"]
    both = [str(SUITE), str(PAPER84), "--layers", "first#odd-3x3,paper84#resnet56-cifar-conv1"]
    done = _pytest(tmp_path, *both, *words)
    assert "4/5 tests collected (1 deselected)" in done.stdout
    assert "test_layer_of_table_6" not in done.stdout
    done = _pytest(tmp_path, *both, *words, "-m", "paper84")
    ids = [line.split("::")[1] for line in done.stdout.splitlines() if "::" in line]
    assert ids == [
        "test_layer_of_table_6[pico1-emu-resnet56-cifar-conv1-dual]",
        "test_layer_of_table_6[pico1-emu-resnet56-cifar-conv1-rip]",
    ]


def test_a_layer_of_table_6(tmp_path: Path) -> None:
    words = ["-m", "paper84", "--layers", "paper84#mcunet-in1-block4.expand", "--seeds", "1"]
    done = _pytest(tmp_path, str(PAPER84), *words, "--board", "pico2-emu")
    assert done.returncode == 0, done.stdout
    assert "2 passed" in done.stdout
    last = done.stdout.splitlines()[-2]
    assert last.startswith("paper84 on pico2-emu: 1 of 1 layers fit under dual, 0 do not; ")


@pytest.mark.parametrize(
    ("words", "layers", "models"),
    [
        (["--layers", "first#odd-3x3"], True, False),
        (["--models", "mcunet-in0"], False, True),
        (["--models", "mcunet-in0", "--layers", "first#odd-3x3"], True, True),
        (["-m", "models", "--layers", "first#odd-3x3"], False, True),
        ([], True, True),
    ],
)
def test_layers_and_models_by_what_is_asked(
    tmp_path: Path, words: list[str], layers: bool, models: bool
) -> None:
    """Who names layers alone does not wait for eleven models."""
    done = _pytest(tmp_path, str(SUITE.parent), *words, "--collect-only", "-q")
    assert done.returncode == 0, done.stdout
    assert ("test_layer[" in done.stdout, "test_model[" in done.stdout) == (layers, models)
