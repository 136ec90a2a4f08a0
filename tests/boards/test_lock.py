# SPDX-License-Identifier: Apache-2.0
"""One owner a board, held by other processes: refused, waited for, killed."""

from __future__ import annotations

import fcntl
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.boards import places
from harness.boards.backend import Silicon, usb_ports
from harness.boards.kernellock import FlockLock, KernelLock, PortableLock
from harness.boards.lock import BoardLock, duration, holder_of
from harness.errors import BusyError, ConfigError

HOLD = """
import sys, time
from harness.boards.lock import BoardLock
lock = BoardLock(sys.argv[1], sys.argv[3:])
lock.acquire()
lock.say("measuring odd-3x3")
print("held", flush=True)
time.sleep(float(sys.argv[2]))
lock.release()
print("released", flush=True)
time.sleep(60)
"""
Holder = Callable[..., "subprocess.Popen[str]"]


def _start(name: str, *keys: str, seconds: float = 60) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", HOLD, name, str(seconds), *keys]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


@pytest.fixture
def hold() -> Iterator[Holder]:
    """Starts a process that holds keys under a board's name for so many seconds."""
    started: list[subprocess.Popen[str]] = []

    def start(name: str, *keys: str, seconds: float = 60) -> subprocess.Popen[str]:
        started.append(_start(name, *keys, seconds=seconds))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def _owner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, str]]:
    folder = str(tmp_path_factory.mktemp("held") / "locks")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RIPBENCH_LOCKS", folder)
        process = _start("left", "probe e66", "usb 1-1")
    yield process.pid, folder
    process.kill()
    process.wait()


@pytest.fixture
def owner(_owner: tuple[int, str], monkeypatch: pytest.MonkeyPatch) -> int:
    """Pid of a process that holds `probe e66` and `usb 1-1` as the board `left`."""
    monkeypatch.setenv("RIPBENCH_LOCKS", _owner[1])
    return _owner[0]


def test_a_refusal_names_the_holder(owner: int) -> None:
    start = time.monotonic()
    with pytest.raises(BusyError, match="left is in use") as refused:
        BoardLock("left", ["probe e66"]).acquire()
    assert time.monotonic() - start < 2
    text = str(refused.value)
    assert f"pid {owner} on {socket.gethostname()}" in text
    assert "measuring odd-3x3" in text
    assert re.search(r", since \d+ s:", text)
    assert "--wait" in refused.value.hint
    held = holder_of(["probe e66"])
    assert held is not None and held.pid == owner


@pytest.mark.usefixtures("owner")
def test_two_names_of_one_probe() -> None:
    with pytest.raises(BusyError, match="right and left are the same hardware"):
        BoardLock("right", ["serial /dev/ttyACM0", "usb 1-1"]).acquire()


@pytest.mark.usefixtures("owner")
def test_all_keys_or_none() -> None:
    with pytest.raises(BusyError):
        BoardLock("right", ["a", "probe e66", "z"]).acquire()
    for free in ("a", "z"):
        lock = BoardLock("third", [free])
        lock.acquire()
        lock.release()


@pytest.mark.usefixtures("owner")
def test_other_hardware_is_free() -> None:
    lock = BoardLock("right", ["probe e67"])
    lock.acquire()
    lock.release()
    BoardLock("nothing to lock", []).acquire()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_owner_lets_go(hold: Holder, how: signal.Signals) -> None:
    owner = hold("pico1", "probe e66")
    owner.send_signal(how)
    start = time.monotonic()
    lock = BoardLock("pico1", ["probe e66"])
    lock.acquire(wait=5)
    assert time.monotonic() - start < 2
    lock.release()


def test_waiting_for_a_board(hold: Holder) -> None:
    owner = hold("pico1", "probe e66", seconds=0.7)
    lines: list[str] = []
    lock = BoardLock("pico1", ["probe e66"])
    lock.acquire(wait=20, notice=lines.append)
    lock.release()
    assert lines and lines[0].startswith("waiting for pico1, 20 s more: pid ")
    assert f"pid {owner.pid} on" in lines[0]


@pytest.mark.usefixtures("owner")
def test_waiting_in_vain() -> None:
    start = time.monotonic()
    with pytest.raises(BusyError) as refused:
        BoardLock("pico1", ["probe e66"]).acquire(wait=1)
    assert 1 <= time.monotonic() - start < 3
    assert refused.value.evidence["waited"] == "1 s"


def test_the_same_process_twice() -> None:
    first, second = BoardLock("one", ["k"]), BoardLock("two", ["k"])
    first.acquire()
    with pytest.raises(BusyError, match=r"two and one are the same hardware") as refused:
        second.acquire()
    assert "(this process)" in refused.value.cause
    first.release()
    assert holder_of(["k"]) is None
    second.acquire()
    second.release()


@pytest.mark.parametrize("kind", [FlockLock, PortableLock])
def test_the_lock_itself(tmp_path: Path, kind: Callable[[Path], KernelLock]) -> None:
    first, second = kind(tmp_path / "k"), kind(tmp_path / "k")
    assert first.take()
    assert not second.take()
    first.free()
    assert second.take()
    second.free()
    second.free()
    (tmp_path / "link").symlink_to(tmp_path / "victim")
    with pytest.raises(OSError):
        kind(tmp_path / "link").take()
    assert not (tmp_path / "victim").exists()


def test_a_file_that_was_removed_is_no_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody cleans up the folder between our opening of the file and our lock on it."""
    path = tmp_path / "k"
    flock = fcntl.flock

    def late(handle: int, operation: int) -> None:
        path.unlink()
        flock(handle, operation)

    monkeypatch.setattr(fcntl, "flock", late)
    assert not FlockLock(path).take()
    monkeypatch.undo()
    lock = FlockLock(path)
    assert lock.take()
    assert not FlockLock(path).take()
    lock.free()


# ---- what lies in the folder is not trusted ----


def _note(places: Path) -> Path:
    (note,) = (places / "locks").glob("*.json")
    return note


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"pid": "x"}', '{"pid": 1e999}', "\x00" * 5000, '{"pid": 1}']
)
def test_a_note_that_says_nothing(places: Path, text: str) -> None:
    lock = BoardLock("one", ["k"])
    lock.acquire()
    _note(places).write_text(text)
    with pytest.raises(BusyError) as refused:
        BoardLock("two", ["k"]).acquire()
    assert refused.value.cause == "somebody who left no note"
    lock.release()


def test_a_note_is_text_only(places: Path) -> None:
    lock = BoardLock("one", ["k"])
    lock.acquire()
    row = json.loads(_note(places).read_text())
    _note(places).write_text(json.dumps({**row, "doing": "\x1b[2Jx", "board": "\x07"}))
    with pytest.raises(BusyError) as refused:
        BoardLock("two", ["k"]).acquire()
    assert not {"\x1b", "\x07"} & set(str(refused.value))
    assert "?[2Jx" in refused.value.cause
    lock.release()


def test_links_are_not_followed(places: Path) -> None:
    lock = BoardLock("one", ["k"])
    lock.acquire()
    note = _note(places)
    lock.release()
    victim = places / "victim"
    victim.write_text("precious")
    note.unlink(missing_ok=True)
    note.symlink_to(victim)
    lock.acquire()
    lock.say("anything")
    lock.release()
    assert victim.read_text() == "precious"
    (places / "locks").rename(places / "elsewhere")
    (places / "locks").symlink_to(places / "elsewhere")
    with pytest.raises(ConfigError, match="not a folder that may be trusted"):
        lock.acquire()


def test_files_that_other_users_can_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = os.umask(0o077)
    try:
        folder = places._folder(tmp_path / "shared", places._SHARED)
        monkeypatch.setenv("RIPBENCH_LOCKS", str(folder))
        lock = BoardLock("one", ["k"])
        lock.acquire()
        lock.release()
    finally:
        os.umask(before)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o1777
    modes = {p.suffix: stat.S_IMODE(p.stat().st_mode) for p in folder.iterdir()}
    assert modes == {".json": 0o666, ".lock": 0o444}


def test_a_folder_where_anybody_may_remove_locks(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    assert not places._is_safe_base(tmp_path)
    link = tmp_path / "link"
    link.symlink_to("/run")
    assert not places._is_safe_base(link)
    assert not places._is_safe_base(tmp_path / "missing")


# ---- which hardware ----


def test_the_keys_of_hardware(tmp_path: Path) -> None:
    for port, number in (("1-1.4", "E6616"), ("2-3", "e6617")):
        (tmp_path / port).mkdir()
        (tmp_path / port / "serial").write_text(number + "\n")
    (tmp_path / "usb1").mkdir()
    (tmp_path / "usb1" / "serial").write_bytes(b"\xff\xfe")
    assert usb_ports("e6616", tmp_path) == ["1-1.4"]
    assert usb_ports("E6617", tmp_path) == ["2-3"]
    assert usb_ports("E66", tmp_path) == []
    device = tmp_path / "by-id"
    device.symlink_to(tmp_path / "ttyACM0")
    keys = Silicon().lock_keys({"probe": "cmsisdap:E6616", "serial": str(device)})
    assert list(keys) == ["probe e6616", f"serial {tmp_path / 'ttyACM0'}"]
    assert list(Silicon().lock_keys({"probe": "picoprobe:e6616"})) == ["probe e6616"]


@pytest.mark.parametrize(
    ("words", "seconds"), [("90", 90), ("30s", 30), ("10m", 600), ("2h", 7200)]
)
def test_durations(words: str, seconds: float) -> None:
    assert duration(words) == seconds


@pytest.mark.parametrize("words", ["", "m", "-1s", "1.5m", "10 d", "1e9"])
def test_what_is_no_duration(words: str) -> None:
    with pytest.raises(ConfigError, match="is not a time"):
        duration(words)
