# SPDX-License-Identifier: Apache-2.0
"""Where served boards are found: NAME.sock in a folder that belongs to the user alone.

$RIPBENCH_RUNTIME, or `ripbench` in $XDG_RUNTIME_DIR, or ripbench-UID in the system's temporary folder.
Links are never followed there, and who listens must be the same user. A server holds the lock on
NAME.lock for as long as it lives; a socket without such a holder is what a killed one left behind.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import socket
import stat
import struct
import sys
import tempfile
import time
from pathlib import Path

from harness.errors import ConfigError, ProbeError

NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?")
PATH_MAX = 103  # bytes of a socket's path, the smallest limit of the systems there are (macOS)
CONNECT_SECONDS = 5.0
LOCK_SECONDS = 1.0


def folder() -> Path:
    """Where the sockets would be; nothing is made or checked."""
    named, system = os.environ.get("RIPBENCH_RUNTIME"), os.environ.get("XDG_RUNTIME_DIR")
    if named:
        return Path(named)
    if system:
        return Path(system) / "ripbench"
    return Path(tempfile.gettempdir()) / f"ripbench-{os.getuid()}"


def socket_path(name: str) -> Path:
    return folder() / f"{name}.sock"


def make_folder() -> Path:
    """The folder, made if need be. Errors: ConfigError when it is not the user's alone."""
    path = folder()
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    problem = _not_ours(path)
    if problem:
        raise ConfigError(
            "the folder for served boards is not a folder of yours alone",
            cause=problem,
            evidence={"folder": path},
            hint="remove it, or name another one in RIPBENCH_RUNTIME",
        )
    return path


def _not_ours(path: Path) -> str:
    """Why no socket in this folder is to be trusted, "" if they are."""
    status = path.lstat()
    if not stat.S_ISDIR(status.st_mode):
        return "it is a link or a file"
    if status.st_uid != os.getuid():
        return f"it belongs to user {status.st_uid}"
    if stat.S_IMODE(status.st_mode) & 0o077:
        return f"others may look into it: {stat.filemode(status.st_mode)}"
    return ""


# ---- the server's side ----


def claim(name: str) -> int:
    """The lock on a name, as a descriptor that holds it until it is closed or the process ends.

    Errors: ConfigError when the name is no name or is served already.
    """
    if not NAME.fullmatch(name):
        raise ConfigError(f"{name!r} is no name of a board to serve")
    path = make_folder() / f"{name}.lock"
    if len(os.fsencode(socket_path(name))) > PATH_MAX:
        raise ConfigError(
            "the path of the board's socket is too long for a socket",
            evidence={"path": socket_path(name), "longest": f"{PATH_MAX} bytes"},
            hint="name a shorter folder in RIPBENCH_RUNTIME",
        )
    try:
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise ConfigError(f"{path} cannot be opened", cause=str(error)) from error
    try:
        lock_file(lock)
    except OSError as error:
        holder = os.read(lock, 20).decode("ascii", "replace").strip()
        os.close(lock)
        raise ConfigError(
            f"board {name} is served already",
            evidence={"by process": holder or "unknown"},
            hint="`ripbench emu list` shows what is served; end that process first",
        ) from error
    os.ftruncate(lock, 0)
    os.write(lock, f"{os.getpid()}\n".encode())
    return lock


def lock_file(descriptor: int) -> None:
    """Errors: OSError while another process has it; one that was just killed may need a moment."""
    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except OSError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(0.02)


def listen(name: str) -> socket.socket:
    """The socket of a claimed name, readable by its owner only; a stale one is taken over."""
    path = socket_path(name)
    with contextlib.suppress(FileNotFoundError):
        path.unlink()
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    mask = os.umask(0o177)
    try:
        listener.bind(str(path))
    finally:
        os.umask(mask)
    listener.listen(16)
    return listener


# ---- the client's side ----


def connect(name: str) -> socket.socket | None:
    """A connection to the board served under this name, None where there is none.

    Errors: ProbeError for a socket that is not to be trusted or does not take connections.
    """
    if not NAME.fullmatch(name):
        return None
    path = socket_path(name)
    try:
        if _not_ours(path.parent):
            return None  # no server of this user would have listened there
        status = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    if not stat.S_ISSOCK(status.st_mode) or status.st_uid != os.getuid():
        raise ProbeError(
            f"{path} is no socket of yours",
            evidence={"mode": stat.filemode(status.st_mode), "owner": status.st_uid},
            hint="remove it",
        )
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(CONNECT_SECONDS)
    try:
        connection.connect(str(path))
    except OSError as error:
        connection.close()
        if error.errno in (errno.ECONNREFUSED, errno.ENOENT):
            return None  # left behind by a server that was killed
        raise ProbeError(
            f"the served board {name} takes no connection", cause=str(error)
        ) from error
    owner = peer(connection)[1]
    if owner is not None and owner != os.getuid():
        connection.close()
        raise ProbeError(f"user {owner} listens on {path}, not you", hint="remove it")
    return connection


def peer(connection: socket.socket) -> tuple[int | None, int | None]:
    """Process and user at the other end, as the kernel knows them; None where it does not say."""
    if sys.platform == "linux":
        layout = struct.Struct("iII")
        raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, layout.size)
        pid, uid, _ = layout.unpack(raw)
        return pid, uid
    return None, None  # the folder's mode keeps others out


def names() -> list[str]:
    """Boards that have a socket, whether or not somebody still listens on it."""
    path = folder()
    try:
        if _not_ours(path):
            return []
        found = sorted(entry.name for entry in path.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [name.removesuffix(".sock") for name in found if name.endswith(".sock")]
