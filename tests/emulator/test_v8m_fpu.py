# SPDX-License-Identifier: Apache-2.0
"""The FPU: encodings at random with operands at the edges of the format, in every rounding mode, with
flush-to-zero, default NaN and alternative half precision, against Unicorn's Cortex-M33 bit for bit,
cumulative flags of FPSCR included; and what Unicorn has no opinion on.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable

import pytest
import unicorn
from unicorn import arm_const as arm

from harness.emulator.machine import Stop
from tests.emulator.core_program import CODE, PC, XPSR, XPSR_T
from tests.emulator.v8m_program import CFSR, CPACR, CoreV8M

AT, DATA, DATA_BYTES = CODE + 0x8000, 0x20020000, 0x400
SRAM, SRAM_BYTES = 0x20000000, 512 * 1024
CFBP, FPSCR, S0, FPCA_SFPA = 20, 33, 64, 0xC << 24
ENABLE_FPU = 0xF << 20
UNDEFINSTR, NOCP, UNALIGNED = 1 << 16, 1 << 19, 1 << 24
AIRCR, VECTCLRACTIVE = 0xE000ED0C, 0x05FA0002
FPSCR_BITS, ROUNDING_MODE = 0xF7C0009F, 3 << 22
USAGE_FAULT_ENABLE, SHCSR = 1 << 18, 0xE000ED24
EDGES = (
    0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007FFFFF, 0x807FFFFF, 0x00800000, 0x80800000,
    0x3F800000, 0xBF800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC12345,
    0x7F800001, 0xFFA00000, 0x4B000000, 0x4F000000, 0xCF000000, 0xCF000001, 0x4F800000, 0x3F000000,
    0xBF000000, 0x3FC00000, 0x40200000, 0x33800000, 0x387FE000, 0x477FE000, 0x477FF000, 0x33000000,
    0xFFFFFFFF, 0x00010000, 0x00007FFF, 0x00008000, 0x7C007C01, 0xFC00FFFF,
)  # fmt: skip


def arithmetic(chance: random.Random) -> int:
    first = chance.choice((0xEE00, 0xEE00, 0xEE00, 0xFE00)) | chance.randrange(256)
    precision = 0xB00 if chance.randrange(16) == 0 else 0xA00  # double precision is undefined
    second = chance.randrange(16) << 12 | precision | chance.randrange(256) & ~0x10
    return first << 16 | second


def move(chance: random.Random) -> int:
    second = chance.randrange(15) << 12 | chance.choice((0xA10, 0xB10))
    if chance.getrandbits(1):
        return (0xEC40 | chance.randrange(32)) << 16 | second | chance.randrange(64)
    if chance.randrange(4) == 0:
        return chance.choice((0xEEE1, 0xEEF1)) << 16 | second & 0xFEFF | chance.randrange(16) << 12
    first = 0xEE00 | chance.choice((0x00, 0x10, 0x20, 0x30)) | chance.randrange(16)
    return first << 16 | second | chance.getrandbits(1) << 7


def memory(chance: random.Random) -> int:
    first = 0xEC00 | chance.randrange(512)
    return first << 16 | chance.randrange(16) << 12 | chance.choice((0xA00, 0xB00)) | (
        chance.randrange(20)
    )  # fmt: skip


def from_fixed_point(encoding: int) -> bool:
    return encoding & 0xFFBE0E50 == 0xEEBA0A40


def operand(chance: random.Random) -> int:
    kind = chance.randrange(4)
    if kind == 0:
        return chance.choice(EDGES)
    if kind == 1:
        return chance.getrandbits(32)
    if kind == 2:  # numbers whose sums and products meet each other
        return (
            chance.getrandbits(1) << 31 | chance.randrange(120, 136) << 23 | chance.getrandbits(23)
        )
    return int.from_bytes(struct.pack("<f", chance.randrange(-70000, 70000) / 8), "little")


class Oracle:
    """Unicorn's FPU. It resets FPSCR with the first instruction of a context: this one is past it.

    It lets FPSCR choose the rounding of a conversion from fixed point, which the architecture does to
    nearest in any case: these are compared with to-nearest only.
    """

    def __init__(self) -> None:
        self.unicorn = unicorn
        self.arm = arm
        self.engine = unicorn.Uc(
            unicorn.UC_ARCH_ARM, unicorn.UC_MODE_THUMB | unicorn.UC_MODE_MCLASS
        )
        self.engine.ctl_set_cpu_model(arm.UC_CPU_ARM_CORTEX_M33)
        self.engine.mem_map(SRAM, SRAM_BYTES)
        self.core = [arm.UC_ARM_REG_R0 + n for n in range(13)]
        self.core += [arm.UC_ARM_REG_SP, arm.UC_ARM_REG_LR]
        self.fp = [arm.UC_ARM_REG_S0 + n for n in range(32)]
        self.run(0xEEB00A40, [0] * 15, [0] * 32, 0, 0, bytes(DATA_BYTES))

    def run(
        self, encoding: int, core: list[int], fp: list[int], fpscr: int, flags: int, data: bytes
    ) -> tuple[object, ...] | None:
        """Core registers, S registers, FPSCR, flags and data afterwards; None for a fault."""
        engine, arm = self.engine, self.arm
        engine.mem_write(
            AT - len(data), data + struct.pack("<HH", encoding >> 16, encoding & 0xFFFF)
        )
        engine.ctl_remove_cache(AT, AT + 4)
        engine.mem_write(DATA, data)
        for name, value in zip(self.core + self.fp, core + fp, strict=True):
            engine.reg_write(name, value)
        engine.reg_write(arm.UC_ARM_REG_FPSCR, fpscr)
        engine.reg_write(arm.UC_ARM_REG_XPSR_NZCVQG, flags << 28)
        try:
            engine.emu_start(AT | 1, 0xFFFFFFFE, count=1)
        except self.unicorn.UcError:
            return None
        return (
            [engine.reg_read(name) for name in self.core],
            [engine.reg_read(name) for name in self.fp],
            engine.reg_read(arm.UC_ARM_REG_FPSCR) & FPSCR_BITS,
            engine.reg_read(arm.UC_ARM_REG_XPSR) >> 28,
            bytes(engine.mem_read(DATA, len(data))),
        )


class Subject:
    def __init__(self) -> None:
        self.core = CoreV8M()
        self.core.write(CPACR, ENABLE_FPU)
        self.core.write(SHCSR, USAGE_FAULT_ENABLE)

    def run(
        self, encoding: int, core: list[int], fp: list[int], fpscr: int, flags: int, data: bytes
    ) -> tuple[object, ...] | str | None:
        """As the oracle; the message where the encoding is UNPREDICTABLE."""
        subject, machine = self.core, self.core.machine
        subject.write(AIRCR, VECTCLRACTIVE)
        instruction = struct.pack("<HH", encoding >> 16, encoding & 0xFFFF)
        machine.bus_write_block(AT - len(data), data + instruction)
        machine.bus_write_block(DATA, data)
        subject.set(XPSR, flags << 28 | XPSR_T)
        subject.set(CFBP, FPCA_SFPA)
        for number, value in enumerate(core):
            subject.set(number, value)
        for number, value in enumerate(fp):
            subject.set(S0 + number, value)
        subject.set(FPSCR, fpscr)
        subject.set(PC, AT)
        stop = subject.step()
        text = machine.message()
        machine.clear_message()
        if stop != Stop.HALTED:
            subject.halt()
        if stop == Stop.STRICT:
            return text
        if subject.in_exception:
            subject.write(CFSR, 0xFFFFFFFF)
            return None
        return (
            [subject.get(n) for n in range(15)],
            [subject.get(S0 + n) for n in range(32)],
            subject.get(FPSCR),
            subject.get(XPSR) >> 28,
            machine.bus_read_block(DATA, len(data)),
        )


@pytest.mark.extra
@pytest.mark.parametrize(
    ("generate", "rounds", "minimum"),
    [(arithmetic, 12_000, 4_000), (move, 3_000, 1_500), (memory, 4_000, 800)],
)
def test_against_unicorn(
    generate: Callable[[random.Random], int], rounds: int, minimum: int
) -> None:
    chance = random.Random(generate.__name__)
    oracle, subject = Oracle(), Subject()
    executed = 0
    different = []
    for _ in range(rounds):
        encoding = generate(chance)
        core = [DATA + 0x200 + 4 * chance.randrange(-16, 16) for _ in range(15)]
        fp = [operand(chance) for _ in range(32)]
        fpscr, flags = chance.getrandbits(32) & FPSCR_BITS, chance.randrange(16)
        if from_fixed_point(encoding):
            fpscr &= ~ROUNDING_MODE
        data = chance.randbytes(DATA_BYTES)
        ours = subject.run(encoding, core, fp, fpscr, flags, data)
        if isinstance(ours, str):
            assert "UNPREDICTABLE" in ours
            continue
        theirs = oracle.run(encoding, core, fp, fpscr, flags, data)
        executed += ours is not None
        if ours != theirs:
            different.append((hex(encoding), hex(fpscr), ours, theirs))
    assert not different, f"{len(different)} differ, first: {different[0]}"
    assert executed > minimum


# ---- what the architecture says, in literal values ----

# operation, s1, s2, s0 before, FPSCR before: s0 and FPSCR after
ONE = 0x3F800000
RESULTS = {
    "tie to even": ("vadd.f32 s0, s1, s2", ONE, 0x33800000, 0, 0, ONE, 0x10),
    "up": ("vadd.f32 s0, s1, s2", ONE, 0x33800000, 0, 1 << 22, 0x3F800001, 0x400010),
    "exact zero": ("vsub.f32 s0, s1, s2", ONE, ONE, 0, 0, 0, 0),
    "exact zero, down": ("vsub.f32 s0, s1, s2", ONE, ONE, 0, 2 << 22, 1 << 31, 0x800000),
    "one rounding": ("vfma.f32 s0, s1, s2", 0x3F800001, 0x3F800001, 0xBF800002, 0, 0x28800000, 0),
    "two roundings": ("vmla.f32 s0, s1, s2", 0x3F800001, 0x3F800001, 0xBF800002, 0, 0, 0x10),
    "overflow": ("vmul.f32 s0, s1, s2", 0x7F000000, 0x7F000000, 0, 0, 0x7F800000, 0x14),
    "overflow, to zero": ("vmul.f32 s0, s1, s2", 0x7F000000, 0x7F000000, 0, 3 << 22,
                          0x7F7FFFFF, 0xC00014),
    "subnormal": ("vmul.f32 s0, s1, s2", 0x00800000, 0x3F000000, 0, 0, 0x00400000, 0),
    "flushed": ("vmul.f32 s0, s1, s2", 0x00800000, 0x3F000000, 0, 1 << 24, 0, 0x01000008),
    "flushed input": ("vadd.f32 s0, s1, s2", 1, ONE, 0, 1 << 24, ONE, 0x01000080),
    "division by zero": ("vdiv.f32 s0, s1, s2", ONE, 1 << 31, 0, 0, 0xFF800000, 2),
    "third": ("vdiv.f32 s0, s1, s2", ONE, 0x40400000, 0, 0, 0x3EAAAAAB, 0x10),
    "root of 2": ("vsqrt.f32 s0, s1", 0x40000000, 0, 0, 0, 0x3FB504F3, 0x10),
    "root of -1": ("vsqrt.f32 s0, s1", 0xBF800000, 0, 0, 0, 0x7FC00000, 1),
    "NaN goes through": ("vadd.f32 s0, s1, s2", 0x7FC12345, ONE, 0, 0, 0x7FC12345, 0),
    "default NaN": ("vadd.f32 s0, s1, s2", 0x7FC12345, ONE, 0, 1 << 25, 0x7FC00000, 0x02000000),
    "signalling": ("vadd.f32 s0, s1, s2", ONE, 0x7F800001, 0, 0, 0x7FC00001, 1),
    "to integer": ("vcvt.s32.f32 s0, s1", 0xC0200000, 0, 0, 0, 0xFFFFFFFE, 0x10),
    "rounded": ("vcvtr.s32.f32 s0, s1", 0xC0600000, 0, 0, 0, 0xFFFFFFFC, 0x10),
    "saturated": ("vcvt.u32.f32 s0, s1", 0xBF800000, 0, 0, 0, 0, 1),
    "away": ("vcvta.s32.f32 s0, s1", 0x40200000, 0, 0, 0, 3, 0x10),
    "from integer": ("vcvt.f32.u32 s0, s1", 0xFFFFFFFF, 0, 0, 0, 0x4F800000, 0x10),
    "Q16": ("vcvt.s32.f32 s0, s0, #16", 0, 0, 0xBFC00000, 0, 0xFFFE8000, 0),
    "from Q15": ("vcvt.f32.s16 s0, s0, #15", 0, 0, 0xC000, 0, 0xBF000000, 0),
    "from fixed point to nearest": ("vcvt.f32.s32 s0, s0, #1", 0, 0, 0x7FFFFFFF, 3 << 22,
                                    0x4E800000, 0xC00010),
    "half": ("vcvtt.f16.f32 s0, s1", 0x40490FDB, 0, 0x11112222, 0, 0x42482222, 0x10),
    "from half": ("vcvtb.f32.f16 s0, s1", 0xFFFF3C00, 0, 0, 0, ONE, 0),
    "to integral": ("vrintn.f32 s0, s1", 0x40200000, 0, 0, 0, 0x40000000, 0),
    "exactly": ("vrintx.f32 s0, s1", 0x40200000, 0, 0, 0, 0x40000000, 0x10),
    "number beside NaN": ("vmaxnm.f32 s0, s1, s2", 0x7FC00000, ONE, 0, 0, ONE, 0),
    "least zero": ("vminnm.f32 s0, s1, s2", 0, 1 << 31, 0, 0, 1 << 31, 0),
    "immediate": ("vmov.f32 s0, #-0.125", 0, 0, 0, 0, 0xBE000000, 0),
}  # fmt: skip


@pytest.mark.parametrize("name", RESULTS)
def test_results(name: str) -> None:
    source, s1, s2, s0, fpscr, result, fpscr_after = RESULTS[name]
    core = CoreV8M(f"{source}\nbkpt #1")
    core.write(CPACR, ENABLE_FPU)
    core.set(CFBP, FPCA_SFPA)
    for number, value in {0: s0, 1: s1, 2: s2}.items():
        core.set(S0 + number, value)
    core.set(FPSCR, fpscr)
    assert core.go() == Stop.HALTED
    assert (hex(core.get(S0)), hex(core.get(FPSCR))) == (hex(result), hex(fpscr_after))


@pytest.mark.parametrize(
    ("first", "second", "flags"),
    [(ONE, 0, "C"), (0, ONE, "N"), (0, 1 << 31, "ZC"), (0x7FC00000, 0, "CV")],
)
def test_comparison_reaches_the_flags(first: int, second: int, flags: str) -> None:
    core = CoreV8M("vcmp.f32 s0, s1\nvmrs apsr_nzcv, fpscr\nbkpt #1")
    core.write(CPACR, ENABLE_FPU)
    core.set(S0, first)
    core.set(S0 + 1, second)
    assert core.go() == Stop.HALTED
    assert core.flags == flags


def test_a_new_context_has_the_default_settings() -> None:
    core = CoreV8M("mrs r4, control\nvmrs r5, fpscr\nmrs r6, control\nbkpt #1")
    core.write(CPACR, ENABLE_FPU)
    core.write(0xE000EF3C, 0x03000000)
    core.set(FPSCR, 0x0040001F)
    assert core.go() == Stop.HALTED
    assert (core.get(4), core.get(5), core.get(6)) == (0, 0x03000000, 0xC)


@pytest.mark.parametrize(
    ("cpacr", "control", "fault"), [(0, 0, True), (1 << 20, 0, False), (1 << 20, 1, True),
                                    (3 << 20, 1, False)]
)  # fmt: skip
def test_access_control(cpacr: int, control: int, fault: bool) -> None:
    core = CoreV8M("vmov s0, r0\nbkpt #1\nhandler: bkpt #2")
    core.write(CPACR, cpacr)
    core.write(SHCSR, USAGE_FAULT_ENABLE)
    core.vector(6, "handler")
    core.set(CFBP, control << 24)
    assert core.go() == Stop.HALTED
    assert (core.read(CFSR) == NOCP) == fault
    assert (core.get(PC) == core.labels["handler"]) == fault


def test_unaligned_whatever_the_trap_says() -> None:
    core = CoreV8M("vldr s0, [r1]\nbkpt #1")
    core.write(CPACR, ENABLE_FPU)
    core.set(1, DATA + 2)
    core.go()
    assert core.read(CFSR) == UNALIGNED


def test_a_list_that_faults_leaves_its_base() -> None:
    core = CoreV8M("vldmia r1!, {s0-s3}\nbkpt #1")
    core.write(CPACR, ENABLE_FPU)
    core.set(1, SRAM + 520 * 1024 - 8)
    core.go()
    assert core.read(0xE000ED38) == SRAM + 520 * 1024
    assert core.get(1) == SRAM + 520 * 1024 - 8


@pytest.mark.parametrize("encoding", [0xEE300B00, 0xEEB00B40, 0xEEB70AC0, 0xEC300A00])
def test_what_a_single_precision_fpu_has_not(encoding: int) -> None:
    """VADD.F64, VMOV.F64, VCVT.F64.F32; VLLDM, for code that calls the Non-secure world."""
    core = CoreV8M(f".short {encoding >> 16}, {encoding & 0xFFFF}\nbkpt #1")
    core.write(CPACR, ENABLE_FPU)
    core.go()
    assert core.read(CFSR) == UNDEFINSTR
