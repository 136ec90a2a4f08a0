# SPDX-License-Identifier: Apache-2.0
"""The per-user folder for built files: private, owned by the user, never followed through links."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from harness.errors import BuildError


def folder(name: str) -> Path:
    """`name` below $RIPBENCH_CACHE, else $XDG_CACHE_HOME/ripbench, else ~/.cache/ripbench.

    Errors: BuildError when the folder is a link, another user's, or cannot be made.
    """
    base = os.environ.get("RIPBENCH_CACHE")
    if base is None:
        home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
        base = str(Path(home) / "ripbench")
    path = Path(base) / name
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = path.lstat()
    except OSError as error:
        raise BuildError(f"{path} cannot be used as a cache", cause=str(error)) from error
    if not stat.S_ISDIR(status.st_mode) or (hasattr(os, "getuid") and status.st_uid != os.getuid()):
        raise BuildError(
            f"{path} is not a folder of this user",
            cause="a cache that somebody else can write to could carry any code",
            hint="remove it, or set RIPBENCH_CACHE to a folder of yours",
        )
    path.chmod(0o700)
    return path
