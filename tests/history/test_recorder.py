# SPDX-License-Identifier: Apache-2.0
"""A history that cannot be written: said loudly, rows go where they can be imported from, and nobody's
measurement fails by it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.history import (
    Recorder,
    Taken,
    points,
    read,
    read_failures,
    reading,
    runs,
    series,
    writing,
)
from harness.history.blobs import Blobs
from harness.history.check import check
from harness.history.lines import import_lines
from harness.results import Failure
from tests.history.support import VERDICT, measured

ROOT = Path(__file__).parents[2]
FAILURE = Failure("desk", "odd", "rip", "ProbeError", "gone", "", 1)
NOBODY = 65534
# Says what was lost, then how many verdicts it was told to keep.
WRITER = """
import resource, signal, sys
from pathlib import Path
from harness.history import Recorder
from tests.history.support import VERDICT, measured
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
recorder = Recorder(Path(sys.argv[1]), on_lost=lambda text: print(text, flush=True))
limit = int(sys.argv[2])
for number in range(10):
    if limit and number == 3:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    recorder.verdict(VERDICT, measured([1000, 900]), kernels="plain")
recorder.end("passed")
print("end")
"""


def _write(path: Path, limit: int) -> str:
    done = subprocess.run(
        [sys.executable, "-c", WRITER, str(path), str(limit)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("end\n")
    return done.stdout


@pytest.mark.parametrize("limit", [100_000, 123_457, 200_000])
def test_a_full_disk(tmp_path: Path, spill: Path, limit: int) -> None:
    """No file may grow beyond the limit, as on a disk that fills up while the fourth verdict is kept:
    some of the ten are in the database, the others in one file of lines, and together they are ten."""
    path = tmp_path / "history.sqlite"
    said = _write(path, limit)
    assert f"{path} cannot be written" in said
    assert "is the disk full?" in said
    with reading(path) as db:
        assert check(db, path) == []
        kept = runs(db)[0].verdicts
    assert 3 <= kept < 10
    (lines,) = spill.glob("ripbench-history-*.jsonl")
    assert f"`ripbench history import {lines}`" in said
    with writing(path) as db:
        assert import_lines(db, lines).verdicts == 10 - kept
        (key,) = series(db)
        found = points(db, key)
    assert [point.samples for point in found] == [(900,)] * 10
    assert {point.run for point in found} == {1}


def _as_nobody(work: Callable[[], int], folder: Path) -> int:
    """Exit status of a process that has no right to write to `folder`, which root would have."""
    folder.chmod(0o555)
    for parent in (folder.parent, *folder.parents[1:4]):
        parent.chmod(parent.stat().st_mode | 0o011)
    child = os.fork()
    if not child:
        status = 99
        try:
            if os.getuid() == 0:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            status = work()
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_folder_that_is_read_only(tmp_path: Path, spill: Path) -> None:
    path, said = tmp_path / "mine" / "history.sqlite", tmp_path / "said"
    path.parent.mkdir()
    said.touch()
    for open_to_all in (spill, said):
        open_to_all.chmod(0o777)
    spill.parent.chmod(spill.parent.stat().st_mode | 0o011)

    def write() -> int:
        recorder = Recorder(path, on_lost=lambda text: said.write_text(said.read_text() + text))
        for _ in range(10):
            recorder.verdict(VERDICT, measured([1000, 900]))
        recorder.end("passed")
        return 0

    assert _as_nobody(write, path.parent) == 0
    assert f"{path} cannot be written" in said.read_text()
    assert "make the file and its folder writable" in said.read_text()
    (lines,) = spill.glob("ripbench-history-*.jsonl")
    assert len(list(read(lines))) == 10
    assert list(path.parent.iterdir()) == []


def test_read_where_nothing_may_be_written(tmp_path: Path) -> None:
    """A finished history on a read-only disk."""
    path = tmp_path / "mine" / "history.sqlite"
    recorder = Recorder(path)
    recorder.verdict(VERDICT, measured([1000, 900]))
    recorder.end("passed")

    def look() -> int:
        with reading(path) as db:
            return runs(db)[0].verdicts

    assert _as_nobody(look, path.parent) == 1
    assert [entry.name for entry in path.parent.iterdir()] == ["history.sqlite"]


def test_nowhere_to_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither there nor in the folder for temporary files."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    (tmp_path / "file").touch()
    lost: list[str] = []
    recorder = Recorder(tmp_path / "file" / "history.sqlite", on_lost=lost.append)
    recorder.start()
    recorder.verdict(VERDICT, None)
    recorder.failure(FAILURE)
    recorder.end("passed")
    assert len(lost) == 3
    assert "nor could it be kept elsewhere" in lost[1] and "nor could it" in lost[2]


def test_failures_are_spilled_too(tmp_path: Path, spill: Path) -> None:
    (tmp_path / "file").touch()
    recorder = Recorder(tmp_path / "file" / "history.sqlite", on_lost=lambda _: None)
    recorder.failure(FAILURE, ("first: gone",), test="t")
    recorder.verdict(VERDICT, None)
    (lines,) = spill.glob("*.jsonl")
    with writing(tmp_path / "history.sqlite") as db:
        found = import_lines(db, lines)
        (row,) = runs(db)
        assert db.execute("SELECT error FROM attempt WHERE failure").fetchall() == [
            ("first: gone",)
        ]
    assert (found.verdicts, found.failures) == (1, 1)
    assert (row.info.token, row.info.ended, row.failures) == (recorder.token, "", 1)


def test_files_that_cannot_be_kept_cost_no_number(tmp_path: Path) -> None:
    path, lost = tmp_path / "history.sqlite", []
    elf = tmp_path / "runner.elf"
    elf.write_bytes(b"elf")
    Blobs(path).folder.write_text("in the way")
    recorder = Recorder(path, on_lost=lost.append)
    recorder.verdict(VERDICT, None, Taken(elf, 4096, b"frames"))
    recorder.end("passed")
    assert "history.blobs cannot be written" in lost[0]
    with reading(path) as db:
        assert db.execute("SELECT flash_bytes, frames FROM verdict").fetchall() == [(4096, "")]


def test_lines_where_the_name_says_so(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    recorder = Recorder(path)
    recorder.start()
    recorder.verdict(VERDICT, None)
    recorder.failure(FAILURE)
    recorder.end("passed")
    assert [entry.name for entry in tmp_path.iterdir()] == ["rows.jsonl"]
    assert [row["layer"] for row in read(path)] == ["odd"]
    assert [row["error"] for row in read_failures(path)] == ["ProbeError"]


def test_a_kill_by_the_limit_itself(tmp_path: Path) -> None:
    """SIGXFSZ, which ends a process in the middle of the write that crosses the limit."""
    path = tmp_path / "history.sqlite"
    code = WRITER.replace("signal.SIG_IGN", "signal.SIG_DFL")
    done = subprocess.run(
        [sys.executable, "-c", code, str(path), "150000"],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True,
    )  # fmt: skip
    assert done.returncode == -signal.SIGXFSZ
    with reading(path) as db:
        assert check(db, path) == []
        (row,) = runs(db)
    assert row.verdicts >= 3 and row.info.ended == ""
