# SPDX-License-Identifier: Apache-2.0
"""`ripbench emu serve | list | power`: emulated boards as processes of their own."""

from __future__ import annotations

import argparse
import json
import re
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from tabulate import tabulate

from harness.boards import BoardEntry, load_boards
from harness.boards.config import CHIPS, with_faults
from harness.errors import ConfigError
from harness.report import printable

JSON_VERSION = 1
KIND = "emu"
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,29}[a-z0-9])?")
_CLOCK_HZ = 125_000_000  # of a name that no boards.yaml has; the firmware sets its own


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--boards", metavar="FILE", type=Path, help="boards of your own")
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    serve = actions.add_parser("serve", help="be a board until SIGTERM or Ctrl-C")
    serve.add_argument("name", metavar="NAME", help="of boards.yaml, or a new one with --chip")
    serve.add_argument("--chip", choices=CHIPS, help="of a name that is in no boards.yaml")
    serve.add_argument(
        "--flash",
        metavar="FILE",
        type=Path,
        required=True,
        help="keeps the flash, over kills and power cycles; made when it does not exist",
    )
    serve.add_argument(
        "--pty", action="store_true", help="the serial port as a terminal for other programs too"
    )
    serve.add_argument(
        "--faults",
        metavar="SPEC",
        help="what goes wrong by plan, for example 'probe-nak,at=100' (docs/faults.md)",
    )
    listing = actions.add_parser("list", help="what is served now, and who uses it")
    listing.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    power = actions.add_parser("power", help="a power cycle: RAM is lost, flash is kept")
    power.add_argument("name", metavar="NAME", help="of a served board")


def run(options: argparse.Namespace) -> int:
    backend = _backend()
    if options.action == "serve":
        entry = _entry(options.name, options.chip, options.boards)
        if options.faults:
            entry = with_faults(entry, options.faults)
        backend.configure(entry.as_mapping())
        backend.serve(entry.name, options.flash, pty=options.pty, announce=_announce)
    elif options.action == "power":
        backend.power(options.name)
    else:
        _list(backend.served(), as_json=options.json)
    return 0


def _announce(line: str) -> None:
    print(line, flush=True)


def _backend() -> Any:
    """What serves boards: reached as the bench reaches it, by its entry point."""
    for point in entry_points(group="ripbench.backend", name=KIND):
        return point.load()
    raise ConfigError(
        f"no backend {KIND!r} is installed",
        hint="install ripbench itself: pip install -e .",
    )


def _entry(name: str, chip: str | None, boards: Path | None) -> BoardEntry:
    """The board of boards.yaml, or one that only has a name and a chip."""
    known = load_boards(boards).get(name)
    if known is None:
        if chip is None:
            raise ConfigError(
                f"no board {name!r} in boards.yaml", hint="give its --chip, or add it there"
            )
        if not _NAME.fullmatch(name):
            raise ConfigError(
                f"{name!r} is not a board name",
                hint="lower-case letters, digits and hyphens, at most 31",
            )
        return BoardEntry(
            name, chip, f"{KIND}:{name}", f"{KIND}://{name}", _CLOCK_HZ, None, "--chip"
        )
    if chip not in (None, known.chip):
        raise ConfigError(f"{known.where}: {name} is an {known.chip}, not an {chip}")
    if known.probe != f"{KIND}:{name}":
        raise ConfigError(
            f"{known.where}: {name} is {known.probe}, which would not find a served board",
            hint=f'its line must say probe: "{KIND}:{name}"',
        )
    return known


def _list(boards: tuple[dict[str, Any], ...], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"version": JSON_VERSION, "boards": boards}))
        return
    rows = [
        (
            board["name"],
            board["chip"],
            board["pid"],
            printable(board["flash"]),
            printable(", ".join(f"{seat}: {who}" for seat, who in board["in_use"].items())),
            printable(board["faults"]),
        )
        for board in boards
    ]
    print(tabulate(rows, headers=("board", "chip", "process", "flash", "in use", "faults")))
