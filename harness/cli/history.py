# SPDX-License-Identifier: Apache-2.0
"""`ripbench history runs|series|show|export|import|check|prune`."""

from __future__ import annotations

import argparse
import datetime
import json
import re
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tabulate import tabulate

from harness.errors import ConfigError
from harness.history import failures, points, reading, runs, series, writing
from harness.history.check import check
from harness.history.export import FORMATS, export
from harness.history.lines import import_lines
from harness.history.prune import prune
from harness.report import printable
from harness.results import Point, SeriesKey

JSON_VERSION = 1
_DEFAULT = "reports/history.sqlite"
_AGE = re.compile(r"(\d{1,6})([hdwy])")
_HOURS = {"h": 1, "d": 24, "w": 7 * 24, "y": 365 * 24}
_BYTES = re.compile(r"(\d{1,15})([kMG]?)")
_UNITS = {"": 1, "k": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_HASH_DIGITS = 10  # of commits and ELF files that a table shows


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)

    def action(name: str, summary: str, run: Callable[[argparse.Namespace], int]) -> Any:
        sub = actions.add_parser(name, help=summary, description=summary.capitalize() + ".")
        sub.add_argument(
            "--history", metavar="FILE", type=Path, default=Path(_DEFAULT), help=f"({_DEFAULT})"
        )
        sub.add_argument("--json", action="store_true", help="one JSON object instead of text")
        sub.set_defaults(act=run)
        return sub

    action("runs", "invocations, what they left, and whether they came to their end", _runs)
    _add_filters(action("series", "what has been measured over and over", _series))
    show = action("show", "the points of series, oldest first", _show)
    show.add_argument("case", metavar="CASE", help="a layer's or a model's id")
    _add_filters(show, case=False)
    out = action("export", "all of it, or a run, in a format that others read", _export)
    out.add_argument("--format", choices=FORMATS, default=FORMATS[0], help="(default jsonl)")
    out.add_argument("--run", metavar="N", type=int, help="a run's number, as `runs` prints it")
    out.add_argument("--output", metavar="FILE", type=Path, help="instead of the standard output")
    back = action("import", "add the rows of JSON lines: twice is as good as once", _import)
    back.add_argument("file", metavar="FILE", type=Path)
    back.add_argument(
        "--kernels", metavar="SET", default="", help="the set that lines are of that do not say"
    )
    action("check", "look for damage, in the file and in the files beside it", _check)
    less = action("prune", "remove what is old: the only way in which rows ever go", _prune)
    less.add_argument(
        "--older-than", metavar="AGE", type=_hours, help="runs with all their rows: 90d, 26w, 2y"
    )
    less.add_argument(
        "--max-bytes",
        metavar="N",
        type=_bytes,
        help="ELF files and frames beyond so much, oldest first; numbers stay: 500M",
    )
    less.add_argument("--dry-run", action="store_true", help="only say what would go")


def _add_filters(parser: argparse.ArgumentParser, *, case: bool = True) -> None:
    names = ("case", "plan", "board", "kernels") if case else ("plan", "board", "kernels")
    for name in names:
        parser.add_argument(f"--{name}", help=f"of this {name} alone")


def run(options: argparse.Namespace) -> int:
    """0; 1 for damage that `check` found."""
    status: int = options.act(options)
    return status


def _runs(options: argparse.Namespace) -> int:
    with reading(options.history) as db:
        rows = runs(db)
        failed = failures(db)
    if options.json:
        return _print(runs=[asdict(row) for row in rows], failures=[asdict(row) for row in failed])
    table = [
        (
            row.id,
            row.info.started,
            _commit(row.info.commit, row.info.dirty),
            row.verdicts,
            row.not_ok,
            row.failures,
            row.info.status or "did not end",
        )
        for row in rows
    ]
    _table(("run", "started", "commit", "verdicts", "not ok", "without one", "end"), table)
    return 0


def _series(options: argparse.Namespace) -> int:
    with reading(options.history) as db:
        keys = _chosen(series(db), options)
    if options.json:
        return _print(series=[asdict(key) for key in keys])
    _table(
        ("case", "plan", "board", "kind", "chip", "clock", "kernels", "toolchain"),
        [
            (k.case, k.plan, k.board, k.kind, k.chip, f"{k.clock_hz} Hz", k.kernels, k.toolchain)
            for k in keys
        ],
    )
    return 0


def _show(options: argparse.Namespace) -> int:
    with reading(options.history) as db:
        keys = _chosen(series(db), options)
        if not keys:
            raise ConfigError(
                f"{options.history} has no such series of {options.case!r}",
                hint="`ripbench history series` lists all",
            )
        found = [(key, points(db, key)) for key in keys]
    if options.json:
        return _print(
            series=[{"key": asdict(key), "points": [asdict(p) for p in of]} for key, of in found]
        )
    for key, of in found:
        print(
            printable(f"{key.case} {key.plan} on {key.board}, {key.kind}: {key.chip} at "),
            printable(f"{key.clock_hz} Hz, kernels {key.kernels or '?'}, {key.toolchain}"),
            sep="",
        )
        _table(
            ("run", "time", "commit", "ELF", "cycles", "spread", "cold", "arena", "stack", ""),
            [_point(point) for point in of],
        )
        print()
    return 0


def _point(point: Point) -> tuple[object, ...]:
    return (
        point.run,
        point.time,
        _commit(point.commit, point.dirty),
        point.build[:_HASH_DIGITS],
        point.cycles,
        max(point.samples) - min(point.samples),
        point.cold_cycles,
        point.arena_bytes,
        point.stack_peak,
        "pass" if point.ok else "fail",
    )


def _export(options: argparse.Namespace) -> int:
    with reading(options.history) as db:
        if options.run is not None and options.run not in {row.id for row in runs(db)}:
            raise ConfigError(f"{options.history} has no run {options.run}")
        if options.output is None:
            for piece in export(db, options.format, options.run):
                sys.stdout.write(piece)
            return 0
        try:
            with options.output.open("w", encoding="utf-8") as file:
                file.writelines(export(db, options.format, options.run))
        except OSError as error:
            raise ConfigError(f"{options.output} cannot be written", cause=str(error)) from error
    return _print(output=str(options.output)) if options.json else 0


def _import(options: argparse.Namespace) -> int:
    with writing(options.history) as db:
        found = import_lines(db, options.file, options.kernels)
    if options.json:
        return _print(**asdict(found))
    print(
        f"{found.verdicts} verdicts and {found.failures} failures added to "
        f"{printable(options.history)}, {found.known} rows were there already"
    )
    return 0


def _check(options: argparse.Namespace) -> int:
    with reading(options.history) as db:
        found = check(db, options.history)
    if options.json:
        _print(problems=found)
    else:
        print("\n".join(map(printable, found)) or f"{printable(options.history)} is whole")
    return 1 if found else 0


def _prune(options: argparse.Namespace) -> int:
    if options.older_than is None and options.max_bytes is None:
        print(
            "ripbench history prune: --older-than 90d, --max-bytes 500M, or both", file=sys.stderr
        )
        return 2
    now = time.time()
    before = "" if options.older_than is None else _before(options.older_than, now)
    if not options.history.exists():
        raise ConfigError(f"there is no history {options.history}")
    with writing(options.history) as db:
        gone = prune(
            db,
            options.history,
            before=before,
            max_bytes=options.max_bytes,
            now=now,
            dry_run=options.dry_run,
        )
    if options.json:
        return _print(**asdict(gone), dry_run=options.dry_run)
    word = "would go" if options.dry_run else "are gone"
    print(
        f"{gone.runs} runs with {gone.verdicts} verdicts, and {gone.files} files of {gone.bytes} "
        f"bytes {word}"
    )
    return 0


def _chosen(keys: Sequence[SeriesKey], options: argparse.Namespace) -> list[SeriesKey]:
    names = ("case", "plan", "board", "kernels")
    asked = {name: getattr(options, name) for name in names if getattr(options, name) is not None}
    return [key for key in keys if all(getattr(key, name) == of for name, of in asked.items())]


def _before(hours: int, now: float) -> str:
    """The time so long ago, as rows have it."""
    then = datetime.datetime.fromtimestamp(max(0.0, now - hours * 3600.0), datetime.UTC)
    return then.isoformat(timespec="seconds")


def _hours(text: str) -> int:
    """Errors: ArgumentTypeError, which argparse shows."""
    match = _AGE.fullmatch(text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no age as 12h, 90d, 26w or 2y")
    return int(match.group(1)) * _HOURS[match.group(2)]


def _bytes(text: str) -> int:
    """Errors: ArgumentTypeError."""
    match = _BYTES.fullmatch(text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of bytes as 0, 200k, 500M or 2G")
    return int(match.group(1)) * _UNITS[match.group(2)]


def _commit(commit: str, dirty: bool) -> str:
    return f"{commit[:_HASH_DIGITS]}{'+' if dirty else ''}"


def _table(headers: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Numbers to the right, text to the left; text of a file is shown safely."""
    right = [bool(rows) and isinstance(value, int) for value in (rows[0] if rows else headers)]
    print(
        tabulate(
            [[printable(value) for value in row] for row in rows],
            headers=headers,
            disable_numparse=True,
            colalign=["right" if is_number else "left" for is_number in right] if rows else None,
        )
    )


def _print(**values: object) -> int:
    print(json.dumps({"version": JSON_VERSION, **values}))
    return 0
