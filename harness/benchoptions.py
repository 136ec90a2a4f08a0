# SPDX-License-Identifier: Apache-2.0
"""How a bench measures, and what it says of a plan that its board has no room for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class BenchOptions:
    """seeds: of the inputs. repeats: of the first seed, the first of them cold. history: where results
    are kept by a bench that is given no recorder. nonce: for replays, else random. reflash: write flash
    even if its header is right. witness: have the board's witness look on, where its backend has one.
    wait: seconds to wait for a board that others use. recovery: climb the ladder when the way to the
    board fails. quarantine: leave a board alone that no step brought back. kernels: the set that runs
    layers, `fast` for the one made for the board's chip, or a folder of one's own."""

    seeds: Sequence[int] = (1, 2, 3)
    repeats: int = 2
    history: Path | None = None
    nonce: int | None = None
    reflash: bool = False
    witness: bool = True
    wait: float = 0.0
    recovery: bool = True
    quarantine: bool = True
    kernels: str = "plain"


@dataclass(frozen=True)
class Unfit:
    """A plan that was not run. needed, pool_bytes: of the board's SRAM, guards included."""

    board: str
    name: str
    plan: str
    needed: int
    pool_bytes: int

    def __str__(self) -> str:
        missing = self.needed - self.pool_bytes
        return f"{self.name} on {self.board}: {self.plan} does not fit, {missing} bytes too large"
