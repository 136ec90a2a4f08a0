# SPDX-License-Identifier: Apache-2.0
"""The encodings that compute, move or branch, against Unicorn's Cortex-M0, one at a time: a sample of
all rows, and in `make test-all` each encoding there is.

Unicorn is used without its M-profile mode: there it rejects what ARMv6-M does not have and faults on
unaligned accesses; with it, it is an ARMv8-M in disguise. What it gets wrong even so is in
THEIR_MISTAKES and OTHER_PROFILE; what is a matter of the system (SVC, BKPT, hints, CPS) is left to the
tests of the faults and exceptions. It knows nothing of cycles.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable

import pytest
import unicorn
from unicorn import arm_const as arm

from harness.emulator.machine import Stop
from tests.emulator.core_program import CODE, PC, SP, XPSR, XPSR_T, Core

AT, DATA, DATA_BYTES = CODE + 0x8000, 0x20020000, 0x400
NOTHING_THERE = 0x30000000
REACH = (0x1F000000, 0x02100000)  # Unicorn fetches where BL leads, up to 16 MB away
CPSR_THUMB_SUPERVISOR = 0x33
AIRCR, VECTCLRACTIVE = 0xE000ED0C, 0x05FA0002
FIRST_32_BIT = 0xE800

# What Unicorn's Cortex-M0 runs although ARMv6-M does not have it
THEIR_MISTAKES = {
    "CBZ": 0xB100,
    "CBNZ": 0xB900,
    "IT": 0xBF08,
    "SETEND LE": 0xB650,
    "SETEND BE": 0xB658,
}
# 1111 0xxx xxxx xxxx 10x0: its MSR, MRS and hints are those of the A profile
OTHER_PROFILE = (0xF800D000, 0xF0008000)
# Rows of few encodings by their first byte, and how often the sample takes each; of others an eighth
FEW = {**dict.fromkeys(range(0x40, 0x47), 2), 0x47: 8, 0xB0: 2, 0xB2: 2, 0xBA: 2}


def is_compared(encoding: int) -> bool:
    top = encoding >> 8
    return not (
        top in (0xB1, 0xB3, 0xB9, 0xBB, 0xBE, 0xBF, 0xDF)  # CBZ, CBNZ, BKPT, IT and hints, SVC
        or encoding >> 6 == 0xB640 >> 6  # SETEND
        or encoding >> 5 == 0xB660 >> 5  # CPS
        or encoding >> 6 == 0xBA80 >> 6  # HLT
        or encoding == 0x44EF  # ADD PC, SP: with a stack in SRAM it leads nowhere
    )


def reaches_memory(encoding: int) -> bool:
    return encoding >> 12 in (0x5, 0x6, 0x7, 0x8, 0x9, 0xB, 0xC)


def writes_pc(encoding: int) -> bool:
    """ADD PC, MOV PC, BX, BLX."""
    return encoding >> 8 == 0x47 or encoding & 0xFD87 == 0x4487


def registers_for(encoding: int, chance: random.Random) -> list[int]:
    """r0 to r14: anything for an instruction that computes, near code for one that writes the pc; for
    one that reaches memory a base in the data (one in seven misaligned, one in sixteen where
    nothing is) and a small offset."""
    if reaches_memory(encoding):
        wrong = chance.choice((1, 2, 3)) if chance.random() < 1 / 7 else 0
        base = DATA + 0x200 + 4 * chance.randrange(-16, 16) + wrong
        if chance.random() < 1 / 16:
            base = NOTHING_THERE
        values = [chance.choice((base, chance.getrandbits(32))) for _ in range(15)]
        if encoding >> 12 == 0x5:
            values[encoding >> 6 & 7] = chance.choice((0, 4, 8, 2, 1))
        values[encoding >> 8 & 7 if encoding >> 12 == 0xC else encoding >> 3 & 7] = base
        if encoding >> 12 == 0x5 and encoding >> 6 & 7 == encoding >> 3 & 7:
            values[encoding >> 3 & 7] = base >> 1  # it is base and offset
    elif writes_pc(encoding):
        base = 0 if encoding >> 8 == 0x44 else AT | 1
        values = [base + 2 * chance.randrange(200) for _ in range(15)]
    else:
        values = [chance.choice((chance.getrandbits(32), chance.randrange(40))) for _ in range(15)]
        if (
            encoding & 0xFD87 == 0x4485
        ):  # a write to SP: its low bits are not there, Unicorn keeps them
            values = [value & ~3 for value in values]
    values[SP] = DATA + 0x200 + 4 * chance.randrange(-16, 16)
    return values


def data_for(encoding: int, chance: random.Random) -> bytes:
    """Anything; where it is popped into the pc, addresses near the code."""
    if encoding >> 8 == 0xBD:
        words = [AT + 2 * chance.randrange(200) | 1 for _ in range(DATA_BYTES // 4)]
        return b"".join(word.to_bytes(4, "little") for word in words)
    return chance.randbytes(DATA_BYTES)


def code_of(encoding: int) -> bytes:
    """One halfword, or two with the first in the upper half."""
    if encoding < 0x10000:
        return encoding.to_bytes(2, "little")
    return (encoding >> 16).to_bytes(2, "little") + (encoding & 0xFFFF).to_bytes(2, "little")


class Oracle:
    def __init__(self) -> None:
        self.engine = unicorn.Uc(unicorn.UC_ARCH_ARM, unicorn.UC_MODE_THUMB)
        self.engine.ctl_set_cpu_model(arm.UC_CPU_ARM_CORTEX_M0)
        self.engine.mem_map(*REACH)
        self.names = [arm.UC_ARM_REG_R0 + n for n in range(13)]
        self.names += [arm.UC_ARM_REG_SP, arm.UC_ARM_REG_LR]

    def run(
        self, encoding: int, registers: list[int], flags: int, data: bytes
    ) -> tuple[object, ...] | None:
        """Registers, flags, pc and data after the instruction; None for a fault."""
        engine = self.engine
        engine.mem_write(AT, code_of(encoding))
        engine.ctl_remove_cache(AT, AT + 4)
        engine.mem_write(DATA, data)
        cpsr = flags << 28 | CPSR_THUMB_SUPERVISOR
        engine.reg_write_batch(
            [*zip(self.names, registers, strict=True), (arm.UC_ARM_REG_CPSR, cpsr)]
        )
        try:
            engine.emu_start(AT | 1, 0xFFFFFFFE, count=1)
        except unicorn.UcError:
            return None
        wanted = (*self.names, arm.UC_ARM_REG_PC, arm.UC_ARM_REG_CPSR)
        *after, pc, cpsr = engine.reg_read_batch(wanted)
        return after, cpsr >> 28, pc & ~1, bytes(engine.mem_read(DATA, len(data)))


class Subject:
    def __init__(self) -> None:
        self.core = Core()
        self.core.set(XPSR, XPSR_T)

    def run(
        self, encoding: int, registers: list[int], flags: int, data: bytes
    ) -> tuple[object, ...] | str | None:
        """As the oracle; the message where the encoding is UNPREDICTABLE."""
        core, machine = self.core, self.core.machine
        core.write(AIRCR, VECTCLRACTIVE)
        machine.bus_write_block(AT, code_of(encoding))
        machine.bus_write_block(DATA, data)
        core.set(XPSR, flags << 28 | XPSR_T)
        for number, value in enumerate(registers):
            core.set(number, value)
        core.set(PC, AT)
        stop = core.step()
        text = machine.message()
        machine.clear_message()
        if stop != Stop.HALTED:
            core.halt()
        if stop == Stop.STRICT:
            return text
        if stop == Stop.LOCKUP or core.in_exception:
            return None
        after = [core.get(number) for number in range(15)]
        memory = machine.bus_read_block(DATA, len(data))
        return after, core.get(XPSR) >> 28, core.get(PC), memory


def differences(encodings: Iterable[int], seed: int) -> tuple[list[object], Counter[str]]:
    """What differs; and how many were compared, how many of them faulted, how many UNPREDICTABLE."""
    chance = random.Random(seed)
    oracle, subject = Oracle(), Subject()
    counts: Counter[str] = Counter()
    different: list[object] = []
    for encoding in filter(is_compared, encodings):
        registers, flags = registers_for(encoding, chance), chance.randrange(16)
        data = data_for(encoding, chance)
        ours = subject.run(encoding, registers, flags, data)
        if isinstance(ours, str):
            assert "UNPREDICTABLE" in ours
            counts["unpredictable"] += 1
            continue
        theirs = oracle.run(encoding, registers, flags, data)
        counts["compared"] += 1
        counts["faults"] += ours is None
        if ours != theirs:
            different.append((hex(encoding), registers, flags, ours, theirs))
    return different, counts


def test_a_sample_of_every_row() -> None:
    chance = random.Random(3)
    sample = [
        encoding
        for encoding in range(FIRST_32_BIT)
        for _ in range(FEW.get(encoding >> 8, chance.random() < 1 / 8))
    ]
    different, counts = differences(sample, seed=1)
    assert not different, f"{len(different)} differ, first: {different[0]}"
    assert counts["compared"] > 10_000
    assert counts["faults"] > 250


@pytest.mark.extra
def test_every_16_bit_encoding() -> None:
    different, counts = differences(range(FIRST_32_BIT), seed=2)
    assert not different, f"{len(different)} differ, first: {different[0]}"
    assert counts["compared"] > 56_000
    assert counts["faults"] > 2_000
    assert counts["unpredictable"] < 1_000


def test_32_bit_encodings() -> None:
    """BL, and that nothing else is an instruction, but what OTHER_PROFILE leaves out."""
    chance = random.Random(4)
    oracle, subject = Oracle(), Subject()
    ran = 0
    for _ in range(3000):
        first = chance.choice((0xE800, 0xF000, 0xF800)) | chance.randrange(0x800)
        encoding = first << 16 | chance.getrandbits(16)
        if encoding & OTHER_PROFILE[0] == OTHER_PROFILE[1]:
            continue
        registers = registers_for(0, chance)
        ours = subject.run(encoding, registers, 0, b"")
        assert ours == oracle.run(encoding, registers, 0, b""), hex(encoding)
        ran += ours is not None
    assert ran > 100


@pytest.mark.parametrize("name", THEIR_MISTAKES)
def test_what_the_model_gets_wrong(name: str) -> None:
    """It is undefined in ARMv6-M, and Unicorn runs it."""
    registers = registers_for(0, random.Random(5))
    assert Oracle().run(THEIR_MISTAKES[name], registers, 0, b"") is not None
    assert Subject().run(THEIR_MISTAKES[name], registers, 0, b"") is None
