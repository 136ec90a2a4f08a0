# SPDX-License-Identifier: Apache-2.0
"""`ripbench trend --out DIR`: pages of a history, for a browser and no server."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from harness import resources
from harness.cli.trend_history import HISTORY, changes, opened
from harness.errors import ConfigError
from harness.network import load_set
from harness.report.html.embed import shown
from harness.report.site import Built, SiteOptions, build, check_template

JSON_VERSION = 1
_MODELS, _OTHERS = "models", "others"
_LARGE = "ops"  # a set of tens of thousands of layers: looked into last


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--out",
        type=Path,
        required=True,
        metavar="DIR",
        help="a folder that is new, empty, or of an earlier call; open its index.html",
    )
    parser.add_argument(
        "--history", type=Path, default=HISTORY, metavar="FILE", help=f"default {HISTORY}"
    )
    parser.add_argument(
        "--commit-url",
        type=_template,
        metavar="URL",
        help="link commits, as https://host/project/commit/{commit}",
    )
    parser.add_argument("--title", default="ripbench", metavar="WORDS", help="of the first page")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of words")


def _template(words: str) -> str:
    try:
        return check_template(words)
    except ConfigError as error:
        raise argparse.ArgumentTypeError(f"{error.message}; {error.hint}") from error


def run(options: argparse.Namespace) -> int:
    """0 when all pages are written; what they show is not judged here."""
    built = render(options.out, options.history, options.commit_url or "", options.title)
    if options.json:
        print(json.dumps({"version": JSON_VERSION, **asdict(built), "out": str(options.out)}))
    else:
        print(
            f"{built.cases} cases, {built.series} series, {built.points} results: "
            f"{built.bytes:,} bytes in {shown(options.out, 300)}; open index.html there"
        )
    return 0


def render(out: Path, history: Path, commit_url: str = "", title: str = "ripbench") -> Built:
    """Errors: as harness.report.site.build, and ConfigError for a history that cannot be read."""
    with opened(history) as found:
        return build(
            out,
            found,
            SiteOptions(commit_url, title, Suites().of, changes),
            _progress if sys.stderr.isatty() else lambda _: None,
        )


def _progress(done: int) -> None:
    print(f"\r{done} cases", end="", file=sys.stderr, flush=True)


class Suites:
    """Which layer set a case is of: the first that has it, or `models`."""

    def __init__(self) -> None:
        self._known = {
            path.stem: _MODELS for path in (resources.layers() / "models").glob("*.yaml")
        }
        found = sorted((resources.layers() / "sets").glob("*.yaml"), reverse=True)
        self._waiting = sorted(found, key=lambda path: path.stem != _LARGE)

    def of(self, case: str) -> str:
        while case not in self._known and self._waiting:
            path = self._waiting.pop()
            for layer in load_set(path):
                self._known.setdefault(layer.id, path.stem)
        return self._known.get(case, _OTHERS)
