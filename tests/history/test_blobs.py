# SPDX-License-Identifier: Apache-2.0
"""Files by hash, and pruning: what goes, what stays, and that it is never the wrong one."""

from __future__ import annotations

import hashlib
import sqlite3
import time
from dataclasses import replace
from pathlib import Path

import pytest

from harness.errors import ConfigError
from harness.history import Recorder, Taken, all_points, reading, runs, writing
from harness.history import blobs as module
from harness.history.blobs import Blobs
from harness.history.check import check
from harness.history.prune import Pruned, prune
from harness.history.tables import MIGRATIONS
from tests.history.support import PROVENANCE, VERDICT, measured, verdict


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "history.sqlite"


def _keep(path: Path, token: str, frames: bytes, elf: bytes) -> str:
    """A run with one verdict of this ELF file; its hash."""
    file = path.with_name("runner.elf")
    file.write_bytes(elf)
    name = hashlib.sha256(elf).hexdigest()
    recorder = Recorder(path, token=token)
    one = verdict(provenance=replace(PROVENANCE, elf_hash=name), recovered=(), attempts=1)
    recorder.verdict(one, measured([1000, 900]), Taken(file, 4096, frames))
    recorder.end("passed")
    return name


def _files(path: Path) -> set[bytes]:
    return {file.read_bytes() for _, file, _ in Blobs(path).list()}


def test_by_hash(path: Path) -> None:
    blobs = Blobs(path)
    name = blobs.put(b"abc")
    assert name == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert blobs.put(b"abc") == name
    (file,) = path.parent.rglob("*/*/*")
    assert file.relative_to(path.parent) == Path("history.blobs", "ba", name)
    assert blobs.get(name) == b"abc"
    file.write_bytes(b"abd")
    with pytest.raises(ConfigError, match="is damaged"):
        blobs.get(name)
    for wrong in ("../../x", "", "ab", name.upper()):
        with pytest.raises(ConfigError, match="is no hash"):
            blobs.get(wrong)
    with pytest.raises(ConfigError, match="is not kept"):
        blobs.get("00" * 32)


def test_no_more_than_there_may_be(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_BYTES", 10)
    blobs = Blobs(path, max_total=25)
    assert blobs.put(b"x" * 11) == ""
    assert all(blobs.put(bytes([n]) * 10) for n in (1, 2))
    assert blobs.put(b"y" * 6) == ""
    assert blobs.put(b"z" * 5) != ""
    assert blobs.put(b"\1" * 10) != ""  # which is there already
    assert Blobs(path, max_total=25).put(b"w") == ""  # of another process, which counts them


def test_what_a_run_keeps(path: Path) -> None:
    elf = _keep(path, "a", b"frames of a", b"elf 1")
    with reading(path) as db:
        ((frames, kept),) = db.execute(
            "SELECT frames, elf_hash FROM verdict v JOIN build b ON b.id = v.build"
        )
    assert (Blobs(path).get(frames), Blobs(path).get(kept)) == (b"frames of a", b"elf 1")
    assert kept == elf


def _history(path: Path) -> None:
    """Three runs, a day each; the first two have one ELF file."""
    for day, elf in ((1, b"elf 1"), (2, b"elf 1"), (3, b"elf 2")):
        _keep(path, f"{day}", b"frames %d" % day, elf)
    (refuses,) = (line for line in MIGRATIONS[0] if line.startswith("CREATE TRIGGER run_update"))
    with writing(path) as db:  # into the past, as only a test may
        db.execute("DROP TRIGGER run_update")
        db.execute("UPDATE run SET started = '2026-01-0' || token || 'T02:00:00+00:00'")
        db.execute(refuses)


def _prune(path: Path, **words: object) -> Pruned:
    with writing(path) as db:
        gone = prune(db, path, now=time.time(), **words)  # type: ignore[arg-type]
        assert check(db, path) == []
        assert db.execute("SELECT count(*) FROM pruning").fetchone() == (0,)
    return gone


def test_old_runs_go_with_all_that_is_theirs(path: Path) -> None:
    _history(path)
    before = "2026-01-02T02:00:00+00:00"
    would = _prune(path, before=before, dry_run=True)
    assert len(_files(path)) == 5
    assert would == _prune(path, before=before) == Pruned(1, 1, 1, len(b"frames 1"))
    assert _files(path) == {b"frames 2", b"frames 3", b"elf 1", b"elf 2"}
    with reading(path) as db:
        assert [row.info.token for row in runs(db)] == ["2", "3"]
        counts = [
            db.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0]
            for table in (
                "verdict",
                "attempt",
                "sample",
                "ending",
                "board",
                "build",
                "case",
                "series",
            )
        ]
    assert counts == [2, 2, 8, 2, 1, 2, 1, 1]
    assert _prune(path, before="2026-01-04") == Pruned(2, 2, 4, 26)
    with reading(path) as db:
        assert (runs(db), all_points(db)) == ([], {})
        assert db.execute('SELECT count(*) FROM "case"').fetchone() == (0,)
    _keep(path, "later", b"x", b"elf 3")
    with reading(path) as db:
        assert [row.id for row in runs(db)] == [4]  # a number is never used again


def test_the_oldest_files_go_first_and_numbers_stay(path: Path) -> None:
    _history(path)
    assert _prune(path, max_bytes=34) == Pruned(0, 0, 0, 0)
    assert _prune(path, max_bytes=33) == Pruned(0, 0, 1, 8)
    assert _files(path) == {b"elf 1", b"frames 2", b"frames 3", b"elf 2"}
    assert _prune(path, max_bytes=13).files == 2
    assert _files(path) == {b"frames 3", b"elf 2"}
    assert _prune(path, max_bytes=0).files == 2
    with reading(path) as db:
        assert [len(of) for of in all_points(db).values()] == [3]


def test_another_history_in_the_same_folder_loses_nothing(path: Path) -> None:
    other = path.with_name("other.sqlite")
    _keep(path, "a", b"frames", b"elf")
    _keep(other, "b", b"frames", b"elf")
    assert _prune(path, before="9999").files == 2
    assert _files(other) == {b"frames", b"elf"}


def test_rows_may_not_be_deleted_afterwards(path: Path) -> None:
    _history(path)
    _prune(path, before="2026-01-02T02:00:00+00:00")
    with writing(path) as db, pytest.raises(sqlite3.IntegrityError, match="append-only"):
        db.execute("DELETE FROM run")


def test_damage_is_found(path: Path) -> None:
    _keep(path, "a", b"frames", b"elf")
    for _, file, _ in Blobs(path).list():
        file.write_bytes(b"other")
    with reading(path) as db:
        found = check(db, path)
    assert len(found) == 2 and all(line.endswith("is damaged") for line in found)
    with writing(path) as db:
        db.execute("DROP TRIGGER sample_delete")
        db.execute("DELETE FROM sample WHERE number = 1")
        assert check(db, path)[0] == "verdicts whose samples are not all there: 1"
        db.execute("DROP TRIGGER attempt_delete")
        db.execute("DELETE FROM attempt")
        assert check(db, path)[0] == "verdicts without an attempt: 1"


def test_the_verdict_of_the_support_is_kept_whole(path: Path) -> None:
    """Its recovered attempts are rows, too."""
    recorder = Recorder(path)
    recorder.verdict(VERDICT, None)
    recorder.end("passed")
    with reading(path) as db:
        assert check(db, path) == []
        tried = db.execute("SELECT number, error FROM attempt ORDER BY number").fetchall()
    assert tried == [(1, "first: ProbeError: gone"), (2, "")]
