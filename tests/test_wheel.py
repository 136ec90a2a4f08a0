# SPDX-License-Identifier: Apache-2.0
"""A wheel, installed in an empty environment and used in a folder outside the checkout."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.extra
CHECKOUT = Path(__file__).parents[1]


def _run(*command: object, cwd: Path) -> str:
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(words)}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


def test_the_wheel_is_all_that_is_needed(tmp_path: Path) -> None:
    _run(sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", tmp_path, CHECKOUT, cwd=tmp_path)
    (wheel,) = tmp_path.glob("ripbench-*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assets = {path.name for path in (CHECKOUT / "harness" / "report" / "assets").iterdir()}
    assert {f"harness/report/assets/{name}" for name in assets} <= names
    top = {name.split("/")[0] for name in names}
    assert {name for name in top if not name.endswith(".dist-info")} == {"harness"}

    environment, elsewhere = tmp_path / "environment", tmp_path / "elsewhere"
    elsewhere.mkdir()
    _run(sys.executable, "-m", "venv", environment, cwd=tmp_path)
    _run(environment / "bin" / "pip", "install", "--quiet", wheel, cwd=tmp_path)
    ripbench = environment / "bin" / "ripbench"
    said = _run(ripbench, "doctor", cwd=elsewhere)
    assert "ok   board pico1-emu" in said
    said = _run(ripbench, "selftest", "--board", "pico1-emu", "-m", "not slow", cwd=elsewhere)
    assert "20 passed" in said
    assert (elsewhere / "reports" / "history.sqlite").is_file()
    said = _run(ripbench, "trend", "--out", "site", cwd=elsewhere)
    assert "open index.html there" in said
    said = _run(ripbench, "paper", "html", "--out", "paper.html", cwd=elsewhere)
    assert "all cells equal" in said
