# SPDX-License-Identifier: Apache-2.0
"""Every 16-bit encoding that computes, moves or branches, against Unicorn's Cortex-M0, one at a time.

Unicorn is used without its M-profile mode: there it rejects what ARMv6-M does not have and faults on
unaligned accesses; with it, it is an ARMv8-M in disguise. What it still runs of ARMv7-M (CBZ, IT), and
what is a matter of the system (SVC, BKPT, hints, CPS, SETEND), is left to the tests of the faults and
exceptions. It knows nothing of cycles.
"""

from __future__ import annotations

import random

import pytest

from harness.emulator.machine import Stop
from tests.emulator.core_program import CODE, PC, SP, XPSR, XPSR_T, Core

unicorn = pytest.importorskip("unicorn")
arm = pytest.importorskip("unicorn.arm_const")
pytestmark = pytest.mark.extra

AT, DATA, DATA_BYTES = CODE + 0x8000, 0x20020000, 0x400
SRAM, SRAM_BYTES, NOTHING_THERE = 0x20000000, 264 * 1024, 0x30000000
CPSR_THUMB_SUPERVISOR = 0x33
AIRCR, VECTCLRACTIVE = 0xE000ED0C, 0x05FA0002
FIRST_32_BIT = 0xE800


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


class Oracle:
    def __init__(self) -> None:
        self.engine = unicorn.Uc(unicorn.UC_ARCH_ARM, unicorn.UC_MODE_THUMB)
        self.engine.ctl_set_cpu_model(arm.UC_CPU_ARM_CORTEX_M0)
        self.engine.mem_map(SRAM, SRAM_BYTES)
        self.names = [arm.UC_ARM_REG_R0 + n for n in range(13)]
        self.names += [arm.UC_ARM_REG_SP, arm.UC_ARM_REG_LR]

    def run(
        self, encoding: int, registers: list[int], flags: int, data: bytes
    ) -> tuple[object, ...] | None:
        """Registers, flags, pc and data after the instruction; None for a fault."""
        engine = self.engine
        engine.mem_write(AT, encoding.to_bytes(2, "little"))
        engine.ctl_remove_cache(AT, AT + 4)
        engine.mem_write(DATA, data)
        for name, value in zip(self.names, registers, strict=True):
            engine.reg_write(name, value)
        engine.reg_write(arm.UC_ARM_REG_CPSR, flags << 28 | CPSR_THUMB_SUPERVISOR)
        try:
            engine.emu_start(AT | 1, 0xFFFFFFFE, count=1)
        except unicorn.UcError:
            return None
        after = [engine.reg_read(name) for name in self.names]
        pc, cpsr = engine.reg_read(arm.UC_ARM_REG_PC), engine.reg_read(arm.UC_ARM_REG_CPSR)
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
        machine.bus_write_block(AT, encoding.to_bytes(2, "little"))
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


@pytest.mark.parametrize("seed", [1, 2])
def test_every_16_bit_encoding(seed: int) -> None:
    chance = random.Random(seed)
    oracle, subject = Oracle(), Subject()
    compared = faults = unpredictable = 0
    different = []
    for encoding in filter(is_compared, range(FIRST_32_BIT)):
        registers, flags = registers_for(encoding, chance), chance.randrange(16)
        data = data_for(encoding, chance)
        ours = subject.run(encoding, registers, flags, data)
        if isinstance(ours, str):
            assert "UNPREDICTABLE" in ours
            unpredictable += 1
            continue
        theirs = oracle.run(encoding, registers, flags, data)
        compared += 1
        faults += ours is None
        if ours != theirs:
            different.append((hex(encoding), registers, flags, ours, theirs))
    assert not different, f"{len(different)} differ, first: {different[0]}"
    assert compared > 56_000
    assert faults > 2_000
    assert unpredictable < 1_000
