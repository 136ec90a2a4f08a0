# SPDX-License-Identifier: Apache-2.0
"""Which source line an instruction is of, by the DWARF line tables of an ELF file."""

from __future__ import annotations

import bisect
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from elftools.common.exceptions import DWARFError, ELFError
from elftools.elf.elffile import ELFFile

from harness import resources
from harness.errors import BuildError


@dataclass(frozen=True, order=True)
class Line:
    """file: as the compiler was told, `firmware/kernels/plain/conv.c`; a user's own begin with
    `kernels/`. number: from 1."""

    file: str
    number: int

    def __str__(self) -> str:
        return f"{self.file}:{self.number}"


class Lines:
    """The line table of one ELF file. Errors: BuildError where it has none that can be read."""

    def __init__(self, elf: Path) -> None:
        try:
            file = ELFFile(io.BytesIO(elf.read_bytes()))
            info = file.get_dwarf_info()
            rows = [row for unit in info.iter_CUs() for row in _rows(info, unit)]
        except (OSError, ELFError, DWARFError, LookupError) as error:
            raise BuildError(f"{elf.name}: its lines cannot be read", cause=str(error)) from error
        # of what the linker dropped the table is still there, at address 0
        self._ranges = sorted((low, high, line) for low, high, line in rows if 0 < low < high)
        self._starts = [low for low, _, _ in self._ranges]

    def at(self, pc: int) -> Line | None:
        """None of an address that nothing was compiled to."""
        number = bisect.bisect_right(self._starts, pc) - 1
        if number < 0:
            return None
        _, end, line = self._ranges[number]
        return line if pc < end else None


def _rows(info: Any, unit: Any) -> Iterator[tuple[int, int, Line | None]]:
    """First address, the one behind, and the line, of each stretch of a compilation unit."""
    program = info.line_program_for_CU(unit)
    if program is None:
        return
    before = None
    for entry in program.get_entries():
        state = entry.state
        if state is None:
            continue
        if before is not None:
            name = _name(program, before.file, unit)
            yield before.address, state.address, Line(name, before.line) if before.line else None
        before = None if state.end_sequence else state


def _name(program: Any, number: int, unit: Any) -> str:
    """Of a file of the table: DWARF 5 counts from 0, the unit's own folder first; 4 from 1."""
    five = program.header.version >= 5
    entry = program["file_entry"][number if five else number - 1]
    folders = program["include_directory"]
    at = entry.dir_index if five else entry.dir_index - 1
    parts = [entry.name] if at < 0 else [folders[at], entry.name]
    own = unit.get_top_DIE().attributes.get("DW_AT_comp_dir")
    if own is not None and not (five and at == 0):
        parts.insert(0, own.value)
    return str(PurePosixPath(*(part.decode(errors="replace") for part in parts))).lstrip("/")


class Source:
    """The texts of source files. folder: of a user's own kernels."""

    def __init__(self, folder: Path | None = None) -> None:
        self._roots: Mapping[str, Path] = {
            "firmware": resources.firmware(),
            **({} if folder is None else {"kernels": folder}),
        }
        self._texts: dict[str, list[str]] = {}

    def text(self, line: Line) -> str:
        """The line without the white space around it; "" of a file that is not at hand."""
        lines = self._texts.setdefault(line.file, self._read(line.file))
        return lines[line.number - 1].strip() if 0 < line.number <= len(lines) else ""

    def _read(self, name: str) -> list[str]:
        root, _, rest = name.partition("/")
        if root not in self._roots or ".." in PurePosixPath(rest).parts:
            return []
        try:
            return (self._roots[root] / rest).read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            return []
