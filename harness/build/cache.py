# SPDX-License-Identifier: Apache-2.0
"""The per-user folder for built files: private, owned by the user, never followed through links."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from harness.errors import BuildError


def folder(name: str) -> Path:
    """`name` below $RIPBENCH_CACHE, else $XDG_CACHE_HOME/ripbench, else ~/.cache/ripbench.

    Errors: BuildError when it or the folder it is in is a link, another user's, open to others, or
    cannot be made.
    """
    base = os.environ.get("RIPBENCH_CACHE")
    if base is None:
        home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
        base = str(Path(home) / "ripbench")
    path = Path(base) / name
    try:
        path.parent.parent.mkdir(parents=True, exist_ok=True)
        for made in (path.parent, path):
            made.mkdir(mode=0o700, exist_ok=True)
            _check(made)
    except OSError as error:
        raise BuildError(f"{path} cannot be used as a cache", cause=str(error)) from error
    return path


def _check(path: Path) -> None:
    status = path.lstat()
    if (
        not stat.S_ISDIR(status.st_mode)
        or (hasattr(os, "getuid") and status.st_uid != os.getuid())
        or stat.S_IMODE(status.st_mode) & 0o022
    ):
        raise BuildError(
            f"{path} is not a folder of this user alone",
            cause="a cache that somebody else can write to could carry any code",
            evidence={"mode": stat.filemode(status.st_mode), "owner": status.st_uid},
            hint="remove it, or set RIPBENCH_CACHE to a folder of yours",
        )
