# SPDX-License-Identifier: Apache-2.0
"""`ripbench selftest --board pico1-emu`: the shipped device suite, from any folder: layers, or with
`--kernels` and a folder of one's own the kernels in it."""

from __future__ import annotations

import argparse

import pytest

from harness import resources
from harness.cli import INTERRUPTED


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = "for example: ripbench selftest --board pico1-emu -m 'not slow'"


def run(options: argparse.Namespace) -> int:
    folder = resources.layers()
    suites = [str(folder / name) for name in ("test_layers.py", "test_kernels.py")]
    tidy = ["-p", "no:cacheprovider", "-p", "no:benchmark"]  # which leave folders where they run
    status = pytest.main([*suites, f"--rootdir={folder}", *tidy, *options.rest])
    return INTERRUPTED if status == pytest.ExitCode.INTERRUPTED else int(status)
