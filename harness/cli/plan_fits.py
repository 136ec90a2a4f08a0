# SPDX-License-Identifier: Apache-2.0
"""Does a plan fit a chip, to the byte? The runner's link map is shipped: no compiler is needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from harness.boards import find_board, load_boards
from harness.boards.config import FLASH_BYTES
from harness.build import linkmap
from harness.case import build_pack, network_case
from harness.case.sizes import constant_bytes
from harness.errors import ConfigError
from harness.kernels import PLAIN, PLAIN_SET, KernelTraits, find_kernels, set_for
from harness.measure.fit import bytes_needed
from harness.network import Model, Network
from harness.plan import NetworkPlan

_CHIPS = {"pico1": "rp2040", "pico2": "rp2350"}  # also where no such board is in boards.yaml


@dataclass(frozen=True)
class Target:
    """What a plan is to fit. sram_bytes: of a chip that does not exist, None for one that does."""

    board: str
    chip: str
    sram_bytes: int | None = None


@dataclass(frozen=True)
class Fit:
    """needed: arena, scratch and guards, of the pool: the SRAM that the runner's own code, data and
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
    def flash_spare(self) -> int:
        return self.flash_bytes - self.flash_needed

    @property
    def fits(self) -> bool:
        return self.spare >= 0 and self.flash_spare >= 0

    def as_json(self) -> dict[str, object]:
        more = {"spare": self.spare, "flash_spare": self.flash_spare, "fits": self.fits}
        return {**asdict(self), **more}

    def __str__(self) -> str:
        verdict = f"fits, {self.spare:,} bytes spare"
        if self.spare < 0:
            verdict = f"does not fit, {-self.spare:,} bytes missing"
        elif self.flash_spare < 0:
            verdict = f"does not fit its flash, {-self.flash_spare:,} bytes missing"
        return (
            f"{self.board}: {verdict}; needs {self.needed:,} with guards, has {self.pool_bytes:,} of "
            f"{self.sram_bytes:,} SRAM ({self.static_bytes:,} code and data, {self.stack_bytes:,} "
            f"stacks); flash {self.flash_needed:,} of {self.flash_bytes:,}"
        )


def targets_of(boards: Sequence[str], file: Path | None) -> list[Target]:
    """The chip of each board. Errors: ConfigError for a board that nobody knows."""
    known = load_boards(file)
    found = []
    for name in boards:
        if name in _CHIPS and name not in known:
            found.append(Target(name, _CHIPS[name]))
        else:
            entry = find_board(name, known)
            found.append(Target(name, entry.chip, entry.sram_bytes))
    return found


def kernels_of(name: str, targets: Sequence[Target]) -> tuple[KernelTraits, list[Target]]:
    """The set as one chip runs it, and the targets that have this chip: plain kernels are the same on
    all, and `fast` is the set of the first one's chip. Errors: ConfigError for a set that is none, or
    that has kernels for none of them."""
    name = set_for(name, targets[0].chip)
    if name == PLAIN_SET:
        return PLAIN, list(targets)
    own = [kernel for kernel in find_kernels(name).kernels if kernel.set != PLAIN_SET]
    fitting = [t for t in targets if any(kernel.runs_on(t.chip) for kernel in own)]
    if not fitting:
        chips = ", ".join(target.chip for target in targets)
        raise ConfigError(f"the kernel set {name!r} has no kernels for {chips}")
    chip = fitting[0].chip
    return KernelTraits(name, chip), [target for target in fitting if target.chip == chip]


def fit_of(plan: NetworkPlan, target: Target, constants: int | None = None) -> Fit:
    """With a runner that has the kernels of the plan and no others. constants: bytes of the pack, where
    shapes alone do not say. Errors: ConfigError for kernels without link map figures."""
    chip, kernels, name = target.chip, plan.kernels.names, plan.kernel.name
    static, stack = linkmap.static_bytes(chip, kernels, name), linkmap.stack_bytes(chip)
    pool = linkmap.pool_bytes(chip, kernels, target.sram_bytes, name)
    packed = constant_bytes(plan.network) if constants is None else constants
    return Fit(
        board=target.board,
        chip=chip,
        sram_bytes=static + stack + pool,
        static_bytes=static,
        stack_bytes=stack,
        pool_bytes=pool,
        needed=bytes_needed(plan),
        flash_bytes=FLASH_BYTES[chip],
        flash_needed=linkmap.image_bytes(chip, kernels, name) + packed,
    )


def constants_of(model: Network | Model, plan: NetworkPlan) -> int | None:
    """Bytes of the plan's pack where a kernel reads packed constants, whose length depends on the
    weights: they are packed. None for int8 weights."""
    if not any(choice.kernel.packed for choice in plan.choices):
        return None
    return len(build_pack([network_case(model, plan)]).data)
