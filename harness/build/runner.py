# SPDX-License-Identifier: Apache-2.0
"""Compiles the runner with the Arm cross compiler."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness import resources
from harness.build import cache
from harness.build.finish import finish
from harness.build.image import RunnerImage, load_image
from harness.errors import BuildError, ConfigError
from harness.kernels import (
    Selection,
    find_kernels,
    library_sources,
    table_source,
    table_sources,
)
from harness.schema.header import header

COMPILER = "arm-none-eabi-gcc"
_SECONDS = 120  # a compiler that takes longer hangs
_COMMON = [
    *("-std=c11", "-mthumb", "-O2", "-g", "-ffreestanding", "-fno-tree-loop-distribute-patterns"),
    *("-ffunction-sections", "-fdata-sections", "-Wall", "-Wextra", "-Werror", "-Wconversion"),
]
# Of sources that are somebody else's: their warnings are not ours to mend, and their memcpy of 4 bytes
# is meant to be a load, which -ffreestanding alone makes a call of.
LIBRARY = ["-w", "-fbuiltin"]
_LIBRARY_OBJECT = ".library.o"  # what firmware/port/rp2/sections.ld puts into SRAM, code and all
_INCLUDE = "include"  # of a user's folder: headers that are somebody else's
LINK = ["-nostdlib", "-Wl,--gc-sections", "-Wl,--no-warn-rwx-segments"]
# Nothing of the runner needs the M33's FPU; with it unused, every exception frame is the short one.
_CPU = {
    "rp2040": ["-mcpu=cortex-m0plus"],
    "rp2350": ["-mcpu=cortex-m33", "-mfloat-abi=soft"],
}
_OTHER_SRAM = {"rp2040": range(72 << 10, (520 << 10) + 1, 4 << 10)}  # what a link script takes
_SRAM = {"rp2040": 264 << 10, "rp2350": 520 << 10}
_NOP_BYTES = 2
_TABLE = "kernel_table.c"  # generated into the folder where a build works
_TEXTS = (".c", ".h", ".S", ".inc", ".ld", ".txt")  # what a build may read


def build_runner(
    chip: str,
    kernel_table: Path | None = None,
    kernels: Selection | None = None,
    sram_bytes: int | None = None,
    padding: int = 0,
) -> RunnerImage:
    """The runner for a chip, from the cache if these very sources were compiled by this very compiler.

    kernels: what its table holds, all plain ones by default; what is left out is more SRAM for the
    arena. Those of a user's folder are trusted code, and so is kernel_table, a C file in place of the
    generated one, beside all plain kernels. sram_bytes: of a chip that does not exist, None for its
    own. padding: bytes of no-operations in front of every C function of the kernels, an even number: the
    same code in another place. Errors: ConfigError for an unknown chip or an SRAM that no link script
    has; BuildError when there is no compiler or it fails.
    """
    flags = flags_for(chip, sram_bytes)
    compiler = find_compiler()
    selection = find_kernels("plain").all() if kernels is None else kernels
    sources = sources_for(chip, selection, kernel_table)
    key = _key(chip, compiler, [*flags, *_padded(padding)], sources)
    elf = cache.folder("firmware") / f"runner-{chip}-{key}.elf"
    if not elf.exists():
        _compile(chip, compiler, flags, sources, elf, padding)
    return load_image(elf)


def flags_for(chip: str, sram_bytes: int | None = None) -> list[str]:
    """Options for compiler and linker. Errors: ConfigError."""
    if chip not in _CPU:
        raise ConfigError(
            f"there is no firmware for the chip {chip!r}", hint="known: " + ", ".join(_CPU)
        )
    flags = [*_CPU[chip], *_COMMON]
    check_sram(chip, sram_bytes)
    if sram_bytes is not None:
        flags.append(f"-Wl,--defsym=sram_bytes={sram_bytes:#x}")
    return flags


def check_sram(chip: str, sram_bytes: int | None) -> None:
    """Errors: ConfigError for an SRAM that the chip's link script has no layout for."""
    sizes = _OTHER_SRAM.get(chip, range(0))
    if sram_bytes is None or (sram_bytes in sizes and sram_bytes != _SRAM[chip]):
        return
    others = f"multiples of {sizes.step} from {sizes[0]} to {sizes[-1]}, or " if sizes else ""
    raise ConfigError(
        f"there is no firmware for an {chip} with {sram_bytes} bytes of SRAM",
        hint=f"{others}leave it out for the chip's own",
    )


def include_options(chip: str, work: Path) -> list[str]:
    """For a compiler that runs in firmware/. work: holds ripbench_schema.h."""
    return [f"-I{work}", "-I.", f"-Iport/{chip}"]


def link_script(chip: str) -> str:
    return str(resources.firmware() / "port" / chip / f"{chip}.ld")


def find_compiler() -> str:
    """Path of the cross compiler. Errors: BuildError says how to install it."""
    path = shutil.which(COMPILER)
    if path is None:
        raise BuildError(
            f"{COMPILER} is not installed",
            hint="sudo apt-get install --no-install-recommends gcc-arm-none-eabi  |  "
            "brew install --cask gcc-arm-embedded  |  pacman -S arm-none-eabi-gcc",
        )
    return path


def compiler_version() -> str:
    """First line of `arm-none-eabi-gcc --version`."""
    return run_compiler([find_compiler(), "--version"]).splitlines()[0]


@dataclass(frozen=True)
class Sources:
    """What is compiled: the runner's files, relative to firmware/; the table, by its text and, where it
    is not generated, its file; the kernels' files, relative to firmware/ or to `folder`, which holds a
    user's own, and somebody else's that these call: headers, too, have to lie in it."""

    files: tuple[Path, ...]
    table: str
    table_file: Path | None
    kernels: tuple[Path, ...]
    own: tuple[Path, ...]
    library: tuple[Path, ...]
    folder: Path | None


def sources_for(chip: str, selection: Selection, kernel_table: Path | None = None) -> Sources:
    firmware = resources.firmware()
    listed = (firmware / "port" / chip / "sources.txt").read_text().splitlines()
    paths = table_sources(selection, chip)
    folder = selection.kernel_set.folder
    shipped = [path.relative_to(firmware) for path in paths if path.is_relative_to(firmware)]
    own = [path.relative_to(folder) for path in paths if not path.is_relative_to(firmware)]
    return Sources(
        files=tuple(Path(line.strip()) for line in listed if line.strip() and line[0] != "#"),
        table=kernel_table.read_text() if kernel_table else table_source(selection, chip),
        table_file=None if kernel_table is None else kernel_table.resolve(),
        kernels=tuple(shipped),
        own=tuple(own),
        library=tuple(path.relative_to(folder) for path in library_sources(selection, chip)),
        folder=folder if own else None,
    )


def _key(chip: str, compiler: str, flags: list[str], sources: Sources) -> str:
    digest = hashlib.sha256()
    for module in ("runner.py", "finish.py"):
        digest.update(Path(__file__).with_name(module).read_bytes() + b"\0")
    for part in (
        chip,
        run_compiler([compiler, "--version"]),
        " ".join(flags + LIBRARY),
        header(),
        sources.table,
    ):
        digest.update(part.encode() + b"\0")
    for path in (*sources.kernels, *sources.own, *sources.library):
        digest.update(str(path).encode() + b"\0")
    for folder in filter(None, (resources.firmware(), sources.folder)):
        for path in sorted(p for p in folder.rglob("*") if p.suffix in _TEXTS and p.is_file()):
            name = str(path.relative_to(folder)).encode()
            digest.update(name + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _padded(padding: int) -> list[str]:
    """The compiler's option: so many no-operations, all of them before the function's entry."""
    nops = padding // _NOP_BYTES
    return [f"-fpatchable-function-entry={nops},{nops}"] if nops else []


def _compile(
    chip: str, compiler: str, flags: list[str], sources: Sources, elf: Path, padding: int = 0
) -> None:
    """All sources in one call, those of a library, padded kernels and assembly before; the result is
    moved into place whole, so that two may build at once."""
    folder = resources.firmware()
    with tempfile.TemporaryDirectory(dir=elf.parent) as temporary:
        work = Path(temporary)
        (work / "ripbench_schema.h").write_text(header())
        linked = work / "runner.elf"
        # paths relative to firmware/, so that the ELF is the same wherever the checkout is
        table = sources.table_file or work / _TABLE
        if sources.table_file is None:
            table.write_text(sources.table)
        prefix = []
        for path, name in ((work, "."), (folder, "firmware"), (sources.folder, "/kernels")):
            if path is not None:
                prefix += [
                    f"-ffile-prefix-map={path}={name}",
                    f"-Wa,--debug-prefix-map={path}={name}",
                ]
        includes = include_options(chip, work)
        own, objects = [], []
        if sources.folder is not None:
            own = [sources.folder / path for path in sources.own]
            includes += ["-isystem", str(sources.folder / _INCLUDE)]
            command = [compiler, *flags, *prefix, *includes, *LIBRARY]
            objects = _compile_library(command, sources.folder, sources.library, work)
        kernels: list[Path] = [*sources.kernels, *own]
        if padding:
            command = [compiler, *flags, *prefix, *includes, *_padded(padding)]
            kernels = _compile_padded(command, kernels, work)
        command = [compiler, *flags, *prefix, *includes]
        assembled = _assemble(command, [*sources.files, *kernels], work)
        names = [str(path) for path in (*assembled, table, *objects)]
        options = [*flags, *prefix, *LINK, *includes, "-T", link_script(chip)]
        run_compiler([compiler, *options, *names, "-lgcc", "-o", str(linked)], cwd=folder)
        finished = work / "finished.elf"
        finished.write_bytes(finish(linked.read_bytes()))
        finished.replace(elf)


def _compile_library(
    command: list[str], folder: Path, paths: tuple[Path, ...], work: Path
) -> list[Path]:
    """An object each, by whose name the link script knows it."""
    objects = []
    for number, path in enumerate(paths):
        made = work / f"{number}-{path.stem}{_LIBRARY_OBJECT}"
        what = ["-c", str(folder / path), "-o", str(made)]
        run_compiler([*command, *what], cwd=resources.firmware())
        objects.append(made)
    return objects


def _assemble(command: list[str], paths: Sequence[Path], work: Path) -> list[Path]:
    """All paths, with an object for each file of assembly. Unlike a compiler's it does not say which
    file it is of: the linker notes the object's name instead, and that must not change each time."""
    found = []
    for number, path in enumerate(paths):
        if path.suffix == ".S":
            made = work / f"{number}-{path.stem}.o"
            run_compiler([*command, "-c", str(path), "-o", str(made)], cwd=resources.firmware())
            path = made
        found.append(path)
    return found


def _compile_padded(command: list[str], paths: Sequence[Path], work: Path) -> list[Path]:
    """An object each."""
    objects = []
    for number, path in enumerate(paths):
        made = work / f"kernel{number}.o"
        run_compiler([*command, "-c", str(path), "-o", str(made)], cwd=resources.firmware())
        objects.append(made)
    return objects


def run_compiler(command: list[str], cwd: Path | None = None) -> str:
    """What it prints. Errors: BuildError with what it complains about."""
    try:
        done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BuildError(f"{command[0]} could not be run", cause=str(error)) from error
    if done.returncode:
        raise BuildError(
            "the firmware does not compile",
            evidence={"command": " ".join(command[:1]) + " ...", "output": done.stderr[-4000:]},
        )
    return done.stdout
