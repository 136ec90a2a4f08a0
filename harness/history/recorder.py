# SPDX-License-Identifier: Apache-2.0
"""What an invocation leaves behind, while it runs. A history that cannot be written changes no outcome:
it is said loudly, and the rows go to a file of lines that can be imported."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness import __version__
from harness.errors import ConfigError, HarnessError
from harness.history import jsonl
from harness.history.blobs import Blobs
from harness.history.commit import commit_of
from harness.history.database import explained, open_to_write, transaction
from harness.history.kept import Kept, KeptFailure, RunInfo, new_id, now
from harness.history.lines import failure_line, verdict_line
from harness.history.write import add_failure, add_run, add_verdict, end_run, run_of
from harness.results import Failure, Measurement, Verdict


@dataclass(frozen=True)
class Taken:
    """What stands behind a measurement: the ELF file, bytes of flash, and the frames as they came."""

    elf: Path
    flash_bytes: int
    frames: bytes


class Recorder:
    """One of each process that takes part in a run. path: an SQLite file, or `.jsonl` for lines of
    verdicts alone. token: of the run, the same in all of its processes; by default a run of its own.
    folder: whose checkout's commit it is. on_lost: told what could not be written, and where it is."""

    def __init__(
        self,
        path: Path,
        *,
        token: str = "",
        folder: Path | None = None,
        on_lost: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.path = path
        self.token = token or new_id()
        self._folder = Path.cwd() if folder is None else folder
        self._on_lost = on_lost
        self._info: RunInfo | None = None
        self._db: sqlite3.Connection | None = None
        self._run = 0
        self._blobs = Blobs(path)
        self._spill: Path | None = None

    @property
    def keeps_files(self) -> bool:
        return self.path.suffix != ".jsonl"

    def start(self) -> None:
        """From here on the run is there, and counts as killed until it ends."""
        if self.keeps_files and self._db is None:
            try:
                with explained(self.path):
                    self._open()
            except ConfigError as problem:
                self._on_lost(str(problem))

    def verdict(
        self,
        verdict: Verdict,
        measured: Measurement | None,
        taken: Taken | None = None,
        *,
        kernels: str = "",
        test: str = "",
        budget: int | None = None,
    ) -> None:
        """Adds one, with the samples that it was judged by."""
        kept = Kept(
            verdict,
            kernels=kernels,
            test=test,
            samples=() if measured is None else measured.samples,
            flash_bytes=0 if taken is None else taken.flash_bytes,
            budget=budget,
        )

        def add(db: sqlite3.Connection) -> None:
            add_verdict(db, self._run, replace(kept, frames=self._keep_files(taken)))

        self._add(add, verdict, lambda: verdict_line(kept, self._about()))

    def failure(self, failure: Failure, tried: tuple[str, ...] = (), *, test: str = "") -> None:
        kept = KeptFailure(failure, test=test, tried=tried)

        def add(db: sqlite3.Connection) -> None:
            add_failure(db, self._run, kept)

        self._add(add, failure, lambda: failure_line(kept, self._about()))

    def end(self, status: str) -> None:
        """The run came to its end; status: how, in a word. Nothing is said of one that left nothing."""
        if not self.keeps_files or (self._db is None and not self.path.exists()):
            return
        try:
            with explained(self.path):
                db = self._db = self._db or open_to_write(self.path)
                with transaction(db):
                    run = run_of(db, self.token)
                    if run is not None:
                        end_run(db, run, now(), status)
        except ConfigError as problem:
            self._on_lost(str(problem))
        self.close()

    def close(self) -> None:
        db, self._db = self._db, None
        if db is not None:
            with contextlib.suppress(sqlite3.Error):
                db.close()

    def _add(
        self,
        add: Callable[[sqlite3.Connection], None],
        result: Verdict | Failure,
        line: Callable[[], Mapping[str, Any]],
    ) -> None:
        try:
            if not self.keeps_files:
                jsonl.append(self.path, result)
                return
            with explained(self.path):
                db = self._open()
                with transaction(db):
                    add(db)
        except ConfigError as problem:
            self._lost(problem, line())

    def _open(self) -> sqlite3.Connection:
        """Errors: ConfigError, sqlite3.Error."""
        if self._db is None:
            db = open_to_write(self.path)
            try:
                with transaction(db):
                    self._run = run_of(db, self.token) or add_run(db, self._about())
            except BaseException:
                db.close()
                raise
            self._db = db
        return self._db

    def _about(self) -> RunInfo:
        if self._info is None:
            commit = commit_of(self._folder)
            self._info = RunInfo(self.token, now(), commit.hash, commit.dirty, __version__)
        return self._info

    def _keep_files(self, taken: Taken | None) -> str:
        """Within the transaction, so that no prune takes a file that is about to be named. The numbers
        are worth more than the files: without these they are kept all the same."""
        if taken is None:
            return ""
        try:
            self._blobs.put(taken.elf.read_bytes())
            return self._blobs.put(taken.frames)
        except OSError as error:
            self._on_lost(f"{self._blobs.folder} cannot be written: {error}")
            return ""

    def _lost(self, problem: HarnessError, line: Mapping[str, Any]) -> None:
        """The row goes to a file that nobody else can have planted."""
        try:
            if self._spill is None:
                handle, name = tempfile.mkstemp(prefix="ripbench-history-", suffix=".jsonl")
                os.close(handle)
                self._spill = Path(name)
            jsonl.append_row(self._spill, line)
            rest = f"  kept in {self._spill}: `ripbench history import {self._spill}`"
        except (OSError, ConfigError) as error:
            rest = f"  nor could it be kept elsewhere: {error}"
        self._on_lost(f"{problem}\n{rest}")
