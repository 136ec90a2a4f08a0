# SPDX-License-Identifier: Apache-2.0
"""`ripbench kernel adapt`: kernels of one's own."""

from __future__ import annotations

import argparse

from harness.cli import kernel_adapt


def add_arguments(parser: argparse.ArgumentParser) -> None:
    what = parser.add_subparsers(dest="what", metavar="WHAT", required=True)
    words = "a folder of kernels from your checkout of another library"
    adapt = what.add_parser("adapt", help=words, description=words.capitalize() + ".")
    kernel_adapt.add_arguments(adapt)
    adapt.set_defaults(run=kernel_adapt.run)


def run(options: argparse.Namespace) -> int:
    status: int = options.run(options)
    return status
