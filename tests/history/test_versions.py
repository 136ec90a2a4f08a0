# SPDX-License-Identifier: Apache-2.0
"""Files of other versions, of other programs, damaged and hostile ones."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from harness.errors import ConfigError
from harness.history import (
    Recorder,
    failures,
    points,
    read,
    reading,
    runs,
    series,
    tables,
    writing,
)
from harness.history.database import _version
from harness.history.tables import VERSION, shape, shape_of
from tests.history.support import VERDICT, keep

FIRST = Path(__file__).with_name("version1.sql")


def _version_1(path: Path) -> None:
    db = sqlite3.connect(path)
    db.executescript(FIRST.read_text())
    db.close()


def _checked(path: Path) -> None:
    """All that the file of version 1 holds, read by this version."""
    with reading(path) as db:
        (key,) = series(db)
        found = points(db, key)
        first, second = runs(db)
        (failure,) = failures(db)
    assert (key.case, key.plan, key.board, key.kernels) == ("odd", "rip", "desk", "plain")
    assert [(p.cycles, p.samples, p.commit[:2], p.dirty) for p in found] == [
        (905, (905,), "a1", False), (911, (911,), "b2", True),
    ]  # fmt: skip
    assert [(p.uid, p.flash_bytes, p.budget, p.run_ended) for p in found] == [
        ("uid-1", 4096, None, True), ("uid-2", 4096, None, False),
    ]  # fmt: skip
    assert (first.info.status, second.info.status) == ("passed", "")
    assert (failure.run, failure.failure.cause) == (2, "unplugged")
    assert [row["kernel"] for row in read(path)] == ["plain", "plain"]


def test_version_1_is_read_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    _version_1(path)
    before = path.read_bytes()
    _checked(path)
    assert path.read_bytes() == before


def test_version_1_is_brought_up(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    _version_1(path)
    with writing(path) as db:
        assert _version(db, path) == VERSION == 2
        assert shape(db) == shape_of(VERSION)
    _checked(path)
    keep(path, VERDICT)
    with reading(path) as db:
        assert [row.id for row in runs(db)] == [1, 2, 3]


def test_a_migration_is_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "history.sqlite"
    _version_1(path)
    with monkeypatch.context() as patch:
        half = (tables.MIGRATIONS[0], (*tables.MIGRATIONS[1], "ALTER TABLE none ADD COLUMN x"))
        patch.setattr(tables, "MIGRATIONS", half)
        with pytest.raises(ConfigError, match="no such table: none"), writing(path):
            pass
    assert sqlite3.connect(path).execute("PRAGMA user_version").fetchone() == (1,)
    _checked(path)


@pytest.mark.parametrize("opened", [reading, writing])
def test_a_newer_version(tmp_path: Path, opened: object) -> None:
    path = tmp_path / "history.sqlite"
    keep(path, VERDICT)
    db = sqlite3.connect(path)
    db.execute(f"PRAGMA user_version = {VERSION + 1}")
    db.close()
    with pytest.raises(ConfigError, match="written by a newer ripbench") as caught:
        opened(path).__enter__()  # type: ignore[operator]
    assert f"its version: {VERSION + 1}" in str(caught.value)
    assert "--history" in caught.value.hint


def _other_program(path: Path) -> None:
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE mine (x)")
    db.close()


def _text(path: Path) -> None:
    path.write_text("# mine\n" * 1000)


def _torn(path: Path) -> None:
    """The first page is right, and the others are not."""
    keep(path, *[VERDICT] * 30)
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xa5" * (len(data) - 4096)
    path.write_bytes(data)


def _planted_trigger(path: Path) -> None:
    keep(path, VERDICT)
    db = sqlite3.connect(path)
    db.execute("CREATE TRIGGER x AFTER INSERT ON run BEGIN SELECT load_extension('x'); END")
    db.commit()
    db.close()


def _link(path: Path) -> None:
    path.symlink_to(path.with_name("elsewhere"))


def _side_link(path: Path) -> None:
    keep(path, VERDICT)
    path.with_name(path.name + "-wal").symlink_to(path.with_name("elsewhere"))


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _folder(path: Path) -> None:
    path.mkdir()


REFUSED = {
    _other_program: "no history of ripbench",
    _text: "is damaged, or no history",
    _torn: "is damaged, or no history",
    _planted_trigger: "has not the tables of a history",
    _link: "it is a link, or no file",
    _side_link: "it is a link, or no file",
    _pipe: "it is a link, or no file",
    _folder: "it is a link, or no file",
}


@pytest.mark.parametrize("plant", REFUSED, ids=lambda f: f.__name__)
def test_what_is_no_history_is_left_alone(tmp_path: Path, plant: object) -> None:
    """In words, whether it is read or written, and it is what it was."""
    path = tmp_path / "history.sqlite"
    plant(path)  # type: ignore[operator]
    before = path.read_bytes() if path.is_file() else b""
    lost: list[str] = []
    with pytest.raises(ConfigError, match=REFUSED[plant]), reading(path) as db:  # type: ignore[index]
        runs(db)
        list(db.execute("SELECT * FROM verdict"))
    recorder = Recorder(path, on_lost=lost.append)
    recorder.verdict(VERDICT, None)
    recorder.close()
    assert REFUSED[plant] in lost[0]  # type: ignore[index]
    assert (path.read_bytes() if path.is_file() else b"") == before
    assert not (tmp_path / "elsewhere").exists()


def test_no_history(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no history"), reading(tmp_path / "none.sqlite"):
        pass
    assert list(tmp_path.iterdir()) == []
