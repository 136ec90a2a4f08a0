# SPDX-License-Identifier: Apache-2.0
"""Compiles the C core at its first use and keeps the library in a cache of the user.

The library's name is a hash of the sources, the compiler's version, its command and the flags, so a
change of any of them compiles anew and nothing is ever overwritten with something else. The cache is
a folder of the user alone: code is loaded from it.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from harness.errors import BuildError

CORE = Path(__file__).resolve().parent / "core"
FLAGS = ("-std=gnu11", "-O2", "-ffp-contract=off", "-fvisibility=hidden", "-shared", "-fPIC")
# Threaded code is fast because every instruction ends in a jump of its own; these keep gcc from
# merging them. clang does not, and does not know them.
GCC_FLAGS = ("-fno-gcse", "-fno-crossjumping", "-fno-tree-tail-merge")
LIBRARIES = ("-lm",)
NAMES = ("cc", "gcc", "clang")
INSTALL_HINT = {
    "darwin": "install Apple's command line tools: xcode-select --install (or: brew install gcc)",
    "linux": "install a C compiler: sudo apt install gcc (or your distribution's package)",
}


def library(compiler: str | None = None) -> Path:
    """The compiled core. compiler: a command (default: $CC, then cc, gcc, clang).

    Raises BuildError when there is no compiler, when it fails, or when the cache is not the user's.
    """
    command = _compiler(compiler)
    version = _version(command)
    flags = (*FLAGS, *(() if "clang" in version else GCC_FLAGS))
    sources = sorted(CORE.glob("*.c"))
    key = _key((*sources, *sorted(CORE.glob("*.h"))), (version, *command, *flags, *LIBRARIES))
    path = cache_folder() / f"emulator-{key}.so"
    if not _is_ours(path):
        _compile([*command, *flags], sources, path)
    return path


def cache_folder() -> Path:
    """$RIPBENCH_CACHE, or `ripbench` in $XDG_CACHE_HOME or ~/.cache; made with mode 0700.

    Raises BuildError when it is a link, another user's, or open to others.
    """
    named = os.environ.get("RIPBENCH_CACHE")
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(named) if named else Path(base) / "ripbench"
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    if (
        not stat.S_ISDIR(status.st_mode)
        or status.st_uid != os.getuid()
        or stat.S_IMODE(status.st_mode) & 0o022
    ):
        raise BuildError(
            "the cache folder is not a folder of yours alone, so no code is loaded from it",
            evidence={"folder": folder, "mode": stat.filemode(status.st_mode)},
            hint="remove it, or name another one in RIPBENCH_CACHE",
        )
    return folder


def _is_ours(path: Path) -> bool:
    """A regular file of this user that nobody else may write."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        return False
    if (
        not stat.S_ISREG(status.st_mode)
        or status.st_uid != os.getuid()
        or stat.S_IMODE(status.st_mode) & 0o022
    ):
        raise BuildError(
            "a file in the cache is not yours alone, so it is not loaded",
            evidence={"file": path, "mode": stat.filemode(status.st_mode)},
            hint="remove the file",
        )
    return True


def _compiler(wanted: str | None) -> list[str]:
    wanted = wanted or os.environ.get("CC")
    candidates = [shlex.split(wanted)] if wanted else [[name] for name in NAMES]
    for command in candidates:
        if command and shutil.which(command[0]):
            return command
    raise BuildError(
        "the emulator needs a C compiler and there is none",
        evidence={"looked for": wanted or ", ".join(NAMES)},
        hint=INSTALL_HINT.get(sys.platform, INSTALL_HINT["linux"]),
    )


def _version(command: list[str]) -> str:
    return _run([*command, "--version"]).splitlines()[0]


def _key(files: tuple[Path, ...], words: tuple[str, ...]) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.name}\0{file.stat().st_size}\0".encode())
        digest.update(file.read_bytes())
    digest.update("\0".join(words).encode())
    return digest.hexdigest()[:32]


def _compile(command: list[str], sources: list[Path], path: Path) -> None:
    """Each source by a compiler of its own, as many at once as there are processors. Everything happens
    in a folder of another name first: two processes may be at it, and either may be stopped."""
    with tempfile.TemporaryDirectory(prefix="building-", dir=path.parent) as folder:
        objects = [Path(folder) / f"{source.stem}.o" for source in sources]

        def compile_one(source: Path, to: Path) -> None:
            _run([*command, "-c", "-o", str(to), str(source)])

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(compile_one, sources, objects))
        built = Path(folder) / "core.so"
        _run([*command, "-o", str(built), *map(str, objects), *LIBRARIES])
        built.chmod(0o700)
        built.replace(path)


def _run(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        output = getattr(error, "stderr", None) or str(error)
        raise BuildError(
            "the emulator core does not compile",
            cause=output.strip()[:2000],
            evidence={"command": shlex.join(command[:2]) + " ..."},
            hint="try another compiler: CC=gcc or CC=clang",
        ) from error
    return done.stdout
