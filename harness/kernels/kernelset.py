# SPDX-License-Identifier: Apache-2.0
"""Kernel sets: which kernels a build may have, in which order they are asked, and their numbers.

A set is its own kernels and the plain ones, which take whatever the others leave. Numbers are places in
one list, the plain kernels first: so a plain kernel has one number in every set.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from harness import resources
from harness.errors import ConfigError
from harness.kernels.declared import Kernel, Situation
from harness.kernels.load import FILE, load_kernels
from harness.schema.constants import OpKind
from harness.strictyaml import nearest

PLAIN_SET = "plain"
FAST = "fast"  # the word for a chip's own set


@dataclass(frozen=True, eq=False)
class KernelSet:
    """kernels: the plain ones, then the set's own, each in the order of its file; the place of a kernel
    in here is its number in op records and results. folder: of the own ones' kernels.yaml."""

    name: str
    kernels: tuple[Kernel, ...]
    folder: Path

    @property
    def preferred(self) -> tuple[Kernel, ...]:
        """In the order in which they are asked: the own ones first, plain ones last."""
        own = [kernel for kernel in self.kernels if kernel.set != PLAIN_SET]
        return (*own, *(kernel for kernel in self.kernels if kernel.set == PLAIN_SET))

    def choose(self, asked: Situation, chip: str | None = None) -> Kernel:
        """The first that takes the op. chip: None for a kernel that runs on any. Errors: ConfigError
        where none does."""
        for kernel in self.preferred:
            if kernel.runs_on(chip) and kernel.takes(asked):
                return kernel
        raise ConfigError(
            f"no kernel of {self.name} runs {asked.kind.name.lower()} as "
            f"{asked.execution.label[1:] or 'gather'}, {asked.rounding.name.lower()} rounding",
            evidence={"extents": " ".join(f"{n}={v}" for n, v in asked.names.items())},
        )

    def index(self, kernel: Kernel) -> int:
        return self.kernels.index(kernel)

    def name_of(self, index: int) -> str:
        """Of a number that a board states."""
        return self.kernels[index].name if index < len(self.kernels) else f"kernel {index}"

    def select(self, kernels: Iterable[Kernel]) -> Selection:
        """These, what else is made of the same sources, and the memmove. Fewer different runners have
        to be built so, and each still leaves out the code of all other ops."""
        sources = {(kernel.folder, kernel.sources) for kernel in kernels}
        return Selection(
            self,
            frozenset(
                kernel.name
                for kernel in self.kernels
                if (kernel.folder, kernel.sources) in sources or kernel.kind is OpKind.MOVE
            ),
        )

    def all(self) -> Selection:
        return Selection(self, frozenset(kernel.name for kernel in self.kernels))


@dataclass(frozen=True)
class Selection:
    """What a runner is built with: of a set, the kernels of these names."""

    kernel_set: KernelSet
    names: frozenset[str]

    def __or__(self, other: Selection) -> Selection:
        """Errors: ConfigError for selections of different sets."""
        if other.kernel_set is not self.kernel_set:
            raise ConfigError(
                f"kernels of {self.kernel_set.name} and of {other.kernel_set.name} in one runner"
            )
        return Selection(self.kernel_set, self.names | other.names)

    def kernels(self, chip: str | None = None) -> tuple[Kernel | None, ...]:
        """By number; None where a number is left out."""
        return tuple(
            kernel if kernel.name in self.names and kernel.runs_on(chip) else None
            for kernel in self.kernel_set.kernels
        )


@lru_cache(maxsize=32)
def find_kernels(name: str) -> KernelSet:
    """A set of firmware/kernels/kernels.yaml, or a folder with a kernels.yaml of its own. The files of a
    folder are compiled and run: trusted code. Errors: ConfigError names the nearest set."""
    folder = resources.firmware() / "kernels"
    shipped = _shipped(folder)
    plain = tuple(kernel for kernel in shipped if kernel.set == PLAIN_SET)
    sets = {kernel.set for kernel in shipped}
    if name in sets:
        own = tuple(kernel for kernel in shipped if kernel.set == name != PLAIN_SET)
        return KernelSet(name, plain + own, folder)
    path = Path(name)
    if not (path / FILE).is_file():
        raise ConfigError(
            f"no kernel set {name!r}", hint=f"{nearest(name, sets)}; or give a folder with a {FILE}"
        )
    path = path.resolve()
    own = load_kernels(path, usual_set=_set_name(path))
    known = {name for kernel in plain for name in (kernel.name, kernel.run)} | {PLAIN_SET}
    for kernel in own:
        if taken := known & {kernel.name, kernel.run, kernel.set}:
            raise ConfigError(f"{path / FILE}: the name {min(taken)!r} is a plain kernel's")
    return KernelSet(path.name, plain + own, path)


def set_for(name: str, chip: str) -> str:
    """The set that a word means on a chip: of `fast` the shipped one that is made for it, or the plain
    one where there is none; any other word is itself."""
    if name != FAST:
        return name
    made_for = [
        kernel.set
        for kernel in _shipped(resources.firmware() / "kernels")
        if kernel.chips and kernel.runs_on(chip)
    ]
    return made_for[0] if made_for else PLAIN_SET


def shipped_sets() -> tuple[str, ...]:
    """The names that find_kernels knows without a folder."""
    return tuple(sorted({kernel.set for kernel in _shipped(resources.firmware() / "kernels")}))


@lru_cache(maxsize=1)
def _shipped(folder: Path) -> tuple[Kernel, ...]:
    """Of kernels.yaml, and of those in the folders beside it, which are sets of their folder's name.
    Errors: ConfigError for a name that two of them have."""
    kernels = list(load_kernels(folder))
    for file in sorted(folder.glob(f"*/{FILE}")):
        kernels += load_kernels(file.parent, usual_set=file.parent.name)
    names = [kernel.name for kernel in kernels]
    if len(set(names)) != len(names):
        twice = min(name for name in names if names.count(name) > 1)
        raise ConfigError(f"{folder}: the kernel {twice!r} is here twice")
    return tuple(kernels)


def _set_name(path: Path) -> str:
    """The folder's name as one of a set."""
    name = "".join(c if c.isascii() and (c.islower() or c.isdigit()) else "_" for c in path.name)
    return name if name[:1].isalpha() else f"set_{name}"
