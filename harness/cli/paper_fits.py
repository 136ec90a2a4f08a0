# SPDX-License-Identifier: Apache-2.0
"""`ripbench paper fits`: which of the 84 layers each board can run."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict

from tabulate import tabulate

from harness.errors import ConfigError
from harness.paper.fits import BoardFit, board_fits
from harness.paper.table6 import SET
from harness.strictyaml import nearest

JSON_VERSION = 1


def run(options: argparse.Namespace) -> int:
    found = board_fits()
    if options.select:
        print(_selection(found, options.select))
    elif options.json:
        boards = [{**asdict(fit), "count": fit.count} for fit in found]
        print(json.dumps({"version": JSON_VERSION, "boards": boards}))
    else:
        print(_table(found))
    return 0


def _selection(found: Sequence[BoardFit], words: str) -> str:
    named = {f"{fit.chip}:{fit.strategy}": fit for fit in found}
    if words not in named:
        raise ConfigError(f"--select {words!r} is not known", hint=nearest(words, named))
    return ",".join(f"{SET}#{layer.layer}" for layer in named[words].layers if layer.fits)


def _table(found: Sequence[BoardFit]) -> str:
    rows = []
    for n, layer in enumerate(found[0].layers):
        cells = [
            f"{fit.layers[n].needed}" + ("" if fit.layers[n].fits else ", does not fit")
            for fit in found
        ]
        rows.append([layer.layer, *cells])
    headers = ["layer", *(f"{fit.chip} {fit.strategy}" for fit in found)]
    counts = ["fit", *(f"{fit.count} of {len(fit.layers)}" for fit in found)]
    pools = ["bytes there are", *(str(fit.pool_bytes) for fit in found)]
    return "bytes of SRAM needed\n\n" + tabulate([*rows, counts, pools], headers=headers)
