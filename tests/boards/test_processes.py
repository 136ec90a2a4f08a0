# SPDX-License-Identifier: Apache-2.0
"""Runs that are stopped, refused and killed from outside, as other processes see it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import history
from harness.boards.lock import BoardLock, holder_of
from harness.cli import main
from tests.boards.conftest import FAKE

ROOT = Path(__file__).parents[2]
KEY = "fake fake:desk"
RIPBENCH = "import sys; from harness.cli import main; sys.exit(main())"
# Says each stage, and does there what it is told: stops as by Ctrl-C, or hangs until it is killed.
SUITE = """
import os, pathlib, signal, time
import pytest
from harness.geometry import ConvGeometry
from harness.network import Layer

LAYERS = [Layer(f"odd-{n}", ConvGeometry(5, 5, 4, 4 + n)) for n in range(3)]

@pytest.mark.parametrize("number", range(3))
def test_odd(bench, number):
    def begin(stage):
        if number == int(os.environ["IN"]) and stage == os.environ["AT"]:
            if os.environ["DO"] == "hang":
                pathlib.Path("here").touch()
                time.sleep(60)
            os.kill(os.getpid(), signal.SIGINT)
    bench._on_stage = begin
    assert bench.prove(LAYERS[number]).ok
"""
LOST = """
import pytest
from fakeboards import faults
from harness.geometry import ConvGeometry
from harness.network import Layer

@pytest.mark.parametrize("number", range(3))
def test_odd(bench, number):
    lost = bench.entry.name == "desk" and number > 0
    faults.set_plan("probe", 0 if lost else None, 10**9)
    assert bench.prove(Layer(f"odd-{number}", ConvGeometry(5, 5, 4, 4 + number))).ok
"""


@pytest.fixture
def boards(tmp_path: Path) -> Path:
    path = tmp_path / "desk.yaml"
    path.write_text(
        'boards: {desk: {chip: rp2040, probe: "fake:desk", serial: "fake://desk", '
        "clock_hz: 125000000, xip_miss_cycles: 56}}\n"
    )
    (tmp_path / "test_odd.py").write_text(SUITE)
    return path


def _command(boards: Path, *words: str) -> list[str]:
    options = ["--board", "desk", "--boards", str(boards), "--seeds", "1", *words]
    return [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "test_odd.py", *options]


def _heeds_ctrl_c() -> None:
    """A shell starts what runs in its background with SIGINT ignored, and children inherit that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _start(command: list[str], folder: Path, **environment: str) -> subprocess.Popen[str]:
    path = f"{FAKE}{os.pathsep}{ROOT}"
    return subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path, "IN": "1", "AT": "", "DO": "", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=_heeds_ctrl_c,
    )


@pytest.fixture
def hanging(boards: Path) -> Iterator[subprocess.Popen[str]]:
    """A run of the suite that has the board and hangs in its second test."""
    process = _start(_command(boards), boards.parent, AT="run", DO="hang")
    deadline = time.monotonic() + 60
    while not (boards.parent / "here").exists() and time.monotonic() < deadline:
        assert process.poll() is None
        time.sleep(0.02)
    yield process
    if process.poll() is None:
        process.kill()
    process.wait()


def _nobody_is_left(process: subprocess.Popen[str]) -> bool:
    """Of the session that the process led."""
    try:
        os.killpg(process.pid, 0)
    except ProcessLookupError:
        return True
    return False


SOME = ["erase"]
OTHERS = [
    "hello",
    "build",
    "lock",
    "attach",
    "flash",
    "program",
    "reset",
    "boot",
    "enumerate",
    "run",
]


@pytest.mark.parametrize(
    "stage", [*SOME, *(pytest.param(s, marks=pytest.mark.extra) for s in OTHERS)]
)
def test_ctrl_c(boards: Path, stage: str) -> None:
    words = ["--reflash"] if stage in ("erase", "program") else []
    number = 0 if stage in ("build", "lock", "attach") else 1  # which only the first test sees
    process = _start(_command(boards, *words), boards.parent, AT=stage, IN=str(number))
    out, errors = process.communicate(timeout=60)
    assert process.returncode == pytest.ExitCode.INTERRUPTED, out + errors
    assert f"stopped on desk in stage '{stage}': test_odd.py::test_odd[desk-{number}]" in out
    assert _nobody_is_left(process)
    assert holder_of([KEY]) is None
    rows = boards.parent / "reports" / "history.sqlite"
    done = list(history.read(rows)) if rows.exists() else []
    assert [(row["layer"], row["ok"]) for row in done] == [("odd-0", True)] * number


@pytest.mark.parametrize(
    ("what", "stage"),
    [("port", "enumerate"), pytest.param("probe", "attach", marks=pytest.mark.extra)],
)
def test_ctrl_c_on_the_command_line(boards: Path, what: str, stage: str) -> None:
    setup = f"from fakeboards import faults; faults.set_plan({what!r}, 3).interrupt = True; "
    words = ["doctor", "--board", "desk", "--boards", str(boards)]
    process = _start([sys.executable, "-c", setup + RIPBENCH, *words], boards.parent)
    out, errors = process.communicate(timeout=60)
    assert process.returncode == 130, out + errors
    assert errors == f"\nstopped in stage '{stage}' of desk\n"
    assert "ok   boards.yaml" in out and "ok   board desk" not in out
    assert _nobody_is_left(process)
    assert holder_of([KEY]) is None


def test_a_second_run_is_refused_and_a_killed_one_lets_go(
    boards: Path, hanging: subprocess.Popen[str]
) -> None:
    refused = _start(_command(boards), boards.parent)
    out, _ = refused.communicate(timeout=60)
    assert refused.returncode == pytest.ExitCode.TESTS_FAILED
    assert f"BusyError: desk is in use\n  cause: pid {hanging.pid} on " in out
    assert "test_odd.py::test_odd[desk-1]" in out
    assert "3 failed" in out and "Traceback" not in out

    hanging.kill()
    start = time.monotonic()
    lock = BoardLock("desk", [KEY])
    lock.acquire(wait=5)
    assert time.monotonic() - start < 2
    lock.release()
    assert hanging.wait(timeout=10) == -signal.SIGKILL


@pytest.mark.extra
def test_a_run_that_waits_for_another(boards: Path, hanging: subprocess.Popen[str]) -> None:
    waiting = _start(_command(boards, "--wait", "1m"), boards.parent)
    assert waiting.stdout is not None
    line = next(line for line in iter(waiting.stdout.readline, "") if "waiting for desk" in line)
    assert f"pid {hanging.pid} on " in line
    hanging.send_signal(signal.SIGTERM)
    out, _ = waiting.communicate(timeout=60)
    assert waiting.returncode == 0, out


def test_a_board_that_is_lost_and_one_that_is_not(boards: Path, tmp_path: Path) -> None:
    """Two boards in one run; the first answers no more after its first test."""
    desk = boards.read_text().strip().removeprefix("boards: {").removesuffix("}")
    boards.write_text("boards: {" + desk + ", " + desk.replace("desk", "shelf") + "}\n")
    (tmp_path / "test_odd.py").write_text(LOST)
    process = _start(_command(boards, "--board", "shelf"), tmp_path)
    out, errors = process.communicate(timeout=60)
    assert process.returncode == pytest.ExitCode.TESTS_FAILED, out + errors
    assert "2 failed, 4 passed" in out
    assert "ripbench: desk: attempt 2: a reset over SWD" in out
    assert "ripbench: desk: attempt 4: a power-on reset through the debug port" in out
    assert "ProbeError: " in out and "attempt 4: after a power-on reset" in out
    assert "QuarantineError: desk is in quarantine 10 min more" in out
    assert "Traceback" not in out
    rows = history.read(tmp_path / "reports" / "history.sqlite")
    assert [row["provenance"]["board"] for row in rows] == ["desk", "shelf", "shelf", "shelf"]
    failed = history.read_failures(tmp_path / "reports" / "history.sqlite")
    assert [(f["board"], f["layer"], f["error"], f["attempts"]) for f in failed] == [
        ("desk", "odd-1", "ProbeError", 4),
        ("desk", "odd-2", "QuarantineError", 0),  # not tried
    ]


DOCTOR = [sys.executable, "-c", RIPBENCH, "doctor", "--board", "desk", "--boards"]


def test_doctor_is_refused_in_words_or_waits(boards: Path, hanging: subprocess.Popen[str]) -> None:
    refused = _start([*DOCTOR, str(boards), "--wait", "1s"], boards.parent)
    out, errors = refused.communicate(timeout=60)
    assert refused.returncode == 1, out + errors
    assert (
        f"FAIL board desk: BusyError: desk is in use\n         cause: pid {hanging.pid} on " in out
    )
    assert "test_odd.py::test_odd[desk-1]" in out
    assert "waited: 1 s" in out
    assert "Traceback" not in out + errors

    waiting = _start([*DOCTOR, str(boards), "--wait", "1m"], boards.parent)
    assert waiting.stderr is not None
    line = waiting.stderr.readline()
    assert line.startswith(f"waiting for desk, 60 s more: pid {hanging.pid} on ")
    hanging.kill()
    out, errors = waiting.communicate(timeout=60)
    assert waiting.returncode == 0, out + errors
    assert "ok   board desk: " in out


def test_a_wait_of_doctor_that_is_no_time(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--wait", "soon"]) == 1
    said = capsys.readouterr()
    assert "'soon' is not a time" in said.err
    assert said.out == ""


def test_a_wait_that_is_no_time(boards: Path) -> None:
    process = _start(_command(boards, "--wait", "soon"), boards.parent)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == pytest.ExitCode.USAGE_ERROR
    assert "'soon' is not a time" in errors


@pytest.mark.usefixtures("fake_entry")
def test_boards_shows_who_has_it(boards: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lock = BoardLock("desk", [KEY])
    lock.acquire()
    assert main(["boards", "--json", "--boards", str(boards)]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)["boards"]}
    assert main(["boards", "--boards", str(boards)]) == 0
    lock.release()
    assert rows["desk"]["in_use"].startswith(f"pid {os.getpid()} on ")
    assert rows["desk"]["quarantine"] is None
    assert rows["pico1-emu"]["in_use"] is None
    assert f"desk is in use by pid {os.getpid()} on " in capsys.readouterr().out
