# SPDX-License-Identifier: Apache-2.0
"""The runner for a chip and a choice of kernels, by the Arm cross compiler."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from harness import resources
from harness.build import cache
from harness.build.command import find_compiler, run_compiler
from harness.build.finish import finish
from harness.build.image import RunnerImage, load_image
from harness.build.objects import Unit, compile_units, digest_of
from harness.errors import ConfigError
from harness.kernels import (
    Selection,
    find_kernels,
    library_sources,
    table_source,
    table_sources,
)
from harness.schema.header import header

_COMMON = [
    *("-std=c11", "-mthumb", "-O2", "-g", "-ffreestanding", "-fno-tree-loop-distribute-patterns"),
    *("-ffunction-sections", "-fdata-sections", "-Wall", "-Wextra", "-Werror", "-Wconversion"),
]
# Of sources that are somebody else's: their warnings are not ours to mend, and their memcpy of 4 bytes
# is meant to be a load, which -ffreestanding alone makes a call of.
LIBRARY = ("-w", "-fbuiltin")
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
_FOLDER = "/kernels"  # what a user's folder is called in the ELF
_LINKER = "-Wl,"  # an option that no object depends on
_TEXTS = (".c", ".h", ".S", ".inc", ".ld", ".txt")  # what a build may read
_INCLUDED = (".h", ".inc")  # what a source of firmware/ may include


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
    key = _key(chip, compiler, [*flags, *LIBRARY, *_padded(padding)], sources)
    elf = cache.folder("firmware") / f"runner-{chip}-{key}.elf"
    if not elf.exists():
        _build(chip, compiler, flags, sources, elf, padding)
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
    """Of all that a runner is made of: every text that a build may read, and how it is built."""
    modules = ("command.py", "finish.py", "objects.py", "runner.py")
    listed = [str(path) for path in (*sources.kernels, *sources.own, *sources.library)]
    parts = [chip, run_compiler([compiler, "--version"]), " ".join(flags), header(), sources.table]
    built = [(name, Path(__file__).with_name(name)) for name in modules]
    texts = [*_texts(resources.firmware(), _TEXTS), *_texts(sources.folder, _TEXTS)]
    return digest_of([*parts, *listed], [*built, *texts]).hex()[:16]


def _texts(folder: Path | None, suffixes: tuple[str, ...]) -> Iterator[tuple[str, Path]]:
    """Files below it, with their paths relative to it."""
    if folder is not None:
        for path in sorted(p for p in folder.rglob("*") if p.suffix in suffixes and p.is_file()):
            yield str(path.relative_to(folder)), path


def _padded(padding: int) -> list[str]:
    """The compiler's option: so many no-operations, all of them before the function's entry."""
    nops = padding // _NOP_BYTES
    return [f"-fpatchable-function-entry={nops},{nops}"] if nops else []


def _build(
    chip: str, compiler: str, flags: list[str], sources: Sources, elf: Path, padding: int
) -> None:
    """The result is moved into place whole, so that two may build at once."""
    firmware = resources.firmware()
    with tempfile.TemporaryDirectory(dir=elf.parent) as temporary:
        work = Path(temporary)
        (work / "ripbench_schema.h").write_text(header())
        table = sources.table_file or work / _TABLE
        if sources.table_file is None:
            table.write_text(sources.table)
        command = [compiler, *(flag for flag in flags if not flag.startswith(_LINKER))]
        # paths relative to firmware/, so that the ELF is the same wherever the checkout is
        for path, name in ((work, "."), (firmware, "firmware"), (sources.folder, _FOLDER)):
            if path is not None:
                command += [
                    f"-ffile-prefix-map={path}={name}",
                    f"-Wa,--debug-prefix-map={path}={name}",
                ]
        command += include_options(chip, work)
        units = _units(sources, table, tuple(_padded(padding)))
        objects = compile_units(units, command, _digest_of_all(chip, compiler, flags))
        linked = work / "runner.elf"
        script = ["-T", link_script(chip)]
        names = [*map(str, objects), "-lgcc", "-o", str(linked)]
        run_compiler([compiler, *flags, *LINK, *script, *names], cwd=firmware)
        finished = work / "finished.elf"
        finished.write_bytes(finish(linked.read_bytes()))
        finished.replace(elf)


def _units(sources: Sources, table: Path, padding: tuple[str, ...]) -> list[Unit]:
    """In the order in which they are linked. A folder's sources may include one another."""
    units = [Unit(path, str(path)) for path in sources.files]
    units += [Unit(path, str(path), padding) for path in sources.kernels]
    generated = Unit(table, _TABLE if sources.table_file is None else str(table))
    if sources.folder is None:
        return [*units, generated]
    own = partial(
        Unit,
        include=sources.folder / _INCLUDE,
        beside=digest_of((), _texts(sources.folder, _TEXTS)),
    )
    for path in sources.own:
        units.append(own(sources.folder / path, f"{_FOLDER}/{path}", padding))
    units.append(generated)
    for path in sources.library:
        whole = sources.folder / path
        units.append(own(whole, f"{_FOLDER}/{path}", LIBRARY, suffix=_LIBRARY_OBJECT))
    return units


def _digest_of_all(chip: str, compiler: str, flags: list[str]) -> bytes:
    """Of what every object of a runner depends on."""
    of_compiler = [flag for flag in flags if not flag.startswith(_LINKER)]
    parts = [chip, run_compiler([compiler, "--version"]), header(), *of_compiler]
    modules = [(name, Path(__file__).with_name(name)) for name in ("objects.py", "runner.py")]
    return digest_of(parts, [*modules, *_texts(resources.firmware(), _INCLUDED)])
