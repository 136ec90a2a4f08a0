# SPDX-License-Identifier: Apache-2.0
"""What `ripbench gap` prints, and how it answers wrong words."""

from __future__ import annotations

import json

import pytest

from harness.cli import main


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["gap", "--conv", "48x48x3-24", "--k", "3", "--s", "2", "--pad", "1", "--json"]) == 0
    )
    answer = json.loads(capsys.readouterr().out)
    assert answer["version"] == 1
    assert answer["rip_dense_gather"] == {"gap": 7185, "debt": 7185, "workspace": 14097}
    assert answer["rip_dense_direct"]["debt"] == 7185 + 24
    assert answer["dual"]["workspace"] == 6912 + 13824


def test_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gap", "--conv", "12x12x64-16"]) == 0
    out = capsys.readouterr().out
    assert "12x12x64 -> 12x12x16, 1x1" in out
    assert "-48" in out


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--conv", "12x12"], "--conv '12x12' is not HxWxC-C"),
        (["--conv", "4x4x1-1", "--k", "a"], "--k 'a'"),
        (["--conv", "4x4x1-1", "--k", "5"], "no output"),
    ],
)
def test_wrong_words(words: list[str], complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gap", *words]) == 1
    error = capsys.readouterr().err
    assert error.startswith("ConfigError: ")
    assert complaint in error
    assert "try: " in error
