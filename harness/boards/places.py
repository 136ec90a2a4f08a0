# SPDX-License-Identifier: Apache-2.0
"""Folders outside the checkout: one of locks for the whole machine, one of state for each user.

Whatever stands in a folder of locks may be another user's: it is never followed through a link, never
larger than a few lines, and says nothing that is obeyed.
"""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from pathlib import Path

from harness.errors import ConfigError

_MACHINE = (Path("/run/lock"), Path("/var/lock"))
_SHARED = 0o1777  # anybody may lock, nobody may remove another's file
_PRIVATE = 0o700
_MAX_BYTES = 4096


def lock_folder() -> Path:
    """$RIPBENCH_LOCKS; else `ripbench` in /run/lock or /var/lock, where this user may write and nobody
    may remove another's files; else in the user's runtime folder. Made when it is missing.

    Errors: ConfigError when the folder is a link or belongs to somebody who could swap its files.
    """
    named = os.environ.get("RIPBENCH_LOCKS")
    if named:
        return _folder(Path(named), _SHARED if Path(named).is_dir() else _PRIVATE)
    for base in _MACHINE:
        if _is_safe_base(base):
            return _folder(base / "ripbench", _SHARED)
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime:
        return _folder(Path(runtime) / "ripbench", _PRIVATE)
    return _folder(Path(tempfile.gettempdir()) / f"ripbench-{_user()}", _PRIVATE)


def state_folder(name: str) -> Path:
    """`name` below $RIPBENCH_STATE, else $XDG_STATE_HOME/ripbench, else ~/.local/state/ripbench; made
    when it is missing. Errors: ConfigError as above."""
    return _folder(state_path(name), _PRIVATE)


def state_path(name: str) -> Path:
    """The same, made or not."""
    base = os.environ.get("RIPBENCH_STATE")
    if not base:
        home = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
        base = str(Path(home) / "ripbench")
    return Path(base) / name


def read_small(path: Path) -> str:
    """The text of a regular file of at most a few lines; empty when it is missing or anything else."""
    try:
        with os.fdopen(_open(path, os.O_RDONLY), "rb") as file:
            return file.read(_MAX_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""


def write_small(path: Path, text: str, mode: int = 0o600) -> None:
    """Overwrites a file in place, whole: in a folder of several users nobody may replace it.

    An existing file is opened without O_CREAT, which kernels refuse for another user's file in such a
    folder (fs.protected_regular). Errors: OSError.
    """
    data = text.encode()[:_MAX_BYTES]
    try:
        handle = _open(path, os.O_WRONLY)
    except FileNotFoundError:
        handle = _open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with contextlib.suppress(OSError):
            path.chmod(mode)  # whatever the umask
    with os.fdopen(handle, "wb") as file:
        file.truncate(0)
        file.write(data)


def _open(path: Path, flags: int, mode: int = 0o600) -> int:
    handle = os.open(
        path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0), mode
    )
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(f"{path} is not a plain file")
    return handle


def _is_safe_base(base: Path) -> bool:
    """A real folder of root in which this user may write, and nobody may remove another's file."""
    try:
        status = base.lstat()
    except OSError:
        return False
    sticky = not status.st_mode & stat.S_IWOTH or bool(status.st_mode & stat.S_ISVTX)
    return (
        stat.S_ISDIR(status.st_mode) and status.st_uid == 0 and sticky and os.access(base, os.W_OK)
    )


def _folder(path: Path, mode: int) -> Path:
    try:
        path.parent.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
        try:
            path.mkdir(mode=mode)
            path.chmod(mode)  # whatever the umask
        except FileExistsError:
            pass
        status = path.lstat()
    except OSError as error:
        raise ConfigError(f"{path} cannot be used", cause=str(error)) from error
    if not stat.S_ISDIR(status.st_mode) or not _is_trusted(status, shared=mode == _SHARED):
        raise ConfigError(
            f"{path} is not a folder that may be trusted",
            cause="it is a link, or its owner could swap the files in it",
            evidence={"mode": stat.filemode(status.st_mode), "owner": status.st_uid},
            hint="remove it, or name folders of your own in RIPBENCH_LOCKS and RIPBENCH_STATE",
        )
    if not os.access(path, os.W_OK):
        raise ConfigError(f"{path} cannot be written to", hint="chmod 1777 it, or remove it")
    return path


def _is_trusted(status: os.stat_result, *, shared: bool) -> bool:
    """Ours alone; for locks also root's, and one where only its owner may remove another's file."""
    if status.st_mode & stat.S_IWOTH and not status.st_mode & stat.S_ISVTX:
        return False
    return status.st_uid == _user() or (
        shared and (status.st_uid == 0 or bool(status.st_mode & stat.S_ISVTX))
    )


def _user() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0
