# SPDX-License-Identifier: Apache-2.0
"""`ripbench boards`, `build` and `doctor`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.build import RunnerImage
from harness.cli import main


def test_boards(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["boards", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    board = next(b for b in answer["boards"] if b["name"] == "pico1-emu")
    assert board["attached"] is True
    assert (board["chip"], board["clock_hz"]) == ("rp2040", 125_000_000)


def test_boards_of_your_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = tmp_path / "mine.yaml"
    own.write_text('boards: {desk: {chip: rp2040, probe: "cmsisdap:00FF", clock_hz: 125000000}}')
    assert main(["boards", "--boards", str(own)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert next(line for line in lines if line.startswith("desk")).split()[-1] == "no"


def test_two_names_for_one_probe(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = tmp_path / "mine.yaml"
    entry = '{chip: rp2040, probe: "cmsisdap:00FF", clock_hz: 125000000}'
    own.write_text(f"boards: {{one: {entry}, two: {entry}}}")
    assert main(["boards", "--boards", str(own)]) == 1
    assert "'two' and 'one' are the same probe" in capsys.readouterr().err


def test_build(capsys: pytest.CaptureFixture[str], runner_image: RunnerImage) -> None:
    assert main(["build", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["sha256"] == runner_image.elf_hash
    assert answer["flash_bytes"] == len(runner_image.flash)


def test_doctor(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--board", "pico1-emu", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["ok"] is True
    board = answer["checks"][-1]
    assert board["name"] == "board pico1-emu"
    assert "emulated" in board["detail"]
    assert "125000000 Hz" in board["detail"]


def test_doctor_names_what_is_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["doctor", "--board", "pico1-emu"]) == 1
    out = capsys.readouterr().out
    assert "FAIL cross compiler: BuildError: arm-none-eabi-gcc is not installed" in out
    assert "try: sudo apt-get install" in out


def test_a_checkout_cannot_run_code_through_pyocd(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """pyOCD would execute pyocd_user.py, and read pyocd.yaml, of the working directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyocd_user.py").write_text("open('executed', 'w')\n")
    (tmp_path / "pyocd.yaml").write_text("user_script: pyocd_user.py\n")
    assert main(["doctor", "--board", "pico1-emu"]) == 0
    assert not (tmp_path / "executed").exists()
    assert Path.cwd() == tmp_path
