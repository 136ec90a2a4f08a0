# SPDX-License-Identifier: Apache-2.0
"""Opening a history: by several processes at once, for reading also where nothing may be written.

A file that is no history of ours, is of a newer version, damaged, a link, or cannot be written is a
ConfigError that says so; so is what goes wrong while it is open.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from harness.errors import ConfigError
from harness.history.tables import APPLICATION_ID, VERSION, migrate, shape, shape_of

MAGIC = b"SQLite format 3\0"
_BUSY_SECONDS = 30.0  # a writer's transaction takes milliseconds
_POLL_SECONDS = 0.02
_SIDE_FILES = ("", "-wal", "-shm", "-journal")


@contextlib.contextmanager
def writing(path: Path) -> Iterator[sqlite3.Connection]:
    """An open history, made or brought up to this version. Errors: ConfigError."""
    with explained(path):
        db = open_to_write(path)
        try:
            yield db
        finally:
            db.close()


@contextlib.contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """An open history that is only looked at; one of an older version is looked at in a copy in memory
    that was brought up to this one. Errors: ConfigError, also for a file that is not there."""
    with explained(path):
        db = _open_to_read(path)
        try:
            yield db
        finally:
            db.close()


@contextlib.contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """All or nothing, and no other writer meanwhile."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):  # a full disk has rolled it back already
            db.execute("ROLLBACK")
        raise


@contextlib.contextmanager
def explained(path: Path) -> Iterator[None]:
    """Errors of SQLite as ConfigError, with what to do about them."""
    try:
        yield
    except sqlite3.Error as error:
        raise _explain(path, error) from error


def open_to_write(path: Path) -> sqlite3.Connection:
    """Errors: ConfigError, sqlite3.Error."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"{path} cannot be written", cause=str(error)) from error
    _check_plain(path)
    db = _connect(f"{_uri(path)}?mode=rwc")
    try:
        version = _version(db, path)  # first of all: another program's file stays as it is
        _use_wal(db)
        if version < VERSION:
            with transaction(db):
                version = _version(db, path)  # another writer may have been here first
                migrate(db, version)
        _check_shape(db, path, VERSION)
    except BaseException:
        db.close()
        raise
    return db


def _open_to_read(path: Path) -> sqlite3.Connection:
    _check_plain(path)
    if not path.exists():
        raise ConfigError(
            f"there is no history {path}",
            hint="a run of pytest with --board writes one; --history names another",
        )
    db = _connect(f"{_uri(path)}?{_reading_mode(path)}")
    try:
        db.execute("PRAGMA query_only = ON")
        version = _version(db, path)
        if not version:
            raise _not_ours(path)
        _check_shape(db, path, version)
        if version == VERSION:
            return db
        copy = _connect(":memory:")
        db.backup(copy)
    except BaseException:
        db.close()
        raise
    db.close()
    migrate(copy, version)
    return copy


def _connect(uri: str) -> sqlite3.Connection:
    db = sqlite3.connect(uri, uri=True, timeout=_BUSY_SECONDS, isolation_level=None)
    db.execute("PRAGMA foreign_keys = ON")
    db.execute("PRAGMA recursive_triggers = ON")  # so that REPLACE is a deletion, and refused
    db.execute("PRAGMA trusted_schema = OFF")
    db.execute(
        "PRAGMA synchronous = NORMAL"
    )  # a power cut may take the last rows, a kill takes none
    return db


def _use_wal(db: sqlite3.Connection) -> None:
    """Readers and a writer at once. Changing to it needs the file alone, and SQLite does not wait for
    that by itself. Where a file system cannot have it the file stays as it is, and as safe."""
    deadline = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
        time.sleep(_POLL_SECONDS)


def _version(db: sqlite3.Connection, path: Path) -> int:
    """0 for an empty file. Errors: ConfigError for a newer one, or a database of another program."""
    (version,) = db.execute("PRAGMA user_version").fetchone()
    (application,) = db.execute("PRAGMA application_id").fetchone()
    (tables,) = db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if tables == version == 0 and application in (0, APPLICATION_ID):
        return 0
    if application != APPLICATION_ID or version < 1:
        raise _not_ours(path)
    if version > VERSION:
        raise ConfigError(
            f"{path} was written by a newer ripbench",
            evidence={"its version": version, "known": VERSION},
            hint="install the newer one, or name another file with --history",
        )
    return int(version)


def _check_shape(db: sqlite3.Connection, path: Path, version: int) -> None:
    if shape(db) != shape_of(version):
        raise ConfigError(
            f"{path} has not the tables of a history of version {version}",
            hint="somebody changed it; move it away and import what `ripbench history export` gave",
        )


def _not_ours(path: Path) -> ConfigError:
    return ConfigError(
        f"{path} is a database, but no history of ripbench", hint="name another file with --history"
    )


def _check_plain(path: Path) -> None:
    """Neither it nor what SQLite writes beside it is a link, which an untrusted checkout could point
    anywhere, or a pipe."""
    for name in (path.with_name(path.name + end) for end in _SIDE_FILES):
        try:
            status = name.lstat()
        except FileNotFoundError:
            continue
        except OSError as error:
            raise ConfigError(f"{name} cannot be used", cause=str(error)) from error
        if not stat.S_ISREG(status.st_mode):
            raise ConfigError(f"{name} cannot be written", cause="it is a link, or no file")


def _reading_mode(path: Path) -> str:
    """Who may write takes away what SQLite keeps beside an open file; on a read-only disk it cannot even
    make it, and need not where no writer left any."""
    wal = path.with_name(path.name + "-wal")
    if os.access(path.parent, os.W_OK):
        return "mode=rw" if os.access(path, os.W_OK) else "mode=ro"
    return "mode=ro" if wal.exists() and wal.stat().st_size else "immutable=1"


def _uri(path: Path) -> str:
    return path.absolute().as_uri()


def _explain(path: Path, error: sqlite3.Error) -> ConfigError:
    words = str(error)
    code = getattr(error, "sqlite_errorname", "")
    for names, message, hint in _CAUSES:
        if code.startswith(names):
            return ConfigError(f"{path} {message}", cause=words, hint=hint)
    return ConfigError(f"{path} cannot be used as a history", cause=words)


_CAUSES: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (
        ("SQLITE_CORRUPT", "SQLITE_NOTADB"),
        "is damaged, or no history",
        "move it away; `ripbench history check` says more, `sqlite3 FILE .recover` may save rows",
    ),
    (
        ("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM"),
        "cannot be written",
        "make the file and its folder writable, or name another file with --history",
    ),
    (
        ("SQLITE_FULL", "SQLITE_IOERR"),
        "cannot be written",
        "is the disk full? `ripbench history prune --max-bytes 100M` gives some back",
    ),
    (
        ("SQLITE_BUSY", "SQLITE_LOCKED"),
        f"was in use for more than {_BUSY_SECONDS:g} s",
        "another program holds it; end that, or name another file with --history",
    ),
)
