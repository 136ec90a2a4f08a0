# SPDX-License-Identifier: Apache-2.0
"""RP2350: GPIO coprocessor 0, double-precision coprocessor 4, redundancy coprocessor 7, executed
by the core. Sequences are the canned ones of the pico-sdk (dcp_canned.inc.S)."""

from __future__ import annotations

import math
import struct

import pytest

from harness.emulator.machine import Stop
from tests.emulator.rp2350_chip import CLR, PADS_BANK0, SIO, SRAM, Chip, booted, image, started
from tests.emulator.rp2350_chip import release_resets as release

CPACR, CODE, APSR_NZCV = 0xE000ED88, SRAM + 0x1000, 15
R0, R1, R2, R3, XPSR = 0, 1, 2, 3, 16
BRANCH_TO_SELF = 0xE7FE
TRUE, FALSE = 0xA500A500, 0x00C300C3


def mcr(cp: int, opc1: int, rt: int, crn: int, crm: int, opc2: int = 0, second: int = 0) -> int:
    return 0xEE000010 | second << 28 | opc1 << 21 | crn << 16 | rt << 12 | cp << 8 | opc2 << 5 | crm


def mrc(cp: int, opc1: int, rt: int, crn: int, crm: int, opc2: int = 0, second: int = 0) -> int:
    return mcr(cp, opc1, rt, crn, crm, opc2, second) | 1 << 20


def mcrr(cp: int, opc1: int, rt: int, rt2: int, crm: int, second: int = 0) -> int:
    return 0xEC400000 | second << 28 | rt2 << 16 | rt << 12 | cp << 8 | opc1 << 4 | crm


def mrrc(cp: int, opc1: int, rt: int, rt2: int, crm: int, second: int = 0) -> int:
    return mcrr(cp, opc1, rt, rt2, crm, second) | 1 << 20


def cdp(cp: int, opc1: int, crm: int, opc2: int) -> int:
    return 0xEE000000 | opc1 << 20 | cp << 8 | opc2 << 5 | crm


@pytest.fixture
def chip() -> Chip:
    """The boot ROM has been through, so that the redundancy coprocessor has its salt."""
    chip = booted(image())
    chip.write(CPACR, 3 | 3 << 8 | 3 << 14)
    return chip


def execute(chip: Chip, instructions: list[int], *registers: int) -> Stop:
    """These instructions with these values in r0, r1, ..., then a branch to itself."""
    halfwords = [half for word in instructions for half in (word >> 16, word & 0xFFFF)]
    code = struct.pack(f"<{len(halfwords) + 1}H", *halfwords, BRANCH_TO_SELF)
    chip.machine.bus_write_block(CODE, code)
    for register, value in enumerate(registers):
        chip.machine.set_register(register, value & 0xFFFFFFFF)
    chip.jump(CODE)
    stop = chip.machine.run(chip.cycles + 500)
    assert chip.machine.last_fault() == ""
    return stop


def results(chip: Chip, *registers: int) -> tuple[int, ...]:
    return tuple(chip.machine.register(register) for register in registers)


# ---- GPIO ----


def test_gpio_words(chip: Chip) -> None:
    execute(chip, [mcr(0, 0, R0, 0, 0)], 0b1100)
    assert chip.read(SIO + 0x10) == 0b1100
    execute(chip, [mcr(0, 1, R0, 0, 0), mcr(0, 2, R1, 0, 0), mcr(0, 3, R2, 0, 0)], 6, 1, 8)
    assert chip.read(SIO + 0x10) == 0b0011
    execute(chip, [mcrr(0, 0, R0, R1, 4)], 0x12345678, 0xFFFFFFFF)
    assert (chip.read(SIO + 0x30), chip.read(SIO + 0x34)) == (0x12345678, 0xFF00FFFF)
    execute(chip, [mrc(0, 0, R0, 0, 0), mrrc(0, 0, R1, R2, 4), mrc(0, 0, R3, 0, 5)])
    assert results(chip, R0, R1, R2, R3) == (0b0011, 0x12345678, 0xFF00FFFF, 0xFF00FFFF)
    assert chip.message == ""


def test_gpio_bits_and_inputs(chip: Chip) -> None:
    release(chip)
    chip.write(PADS_BANK0 + CLR + 4 + 4 * 9, 1 << 8)
    execute(chip, [mcr(0, 6, R0, 0, 0), mcrr(0, 4, R0, R1, 4)], 9, 1)  # set out, put oe
    execute(chip, [mrc(0, 0, R0, 0, 8)])
    assert results(chip, R0) == (1 << 9,)
    execute(chip, [mcr(0, 5, R0, 0, 0), mcrr(0, 7, R1, R2, 4)], 34, 9, 0)  # xor; clr with 0
    assert (chip.read(SIO + 0x14), chip.read(SIO + 0x30)) == (1 << 2, 1 << 9)
    execute(chip, [mcrr(0, 10, R0, R1, 0)], 0x30, 1)  # set by index
    assert chip.read(SIO + 0x14) == 0x34
    assert chip.message == ""


# ---- double precision ----


def pair(value: float) -> tuple[int, int]:
    low, high = struct.unpack("<II", struct.pack("<d", value))
    return low, high


def double(low: int, high: int) -> float:
    return float(struct.unpack("<d", struct.pack("<II", low, high))[0])


def single(value: float) -> int:
    return int(struct.unpack("<I", struct.pack("<f", value))[0])


WXUP, WYUP, WXYU = mcrr(4, 1, R0, R1, 0), mcrr(4, 1, R2, R3, 1), mcrr(4, 1, R0, R1, 2)
ADD0, ADD1, SUB1, SQR0 = cdp(4, 0, 1, 0), cdp(4, 1, 1, 0), cdp(4, 1, 1, 1), cdp(4, 2, 1, 0)
NRDF, NRDD, NTDC, NRDC = cdp(4, 8, 2, 1), cdp(4, 8, 0, 1), cdp(4, 8, 0, 2), cdp(4, 8, 0, 3)
RXMS, RYMS = mrrc(4, 0, R0, R1, 4), mrrc(4, 0, R2, R3, 5)
WXMS, WXMO = mcrr(4, 2, R0, R1, 0), mcrr(4, 3, R0, R1, 0)
RDD = {name: mrrc(4, 2 * n + 1, R0, R1, 0) for n, name in enumerate("ASMDQG")}
RDF = {name: mrc(4, 0, R0, 0, 2, n) for n, name in enumerate("ASMDQG")}
RCMP, RDIC, RDUC = mrc(4, 0, R0, 0, 0, 1), mrc(4, 0, R0, 0, 3, 0), mrc(4, 0, R0, 0, 3, 1)
PCMP = mrc(4, 0, APSR_NZCV, 0, 0, 1, 1)


@pytest.mark.parametrize(
    ("middle", "result", "expected"),
    [
        ([ADD0, ADD1, NRDD], "A", 0.1 + 3.7),
        ([ADD0, SUB1, NRDD], "S", 0.1 - 3.7),
        ([RXMS, RYMS, WXMS, WXMO, NRDD], "M", 0.1 * 3.7),
        ([mrrc(4, 2, R0, R1, 1), mcrr(4, 4, R0, R1, 0), NRDD], "D", 0.1 / 3.7),
        ([SQR0, mrrc(4, 4, R2, R3, 1), mcrr(4, 5, R0, R1, 0), NRDD], "Q", math.sqrt(0.1)),
    ],
)
def test_double_arithmetic(chip: Chip, middle: list[int], result: str, expected: float) -> None:
    execute(chip, [WXUP, WYUP, *middle, RDD[result]], *pair(0.1), *pair(3.7))
    assert double(*results(chip, R0, R1)) == expected
    assert chip.message == ""


def test_the_default_nan_and_infinity(chip: Chip) -> None:
    execute(chip, [WXUP, WYUP, ADD0, SUB1, NRDD, RDD["S"]], *pair(math.inf), *pair(math.inf))
    assert results(chip, R0, R1) == (0, 0x7FF80000)
    execute(chip, [WXUP, WYUP, NRDD, RDD["D"]], *pair(-1.0), *pair(0.0))
    assert double(*results(chip, R0, R1)) == -math.inf


@pytest.mark.parametrize(
    ("x", "y", "flags"), [(1.0, 2.0, 8), (2.0, 2.0, 6), (3.0, 2.0, 2), (math.nan, 2.0, 3)]
)
def test_comparison(chip: Chip, x: float, y: float, flags: int) -> None:
    execute(chip, [WXUP, WYUP, ADD0, RCMP], *pair(x), *pair(y))
    assert results(chip, R0) == (flags << 28,)
    execute(chip, [WXUP, WYUP, ADD0, mrc(4, 0, APSR_NZCV, 0, 0, 1)], *pair(x), *pair(y))
    assert chip.machine.register(XPSR) >> 28 == flags


@pytest.mark.parametrize(
    ("x", "truncated", "rounded", "unsigned"),
    [
        (2.5, 2, 2, 2),
        (3.5, 3, 4, 3),
        (-2.7, -2, -3, 0),
        (3e9, 0x7FFFFFFF, 0x7FFFFFFF, 3_000_000_000),
        (-3e9, -0x80000000, -0x80000000, 0),
        (math.nan, 0, 0, 0),
    ],
)
def test_double_to_integer(
    chip: Chip, x: float, truncated: int, rounded: int, unsigned: int
) -> None:
    wxdc = mcrr(4, 8, R0, R1, 0)
    for rounding, read, expected in (
        (NTDC, RDIC, truncated),
        (NRDC, RDIC, rounded),
        (NTDC, RDUC, unsigned),
    ):
        execute(chip, [wxdc, ADD0, ADD1, rounding, read], *pair(x))
        assert results(chip, R0) == (expected & 0xFFFFFFFF,)


def test_integer_to_double_and_float(chip: Chip) -> None:
    wxic, wxuc = mcrr(4, 7, R0, R0, 0), mcrr(4, 6, R0, R0, 0)
    execute(chip, [wxic, ADD0, SUB1, NRDD, RDD["S"]], -5)
    assert double(*results(chip, R0, R1)) == -5.0
    execute(chip, [wxuc, ADD0, SUB1, NRDD, RDD["S"]], -5)
    assert double(*results(chip, R0, R1)) == 4294967291.0
    execute(chip, [wxuc, ADD0, SUB1, NRDF, RDF["S"]], 0x01000001)
    assert results(chip, R0) == (single(16777216.0),)


def test_floats(chip: Chip) -> None:
    execute(chip, [WXYU, ADD0, ADD1, NRDF, RDF["A"]], single(1.5), single(0.7))
    assert results(chip, R0) == (single(1.5 + struct.unpack("<f", b"\x33\x33\x33\x3f")[0]),)
    execute(chip, [mcrr(4, 1, R0, R0, 2), NRDD, RDD["G"]], single(0.7))
    assert double(*results(chip, R0, R1)) == struct.unpack("<f", b"\x33\x33\x33\x3f")[0]
    execute(chip, [WXUP, NRDF, RDF["G"]], *pair(0.1))
    assert results(chip, R0) == (single(0.1),)


def test_engaged_state_is_saved_and_restored(chip: Chip) -> None:
    execute(chip, [PCMP])
    assert chip.machine.register(XPSR) >> 31 == 0
    execute(chip, [WXUP, WYUP, ADD0, PCMP], *pair(0.1), *pair(3.7))
    assert chip.machine.register(XPSR) >> 31 == 1
    execute(chip, [mrrc(4, 0, R0, R1, 8, 1), mrrc(4, 0, R2, R3, 9, 1)])
    x, y = results(chip, R0, R1), results(chip, R2, R3)
    execute(chip, [mrrc(4, 0, R0, R1, 10), PCMP])
    state = results(chip, R0, R1)
    assert chip.machine.register(XPSR) >> 31 == 0
    execute(chip, [WXUP, WYUP, ADD0, ADD1, NRDD, RDD["A"]], *pair(1.0), *pair(1.0))
    assert double(*results(chip, R0, R1)) == 2.0
    execute(chip, [mcrr(4, 0, R0, R1, 0), mcrr(4, 0, R2, R3, 1)], *x, *y)
    execute(chip, [mcrr(4, 0, R0, R1, 2), PCMP, ADD1, NRDD, RDD["A"]], *state)
    assert chip.machine.register(XPSR) >> 31 == 1
    assert double(*results(chip, R0, R1)) == 0.1 + 3.7


# ---- redundancy ----


def test_the_salt_is_set_by_the_boot_rom(chip: Chip) -> None:
    status = mrc(7, 1, R0, 0, 0)
    execute(chip, [status, mrc(7, 1, APSR_NZCV, 0, 0)])
    assert results(chip, R0) == (TRUE,)
    assert chip.machine.register(XPSR) >> 31 == 1  # what pyOCD's flash algorithm branches on
    early = started()
    early.write(CPACR, 3 << 14)
    execute(early, [status])
    assert results(early, R0) == (FALSE,)
    execute(early, [mcrr(7, 8, R0, R1, 0), mcrr(7, 8, R0, R1, 1), status], 1, 2)
    assert results(early, R0) == (TRUE,)
    assert early.message == ""


def test_canaries(chip: Chip) -> None:
    execute(chip, [mrc(7, 0, R0, 3, 5, 1), mrc(7, 0, R1, 3, 6, 1, 1)])
    first, second = results(chip, R0, R1)
    assert first != second
    execute(chip, [mcr(7, 0, R0, 3, 5, 1), mcr(7, 0, R1, 3, 6, 1, 1)], first, second)
    assert chip.message == ""
    assert execute(chip, [mcr(7, 0, R0, 3, 5, 1)], second) == Stop.STRICT
    assert chip.message.startswith("RCP: canary_check does not hold; silicon raises NMI")


def test_the_sequence_counter(chip: Chip) -> None:
    execute(chip, [mcr(7, 4, R0, 2, 1, 0), mcr(7, 5, R0, 2, 1, 1), mcr(7, 5, R0, 2, 2, 1)])
    assert chip.message == ""
    execute(chip, [mcr(7, 5, R0, 2, 2, 1)])
    assert chip.message.startswith("RCP: count_check does not hold")


HOLDS = {
    "bvalid": (mcr(7, 1, R0, 0, 0), (TRUE,), (1,)),
    "btrue": (mcr(7, 2, R0, 0, 0), (TRUE,), (FALSE,)),
    "bfalse": (mcr(7, 3, R0, 0, 0, 1), (FALSE,), (TRUE,)),
    "b2valid": (mcrr(7, 0, R0, R1, 8), (TRUE, FALSE), (TRUE, 0)),
    "b2and": (mcrr(7, 1, R0, R1, 0), (TRUE, TRUE), (TRUE, FALSE)),
    "b2or": (mcrr(7, 2, R0, R1, 0), (FALSE, TRUE), (FALSE, FALSE)),
    "bxorvalid": (mcrr(7, 3, R0, R1, 8), (TRUE ^ 5, 5), (TRUE, 5)),
    "bxortrue": (mcrr(7, 4, R0, R1, 0), (TRUE ^ 5, 5), (FALSE ^ 5, 5)),
    "bxorfalse": (mcrr(7, 5, R0, R1, 8), (FALSE ^ 5, 5), (TRUE ^ 5, 5)),
    "ivalid": (mcrr(7, 6, R0, R1, 8), (7, 7 ^ 0x96009600), (7, 7)),
    "iequal": (mcrr(7, 7, R0, R1, 0), (7, 7), (7, 8)),
}


@pytest.mark.parametrize("name", HOLDS)
def test_assertions(chip: Chip, name: str) -> None:
    instruction, good, bad = HOLDS[name]
    execute(chip, [instruction], *good)
    assert chip.message == ""
    execute(chip, [instruction], *bad)
    assert chip.message.startswith(f"RCP: {name} does not hold")


def test_panic(chip: Chip) -> None:
    execute(chip, [cdp(7, 0, 0, 1)])
    assert chip.message.startswith("RCP: panic does not hold")
