# SPDX-License-Identifier: Apache-2.0
"""What came back from one RUN."""

from __future__ import annotations

from dataclasses import dataclass

from harness.schema.records import CaseVerified, OpResult, RunRequest, RunResult


@dataclass(frozen=True)
class Run:
    """One RUN: its request, what the firmware found in memory, ops and results by repeat."""

    request: RunRequest
    verified: CaseVerified
    ops: tuple[tuple[OpResult, ...], ...]
    results: tuple[RunResult, ...]
