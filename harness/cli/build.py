# SPDX-License-Identifier: Apache-2.0
"""`ripbench build`."""

from __future__ import annotations

import argparse
import json

from harness.boards.config import CHIPS
from harness.build import build_runner, compiler_version

JSON_VERSION = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--chip", choices=CHIPS, default="rp2040")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of lines")


def run(options: argparse.Namespace) -> int:
    image = build_runner(options.chip)
    facts = {
        "elf": str(image.elf),
        "sha256": image.elf_hash,
        "build_id": image.info.build_id.hex(),
        "image_crc": f"{image.crc:08x}",
        "flash_bytes": len(image.flash),
        "pool_bytes": image.pool_bytes,
        "compiler": compiler_version(),
    }
    if options.json:
        print(json.dumps({"version": JSON_VERSION, **facts}))
    else:
        for name, value in facts.items():
            print(f"{name:12} {value}")
    return 0
