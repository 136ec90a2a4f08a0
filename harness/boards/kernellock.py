# SPDX-License-Identifier: Apache-2.0
"""An advisory lock of the kernel on a file: it ends with the process that holds it, however that ends.

filelock serves where there is no flock. Where there is one it cannot: in a sticky folder, and only there
can several users keep locks, it refuses a file that another user made (since 4.0).
"""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path
from typing import Protocol

from filelock import FileLock, Timeout

try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]


class KernelLock(Protocol):
    """path: of a file that is made when it is missing, with any user allowed to lock it, and never
    removed: who waits for it has it open."""

    path: Path

    def take(self) -> bool:
        """At once or not at all; whether it is ours now. Errors: OSError."""

    def free(self) -> None: ...


def kernel_lock(path: Path) -> KernelLock:
    return PortableLock(path) if fcntl is None else FlockLock(path)


class FlockLock:
    """flock(2). Nothing is ever written to the file, and it is never opened through a link."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._handle: int | None = None

    def take(self) -> bool:
        handle = self._open()
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            ours = os.path.samestat(os.fstat(handle), os.lstat(self.path))  # not removed meanwhile
        except (BlockingIOError, FileNotFoundError):
            ours = False
        except BaseException:
            os.close(handle)
            raise
        if ours:
            self._handle = handle
        else:
            os.close(handle)
        return ours

    def free(self) -> None:
        handle, self._handle = self._handle, None
        if handle is not None:
            os.close(handle)

    def _open(self) -> int:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        try:
            handle = os.open(self.path, flags)
        except FileNotFoundError:
            with contextlib.suppress(FileExistsError):
                os.close(os.open(self.path, flags | os.O_CREAT | os.O_EXCL, 0o444))
            handle = os.open(self.path, flags)
            with contextlib.suppress(PermissionError):  # whatever the umask; only its owner can
                os.fchmod(handle, 0o444)
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            raise OSError(f"{self.path} is not a plain file")
        return handle


class PortableLock:
    """filelock's, for a folder of one user."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = FileLock(str(path), thread_local=False)

    def take(self) -> bool:
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            return False
        return True

    def free(self) -> None:
        self._lock.release(force=True)
