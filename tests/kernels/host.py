# SPDX-License-Identifier: Apache-2.0
"""Generated C, compiled for the host with the runner's headers."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

from harness.schema.header import header
from tests.firmware.support import FIRMWARE, WARNINGS


def library(folder: Path, source: str) -> ctypes.CDLL:
    """`source` as a shared library."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    assert compiler is not None, "these tests need a C compiler for the host"
    (folder / "ripbench_schema.h").write_text(header())
    (folder / "generated.c").write_text(source)
    output = folder / "generated.so"
    flags = [*WARNINGS, "-O1", "-shared", "-fPIC", f"-I{folder}", f"-I{FIRMWARE}"]
    done = subprocess.run(
        [compiler, *flags, str(folder / "generated.c"), "-o", str(output)],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(output))
