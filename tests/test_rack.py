# SPDX-License-Identifier: Apache-2.0
"""Several boards in one run: which worker gets what, and one table of what all of them found."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from harness import resources
from harness.boards.config import find_rack, load_racks
from harness.errors import ConfigError
from harness.plugin.heartbeat import Heartbeat
from harness.plugin.rack import board_of, workers_for
from harness.results import Provenance, Verdict, verdict_from

SUITE = resources.layers() / "test_layers.py"
TWO = """
boards:
  a: {chip: rp2040, probe: "emu:a", serial: "emu://a", clock_hz: 125000000}
  a-b: {chip: rp2040, probe: "emu:a-b", serial: "emu://a-b", clock_hz: 125000000}
racks:
  both: [a-b, a, a]
"""


def _pytest(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("nodeid", "board"),
    [
        ("layers/test_layers.py::test_layer[pico1-emu-odd-3x3-rip]", "pico1-emu"),
        ("layers/test_layers.py::test_layer[pico1-emu-xl-odd-3x3-rip]", "pico1-emu-xl"),
        ("layers/test_models.py::test_model[pico2-emu]", "pico2-emu"),
        ("layers/test_layers.py::test_layer[pico2-emu-like-pico1-emu-rip]", "pico2-emu"),
        ("tests/test_x.py::test_pico1_emu", "tests/test_x.py"),
        ("tests/test_x.py::test_y[pico1-emulated]", "tests/test_x.py"),
    ],
)
def test_the_board_of_a_test(nodeid: str, board: str) -> None:
    assert board_of(nodeid, ["pico1-emu", "pico1-emu-xl", "pico2-emu"]) == board


def test_no_more_workers_than_boards_or_cores() -> None:
    assert workers_for(["a", "b", "c"], 2) == 2
    assert workers_for(["a", "b"], 8) == 2
    assert workers_for(["a", "a"], 8) == 1


def test_racks(tmp_path: Path) -> None:
    file = tmp_path / "boards.yaml"
    file.write_text(TWO)
    racks = load_racks(file)
    assert find_rack("both", racks) == ("a-b", "a")
    assert "emulated" in racks, "the shipped ones are still there"
    with pytest.raises(ConfigError, match="no rack 'bot'"):
        find_rack("bot", racks)


@pytest.mark.parametrize(
    ("racks", "message"),
    [("both: [a, c]", "no board 'c'"), ("both: []", "without boards"), ("both: a", "a list")],
)
def test_a_rack_that_is_none_is_refused(tmp_path: Path, racks: str, message: str) -> None:
    file = tmp_path / "boards.yaml"
    file.write_text(TWO.replace("both: [a-b, a, a]", racks))
    with pytest.raises(ConfigError, match=message):
        load_racks(file)


def test_two_boards_two_workers_one_table(tmp_path: Path) -> None:
    """Each board is in one process, whose bench is closed before the next one's begins."""
    done = _pytest(
        tmp_path,
        str(SUITE),
        *("--rack", "emulated", "-n", "auto", "-v", "--seeds", "1", "--tap-order", "gather"),
        *("--layers", "first#odd-3x3,first#mcunet-in0.5"),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    ran = re.findall(r"^\[(gw\d)\] .*PASSED .*test_layer\[(pico\d-emu)-", done.stdout, re.M)
    assert len(ran) == 8
    assert len({worker for worker, _ in ran}) == 2
    assert len(set(ran)) == 2, "no board was on two workers"
    rows = [line for line in done.stdout.splitlines() if line.rstrip().endswith("pass")]
    assert [row.split()[1] for row in rows].count("pico1-emu") == 4
    assert [row.split()[1] for row in rows].count("pico2-emu") == 4


def test_a_verdict_survives_the_way_from_a_worker() -> None:
    provenance = Provenance("a", "emulated", "rp2040", "1", 2, "3", "4", "5", "6", "gcc")
    verdict = Verdict(
        provenance, "layer", "rip", False, ("wrong", "<>"), 1, 2, 3, "", "", 4, 5, (("fast", 6),), 7, 8,
        0.1, None, "crc", (1, 2), True, 9, 10, 11, recovered=("once",),
    )  # fmt: skip
    assert verdict_from(json.loads(json.dumps(asdict(verdict)))) == verdict


def test_a_rack_that_is_not_there_is_wrong_usage(tmp_path: Path) -> None:
    done = _pytest(tmp_path, str(SUITE), "--rack", "nightly")
    assert done.returncode == 4
    assert "no rack 'nightly' in boards.yaml" in done.stderr


def test_the_heartbeat_names_what_runs_for_long() -> None:
    now = [0.0]
    beat = Heartbeat(30, print, clock=lambda: now[0])
    beat.pytest_runtest_logstart("test_layer[pico1-emu-a-rip]")
    now[0] = 20
    beat.pytest_runtest_logstart("test_layer[pico2-emu-b-rip]")
    now[0] = 31
    assert beat.lines() == ["ripbench: test_layer[pico1-emu-a-rip], for 31 s"]
    beat.pytest_runtest_logfinish("test_layer[pico1-emu-a-rip]")
    now[0] = 65
    assert beat.lines() == ["ripbench: test_layer[pico2-emu-b-rip], for 45 s"]


def test_heartbeats_get_past_capturing(tmp_path: Path) -> None:
    (tmp_path / "test_long.py").write_text("import time\ndef test_long():\n    time.sleep(1)\n")
    done = _pytest(tmp_path, "--heartbeat", "0.2", "test_long.py")
    assert done.returncode == 0
    assert re.search(r"^ripbench: test_long.py::test_long, for \d s$", done.stderr, re.M)
