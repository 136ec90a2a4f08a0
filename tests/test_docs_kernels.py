# SPDX-License-Identifier: Apache-2.0
"""docs/kernels.md: its section on a kernel of one's own, run as it is written."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from harness import resources

DOCS = resources.root() / "docs" / "kernels.md"
WIDE = {"COLUMNS": "300"}


def _commands() -> list[list[str]]:
    """The indented lines of the section that call the program."""
    text = DOCS.read_text()
    section = text[text.index("## A kernel of your own") : text.index("## Keys")]
    found = re.findall(r"^    (ripbench .*)$", section, re.MULTILINE)
    return [shlex.split(line) for line in found]


def _run(words: list[str], folder: Path, *more: str) -> str:
    code = "import sys; from harness.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", code, *words[1:], *more]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_commands_are_these() -> None:
    assert [words[1] for words in _commands()] == ["kernel", "selftest", "selftest", "compare"]


def test_a_kernel_of_ones_own(tmp_path: Path) -> None:
    """The two that make and validate it, with fewer trials."""
    make, validate = _commands()[:2]
    said = _run(make, tmp_path)
    assert said.splitlines()[-1] == "next: " + " ".join(validate)
    said = _run(validate, tmp_path, "--trials", "24")
    (row,) = [line for line in said.splitlines() if line.startswith("my_conv ")]
    assert re.split(r"\s{2,}", row)[3:6] == ["24 of 24", "20", "0,1,2,3"]
    assert row.endswith("pass")
    assert "best shipped" in said and " m33_conv" in said
    assert (tmp_path / "reports" / "history.sqlite").is_file()


@pytest.mark.extra
def test_all_of_them(tmp_path: Path) -> None:
    make, validate, layers, compare = _commands()
    _run(make, tmp_path)
    assert "240 of 240" in _run(validate, tmp_path)
    assert " my_conv " in _run(layers, tmp_path)
    assert "right" in _run(compare, tmp_path)
