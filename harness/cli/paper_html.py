# SPDX-License-Identifier: Apache-2.0
"""`ripbench paper html --out FILE`: the whole paper beside ours on one page."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from harness.errors import ConfigError
from harness.paper.cost import RECORD
from harness.report import printable

JSON_VERSION = 1


def run(options: argparse.Namespace) -> int:
    """0 when every computed cell equals the paper's, 1 when one does not; 2 without --out."""
    if not options.out:
        print("paper html writes a page: --out FILE", file=sys.stderr)
        return 2
    from harness.report.html.paper import paper

    out = Path(options.out)
    found = paper(Path(options.history) if options.history else RECORD)
    try:
        out.write_text(found.text, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{out} cannot be written", cause=str(error)) from error
    if options.json:
        answer = {"version": JSON_VERSION, "out": str(out), "differences": list(found.differences)}
        print(json.dumps(answer))
    else:
        words = (
            f"{len(found.differences)} cells differ:" if found.differences else "all cells equal"
        )
        print("\n".join([f"{printable(out)}: {words}", *found.differences]))
    return 1 if found.differences else 0
