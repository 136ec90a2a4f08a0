# SPDX-License-Identifier: Apache-2.0
"""A writer that is killed, wherever that is: the file opens, nothing that was committed is lost, and
nothing half is shown as whole. The kill comes from below SQLite, at the n-th call that changes a file
and in the middle of it, for every n until a run sees no kill."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.history import points, read, reading, runs, series, writing
from harness.history.blobs import Blobs
from harness.history.check import check
from harness.history.lines import verdict_lines
from harness.history.prune import prune
from tests.history.killed import VERDICTS
from tests.history.support import VERDICT, keep

ROOT = Path(__file__).parents[2]
SOURCE = Path(__file__).with_name("killer.c")
SAMPLES = 22  # of each verdict of the writer


@pytest.fixture(scope="module")
def killer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    library = tmp_path_factory.mktemp("killer") / "killer.so"
    command = ["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(SOURCE), "-ldl"]
    subprocess.run(command, check=True)
    return library


def _times(killer: Path, folder: Path, *, middle: bool, step: int) -> list[tuple[int, int, str]]:
    """Number, signal, and what was said of each time."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.history.killed", str(folder), str(int(middle)), str(step)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "LD_PRELOAD": str(killer)},
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.returncode == 0, done.stderr
    rows = (line.split() for line in done.stdout.splitlines())
    return [(int(at), int(number), said) for at, number, said in rows]


def _check(path: Path, said: str) -> tuple[int, bool]:
    """Verdicts that are there, and whether the run came to its end."""
    committed = said.count("v")
    if not path.exists() or not path.stat().st_size:
        assert committed == 0
        return 0, False
    with writing(path):  # as the next run will
        pass
    with reading(path) as db:
        assert check(db, path) == []
        lines = list(verdict_lines(db))
        ended = [row.info.ended != "" for row in runs(db)]
        found = [point for key in series(db) for point in points(db, key)]
        for line in lines:
            assert len(line["samples"]) == SAMPLES
            assert len(line["recovered"]) == 1
            assert len(Blobs(path).get(line["frames"])) == 8000
    assert committed <= len(lines) <= committed + 1
    assert len(found) == len(lines) and all(len(point.samples) == 19 for point in found)
    assert ended == [] or ended == [len(ended) == 1 and any(ended)]
    if said.endswith("e"):
        assert ended == [True]
    return len(lines), any(ended)


@pytest.mark.parametrize("middle", [False, True], ids=["before", "within"])
@pytest.mark.parametrize("step", [7, pytest.param(1, marks=pytest.mark.extra)])
def test_killed_at_every_call_that_changes_a_file(
    killer: Path, tmp_path: Path, middle: bool, step: int
) -> None:
    times = _times(killer, tmp_path, middle=middle, step=step)
    seen = set()
    for at, number, said in times:
        path = tmp_path / str(at) / "history.sqlite"
        found, ended = _check(path, said.replace("-", ""))
        assert ended or number == signal.SIGKILL, (at, number)
        seen.add((found, ended))
        keep(path, VERDICT)  # the next run goes on, whatever the last one left
        with reading(path) as db:
            assert [row.info.status for row in runs(db)][-1] == "passed"
        assert len(list(read(path))) == found + 1
    assert times[-1][1:] == (0, "v" * VERDICTS + "e")
    assert len(times) * step > 60
    assert seen >= {(0, False), (1, False), (2, False), (VERDICTS, True)}


def test_what_a_kill_left_of_a_file_is_pruned(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    keep(path, VERDICT)
    half = Blobs(path).folder / "ab" / ".0123456789abcdef"
    half.parent.mkdir(parents=True)
    half.write_bytes(b"half")
    with writing(path) as db:
        assert check(db, path) == []
        assert prune(db, path, max_bytes=10**6, now=time.time()).files == 0  # it may be at work
        assert prune(db, path, max_bytes=10**6, now=time.time() + 7200).files == 1
    assert not half.exists()


WRITER = """
import sys
from pathlib import Path
from harness.history import Recorder
from tests.history.support import VERDICT, measured
recorder = Recorder(Path(sys.argv[1]), on_lost=lambda text: sys.exit(text))
recorder.start()
print("started", flush=True)
sys.stdin.readline()
for number in range(int(sys.argv[2])):
    recorder.verdict(VERDICT, measured([1000, 900]), test=sys.argv[3] + str(number))
    print("kept", flush=True)
recorder.end("passed")
"""


def _writer(path: Path, count: int, name: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), str(count), name],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_two_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    """They even make the file at once."""
    path, count = tmp_path / "history.sqlite", 100
    writers = [_writer(path, count, name) for name in "ab"]
    for writer in writers:
        assert writer.stdout is not None and writer.stdin is not None
        assert writer.stdout.readline() == "started\n"
    for writer in writers:
        writer.stdin.write("\n")  # type: ignore[union-attr]
        writer.stdin.flush()  # type: ignore[union-attr]
    for writer in writers:
        out, errors = writer.communicate(timeout=120)
        assert (writer.returncode, out, errors) == (0, "kept\n" * count, "")
    with reading(path) as db:
        assert check(db, path) == []
        assert [(row.verdicts, row.info.status) for row in runs(db)] == [(count, "passed")] * 2
        tests = {line["test"] for line in verdict_lines(db)}
    assert tests == {f"{name}{number}" for name in "ab" for number in range(count)}


@pytest.mark.parametrize("seconds", [0.005, 0.02, 0.05])
def test_killed_from_outside_while_another_writes(tmp_path: Path, seconds: float) -> None:
    path = tmp_path / "history.sqlite"
    killed, other = _writer(path, 10**6, "a"), _writer(path, 50, "b")
    for writer in (killed, other):
        assert writer.stdin is not None
        writer.stdin.write("\n")
        writer.stdin.flush()
    assert killed.stdout is not None
    assert [killed.stdout.readline() for _ in range(2)] == ["started\n", "kept\n"]
    time.sleep(seconds)
    killed.kill()
    said = 1 + killed.stdout.read().count("kept\n")  # what is buffered here, too
    assert killed.wait(timeout=60) == -signal.SIGKILL
    out, errors = other.communicate(timeout=60)
    assert (out.count("kept\n"), errors) == (50, "")
    with reading(path) as db:
        assert check(db, path) == []
        by_run = {row.info.status: row.verdicts for row in runs(db)}
    assert by_run["passed"] == 50
    assert said <= by_run[""] <= said + 1
