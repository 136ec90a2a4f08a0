# SPDX-License-Identifier: Apache-2.0
"""`ripbench kernel new my_conv`: a folder with a kernel that passes, to begin with; `kernel adapt`: one
with those of another library."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from harness.cli import kernel_adapt
from harness.errors import ConfigError
from harness.kernels.scaffold import new_kernel, template_ops
from harness.report import printable
from harness.schema.constants import Chip

_BOARDS = {"rp2040": "pico1-emu", "rp2350": "pico2-emu"}  # to try it on


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    words = "make a folder with a kernel that passes, its declaration, and what to do with them"
    new = actions.add_parser("new", help=words, description=f"{words.capitalize()}.")
    new.add_argument(
        "name", metavar="NAME", help="of the kernel and of its folder, or a path to it"
    )
    new.add_argument(
        "--op", default="conv", choices=template_ops(), help="what it computes (default conv)"
    )
    new.add_argument(
        "--chip",
        choices=[chip.name.lower() for chip in Chip],
        help="the only chip that it is for (default all)",
    )
    new.set_defaults(run=_new)
    words = "a folder of kernels from your checkout of another library"
    adapt = actions.add_parser("adapt", help=words, description=f"{words.capitalize()}.")
    kernel_adapt.add_arguments(adapt)
    adapt.set_defaults(run=kernel_adapt.run)


def run(options: argparse.Namespace) -> int:
    status: int = options.run(options)
    return status


def _new(options: argparse.Namespace) -> int:
    """0 when it is there; 2 for a name that it cannot have, and where there is something already."""
    folder = Path(options.name)
    chips = (options.chip,) if options.chip else ()
    board = _BOARDS[options.chip or "rp2350"]
    try:
        written = new_kernel(folder, options.op, chips, board)
    except ConfigError as error:
        print(f"ConfigError: {error}", file=sys.stderr)
        return 2
    for path in written:
        print(printable(path))
    print(f"next: ripbench selftest --board {board} --kernels {printable(folder)}")
    return 0
