# SPDX-License-Identifier: Apache-2.0
"""`ripbench nightly --rack emulated`: every suite on every board, kept, judged beside the nights before,
and summed up.

It may be killed at any time: `--resume` goes on with the newest night where it stopped.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from harness.boards import find_board, load_boards
from harness.boards.config import find_rack, load_racks
from harness.build import build_runner
from harness.errors import ConfigError, HarnessError
from harness.history import reading, runs
from harness.history.queries import all_points, failures, tests_of
from harness.nightly.judged import Judged, judge_night
from harness.nightly.night import Night, Suite, begin_night, last_night, write_whole
from harness.nightly.run import confirm, run_suite
from harness.nightly.summary import night_is_well, summary
from harness.plugin.done import read_done
from harness.report import printable
from harness.resources import layers
from harness.strictyaml import nearest

SUITES = {
    "layers": ("test_layers.py",),
    "models": ("test_models.py", "-m", "models", "--strategy", "baseline,rip"),
    "paper84": ("test_paper84.py", "-m", "paper84"),
}
_DEFAULT_RACK = "emulated"
_REPEATS = 6  # a cold one, and as many as noise needs
_NIGHTS = Path("reports/nights")
_HISTORY = Path("reports/history.sqlite")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--board", action="append", metavar="NAME", help="may be given several times"
    )
    parser.add_argument(
        "--rack", metavar="NAME", help=f"all boards of a rack (default {_DEFAULT_RACK})"
    )
    parser.add_argument("--boards", metavar="FILE", type=Path, help="boards of your own")
    parser.add_argument(
        "--suites", default="layers,models", metavar="LIST",
        help=f"of {','.join(SUITES)} (default layers,models)",
    )  # fmt: skip
    parser.add_argument(
        "--kernels", default="plain", metavar="LIST", help="sets or folders (default plain)"
    )
    parser.add_argument("--layers", metavar="SET|FILE", help="of suite layers, as pytest takes it")
    parser.add_argument("--models", metavar="LIST", help="of suite models, as pytest takes it")
    parser.add_argument(
        "--repeat", type=int, default=_REPEATS, metavar="N", help="runs of an input"
    )
    parser.add_argument("--history", type=Path, default=_HISTORY, metavar="FILE")
    parser.add_argument("--out", type=Path, default=_NIGHTS, metavar="DIR", help="of all nights")
    parser.add_argument("--site", type=Path, metavar="DIR", help="render the trend pages there")
    parser.add_argument("--commit-url", default="", metavar="URL", help="with {commit} in it")
    parser.add_argument(
        "--resume", action="store_true", help="go on with the newest night, if it did not end"
    )


def run(options: argparse.Namespace) -> int:
    """0 when every test passed and no number got worse; 1 when not; 2 for wrong words."""
    try:
        night = _night(options)
    except ConfigError as error:
        print(f"ConfigError: {error}", file=sys.stderr)
        return 2
    print(f"night {night.name} in {printable(night.folder)}", flush=True)
    try:
        night, judged = _run_all(night, options)
    except KeyboardInterrupt as stop:
        stop.add_note(f"stopped in night {night.name}: `ripbench nightly --resume` goes on")
        raise
    text = summary(night, judged, _failed(night, options.history))
    _publish(night, text, options)
    return 0 if night_is_well(night, judged) else 1


def _night(options: argparse.Namespace) -> Night:
    """A new one, or the one that goes on. Errors: ConfigError."""
    if options.resume:
        last = last_night(options.out)
        if last is not None and not last.finished:
            return last
    boards = _boards(options)
    return begin_night(options.out, boards, tuple(_suites(options, boards)))


def _boards(options: argparse.Namespace) -> tuple[str, ...]:
    known = load_boards(options.boards)
    named = tuple(find_board(name, known).name for name in options.board or ())
    if options.rack or not named:
        rack = find_rack(options.rack or _DEFAULT_RACK, load_racks(options.boards))
        named = tuple(dict.fromkeys((*named, *rack)))
    return named


def _suites(options: argparse.Namespace, boards: Sequence[str]) -> list[Suite]:
    """One for each suite and kernel set; all boards in each."""
    found = []
    for word in options.suites.split(","):
        if word not in SUITES:
            raise ConfigError(f"no suite {word!r}", hint=nearest(word, SUITES))
        file, *words = SUITES[word]
        chosen = {"layers": options.layers, "models": options.models}.get(word)
        for number, kernels in enumerate(options.kernels.split(","), 1):
            own = kernels if kernels.isidentifier() else f"folder{number}"
            found.append(
                Suite(
                    f"{word}-{own}",
                    (
                        str(layers() / file),
                        *words,
                        *(("--" + word, chosen) if chosen else ()),
                        *("--kernels", kernels),
                        *_common(options, boards),
                        *("--report", str(options.out.parent / "runs")),
                    ),
                )
            )
    return found


def _common(options: argparse.Namespace, boards: Sequence[str]) -> list[str]:
    words = [word for board in boards for word in ("--board", board)]
    words += ["--boards", str(options.boards)] if options.boards else []
    words += ["--history", str(options.history), "--repeat", str(options.repeat)]
    at_once = ["-n", "auto"] if len(boards) > 1 and find_spec("xdist") else []
    return [*words, "-q", *at_once, "--heartbeat", "60"]


def _run_all(night: Night, options: argparse.Namespace) -> tuple[Night, Judged]:
    """Errors: BuildError before any board is touched."""
    known = load_boards(options.boards)
    for chip in sorted({find_board(name, known).chip for name in night.boards}):
        print(f"building for {chip}", flush=True)
        build_runner(chip)
    for suite in night.suites:
        if suite.status is None:
            print(f"suite {suite.name}", flush=True)
            night = run_suite(night, suite, _show)
    judged = _judge(night, options.history)
    if judged.suspected:
        tests = _tests(judged, options.history)
        print(f"{len(judged.suspected)} suspected: running them again", flush=True)
        confirm(night, tests, _common(options, night.boards), _show)
        judged = _judge(night, options.history)
    return Night(night.folder, night.boards, night.suites, True, night.options).kept(), judged


def _judge(night: Night, history: Path) -> Judged:
    with reading(history) as db:
        tokens = {row.id: row.info.token for row in runs(db)}
        points = all_points(db)
    ended = [suite.name for suite in night.suites if suite.status is not None]
    return judge_night(night.name, points, tokens, ended)


def _tests(judged: Judged, history: Path) -> list[str]:
    with reading(history) as db:
        return sorted({test for key in judged.suspected for test in tests_of(db, key)})


def _failed(night: Night, history: Path) -> list[tuple[str, str]]:
    """Failures of measurements of tonight, by test, and tests of which the history knows nothing."""
    with reading(history) as db:
        mine = {row.id for row in runs(db) if row.info.token.split("/")[0] == night.name}
        known = {
            row.test: f"{row.failure.error}: {row.failure.message}"
            for row in failures(db)
            if row.run in mine
        }
    return [
        (test, known.get(test, f"see {suite.name}.log"))
        for suite in night.suites
        for test, outcome in read_done(night.done_file(suite)).items()
        if outcome == "failed"
    ]


def _publish(night: Night, text: str, options: argparse.Namespace) -> None:
    """The summary to its file, to the terminal and to where GitHub Actions shows it; the pages."""
    write_whole(night.folder / "summary.md", text)
    print(f"\n{text}", flush=True)
    github = os.environ.get("GITHUB_STEP_SUMMARY")
    if github:
        with Path(github).open("a", encoding="utf-8") as file:
            file.write(text)
    if options.site is not None:
        from harness.cli.trend import render

        try:
            render(options.site, options.history, options.commit_url)
        except HarnessError as error:  # the night itself is judged and kept
            print(f"{type(error).__name__}: {error}", file=sys.stderr)


def _show(line: str) -> None:
    print(printable(line), flush=True)
