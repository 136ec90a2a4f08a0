# SPDX-License-Identifier: Apache-2.0
"""Faults of the debug probe and its wire: what a transfer gets instead of an answer.

A transfer is what pyOCD asks of a probe at once: one register, or a block of words.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from enum import Enum

from harness.emulator.chips import ChipFacts
from harness.emulator.debugport import DP_IDR_ABORT, DebugPort
from harness.emulator.faultplan import Fault as Planned
from harness.emulator.faultplan import Trigger
from harness.emulator.memap import Bus, Fault

_KINDS = (
    "probe-nak",
    "probe-wait",
    "probe-fault",
    "probe-parity",
    "probe-corrupt",
    "probe-vanish",
)


class Answer(Enum):
    """Of the wire, where there is no data."""

    NONE = "no acknowledge on SWD"
    WAIT = "WAIT until the probe gave up"
    PARITY = "parity error in the data phase"
    GONE = "the probe does not answer any more: unplugged"


_ANSWERS = {
    "probe-nak": Answer.NONE,
    "probe-wait": Answer.WAIT,
    "probe-parity": Answer.PARITY,
    "probe-vanish": Answer.GONE,
}


class NoAnswer(Fault):
    """A transfer that was not carried out, or whose data did not arrive."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.value)
        self.answer = answer


class WireFaults:
    """What the transfers of one board meet. transfers: how many there were."""

    def __init__(self, faults: Sequence[Planned]) -> None:
        self.transfers = 0
        self.injected = 0
        self.gone = False
        self._triggers = [Trigger(f) for f in faults if f.kind in _KINDS]
        self._dpidr = [f.number("value") for f in faults if f.kind == "probe-dpidr"]
        self._corrupts = False
        self._random = random.Random(len(faults))

    def begin(self) -> None:
        """Before each transfer. Errors: Fault, and NoAnswer, which is one."""
        self.transfers += 1
        if self.gone:
            raise NoAnswer(Answer.GONE)
        self._corrupts = False
        for trigger in self._triggers:
            if trigger.fires():
                self.injected += 1
                self._meet(trigger.fault.kind)

    def _meet(self, kind: str) -> None:
        if kind == "probe-corrupt":
            self._corrupts = True
        elif kind == "probe-fault":
            raise Fault("FAULT acknowledge")
        else:
            self.gone = kind == "probe-vanish"
            raise NoAnswer(_ANSWERS[kind])

    def value(self, value: int) -> int:
        """A word on the wire, either way."""
        return value ^ self._two_bits() if self._corrupts else value

    def values(self, values: Sequence[int]) -> Sequence[int]:
        """Of a block: one word of it."""
        if not self._corrupts or not values:
            return values
        spoilt = list(values)
        spoilt[self._random.randrange(len(spoilt))] ^= self._two_bits()
        return spoilt

    def dp_register(self, register: int, value: int) -> int:
        if self._dpidr and register == DP_IDR_ABORT:
            self.injected += 1
            return self._dpidr[0]
        return self.value(value)

    def _two_bits(self) -> int:
        first, second = self._random.sample(range(32), 2)
        return 1 << first | 1 << second


class PlannedPort(DebugPort):
    """A debug port at the end of a wire with faults, or with none."""

    def __init__(self, chip: ChipFacts, targetsel: int, bus: Bus, wire: WireFaults) -> None:
        super().__init__(chip, targetsel, bus)
        self._wire = wire

    def read_dp(self, register: int) -> int:
        self._wire.begin()
        return self._wire.dp_register(register, super().read_dp(register))

    def write_dp(self, register: int, value: int) -> None:
        self._wire.begin()
        super().write_dp(register, self._wire.value(value))

    def read_ap(self, address: int) -> int:
        self._wire.begin()
        return self._wire.value(super().read_ap(address))

    def write_ap(self, address: int, value: int) -> None:
        self._wire.begin()
        super().write_ap(address, self._wire.value(value))

    def read_ap_block(self, address: int, count: int) -> Sequence[int]:
        self._wire.begin()
        return self._wire.values(super().read_ap_block(address, count))

    def write_ap_block(self, address: int, values: Sequence[int]) -> None:
        self._wire.begin()
        super().write_ap_block(address, self._wire.values(values))


def listings(faults: Sequence[Planned]) -> int:
    """How often the probe is on the host's list."""
    kinds = {fault.kind for fault in faults}
    return 0 if "probe-absent" in kinds else 2 if "probe-twice" in kinds else 1
