# SPDX-License-Identifier: Apache-2.0
"""What a runner is linked from: each file compiled once and kept, so that another choice of kernels is
one link, and a changed kernel one compilation more."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from harness import resources
from harness.build import cache
from harness.build.command import run_compiler


@dataclass(frozen=True)
class Unit:
    """A file to compile. path: as a compiler that runs in firmware/ is given it. name: as the object's
    debug information has it, the same wherever the checkout is. options: beside those of all units.
    include: a folder of headers that are somebody else's. beside: digest of what else it may include.
    suffix: of the object, by whose name link scripts know it."""

    path: Path
    name: str
    options: tuple[str, ...] = ()
    include: Path | None = None
    beside: bytes = b""
    suffix: str = ".o"


def compile_units(units: Sequence[Unit], command: Sequence[str], of_all: bytes) -> list[Path]:
    """Their objects, in this order. Those that are not kept are compiled, as many at a time as there are
    processors. command: compiler and options, of all units. of_all: digest of what every object depends
    on, headers included. Errors: BuildError, that of the first unit which does not compile."""
    kept = cache.folder("objects")
    objects = [kept / _file_name(unit, of_all) for unit in units]
    with ThreadPoolExecutor(os.cpu_count()) as workers:
        jobs = [
            workers.submit(_compile, unit, command, made)
            for unit, made in zip(units, objects, strict=True)
            if not made.exists()
        ]
        try:
            for job in jobs:
                job.result()
        finally:
            workers.shutdown(cancel_futures=True)
    return objects


def digest_of(parts: Iterable[str], files: Iterable[tuple[str, Path]]) -> bytes:
    """Of texts, and of files with the names that they go by."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part.encode() + b"\0")
    for name, path in files:
        digest.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.digest()


def _file_name(unit: Unit, of_all: bytes) -> str:
    """It goes into the ELF where a unit is assembly, so nothing of it may depend on the machine."""
    path = resources.firmware() / unit.path  # an absolute one stays what it is
    parts = [of_all.hex(), unit.beside.hex(), *unit.options]
    own = digest_of(parts, [(unit.name, path)])
    return f"{unit.path.stem}-{own.hex()[:24]}{unit.suffix}"


def _compile(unit: Unit, command: Sequence[str], made: Path) -> None:
    """It is moved into place whole, so that two may compile it at once."""
    with tempfile.TemporaryDirectory(dir=made.parent) as folder:
        new = Path(folder) / made.name  # the linker is told the object's name, not its folder
        options = [*unit.options, "-c", str(unit.path), "-o", str(new)]
        if unit.include is not None:
            options += ["-isystem", str(unit.include)]
        run_compiler([*command, *options], cwd=resources.firmware())
        new.replace(made)
