# SPDX-License-Identifier: Apache-2.0
"""A folder of kernels from a user's checkout of somebody else's library.

An adapter (firmware/adapters) is a kernel folder without that library: C files that fill in its
structures, and a kernels.yaml whose `library` names the files with the functions that these call. Made
whole, the folder has those files, those that they call in turn, and the library's headers. Nothing of
the checkout is executed here.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from harness import resources
from harness.errors import ConfigError
from harness.kernels.load import FILE

_INCLUDE = "include"  # of a kernel folder: where its library's headers are looked for
_LARGEST = 1 << 22  # bytes of a source: a larger one is none
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_CALL = re.compile(r"\b([a-z]\w+)\s*\(")
# at the start of a line: what is indented is a statement
_DEFINITION = re.compile(
    r"^(?:[A-Za-z_][\w \t*]*[ \t*\n])?([a-z]\w+)\s*\([^;{}]*\)\s*\{", re.MULTILINE
)
_BESIDE = re.compile(r'^\s*#\s*include\s+"([\w.]+)"', re.MULTILINE)
_REVISION = re.compile(r"\$Revision:\s*([\w. ]{1,40}?)\s*\$?$", re.MULTILINE)
_LIBRARY = re.compile(r"^( +library: )\[([\w., ]+)\]$", re.MULTILINE)


@dataclass(frozen=True)
class Adapter:
    """name: as the command takes it. folder: below firmware/adapters. sources, headers: folders of the
    checkout. known_by: the header that says its version; without it, hint. license: that goes with the
    copies."""

    name: str
    folder: str
    sources: tuple[str, ...]
    headers: tuple[str, ...]
    known_by: str
    hint: str
    license: str

    @property
    def path(self) -> Path:
        return resources.firmware() / "adapters" / self.folder


_CMSIS = "TinyEngine/third_party/CMSIS/CMSIS"  # a submodule
ADAPTERS = {
    "cmsis-nn": Adapter(
        name="cmsis-nn",
        folder="cmsis_nn",
        sources=("Source",),
        headers=("Include",),
        known_by="Include/arm_nnfunctions.h",
        hint="the folder of the checkout that holds Source and Include",
        license="LICENSE",
    ),
    "tinyengine": Adapter(
        name="tinyengine",
        folder="tinyengine",
        sources=("TinyEngine/src", f"{_CMSIS}/NN/Source"),
        headers=(
            "TinyEngine/include",
            *(f"{_CMSIS}/{part}/Include" for part in ("NN", "DSP", "Core")),
        ),
        known_by=f"{_CMSIS}/NN/Include/arm_nnfunctions.h",
        hint="the folder that holds TinyEngine, with its submodule: git submodule update --init",
        license="LICENSE",
    ),
}


@dataclass(frozen=True)
class Adapted:
    """version: as the library's header states it. files: of the library, how many C files there are."""

    version: str
    files: int


def adapt(adapter: Adapter, checkout: Path, made: Path) -> Adapted:
    """Makes the folder `made`, whole or not at all. Errors: ConfigError for a checkout that is none of
    this library, or lacks a file; and for a folder that is there."""
    if made.exists():
        raise ConfigError(f"{made} is there", hint="name a folder that is not")
    version = _version(adapter, checkout)
    sources = _read_sources(adapter, checkout)
    declared = (adapter.path / FILE).read_text()
    entries = {name for _, names in _LIBRARY.findall(declared) for name in names.split(", ")}
    closures = {name: closure(name, sources) for name in sorted(entries)}
    missing = sorted(name for name, found in closures.items() if not found)
    if missing:
        raise ConfigError(
            f"{checkout} lacks files of {adapter.name}",
            evidence={"missing": " ".join(missing), "version": version},
            hint="a checkout of a release, whole",
        )
    made.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=made.parent, prefix=f".{made.name}-") as temporary:
        work = Path(temporary) / "whole"
        shutil.copytree(adapter.path, work)
        shutil.copytree(adapter.path.parent / _INCLUDE, work / _INCLUDE, dirs_exist_ok=True)
        (work / FILE).write_text(_declared(declared, closures))
        for folder in adapter.headers:
            _copy_headers(checkout / folder, work / _INCLUDE)
        files = sorted({path for found in closures.values() for path in found})
        for path in files:
            _copy_source(checkout, path, work / "library")
        shutil.copy(
            checkout / adapter.license, work / "library" / PurePosixPath(adapter.license).name
        )
        work.rename(made)
    return Adapted(version, len(files))


def closure(name: str, sources: Mapping[str, str]) -> tuple[str, ...]:
    """The file of this name, and all that define what it calls, directly or not; empty without it.
    sources: by path, without comments."""
    defined: dict[str, str] = {}
    for path, text in sources.items():
        for function in _DEFINITION.findall(text):
            defined.setdefault(function, path)
    waiting = [path for path in sources if PurePosixPath(path).name == name]
    found: dict[str, None] = {}
    while waiting:
        path = waiting.pop()
        if path not in found:
            found[path] = None
            waiting += [defined[call] for call in _CALL.findall(sources[path]) if call in defined]
    return tuple(sorted(found))


def _version(adapter: Adapter, checkout: Path) -> str:
    header = checkout / adapter.known_by
    if not header.is_file() or header.stat().st_size > _LARGEST:
        raise ConfigError(
            f"{checkout} is no checkout of {adapter.name}",
            cause=f"it has no {adapter.known_by}",
            hint=adapter.hint,
        )
    found = _REVISION.search(header.read_text(errors="replace"))
    return found[1] if found else "unknown"


def _read_sources(adapter: Adapter, checkout: Path) -> dict[str, str]:
    """By path from the checkout, which no link leads out of."""
    found = {}
    inside = checkout.resolve()
    for folder in adapter.sources:
        for path in sorted((checkout / folder).rglob("*.c")):
            within = path.is_file() and path.resolve().is_relative_to(inside)
            if within and path.stat().st_size <= _LARGEST:
                name = path.relative_to(checkout).as_posix()
                found[name] = _COMMENT.sub(" ", path.read_text(errors="replace"))
    return found


def _declared(text: str, closures: Mapping[str, Iterable[str]]) -> str:
    """kernels.yaml with all files of each `library`, where they lie in the folder."""

    def whole(line: re.Match[str]) -> str:
        paths = {path for name in line[2].split(", ") for path in closures[name]}
        return "\n".join([line[1].rstrip(), *(f"      - library/{path}" for path in sorted(paths))])

    return _LIBRARY.sub(whole, text)


def _copy_headers(source: Path, made: Path) -> None:
    for path in sorted(source.rglob("*.h")):
        if path.is_file() and path.resolve().is_relative_to(source.resolve()):
            target = made / path.relative_to(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)


def _copy_source(checkout: Path, path: str, made: Path) -> None:
    """And the headers beside it that it includes."""
    source, target = checkout / path, made / path
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    for name in _BESIDE.findall(source.read_text(errors="replace")):
        if (source.parent / name).is_file():
            shutil.copyfile(source.parent / name, target.parent / name)
