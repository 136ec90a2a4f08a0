# SPDX-License-Identifier: Apache-2.0
"""Which commit a run measured: of the checkout it was started in, or as the CI says."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

_SECONDS = 5.0  # a git that takes longer, as on a disk of the network that is gone, is no git
_OF_CI = ("GITHUB_SHA", "CI_COMMIT_SHA", "GIT_COMMIT")
_HASH = re.compile(r"[0-9a-f]{40,64}")
# A checkout that nobody has read must not run anything: `git status` would start what its own settings
# name as monitor, hook, filter or remote.
_QUIET = ("-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}")
_OFFLINE = {"GIT_ALLOW_PROTOCOL": "", "GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0"}
_FILTER = re.compile(r"filter\.(.+)\.(clean|process|required)", re.DOTALL)


@dataclass(frozen=True)
class Commit:
    """hash: empty where there is no repository. dirty: a file that git knows was changed."""

    hash: str = ""
    dirty: bool = False


def commit_of(folder: Path) -> Commit:
    """Of the checkout that `folder` is in; never an error, for a run needs no git."""
    found = _git(folder, "rev-parse", "--verify", "HEAD").strip()
    if _HASH.fullmatch(found):
        return Commit(found, _is_dirty(folder))
    stated = (os.environ.get(name, "").strip().lower() for name in _OF_CI)
    return Commit(next((text for text in stated if _HASH.fullmatch(text)), ""))


def _is_dirty(folder: Path) -> bool:
    filters_off = _without_filters(folder)
    if filters_off is None:
        return True
    changed = ("status", "--porcelain", "--untracked-files=no", "--ignore-submodules=dirty")
    return bool(_git(folder, *filters_off, *changed).strip())


def _without_filters(folder: Path) -> list[str] | None:
    """Options that switch off what the checkout's own settings would filter files through; None where
    no option can."""
    names = _git(folder, "config", "--local", "--includes", "--name-only", "-z", "--list")
    words = []
    for name in sorted(set(names.split("\0"))):
        match = _FILTER.fullmatch(name)
        if match is not None and "=" in name:
            return None
        if match is not None:
            value = "false" if match.group(2) == "required" else ""
            words += ["-c", f"{name}={value}"]
    return words


def _git(folder: Path, *words: str) -> str:
    """What it prints; nothing where it fails, is missing or takes too long."""
    command = ["git", *_QUIET, *words]
    environment = {**os.environ, **_OFFLINE, "LC_ALL": "C"}
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return "" if done.returncode else done.stdout.decode("utf-8", "replace")
