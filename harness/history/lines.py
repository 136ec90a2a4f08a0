# SPDX-License-Identifier: Apache-2.0
"""A history as JSON lines and back: everything but ELF files and frames.

A line is a row of harness.history.jsonl with more in it: `uid`, `test`, `kernels`, `samples`,
`flash_bytes`, `budget`, `frames`, `tried`, and the `run` that it is of. So whoever reads the one reads
the other, and a line without these, as older ones are, can be imported.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import ConfigError
from harness.history import jsonl
from harness.history.database import transaction
from harness.history.kept import Kept, KeptFailure, RunInfo
from harness.history.plain import from_plain, to_plain
from harness.history.rows import sample_fields, sample_of, verdict_fields
from harness.history.write import add_failure, add_run, add_verdict
from harness.results import Failure, Sample, Verdict

_VERDICTS = (
    'SELECT v.*, c.layer, c.plan, r.token, r.started, r."commit", r.dirty, r.ripbench, '
    "coalesce(e.time, '') AS ended, coalesce(e.status, '') AS status, "
    "b.name AS board_name, b.kind, b.chip, b.unique_id, b.clock_hz, "
    "f.elf_hash, f.build_id, f.toolchain, f.kernels FROM verdict v "
    'JOIN run r ON r.id = v.run JOIN series s ON s.id = v.series JOIN "case" c ON c.id = s."case" '
    "JOIN board b ON b.id = v.board JOIN build f ON f.id = v.build "
    "LEFT JOIN ending e ON e.run = v.run WHERE v.run = ?1 OR ?1 IS NULL ORDER BY v.id"
)
_FAILURES = (
    'SELECT x.*, r.token, r.started, r."commit", r.dirty, r.ripbench, '
    "coalesce(e.time, '') AS ended, coalesce(e.status, '') AS status FROM failure x "
    "JOIN run r ON r.id = x.run LEFT JOIN ending e ON e.run = x.run "
    "WHERE x.run = ?1 OR ?1 IS NULL ORDER BY x.id"
)
_FAILURE_FIELDS = ("board", "layer", "plan", "error", "message", "cause", "attempts")


def verdict_line(kept: Kept, run: RunInfo) -> dict[str, Any]:
    """A verdict that is not in a database, as of one that could not be written to."""
    more = {
        "uid": kept.uid,
        "test": kept.test,
        "kernels": kept.kernels,
        "flash_bytes": kept.flash_bytes,
        "budget": kept.budget,
        "frames": kept.frames,
        "samples": [sample_fields(sample) for sample in kept.samples],
        "run": to_plain(run),
    }
    return {"version": jsonl.VERSION, "time": kept.time, **to_plain(kept.verdict), **more}


def failure_line(kept: KeptFailure, run: RunInfo) -> dict[str, Any]:
    more = {
        "uid": kept.uid,
        "test": kept.test,
        "tried": list(kept.tried),
        "run": to_plain(run),
    }
    return {"version": jsonl.VERSION, "time": kept.time, **to_plain(kept.failure), **more}


def verdict_lines(db: sqlite3.Connection, run: int | None = None) -> Iterator[dict[str, Any]]:
    """Of one run, or of all, in the order in which they were kept."""
    for row in _named(db, _VERDICTS, run):
        samples = _named(db, "SELECT * FROM sample WHERE verdict = ? ORDER BY number", row["id"])
        yield {
            **verdict_row(db, row),
            "uid": row["uid"],
            "test": row["test"],
            "kernels": row["kernels"],
            "flash_bytes": row["flash_bytes"],
            "budget": row["budget"],
            "frames": row["frames"],
            "samples": [sample_fields(sample_of(sample)) for sample in samples],
            "run": _run(row),
        }


def verdict_rows(db: sqlite3.Connection) -> Iterator[dict[str, Any]]:
    """The same without what lies beside a verdict: as harness.history.jsonl gives them."""
    return (verdict_row(db, row) for row in _named(db, _VERDICTS, None))


def verdict_row(db: sqlite3.Connection, row: Mapping[str, Any]) -> dict[str, Any]:
    provenance = {
        "board": row["board_name"],
        "kind": row["kind"],
        "chip": row["chip"],
        "unique_id": row["unique_id"],
        "clk_sys_hz": row["clock_hz"],
        "elf_hash": row["elf_hash"],
        "build_id": row["build_id"],
        "pack_id": row["pack_id"],
        "nonce": row["nonce"],
        "compiler": row["toolchain"],
    }
    recovered = []
    if row["attempts"] > 1:
        tried = db.execute(
            "SELECT error FROM attempt WHERE verdict = ? ORDER BY number", (row["id"],)
        )
        recovered = [error for (error,) in tried if error]
    fields = verdict_fields(row, provenance, recovered)
    return {"version": jsonl.VERSION, "time": row["time"], **fields}


def failure_lines(db: sqlite3.Connection, run: int | None = None) -> Iterator[dict[str, Any]]:
    """Of one run, or of all, in the order in which they were kept."""
    for row in _named(db, _FAILURES, run):
        tried = db.execute(
            "SELECT error FROM attempt WHERE failure = ? ORDER BY number", (row["id"],)
        )
        yield {
            **failure_row(row),
            "uid": row["uid"],
            "test": row["test"],
            "tried": [error for (error,) in tried],
            "run": _run(row),
        }


def failure_rows(db: sqlite3.Connection) -> Iterator[dict[str, Any]]:
    return (failure_row(row) for row in _named(db, _FAILURES, None))


def failure_row(row: Mapping[str, Any]) -> dict[str, Any]:
    fields = {name: row[name] for name in _FAILURE_FIELDS}
    return {"version": jsonl.VERSION, "time": row["time"], **fields}


@dataclass(frozen=True)
class Imported:
    """Rows of a file that were added, and those that were there already."""

    verdicts: int = 0
    failures: int = 0
    known: int = 0


def import_lines(db: sqlite3.Connection, path: Path, kernels: str = "") -> Imported:
    """All lines of a file, or none: twice is as good as once. kernels: the set by which verdicts were
    measured that do not say. Errors: ConfigError names the line that is no row."""
    verdicts = failures = known = 0
    with transaction(db):
        for number, line in enumerate(jsonl.rows(path), 1):
            try:
                run = add_run(db, _run_of(line))
                if "error" in line:
                    added = add_failure(db, run, _failure_of(line))
                    failures += added
                else:
                    added = add_verdict(db, run, _kept_of(line, kernels))
                    verdicts += added
            except ValueError as error:
                raise ConfigError(
                    f"{path}:{number} is not a row of history", cause=str(error)[:200]
                ) from error
            known += not added
    return Imported(verdicts, failures, known)


def _kept_of(line: Mapping[str, Any], kernels: str) -> Kept:
    """Errors: ValueError."""
    return Kept(
        verdict=from_plain(Verdict, line),
        kernels=_text(line, "kernels", kernels),
        test=_text(line, "test"),
        samples=from_plain(_Samples, {"samples": line.get("samples", [])}).samples,
        flash_bytes=from_plain(_Flash, line).flash_bytes,
        budget=from_plain(_Flash, line).budget,
        frames=_text(line, "frames"),
        time=_text(line, "time"),
        uid=_uid(line),
    )


def _failure_of(line: Mapping[str, Any]) -> KeptFailure:
    """Errors: ValueError."""
    return KeptFailure(
        failure=from_plain(Failure, line),
        test=_text(line, "test"),
        tried=from_plain(_Tried, line).tried,
        time=_text(line, "time"),
        uid=_uid(line),
    )


def _run_of(line: Mapping[str, Any]) -> RunInfo:
    """Of lines that do not say, one run a day. Errors: ValueError."""
    if "run" in line:
        return from_plain(RunInfo, line["run"])
    day = _text(line, "time")[:10]
    return RunInfo(f"imported {day}", day, ended=day, status="imported")


def _uid(line: Mapping[str, Any]) -> str:
    """What the line says, or a hash of it."""
    text = json.dumps(line, sort_keys=True)
    return _text(line, "uid") or hashlib.sha256(text.encode()).hexdigest()[:32]


def _text(line: Mapping[str, Any], name: str, missing: str = "") -> str:
    value = line.get(name, missing)
    if not isinstance(value, str):
        raise ValueError(f"{name} is no text")
    return value


@dataclass(frozen=True)
class _Samples:
    samples: tuple[Sample, ...]


@dataclass(frozen=True)
class _Flash:
    flash_bytes: int = 0
    budget: int | None = None


@dataclass(frozen=True)
class _Tried:
    tried: tuple[str, ...] = ()


def _named(db: sqlite3.Connection, query: str, of: int | None) -> Iterator[dict[str, Any]]:
    """Rows by the names of their columns."""
    cursor = db.cursor()
    cursor.row_factory = sqlite3.Row
    return (dict(row) for row in cursor.execute(query, (of,)))


def _run(row: Mapping[str, Any]) -> dict[str, Any]:
    names = ("token", "started", "commit", "ripbench", "ended", "status")
    return {**{name: row[name] for name in names}, "dirty": bool(row["dirty"])}
