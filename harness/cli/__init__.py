# SPDX-License-Identifier: Apache-2.0
"""The `ripbench` command: one module for each sub-command, imported when it is used."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence

from harness import __version__
from harness.errors import HarnessError

COMMANDS = {
    "boards": "the boards of boards.yaml, and which of them are attached",
    "build": "compile the runner firmware and print where it is",
    "compare": "cycles of two kernel sets side by side, over layers or whole networks",
    "doctor": "test everything that a run needs, up to a board that answers",
    "emu": "boards without hardware, each a process of its own that keeps its flash",
    "gap": "gap, debt and workspace of a convolution, or of a list of them",
    "history": "what runs have left: list, show, export, import, check, prune",
    "kernel": "kernels of your own: a folder to begin with, or another library's",
    "nightly": "every suite on every board, kept, judged beside the nights before, summed up",
    "paper": "the paper's tables, and every number that it states, beside ours",
    "plan": "where a whole network's tensors lie, and whether it fits a board",
    "run": "one layer or network, once, op by op; where its cycles go, where it goes wrong",
    "selftest": "the device suite, from anywhere: all further words go to pytest",
    "sweep": "closed forms against the corruption simulator on random layers",
    "trend": "pages of a history: last night, and each case over commits",
}

INTERRUPTED = 130  # as shells say it of a process that SIGINT ended


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status 0 only when all is well; 1 for a failure that was found, 2 for wrong usage, 130 for
    Ctrl-C."""
    argv = list(sys.argv[1:] if arguments is None else arguments)
    parser = argparse.ArgumentParser(
        prog="ripbench", description="Hardware-in-the-loop bench for Right In-Place convolution."
    )
    parser.add_argument("--version", action="version", version=f"ripbench {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    wanted = next((word for word in argv if not word.startswith("-")), None)
    for name, summary in COMMANDS.items():
        sub = commands.add_parser(name, help=summary, description=summary.capitalize() + ".")
        if name == wanted:
            importlib.import_module(f"harness.cli.{name}").add_arguments(sub)
    options, rest = parser.parse_known_args(argv)
    if options.command == "selftest":
        options.rest = rest
    elif rest:
        parser.error(f"unknown words: {' '.join(rest)}")
    try:
        status: int = importlib.import_module(f"harness.cli.{options.command}").run(options)
    except HarnessError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt as stop:
        where = ", ".join(getattr(stop, "__notes__", [])) or f"stopped in {options.command}"
        print(f"\n{where}", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        return 1
    return status
