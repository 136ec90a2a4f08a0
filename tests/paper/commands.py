# SPDX-License-Identifier: Apache-2.0
"""Commands of the ledger and of docs/errata.md, run here."""

from __future__ import annotations

import contextlib
import io
import shlex
from functools import lru_cache
from pathlib import Path

import pytest

from harness.cli import main

ROOT = Path(__file__).parent.parent.parent
_SWEEP = ["sweep", "-n", "600", "--jobs", "1"]  # of ten thousand, in a test


@lru_cache(maxsize=128)
def said(command: str) -> str:
    """What a `ripbench` command prints, white space made single; it must succeed, but for what says that
    something is NOT so."""
    name, *words = shlex.split(command, comments=True)
    assert name == "ripbench"
    if words[0] == "sweep":
        words = _SWEEP
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        status = main(words)
    assert status == ("NOT" in out.getvalue()), command
    return " ".join(out.getvalue().split())


def collects(command: str, request: pytest.FixtureRequest) -> bool:
    """Does `pytest FILE -k WORD` name tests of a file that there is?"""
    name, path, option, word = shlex.split(command)
    assert (name, option) == ("pytest", "-k")
    text = (request.config.rootpath / path).read_text(encoding="utf-8")
    return f"def test_{word}" in text
