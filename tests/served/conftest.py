# SPDX-License-Identifier: Apache-2.0
"""A runtime folder of each test's own, and servers that end with it."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness.emulator import registry
from tests.served.support import NAMES, Server

Serve = Callable[..., Server]


@pytest.fixture(autouse=True)
def runtime_folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with short_folder() as folder:
        monkeypatch.setenv("RIPBENCH_RUNTIME", str(folder))
        for name in NAMES.values():
            registry.remove(name)
        yield folder
        for name in NAMES.values():
            registry.remove(name)


@contextmanager
def short_folder() -> Iterator[Path]:
    """Not below tmp_path: the path of a socket has to be short."""
    folder = Path(tempfile.mkdtemp(prefix="rb-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


@pytest.fixture(params=NAMES)
def chip(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def flash_file(tmp_path: Path) -> Path:
    return tmp_path / "flash.bin"


@pytest.fixture
def serve(flash_file: Path) -> Iterator[Serve]:
    """serve(chip, *options): a server of the chip's board on `flash_file`."""
    started: list[Server] = []

    def start(chip: str = "rp2040", *options: str) -> Server:
        server = Server([NAMES[chip], "--flash", str(flash_file), *options])
        started.append(server)
        return server

    yield start
    for server in started:
        if server.is_running():
            server.kill()
