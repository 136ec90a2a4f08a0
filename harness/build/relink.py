# SPDX-License-Identifier: Apache-2.0
"""Runners that are only linked, to see what is in them: compiled once, then a link a set of kernels."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from harness import resources
from harness.build.command import find_compiler, run_compiler
from harness.build.runner import LINK, flags_for, include_options, link_script, sources_for
from harness.errors import BuildError
from harness.kernels import PLAIN_SET, Selection, find_kernels, table_source
from harness.schema.header import header

LOADED = (".text", ".ram_code", ".data", ".bss")  # output sections that kernels could be in
VENEER = "linker stubs"  # as GNU ld names the file that its own veneers are of
_START = "Linker script and memory map"
_WRAPPED = re.compile(r"^( \.\S+)\n\s+(?=0x)", re.MULTILINE)  # a long name has a line of its own
_OUTPUT = re.compile(r"^(\.\S+)")
_INPUT = re.compile(r"^ (\.\S+)\s+0x([0-9a-f]+)\s+0x([0-9a-f]+)\s+(\S.*)$")
_SYMBOL = re.compile(r"^\s+0x([0-9a-f]+)\s+(__\w+) = ")


@dataclass(frozen=True)
class Section:
    """A piece of the image as the linker was given it. output: the output section it went to. file: of
    the object, or VENEER; veneers have no name."""

    output: str
    name: str
    file: str


@dataclass(frozen=True)
class Linked:
    """sections: bytes of each one that is in an output section of LOADED. symbols: of the link script.
    starts: address of each output section."""

    sections: Mapping[Section, int]
    symbols: Mapping[str, int]
    starts: Mapping[str, int]


class Relinker:
    """The objects of a chip's runner in `folder`, with a kernel set's. Errors: ConfigError,
    BuildError."""

    def __init__(self, chip: str, folder: Path, kernels: str = PLAIN_SET) -> None:
        self._chip, self._folder = chip, folder
        self._set = find_kernels(kernels)
        self._compiler = find_compiler()
        self._flags = flags_for(chip)
        (folder / "ripbench_schema.h").write_text(header())
        sources = sources_for(chip, self._set.all())
        files = (*sources.files, *sources.kernels)
        self._objects = [folder / f"{'_'.join(source.parts)}.o" for source in files]
        for source, made in zip(files, self._objects, strict=True):
            self._compile(source, made)

    def link(self, kernels: frozenset[str]) -> Linked:
        """A runner with these kernels of the set. Errors: BuildError."""
        table = self._folder / "kernel_table.c"
        table.write_text(table_source(Selection(self._set, kernels), self._chip))
        self._compile(table, table.with_suffix(".o"))
        found = self._folder / "runner.map"
        script = ["-T", link_script(self._chip), f"-Wl,-Map={found}"]
        objects = [str(made) for made in (*self._objects, table.with_suffix(".o"))]
        out = ["-lgcc", "-o", str(self._folder / "runner.elf")]
        command = [self._compiler, *self._flags, *LINK, *script, *objects, *out]
        run_compiler(command, cwd=resources.firmware())
        return read_map(found.read_text())

    def _compile(self, source: Path, made: Path) -> None:
        includes = include_options(self._chip, self._folder)
        what = ["-c", str(source), "-o", str(made)]
        run_compiler([self._compiler, *self._flags, *includes, *what], cwd=resources.firmware())


def read_map(text: str) -> Linked:
    """A map file of GNU ld. Errors: BuildError for a text that is none."""
    if _START not in text:
        raise BuildError("the linker's map file has no memory map")
    sections: dict[Section, int] = {}
    symbols: dict[str, int] = {}
    starts: dict[str, int] = {}
    output = ""
    for line in _WRAPPED.sub(r"\1 ", text[text.index(_START) :]).splitlines():
        if begun := _OUTPUT.match(line):
            output = begun[1]
        elif output in LOADED and (piece := _INPUT.match(line)):
            name = "" if piece[4] == VENEER else piece[1]  # else the name of the section before
            section = Section(output, name, Path(piece[4]).name)
            if int(piece[3], 16):
                starts.setdefault(output, int(piece[2], 16))
                sections[section] = sections.get(section, 0) + int(piece[3], 16)
        elif symbol := _SYMBOL.match(line):
            symbols[symbol[2]] = int(symbol[1], 16)
    return Linked(sections, symbols, starts)
