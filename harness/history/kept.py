# SPDX-License-Identifier: Apache-2.0
"""What is kept of one verdict and of one failure: more than a table shows, the same in every format."""

from __future__ import annotations

import datetime
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field

from harness.results import Failure, Sample, SeriesKey, Verdict


def now() -> str:
    """UTC, ISO 8601, to the second."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def new_id() -> str:
    return secrets.token_hex(16)


@dataclass(frozen=True)
class RunInfo:
    """One invocation. token: the same in all of its processes. commit, dirty: see results.Point.
    ripbench: its version. ended, status: empty while it is under way, and for ever where it was
    killed."""

    token: str
    started: str
    commit: str = ""
    dirty: bool = False
    ripbench: str = ""
    ended: str = ""
    status: str = ""


@dataclass(frozen=True)
class Kept:
    """A verdict, and where it is from. kernels: the set that was asked for. test: the id of the test
    that asked. samples: as they were taken. flash_bytes: image and packs. budget: cycles. frames: hash
    of the file with the frames, empty where they were not kept. uid: of this row in every copy of it."""

    verdict: Verdict
    kernels: str = ""
    test: str = ""
    samples: tuple[Sample, ...] = ()
    flash_bytes: int = 0
    budget: int | None = None
    frames: str = ""
    time: str = field(default_factory=now)
    uid: str = field(default_factory=new_id)

    @property
    def series(self) -> SeriesKey:
        p, v = self.verdict.provenance, self.verdict
        return SeriesKey(
            p.board, p.kind, p.chip, p.clk_sys_hz, p.compiler, self.kernels, v.layer, v.plan
        )


@dataclass(frozen=True)
class KeptFailure:
    """A failure. tried: every attempt in words, the last of them the one that ended it."""

    failure: Failure
    test: str = ""
    tried: tuple[str, ...] = ()
    time: str = field(default_factory=now)
    uid: str = field(default_factory=new_id)


def are_warm(samples: Sequence[Sample]) -> list[bool]:
    """Which of them are a point's: every repeat of the first input under the first paint, but for the
    first, which is cold, where there is another."""
    if not samples:
        return []
    first = (samples[0].seed, samples[0].paint)
    same = [(sample.seed, sample.paint) == first for sample in samples]
    if sum(same) == 1:
        return same
    return [of and sample.repeat > 0 for of, sample in zip(same, samples, strict=True)]
