# SPDX-License-Identifier: Apache-2.0
"""What a kernel has to leave as it found it: registers, interrupt masks, the cycle counter."""

from __future__ import annotations

from collections.abc import Iterator

from harness.results import Sample
from harness.schema.constants import Breach

_REGISTERS = tuple(breach for breach in Breach if breach < Breach.INTERRUPTS)


def check_breaches(name: str, sample: Sample) -> Iterator[str]:
    """A line an op that broke something. name: of the run."""
    for op, bits in enumerate(sample.op_breaches):
        for words in breaches_in_words(bits):
            yield f"{name}: op {op}: {words}"


def breaches_in_words(bits: int) -> Iterator[str]:
    """Of Breach bits."""
    lost = [register.name.lower() for register in _REGISTERS if bits & register]
    if lost:
        yield f"it does not keep {', '.join(lost)}, which belong to its caller"
    if bits & Breach.INTERRUPTS:
        yield "it leaves interrupts masked, or unmasked, that it found otherwise"
    if bits & Breach.CYCLE_COUNTER:
        yield "the cycle counter disagrees with the timer: it restarted or stopped the counter"
