# SPDX-License-Identifier: Apache-2.0
"""Does a plan fit a chip, to the byte? The runner's link map is shipped: no compiler is needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from harness.boards import find_board, load_boards
from harness.build.linkmap import LinkMap, link_map
from harness.case.sizes import constant_bytes
from harness.measure.fit import bytes_needed
from harness.plan import NetworkPlan

CHIPS = {"pico1": "rp2040", "pico2": "rp2350"}  # also where no such board is in boards.yaml


@dataclass(frozen=True)
class Fit:
    """needed: arena, scratch and guards, of the pool: the SRAM that the runner's own data, code and
    stacks leave. flash_needed: the runner and the network's constants."""

    board: str
    chip: str
    sram_bytes: int
    static_bytes: int
    stack_bytes: int
    pool_bytes: int
    needed: int
    flash_bytes: int
    flash_needed: int

    @property
    def spare(self) -> int:
        """Bytes of SRAM left; below 0, missing."""
        return self.pool_bytes - self.needed

    @property
    def fits(self) -> bool:
        return self.spare >= 0 and self.flash_needed <= self.flash_bytes

    def as_json(self) -> dict[str, object]:
        return {**asdict(self), "spare": self.spare, "fits": self.fits}

    def __str__(self) -> str:
        verdict = (
            f"fits, {self.spare:,} bytes spare"
            if self.spare >= 0
            else (f"does not fit, {-self.spare:,} bytes missing")
        )
        words = (
            f"{self.board}: {verdict}: needs {self.needed:,} with guards of {self.pool_bytes:,} bytes "
            f"({self.sram_bytes:,} SRAM, {self.static_bytes:,} code and data, {self.stack_bytes:,} "
            f"stacks); flash {self.flash_needed:,} of {self.flash_bytes:,}"
        )
        missing = self.flash_needed - self.flash_bytes
        return words if missing <= 0 else f"{words}: {missing:,} bytes missing"


def chips_of(boards: Sequence[str], file: Path | None) -> dict[str, str]:
    """The chip of each board. Errors: ConfigError for a board that nobody knows."""
    known = load_boards(file)
    return {
        name: CHIPS[name] if name in CHIPS and name not in known else find_board(name, known).chip
        for name in boards
    }


def budget_of(chip: str, plan: NetworkPlan) -> LinkMap:
    """What a runner with the kernels of the plan leaves of the chip."""
    return link_map(chip, plan.kernels)


def fit_of(plan: NetworkPlan, board: str, budget: LinkMap) -> Fit:
    return Fit(
        board=board,
        chip=budget.chip,
        sram_bytes=budget.sram_bytes,
        static_bytes=budget.static_bytes,
        stack_bytes=budget.stack_bytes,
        pool_bytes=budget.pool_bytes,
        needed=bytes_needed(plan),
        flash_bytes=budget.flash_bytes,
        flash_needed=budget.image_bytes + constant_bytes(plan.network),
    )


def fits_by_chip(plan: NetworkPlan, chips: Mapping[str, str]) -> list[Fit]:
    return [fit_of(plan, board, budget_of(chip, plan)) for board, chip in chips.items()]
