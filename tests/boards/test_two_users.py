# SPDX-License-Identifier: Apache-2.0
"""One folder of locks for several users of a machine.

Root drops to two other users, in processes of their own. Without root both are the same user, and the
files that the first leaves are made read-only, which is what another user's files are to the second.
"""

from __future__ import annotations

import os
import shutil
import signal
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.boards import places
from harness.boards.lock import BoardLock, holder_of
from harness.errors import BusyError
from tests.served.support import forked

ROOT = os.geteuid() == 0
USERS = (60_001, 60_002) if ROOT else (os.getuid(), os.getuid())
KEY = "probe e66"


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder as /run/lock/ripbench is, which no user of the test has made yet. Not below tmp_path,
    which nobody else may enter."""
    base = Path(tempfile.mkdtemp(prefix="rb-users-"))
    base.chmod(0o1777)
    monkeypatch.setattr(places, "_MACHINE", (base,))
    monkeypatch.delenv("RIPBENCH_LOCKS")
    monkeypatch.setattr(places, "_is_safe_base", lambda path: path == base)
    yield base / "ripbench"
    shutil.rmtree(base)


class User:
    """A process of one user, which does one thing."""

    def __init__(self, uid: int, work: Callable[[], str]) -> None:
        said, tell = os.pipe()
        self._stay, self._end = os.pipe()

        def act() -> None:
            os.close(self._end)
            os.umask(0o077)  # the least that a user may want
            if ROOT:
                os.setgroups([])
                os.setgid(uid)
                os.setuid(uid)
                assert os.getuid() == os.geteuid() == uid
            try:
                answer = work()
            except Exception as error:
                answer = f"{type(error).__name__}: {error}"
            os.write(tell, answer.encode())
            os.close(tell)
            os.read(self._stay, 1)

        self.pid = forked(act)
        os.close(tell)
        with os.fdopen(said) as answers:
            self.said = answers.read()  # until it has said all

    def leave(self) -> None:
        os.close(self._end)
        os.close(self._stay)
        assert os.waitpid(self.pid, 0)[1] == 0

    def killed(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self._end)
        os.close(self._stay)


def lock() -> str:
    found = BoardLock("desk", [KEY])
    found.acquire()
    _KEPT.append(found)
    return "mine"


_KEPT: list[BoardLock] = []  # a lock that nobody knows any more would be let go


def try_to_remove() -> str:
    """What becomes of each file of the folder when this user removes it."""
    done = []
    for path in sorted(places.lock_folder().iterdir()):
        try:
            path.unlink()
            done.append("removed")
        except PermissionError:
            done.append("refused")
    return " ".join(done)


def test_one_has_the_board_and_the_other_is_told_who(shared: Path) -> None:
    first = User(USERS[0], lock)
    assert first.said == "mine"
    second = User(USERS[1], lock)
    assert second.said.startswith(
        f"{BusyError.__name__}: desk is in use\n  cause: pid {first.pid} on "
    )
    second.leave()
    first.killed()

    if not ROOT:
        for path in shared.iterdir():
            path.chmod(0o444)
    second = User(USERS[1], lock)
    assert second.said == "mine"  # though the files are the first one's
    third = User(USERS[0], lock)
    told = second.pid if ROOT else first.pid  # a note that nobody else may write stays as it was
    assert third.said.startswith(f"{BusyError.__name__}: desk is in use\n  cause: pid {told} on ")
    third.leave()
    second.leave()

    assert holder_of([KEY]) is None
    status = shared.stat()
    assert stat.S_IMODE(status.st_mode) == 0o1777
    assert {status.st_uid, *(path.stat().st_uid for path in shared.iterdir())} == {USERS[0]}


def test_nobody_removes_the_files_of_another(shared: Path) -> None:
    """A lock whose file is gone would be two locks. Without root the folder's sticky bit must do."""
    first = User(USERS[0], lock)
    assert first.said == "mine"
    files = sorted(path.name for path in shared.iterdir())
    assert [Path(name).suffix for name in files] == [".json", ".lock"]
    assert shared.stat().st_mode & stat.S_ISVTX
    if ROOT:
        second = User(USERS[1], try_to_remove)
        assert second.said == "refused refused"
        second.leave()
        assert sorted(path.name for path in shared.iterdir()) == files
    first.leave()


def test_a_folder_that_the_other_could_swap_is_refused(shared: Path) -> None:
    first = User(USERS[0], lock)
    first.leave()
    shared.chmod(0o777)  # without the sticky bit anybody may replace a file under its holder
    second = User(USERS[1], lock)
    assert second.said.startswith(f"ConfigError: {shared} is not a folder that may be trusted")
    second.leave()
