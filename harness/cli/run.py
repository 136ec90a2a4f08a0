# SPDX-License-Identifier: Apache-2.0
"""`ripbench run first#odd-3x3 --board pico2-emu`: one layer or network, once, and what each op took."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tabulate import tabulate

from harness.boards import Board, BoardEntry, Profiler, Watchpoint, find_board, load_boards
from harness.cli.run_case import Subject, subject_of
from harness.cli.run_files import check_outputs, read_inputs, write_outputs
from harness.errors import ConfigError
from harness.kernels import find_kernels
from harness.measure.once import Once, OnceSession
from harness.report import printable

JSON_VERSION = 1
_DEFAULT_BOARD = "pico1-emu"
_DEFAULT_SEED = 1
_MAX_SEED = 2**32 - 1
_TOP = 20
_GDB_SECONDS = 600.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "case", metavar="CASE", help="set#slug or FILE#slug of a layer; a model's name or file"
    )
    parser.add_argument(
        "--board", default=_DEFAULT_BOARD, metavar="NAME", help=f"default {_DEFAULT_BOARD}"
    )
    parser.add_argument("--boards", metavar="FILE", type=Path, help="boards of your own")
    parser.add_argument("--kernels", default="plain", metavar="SET|DIR", help="default plain")
    parser.add_argument(
        "--strategy",
        metavar="PLAN",
        help="rip (default where it can be had), dual, baseline, extended; of a layer also "
        "rip-direct and so on",
    )
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="FILE.npy",
        type=Path,
        help="int8 [h, w, c] in place of values from the seed; once for each input",
    )
    parser.add_argument(
        "--output",
        action="append",
        default=[],
        metavar="FILE.npy",
        type=Path,
        help="where the output goes as the board has it, int8 [h, w, c]; once for each output",
    )
    parser.add_argument("--seed", type=int, default=_DEFAULT_SEED, help="of the input; default 1")
    parser.add_argument("--reflash", action="store_true", help="write flash even if it looks right")
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--profile", action="store_true", help="cycles, misses and stalls by line and function"
    )
    what.add_argument("--gdb", action="store_true", help="halt at the first wrong write for gdb")
    parser.add_argument("--op", type=int, metavar="N", help="profile this op alone, from 0")
    parser.add_argument(
        "--top", type=int, default=_TOP, metavar="N", help=f"lines of a profile; default {_TOP}"
    )
    parser.add_argument(
        "--gdb-port", type=int, default=0, metavar="PORT", help="default: a free one"
    )
    parser.add_argument(
        "--gdb-timeout",
        type=float,
        default=_GDB_SECONDS,
        metavar="SECONDS",
        help=f"to wait for a debugger; default {_GDB_SECONDS:g}",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")


def run(options: argparse.Namespace) -> int:
    """0 when the output is the host's, byte for byte, and nothing outside the arena was touched; 1 when
    not; 2 for words that name nothing."""
    try:
        _check(options)
        entry = find_board(options.board, load_boards(options.boards))
        subject = subject_of(options.case, options.strategy, options.kernels, entry)
        check_outputs(options.output, subject.outputs)
        if options.input:
            subject = subject.given(read_inputs(options.input, subject.inputs))
        folder = find_kernels(options.kernels).folder
        board = Board(entry, on_stage=_say)
        tools = Tools(
            board.profiler if options.profile else None, board.watchpoint if options.gdb else None
        )
        tools.check(options, entry)
    except ConfigError as error:
        print(f"ConfigError: {error}", file=sys.stderr)
        return 2
    with board:
        return _run(options, subject, board, folder, tools)


def _check(options: argparse.Namespace) -> None:
    """Errors: ConfigError for numbers out of range, and words that do not go together."""
    for name, value, least, most in (
        ("--seed", options.seed, 0, _MAX_SEED),
        ("--top", options.top, 1, 10_000),
        ("--gdb-port", options.gdb_port, 0, 65535),
        ("--gdb-timeout", options.gdb_timeout, 0, 7 * 24 * 3600),
    ):
        if not least <= value <= most:
            raise ConfigError(f"{name} {value} is not within {least} to {most}")
    if options.op is not None and not options.profile:
        raise ConfigError("--op is of --profile")


@dataclass(frozen=True)
class Tools:
    """What sees into the board, where an option asks for it and the backend has it."""

    profiler: Profiler | None
    watchpoint: Watchpoint | None

    def check(self, options: argparse.Namespace, entry: BoardEntry) -> None:
        """Errors: ConfigError for an option that this board cannot serve."""
        for option, asked, tool in (
            ("--profile", options.profile, self.profiler),
            ("--gdb", options.gdb, self.watchpoint),
        ):
            if asked and tool is None:
                raise ConfigError(
                    f"{option} needs a board whose core can be looked into, and {entry.name} is none",
                    evidence={"probe": entry.probe},
                    hint="pico1-emu and pico2-emu can, in a process of their own; real boards and "
                    "served ones cannot",
                )


def _run(
    options: argparse.Namespace,
    subject: Subject,
    board: Board,
    folder: Path | None,
    tools: Tools,
) -> int:
    profiler, watchpoint = tools.profiler, tools.watchpoint
    session = OnceSession(board, subject.image, subject.case, options.seed, reflash=options.reflash)
    more: dict[str, Any] = {}
    words = ""
    if profiler is not None:
        from harness.cli import run_profile
        from harness.measure.profile import by_function, profile

        once, found = profile(session, profiler, options.op)
        lines = run_profile.lines_of(found, subject.image, folder)
        functions = by_function(found, subject.image)
        more["profile"] = run_profile.as_json(found, lines, functions)
        words = "\n\n" + run_profile.as_text(found, lines, functions, options.top)
    else:
        once = session.run()
    write_outputs(options.output, once.outputs if options.output else ())
    model = board.timings.models[-1] if board.timings is not None else None
    if options.json:
        print(json.dumps({**as_json(once, options.kernels, model), **more}), flush=True)
    else:
        print(as_text(once, options.kernels, model) + words, flush=True)
    if watchpoint is not None:
        from harness.cli.run_gdb import debug_wrong_write, to_stderr

        if once.failures:
            debug_wrong_write(
                session,
                watchpoint,
                folder=folder,
                port=options.gdb_port,
                seconds=options.gdb_timeout,
                show=to_stderr,
            )
        else:
            to_stderr("everything is right: there is no wrong write to stop at")
    return 1 if once.failures else 0


def _say(stage: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\x1b[K{printable(stage)}", end="\r", file=sys.stderr, flush=True)


def as_text(once: Once, kernels: str, model: str | None) -> str:
    rows = [
        [
            str(number),
            op.kind,
            op.kernel,
            f"{op.macs:,}",
            f"{op.cycles:,}",
            _per_mac(op.cycles, op.macs),
            f"{op.xip_misses:,}",
        ]
        for number, op in enumerate(once.ops)
    ]
    macs = sum(op.macs for op in once.ops)
    misses = sum(op.xip_misses for op in once.ops)
    if len(rows) > 1:
        rows.append(["", "all", "", f"{macs:,}", f"{once.cycles:,}", _per_mac(once.cycles, macs),
                     f"{misses:,}"])  # fmt: skip
    (result,) = once.run.results
    where = once.provenance
    timing = "" if model is None else f", {model} timing model"
    return "\n".join(
        [
            tabulate(
                rows,
                headers=("op", "kind", "kernel", "MACs", "cycles", "c/MAC", "XIP misses"),
                disable_numparse=True,
                colalign=("right", "left", "left", *["right"] * 4),
            ),
            "",
            f"{printable(once.case)} on {where.board} ({where.kind}), kernels {printable(kernels)}, "
            f"cold flash cache{timing}",
            f"arena {once.arena_bytes:,} bytes, touched from {result.low_water:,} to "
            f"{result.high_water:,}; scratch {once.scratch_bytes:,}, used {result.scratch_used:,}",
            *(_verdict(once)),
        ]
    )


def _verdict(once: Once) -> Sequence[str]:
    if once.failures:
        return [f"WRONG: {printable(failure)}" for failure in once.failures]
    return [f"right: the outputs' CRC is the host's, {once.run.results[0].output_crc:08x}"]


def _per_mac(cycles: int, macs: int) -> str:
    return f"{cycles / macs:.2f}" if macs else ""


def as_json(once: Once, kernels: str, model: str | None) -> dict[str, object]:
    (result,) = once.run.results
    where = once.provenance
    return {
        "version": JSON_VERSION,
        "case": once.case,
        "board": where.board,
        "kind": where.kind,
        "kernels": kernels,
        "timing_model": model,
        "seed": once.seed,
        "cycles": once.cycles,
        "arena_bytes": once.arena_bytes,
        "scratch_bytes": once.scratch_bytes,
        "low_water": result.low_water,
        "high_water": result.high_water,
        "input_crc": f"{result.input_crc:08x}",
        "output_crc": f"{result.output_crc:08x}",
        "right": not once.failures,
        "failures": list(once.failures),
        "ops": [
            {
                "kind": op.kind,
                "kernel": op.kernel,
                "macs": op.macs,
                "cycles": op.cycles,
                "cycles_per_mac": op.cycles / op.macs if op.macs else None,
                "interrupt_cycles": op.interrupt_cycles,
                "xip_accesses": op.xip_accesses,
                "xip_misses": op.xip_misses,
            }
            for op in once.ops
        ],
    }
