# SPDX-License-Identifier: Apache-2.0
"""One owner for each board, by locks that the kernel frees when their owner dies.

A board is what its backend says it is (`lock_keys`: the probe's serial number, the USB port that it is
plugged into, a serial device), not what boards.yaml calls it. Beside each lock lies a note of who holds
it, for people; only the lock itself counts.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import socket
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from harness.boards.kernellock import KernelLock, kernel_lock
from harness.boards.places import lock_folder, read_small, write_small
from harness.errors import BusyError, ConfigError

_POLL_SECONDS = 0.05
_LEAST_SECONDS = 0.25  # `ripbench boards` holds a lock for a moment, to see whether it is free
_TELL_SECONDS = 5.0  # between two lines of progress
_MODE = 0o666  # of a note: in a folder of several users each of them may hold the board
_MAX_WORDS = 200


@dataclass(frozen=True)
class Holder:
    """Who has a board. since: seconds since the epoch, by that host's clock."""

    pid: int
    host: str
    board: str
    doing: str
    since: float

    def __str__(self) -> str:
        who = f"pid {self.pid} on {self.host}"
        if (self.pid, self.host) == (os.getpid(), socket.gethostname()):
            who += " (this process)"
        return f"{who}, as {self.board}, since {age(time.time() - self.since)}: {self.doing}"


class BoardLock:
    """All keys of one board, or none of them. Without keys there is nothing to lock."""

    def __init__(self, board: str, keys: Sequence[str]) -> None:
        self._board = board
        self._keys = sorted(set(keys))  # in one order, so that two cannot wait for each other
        self._held: list[tuple[KernelLock, Path]] = []
        self._since = 0.0

    def acquire(self, wait: float = 0.0, notice: Callable[[str], None] = lambda _: None) -> None:
        """wait: seconds. notice: told now and then whom we wait for. Errors: BusyError names the
        holder; ConfigError when there is no folder for locks."""
        start, told = time.monotonic(), -_TELL_SECONDS
        try:
            while (taken := self._take_all()) is not None:
                waited = time.monotonic() - start
                if waited >= max(wait, _LEAST_SECONDS):
                    raise self._busy(taken, wait)
                if wait and waited - told >= _TELL_SECONDS:
                    told = waited
                    left = age(wait - waited)
                    notice(f"waiting for {self._board}, {left} more: {_holder(taken) or _NOBODY}")
                time.sleep(_POLL_SECONDS)
            self._since = time.time()
            self.say(default_doing())
        except BaseException:
            self.release()
            raise

    def say(self, doing: str) -> None:
        """What the holder does now, for who is refused."""
        if not self._held:
            return
        words = _clean(doing)[:_MAX_WORDS]
        note = Holder(os.getpid(), socket.gethostname(), self._board, words, self._since)
        for _, path in self._held:
            with contextlib.suppress(
                OSError
            ):  # another user's that may not be written: a note only
                write_small(path, json.dumps(asdict(note)), _MODE)

    def release(self) -> None:
        while self._held:
            lock, path = self._held.pop()
            try:
                with contextlib.suppress(OSError):
                    write_small(path, "", _MODE)
            finally:
                lock.free()

    def _take_all(self) -> str | None:
        """None when all are ours; else the key that is another's, and none is ours."""
        for key in self._keys:
            lock, note = _files(key)
            try:
                taken = lock.take()
            except OSError as error:
                raise ConfigError(f"{lock.path} cannot be locked", cause=str(error)) from error
            if not taken:
                while self._held:
                    self._held.pop()[0].free()
                return key
            self._held.append((lock, note))
        return None

    def _busy(self, key: str, wait: float) -> BusyError:
        holder = _holder(key)
        names = ""
        if holder is not None and holder.board != self._board:
            names = f": {self._board} and {holder.board} are the same hardware"
        return BusyError(
            f"{self._board} is in use{names}",
            cause=f"{holder or _NOBODY}",
            evidence={"locked": key, **({"waited": age(wait)} if wait else {})},
            hint="wait for it with --wait 10m, or end that process",
        )


_NOBODY = "somebody who left no note"


def holder_of(keys: Sequence[str]) -> Holder | None:
    """Who has the board now, without taking it for longer than a moment."""
    for key in keys:
        lock, _ = _files(key)
        if not lock.path.exists():
            continue
        if lock.take():
            lock.free()
        else:
            return _holder(key) or Holder(0, "?", "?", _NOBODY, time.time())
    return None


def age(seconds: float) -> str:
    """`5 s`, `3 min`, `2 h`."""
    if seconds < 120:
        return f"{max(0, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 7200 else f"{round(seconds / 3600)} h"


def duration(words: str) -> float:
    """Seconds of `90`, `90s`, `10m`, `2h`. Errors: ConfigError."""
    match = re.fullmatch(r"(\d{1,6})([smh]?)", words.strip())
    if match is None:
        raise ConfigError(f"{words!r} is not a time", hint="for example 30s, 10m or 2h")
    return int(match[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[match[2]]


def default_doing() -> str:
    """The test that runs, else the command."""
    test = os.environ.get("PYTEST_CURRENT_TEST")
    return test or " ".join([Path(sys.argv[0]).name, *sys.argv[1:]])


def _files(key: str) -> tuple[KernelLock, Path]:
    """The lock and the note of a key; its name is only part of theirs, the hash tells keys apart."""
    folder = lock_folder()
    name = re.sub(r"[^A-Za-z0-9._-]", "_", key)[:60]
    stem = f"{name}-{hashlib.sha256(key.encode()).hexdigest()[:12]}"
    return kernel_lock(folder / f"{stem}.lock"), folder / f"{stem}.json"


def _holder(key: str) -> Holder | None:
    """What the note says. It is another process's word, perhaps another user's: only text to show."""
    try:
        row = json.loads(read_small(_files(key)[1]))
        return Holder(
            int(row["pid"]),
            _clean(str(row["host"]))[:_MAX_WORDS],
            _clean(str(row["board"]))[:_MAX_WORDS],
            _clean(str(row["doing"]))[:_MAX_WORDS],
            float(row["since"]),
        )
    except (ValueError, KeyError, TypeError, OverflowError):
        return None


def _clean(text: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in text)
