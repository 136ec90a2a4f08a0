# SPDX-License-Identifier: Apache-2.0
"""`ripbench doctor`: each thing that a run needs, in the order in which a run needs it."""

from __future__ import annotations

import argparse
import json
import platform
import shutil
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

from harness.boards import Board, find_board, is_attached, load_boards
from harness.boards.config import CHIPS, with_faults
from harness.boards.lock import duration
from harness.build import build_runner, compiler_version
from harness.case import build_pack, make_case
from harness.errors import ConfigError, HarnessError
from harness.network import find_set, load_set
from harness.plan import Strategy, plan_layer
from harness.report import printable

JSON_VERSION = 1
_PACKAGES = ("pyocd", "pyserial", "numpy", "pytest", "cobs", "pyelftools", "pyyaml", "tabulate")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--board", action="append", metavar="NAME", help="default: every attached one"
    )
    parser.add_argument("--boards", metavar="FILE", type=Path, help="boards of your own")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of lines")
    parser.add_argument(
        "--faults",
        metavar="SPEC",
        help="what goes wrong by plan, for example 'probe-nak,at=100' (docs/faults.md)",
    )
    parser.add_argument(
        "--wait",
        metavar="TIME",
        help="wait so long for a board that is in use: 30s, 10m, 2h (default not at all)",
    )


def run(options: argparse.Namespace) -> int:
    wait = duration(options.wait) if options.wait is not None else 0.0
    checks: list[tuple[str, Callable[[], str]]] = [
        ("python", _python),
        ("packages", _packages),
        ("C compiler", _host_compiler),
        ("cross compiler", compiler_version),
        ("firmware", _firmware),
        ("boards.yaml", lambda: ", ".join(load_boards(options.boards))),
    ]
    results = [_perform(name, check, quiet=options.json) for name, check in checks]
    if results[-1]["ok"]:
        boards = load_boards(options.boards)
        names = options.board or [n for n, entry in boards.items() if is_attached(entry)]
        for name in names:
            check = _board_check(name, options.boards, options.faults, wait)
            results.append(_perform(f"board {name}", check, quiet=options.json))
    well = all(result["ok"] for result in results)
    if options.json:
        print(json.dumps({"version": JSON_VERSION, "ok": well, "checks": results}))
    return 0 if well else 1


def _perform(name: str, check: Callable[[], str], *, quiet: bool) -> dict[str, object]:
    try:
        well, detail = True, check()
    except HarnessError as error:
        well, detail = False, f"{type(error).__name__}: {error}"
    if not quiet:
        lines = [printable(line) for line in detail.splitlines()] or [""]
        print(f"{'ok  ' if well else 'FAIL'} {name}: {lines[0]}", flush=True)
        for line in lines[1:]:
            print(f"       {line}")
    return {"name": name, "ok": well, "detail": detail}


def _python() -> str:
    return f"{platform.python_version()} at {sys.executable}"


def _packages() -> str:
    return ", ".join(f"{name} {metadata.version(name)}" for name in _PACKAGES)


def _host_compiler() -> str:
    """Only emulated boards need it, to compile the emulator's core once."""
    path = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if path is None:
        raise ConfigError(
            "no C compiler: emulated boards cannot be built",
            hint="sudo apt-get install gcc  |  xcode-select --install  |  pacman -S gcc",
        )
    return path


def _firmware() -> str:
    images = [(chip, build_runner(chip)) for chip in CHIPS]
    return "\n".join(
        f"{chip}: {len(image.flash)} bytes of flash, {image.pool_bytes} bytes for arenas, {image.elf}"
        for chip, image in images
    )


def _tell(text: str) -> None:
    """At once, and not among the answers."""
    print(printable(text), file=sys.stderr, flush=True)


def _board_check(
    name: str, boards: Path | None, faults: str | None, wait: float
) -> Callable[[], str]:
    """wait: seconds that others may keep the board."""

    def check() -> str:
        entry = find_board(name, load_boards(boards))
        if faults:
            entry = with_faults(entry, faults)
        image = build_runner(entry.chip, sram_bytes=entry.sram_bytes)
        layer = load_set(find_set("first"))[-1]
        pack = build_pack([make_case(plan_layer(layer, Strategy.RIP))])
        with Board(entry, wait=wait, on_wait=_tell) as board:
            hello = board.start(image, pack)
            (result,) = board.run(0, seed=1).results
            return (
                f"{board.kind}, unique id {hello.unique_id.hex().upper()}, {hello.clk_sys_hz} Hz, "
                f"ran {layer.id} in {result.cycles} cycles"
            )

    return check
