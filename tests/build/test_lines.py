# SPDX-License-Identifier: Apache-2.0
"""Lines of instructions, against the source itself and against binutils."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path, PurePosixPath

import pytest

from harness.build import build_runner
from harness.build.command import find_compiler
from harness.build.lines import Line, Lines, Source
from harness.errors import BuildError
from harness.kernels import find_kernels

CHIPS = {"rp2040": "m0plus", "rp2350": "m33"}


@pytest.mark.parametrize("chip", CHIPS)
def test_as_addr2line_says(chip: str) -> None:
    """Of each halfword of a C kernel and of an assembly one."""
    kernels = find_kernels(CHIPS[chip])
    image = build_runner(chip, kernels=kernels.all())
    lines = Lines(image.elf)
    ends = dict(zip(image.functions, image.function_ends, strict=True))
    wanted = {"m0plus": ("m0plus_add", "m0plus_add_run"), "m33": ("m33_add", "m33_dot")}
    for name in wanted[CHIPS[chip]]:
        (start,) = (address for address, found in image.functions if found == name)
        pcs = range(start, ends[start, name], 2)
        seen = [str(lines.at(pc)) for pc in pcs]
        tool = find_compiler().replace("gcc", "addr2line")
        told = subprocess.run(
            [tool, "-e", str(image.elf), *map(hex, pcs)], capture_output=True, text=True, check=True
        ).stdout
        found = [re.sub(r" \(discriminator \d+\)", "", line) for line in told.splitlines()]
        expected = [  # without its `./`; padding at the end of a section is of no line
            "None" if line.endswith(":?") else str(PurePosixPath(line)) for line in found
        ]
        assert len(set(seen)) > 5
        assert seen == expected


def test_nothing_was_compiled_there() -> None:
    lines = Lines(build_runner("rp2040").elf)
    assert lines.at(0) is None
    assert lines.at(0x1000_0000 + (1 << 20)) is None
    assert lines.at(0xFFFF_FFFF) is None


def test_the_text_of_a_line(tmp_path: Path) -> None:
    (tmp_path / "mine.c").write_text("one\n   two  \n")
    source = Source(tmp_path)
    assert source.text(Line("kernels/mine.c", 2)) == "two"
    assert source.text(Line("kernels/mine.c", 3)) == ""
    assert source.text(Line("kernels/other.c", 1)) == ""
    assert source.text(Line("kernels/../mine.c", 1)) == ""
    assert source.text(Line("/etc/passwd", 1)) == ""
    assert source.text(Line("firmware/runner/case.c", 2)) == '#include "runner/case.h"'
    assert Source().text(Line("kernels/mine.c", 1)) == ""


def test_a_file_that_is_no_elf(tmp_path: Path) -> None:
    (tmp_path / "x.elf").write_bytes(b"\x7fELF" + bytes(60))
    with pytest.raises(BuildError, match="lines cannot be read"):
        Lines(tmp_path / "x.elf")
    with pytest.raises(BuildError, match="lines cannot be read"):
        Lines(tmp_path / "none.elf")
