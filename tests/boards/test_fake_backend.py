# SPDX-License-Identifier: Apache-2.0
"""A third backend, known by its entry points only, passes the device suite: the bench asks nobody
whether a board is emulated.

tests/boards/fake is an installed distribution for the processes that have it on their path.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import harness
from harness import history

FAKE = Path(__file__).with_name("fake")
ROOT = Path(__file__).parents[2]
CHIPS = {"rp2040": ("125000000", "56"), "rp2350": ("150000000", "84")}


@pytest.fixture(params=CHIPS)
def boards(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A boards.yaml with the board `desk` behind the fake probe."""
    clock, miss = CHIPS[request.param]
    path = tmp_path / "desk.yaml"
    path.write_text(
        f'boards: {{desk: {{chip: {request.param}, probe: "fake:desk", serial: "fake://desk", '
        f"clock_hz: {clock}, xip_miss_cycles: {miss}}}}}\n"
    )
    return path


RIPBENCH = "import sys; from harness.cli import main; sys.exit(main())"


def _run(
    *arguments: str, path: str = f"{FAKE}{os.pathsep}{ROOT}"
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )


def test_the_device_suite_passes(boards: Path, tmp_path: Path) -> None:
    rows = tmp_path / "history.jsonl"
    options = ["--board", "desk", "--boards", str(boards), "--history", str(rows)]
    done = _run(
        "-m",
        "pytest",
        "layers",
        "-q",
        *options,
        "--layers",
        "first",
        "-m",
        "not slow",
        "--seeds",
        "1",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    verdicts = list(history.read(rows))
    assert {row["layer"] for row in verdicts} >= {"odd-3x3", "mcunet-in0.5", "resnet56-3x3"}
    assert {row["provenance"]["kind"] for row in verdicts} == {"fake"}
    assert {row["provenance"]["board"] for row in verdicts} == {"desk"}
    assert all(row["ok"] for row in verdicts)


def test_the_board_is_listed_and_checked(boards: Path) -> None:
    listed = json.loads(_run("-c", RIPBENCH, "boards", "--json", "--boards", str(boards)).stdout)
    desk = next(row for row in listed["boards"] if row["name"] == "desk")
    assert (desk["probe"], desk["attached"]) == ("fake:desk", True)
    done = _run("-c", RIPBENCH, "doctor", "--board", "desk", "--boards", str(boards))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ok   board desk: fake, unique id" in done.stdout


def test_without_its_entry_points_there_is_no_such_board(boards: Path) -> None:
    options = ["--board", "desk", "--boards", str(boards)]
    done = _run("-m", "pytest", "layers", "-q", *options, path=str(ROOT))
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "pyOCD knows no probe of the kind 'fake'" in done.stderr


# ---- the word itself ----

# Texts for people, by module: all that the rest of the bench may say of emulated boards.
ALLOWED = {
    "plugin/__init__.py": {
        "slow: takes seconds on an emulated board",
        ", an emulated one",
        "do not compare painting with the witness that an emulated board has",
    },
    "cli/doctor.py": {"no C compiler: emulated boards cannot be built"},
    "cli/nightly.py": {"emulated"},  # the default rack
    "cli/paper.py": {"of table3: cycles on emulated boards, beside the paper's"},
    "judge/trend.py": {": the emulated board is not deterministic"},
}


def _modules() -> Iterator[tuple[str, ast.Module]]:
    root = Path(harness.__file__).parent
    for path in sorted(root.rglob("*.py")):
        name = path.relative_to(root)
        if name.parts[0] not in ("emulator", "shipped"):
            yield name.as_posix(), ast.parse(path.read_text())


def _words(tree: ast.Module) -> Iterator[str]:
    """Every name and every string of a module but its docstrings."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if id(node) not in docstrings:
                yield node.value
        else:
            yield from (value for _, value in ast.iter_fields(node) if isinstance(value, str))


def test_only_texts_for_people_speak_of_emulated_boards() -> None:
    found = {
        name: words
        for name, tree in _modules()
        if (words := {word for word in _words(tree) if "emulat" in word.lower()})
    }
    assert found == ALLOWED


def test_nothing_is_decided_by_the_kind_of_a_board() -> None:
    for name, tree in _modules():
        for node in ast.walk(tree):
            if isinstance(node, ast.Compare):
                values = [c.value for c in ast.walk(node) if isinstance(c, ast.Constant)]
                assert "board" not in values and "fake" not in values, f"{name}:{node.lineno}"


@pytest.mark.extra
def test_what_it_cannot_see_is_said(boards: Path) -> None:
    """A run is a run there too; for a profile or a watchpoint it has nothing, and that costs no run."""
    words = ["run", "first#odd-3x3", "--board", "desk", "--boards", str(boards)]
    done = _run("-c", RIPBENCH, *words, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["kind"] == "fake"
    for option in ("--profile", "--gdb"):
        done = _run("-c", RIPBENCH, *words, option)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"ConfigError: {option} needs a board whose core can be looked into" in done.stderr
