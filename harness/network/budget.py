# SPDX-License-Identifier: Apache-2.0
"""Ceilings in cycles, as a layer's or a model's YAML sets them.

    budget: {rp2040: 123456, rp2350: {plain: 90000, m33: 40000}}

By chip, and where it matters by kernel set; a folder of one's own kernels goes by its last name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePath

from harness.strictyaml import Node, nearest, quoted

CHIPS = ("rp2040", "rp2350")
MAX_CYCLES = 2**53  # all smaller whole numbers are exact in JSON too
_KERNELS = re.compile(r"[a-z0-9][a-z0-9_.-]{0,59}")


@dataclass(frozen=True)
class Ceiling:
    """The most cycles that may be taken. kernels: the set that it is for, empty for any other."""

    chip: str
    kernels: str
    cycles: int


def read_budget(node: Node) -> tuple[Ceiling, ...]:
    """Errors: ConfigError with line and column."""
    found = []
    for chip, value in node.mapping().entries.items():
        if chip not in CHIPS:
            raise value.fail(f"{quoted(chip)} is not a chip", nearest(chip, CHIPS))
        if value.kind != "mapping":
            found.append(Ceiling(chip, "", value.integer(1, MAX_CYCLES)))
            continue
        for kernels, cycles in value.mapping().entries.items():
            if not _KERNELS.fullmatch(kernels):
                raise cycles.fail(f"{quoted(kernels)} is not the name of a kernel set")
            found.append(Ceiling(chip, kernels, cycles.integer(1, MAX_CYCLES)))
    if not found:
        raise node.fail("a budget without a chip")
    return tuple(found)


def ceiling_of(budget: Iterable[Ceiling], chip: str, kernels: str) -> int | None:
    """For a chip and a kernel set, a name or a folder; that of the set comes before the chip's own.
    None where nothing is asked."""
    here = {ceiling.kernels: ceiling.cycles for ceiling in budget if ceiling.chip == chip}
    return here.get(PurePath(kernels).name, here.get(""))
