# SPDX-License-Identifier: Apache-2.0
"""`ripbench sweep -n 10000 --seed 1`."""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict

from tabulate import tabulate

from harness.errors import ConfigError
from harness.paper.generators import GENERATORS, ranges
from harness.paper.sweep import Sweep, sweep

JSON_VERSION = 1
_MAX_LAYERS = 1_000_000
_MAX_JOBS = 64
_EVERY_S = 5.0  # between lines of progress where stderr is no terminal


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-n", type=int, default=10_000, metavar="N", help="layers (default 10000)")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="default 1")
    parser.add_argument(
        "--jobs", type=int, default=2, metavar="J", help="processes that simulate (default 2)"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    parser.add_argument(
        "--generators", action="store_true", help="only say what the twenty generators draw"
    )


def run(options: argparse.Namespace) -> int:
    """0 when the exact forms are tight everywhere and the printed ones where they say so; 1 when not."""
    if options.generators:
        print("\n".join(f"{name}: {ranges(name)}" for name in GENERATORS))
        return 0
    for option, value, most in (
        ("-n", options.n, _MAX_LAYERS),
        ("--jobs", options.jobs, _MAX_JOBS),
    ):
        if not 1 <= value <= most:
            raise ConfigError(f"{option} {value} is not within 1 to {most}")
    progress = _Progress(options.n)
    found = sweep(options.n, options.seed, options.jobs, progress)
    progress.close()
    if options.json:
        print(json.dumps({"version": JSON_VERSION, **asdict(found), "holds": found.holds}))
    else:
        print(_table(found))
    return 0 if found.holds else 1


def _table(found: Sweep) -> str:
    rows: list[list[object]] = []
    for v in found.verdicts:
        over = f"{v.mean_over:.2f}, {v.most_over}" if v.loose else ""
        verdict = ("yes" if v.holds else "NO") if v.must_hold else "reported"
        rows.append(
            [v.configuration.replace("_", " "), v.form, v.unsafe, v.tight, v.loose, over, verdict]
        )
    headers = ["configuration", "form", "unsafe", "tight", "loose", "over: mean, most", "holds"]
    inside = (
        f"{found.restricted} of {found.count} layers, {100 * found.restricted / found.count:.1f} %"
    )
    lines = [
        f"seed {found.seed}: {inside}, are inside the published herringbone form's restrictions",
        "",
        tabulate(rows, headers=headers),
    ]
    lines += [
        f"unsafe: {v.form}, {v.configuration.replace('_', ' ')}, {v.example}"
        for v in found.verdicts
        if v.example is not None
    ]
    return "\n".join(lines)


class _Progress:
    """On stderr: one line that is written over on a terminal, else a line now and then."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._start = self._last = time.monotonic()
        self._terminal = sys.stderr.isatty()

    def __call__(self, done: int) -> None:
        now = time.monotonic()
        if not self._terminal and now - self._last < _EVERY_S:
            return
        self._last = now
        left = (now - self._start) * (self._count - done) / max(1, done)
        words = f"{done} of {self._count} layers simulated, {left:.0f} s left"
        print(f"\r{words:<60}" if self._terminal else words, end="" if self._terminal else "\n",
              file=sys.stderr, flush=True)  # fmt: skip

    def close(self) -> None:
        if self._terminal:
            print(f"\r{'':<60}\r", end="", file=sys.stderr, flush=True)
