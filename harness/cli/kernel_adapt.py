# SPDX-License-Identifier: Apache-2.0
"""`ripbench kernel adapt cmsis-nn CHECKOUT -o FOLDER`: another library as a folder of kernels."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from harness.errors import ConfigError
from harness.kernels.adapt import ADAPTERS, adapt


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("library", choices=sorted(ADAPTERS), help="which library it is")
    parser.add_argument("checkout", metavar="CHECKOUT", type=Path, help="your copy of its sources")
    parser.add_argument(
        "-o", dest="folder", metavar="FOLDER", type=Path, required=True, help="the folder to make"
    )


def run(options: argparse.Namespace) -> int:
    """0 when the folder was made; 2 for a checkout that is none, or a folder that is there."""
    try:
        found = adapt(ADAPTERS[options.library], options.checkout, options.folder)
    except ConfigError as error:
        print(f"ConfigError: {error}", file=sys.stderr)
        return 2
    print(
        f"{options.folder}: {options.library} {found.version}, {found.files} of its C files\n\n"
        f"    pytest layers --board pico2-emu --kernels {options.folder} --layers first\n"
        f"    ripbench compare plain {options.folder} --board pico2-emu"
    )
    return 0
