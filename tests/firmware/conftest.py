# SPDX-License-Identifier: Apache-2.0
"""The runner for the host, compiled once a session: as a library, and as a program with sanitizers."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.firmware.support import HostRunner, compile_host


def _compiler() -> str:
    for name in ("cc", "gcc", "clang"):
        if path := shutil.which(name):
            return path
    raise AssertionError("these tests need a C compiler for the host")


@pytest.fixture(scope="session")
def host(tmp_path_factory: pytest.TempPathFactory) -> HostRunner:
    library = tmp_path_factory.mktemp("host") / "runner.so"
    compile_host(_compiler(), library, ["-O2", "-shared", "-fPIC"], [])
    return HostRunner(library)


@pytest.fixture(scope="session")
def sanitized(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Reads packs and runs them (pack_main.c); ends with an error at the first sanitizer report."""
    program = tmp_path_factory.mktemp("sanitized") / "pack_main"
    flags = ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    compile_host(_compiler(), program, flags, ["pack_main.c"])
    return program
