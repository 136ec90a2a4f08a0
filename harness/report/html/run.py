# SPDX-License-Identifier: Apache-2.0
"""`reports/<run>/index.html`: one run of pytest, in one file that can be mailed."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from harness.errors import ConfigError
from harness.report.html.arena import layer_map, network_map
from harness.report.html.embed import shown
from harness.report.html.entry import Bar, Entry
from harness.report.html.page import SCRIPTS, Assets, number, render
from harness.results import Verdict

_LONG = 4000  # characters of a failure's text


@dataclass(frozen=True)
class Failed:
    """A test that failed or had an error, in pytest's words."""

    name: str
    words: str


@dataclass(frozen=True)
class Run:
    """name: of the run, by its start in UTC. kernels: the set that was asked for. commit: of the tree,
    empty where it is not known. failed: tests. unfit: plans that no board had room for, in words."""

    name: str
    kernels: str
    commit: str
    entries: tuple[Entry, ...]
    failed: tuple[Failed, ...] = ()
    unfit: tuple[str, ...] = ()


@dataclass(frozen=True)
class Shown:
    """An entry as the page has it. bars: with the share of the longest, in per cent."""

    anchor: str
    verdict: Verdict
    name: str
    cycles: str
    per_mac: str
    bars: tuple[tuple[Bar, float], ...]
    map: Markup
    wrong: str
    failures: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """Verdicts of one kind that are compared with the same plan."""

    kind: str
    ratio_to: str
    rows: tuple[Shown, ...]


def page(run: Run) -> str:
    found = [_shown(n, entry) for n, entry in enumerate(run.entries)]
    tables: dict[tuple[str, str], list[Shown]] = {}
    for one in found:
        key = (one.verdict.provenance.kind, one.verdict.ratio_to)
        tables.setdefault(key, []).append(one)
    return render(
        "run.html",
        Assets(scripts=(*SCRIPTS, "filter.js")),
        title=f"Run {shown(run.name)}",
        passed=sum(one.verdict.ok for one in found),
        wrong=[one for one in found if not one.verdict.ok],
        failed=[Failed(shown(f.name, 300), _lines(f.words)) for f in run.failed],
        unfit=[shown(words, 300) for words in run.unfit],
        tables=[Table(shown(kind), shown(to), tuple(rows)) for (kind, to), rows in tables.items()],
        environments=_environments(run),
        boards=sorted({shown(one.verdict.provenance.board) for one in found}),
        found=found,
    )


def _shown(n: int, entry: Entry) -> Shown:
    v = entry.verdict
    title = f"{shown(v.layer)}, {shown(v.plan)}: bytes of the arena (computed)"
    longest = max((bar.cycles for bar in entry.bars), default=0) or 1
    counts = sorted({cycles for _, cycles in v.cycles_by_model} or {v.cycles})
    ends = sorted({counts[0], counts[-1]})
    per_cycle = v.cycles_per_mac / v.cycles if v.cycles else 0.0
    return Shown(
        anchor=f"v{n}",
        verdict=v,
        name=f"{shown(v.layer)}, {shown(v.plan)} on {shown(v.provenance.board)}",
        cycles=" to ".join(number(count) for count in ends) + ("*" if v.interrupts_on else ""),
        per_mac=" to ".join(f"{count * per_cycle:.2f}" for count in ends),
        bars=tuple(
            (Bar(shown(b.name), shown(b.kernel), b.cycles), round(100 * b.cycles / longest, 2))
            for b in entry.bars
        ),
        map=_map(entry, title),
        wrong=shown(entry.wrong, 300),
        failures=tuple(shown(words, 500) for words in v.failures),
    )


def _map(entry: Entry, title: str) -> Markup:
    v = entry.verdict
    if entry.steps == 1:
        return layer_map(entry.boxes, v.workspace_bound, v.workspace_given, title)
    return network_map(entry.boxes, entry.steps, title)


def _environments(run: Run) -> list[list[tuple[str, str]]]:
    """Names and values, once for each board and build."""
    found: dict[str, list[tuple[str, str]]] = {}
    for entry in run.entries:
        p = entry.verdict.provenance
        values = {
            "board": p.board,
            "kind": p.kind,
            "chip": f"{p.chip}, {p.unique_id}",
            "clk_sys": f"{p.clk_sys_hz / 1e6:g} MHz",
            "ELF": p.elf_hash,
            "build": p.build_id,
            "compiler": p.compiler,
            "kernel set": run.kernels,
            "commit": run.commit or "not known",
        }
        rows = [(name, shown(value)) for name, value in values.items()]
        found.setdefault(repr(rows), rows)
    return list(found.values())


def _lines(words: str) -> str:
    """Several lines, each made safe, the text cut where it is too long to read."""
    cut = words if len(words) <= _LONG else words[:_LONG] + "\n(cut)"
    return "\n".join(shown(line, 500) for line in cut.splitlines())


def write_run(folder: Path, name: str, text: str) -> Path:
    """The page in a new folder `name` of `folder`, or where there is one already, in `name`-2 and so on;
    gives its path. Errors: ConfigError where it cannot be written."""
    for n in itertools.count(1):
        path = folder / (name if n == 1 else f"{name}-{n}")
        try:
            folder.mkdir(parents=True, exist_ok=True)
            path.mkdir()
            (path / "index.html").write_text(text, encoding="utf-8", errors="replace")
        except FileExistsError as error:
            if not folder.is_dir():
                raise ConfigError(f"{folder} is no folder", cause=str(error)) from error
            continue
        except OSError as error:
            raise ConfigError(f"{path} cannot be written", cause=str(error)) from error
        break
    return path / "index.html"


def ordered(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """Whatever process they came from: by board, layer and plan."""
    return tuple(
        sorted(entries, key=lambda e: (e.verdict.provenance.board, e.verdict.layer, e.verdict.plan))
    )
