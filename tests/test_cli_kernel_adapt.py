# SPDX-License-Identifier: Apache-2.0
"""`ripbench kernel adapt`."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.cli import main

STAND_IN = Path(__file__).parent / "device" / "firmware" / "stand_in"


def test_a_folder_is_made_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = tmp_path / "mine"
    words = ["kernel", "adapt", "cmsis-nn", str(STAND_IN), "-o", str(made)]
    assert main(words) == 0
    said = capsys.readouterr().out
    assert f"{made}: cmsis-nn V.0.1, 7 of its C files" in said
    assert f"--kernels {made}" in said
    assert main(words) == 2
    assert "is there" in capsys.readouterr().err


def test_words_that_name_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kernel", "adapt", "cmsis-nn", str(tmp_path), "-o", str(tmp_path / "a")]) == 2
    said = capsys.readouterr().err
    assert "it has no Include/arm_nnfunctions.h" in said
    assert "holds Source and Include" in said
    for words in (["adapt", "cmsis", "x", "-o", "y"], ["adapt", "cmsis-nn", "x"], []):
        with pytest.raises(SystemExit) as stop:
            main(["kernel", *words])
        assert stop.value.code == 2
