# SPDX-License-Identifier: Apache-2.0
"""SIO: divider, spin locks, GPIO, and the core 1 that never wakes."""

from __future__ import annotations

import random

import pytest

from tests.emulator.rp2040_chip import SIO, Chip, started

UDIVIDEND, UDIVISOR, SDIVIDEND, SDIVISOR = (SIO + offset for offset in (0x60, 0x64, 0x68, 0x6C))
QUOTIENT, REMAINDER, CSR = SIO + 0x70, SIO + 0x74, SIO + 0x78
SPINLOCK_ST, SPINLOCK0 = SIO + 0x5C, SIO + 0x100


@pytest.fixture
def chip() -> Chip:
    return started()


@pytest.mark.parametrize(
    ("dividend", "divisor", "quotient", "remainder"),
    [
        (100, 7, 14, 2),
        (0xFFFFFFFF, 10, 429_496_729, 5),
        (12_000_000, 1_000_000, 12, 0),
        (5, 0, 0xFFFFFFFF, 5),
    ],
)
def test_unsigned_division(
    chip: Chip, dividend: int, divisor: int, quotient: int, remainder: int
) -> None:
    chip.write(UDIVIDEND, dividend)
    chip.write(UDIVISOR, divisor)
    assert (chip.read(REMAINDER), chip.read(QUOTIENT)) == (remainder, quotient)


@pytest.mark.parametrize(
    ("dividend", "divisor", "quotient", "remainder"),
    [
        (-100, 7, -14, -2),
        (100, -7, -14, 2),
        (-100, -7, 14, -2),
        (-(1 << 31), -1, -(1 << 31), 0),
        (5, 0, -1, 5),
        (-5, 0, 1, -5),
    ],
)
def test_signed_division(
    chip: Chip, dividend: int, divisor: int, quotient: int, remainder: int
) -> None:
    chip.write(SDIVIDEND, dividend & 0xFFFFFFFF)
    chip.write(SDIVISOR, divisor & 0xFFFFFFFF)
    assert chip.read(REMAINDER) == remainder & 0xFFFFFFFF
    assert chip.read(QUOTIENT) == quotient & 0xFFFFFFFF


def test_division_against_python(chip: Chip) -> None:
    source = random.Random(4)
    for _ in range(200):
        a, b = source.getrandbits(32), source.getrandbits(source.randrange(1, 33)) | 1
        chip.write(UDIVIDEND, a)
        chip.write(UDIVISOR, b)
        assert (chip.read(QUOTIENT), chip.read(REMAINDER)) == divmod(a, b)


def test_csr_is_ready_after_eight_cycles_and_clean_after_the_quotient_is_read(chip: Chip) -> None:
    chip.run_for(10)
    chip.write(UDIVIDEND, 100)
    chip.write(UDIVISOR, 7)
    assert chip.read(CSR) == 2
    chip.run_for(7)
    assert chip.read(CSR) == 2
    chip.run_for(1)
    assert chip.read(CSR) == 3
    chip.read(QUOTIENT)
    assert chip.read(CSR) == 1


def test_results_can_be_restored(chip: Chip) -> None:
    chip.write(QUOTIENT, 0x1234)
    chip.write(REMAINDER, 0x5678)
    assert chip.read(CSR) & 2
    assert (chip.read(REMAINDER), chip.read(QUOTIENT)) == (0x5678, 0x1234)


def test_spin_locks(chip: Chip) -> None:
    assert chip.read(SPINLOCK0 + 4 * 9) == 1 << 9
    assert chip.read(SPINLOCK0 + 4 * 9) == 0
    assert chip.read(SPINLOCK0 + 4 * 31) == 1 << 31
    assert chip.read(SPINLOCK_ST) == 1 << 31 | 1 << 9
    chip.write(SPINLOCK0 + 4 * 9, 0)
    assert chip.read(SPINLOCK_ST) == 1 << 31
    assert chip.read(SPINLOCK0 + 4 * 9) == 1 << 9


def test_gpio(chip: Chip) -> None:
    chip.write(SIO + 0x10, 0xF0)
    chip.write(SIO + 0x14, 0x0F)
    chip.write(SIO + 0x18, 0x30)
    chip.write(SIO + 0x1C, 0x100)
    assert chip.read(SIO + 0x10) == 0x1CF
    assert chip.read(SIO + 0x04) == 0
    chip.write(SIO + 0x24, 0x101)
    assert chip.read(SIO + 0x20) == 0x101
    assert chip.read(SIO + 0x04) == 0x101


def test_the_qspi_lines_are_high_unless_driven(chip: Chip) -> None:
    assert chip.read(SIO + 0x08) == 0x3F
    chip.write(SIO + 0x44, 2)
    assert chip.read(SIO + 0x08) == 0x3D


def test_core_0_and_a_core_1_that_is_not_there(chip: Chip) -> None:
    assert chip.read(SIO) == 0
    assert chip.read(SIO + 0x50) == 2
    assert chip.read(SIO + 0x58) == 0
    assert chip.read(SIO + 0x50) == 2 | 8
    chip.write(SIO + 0x50, 0)
    assert chip.read(SIO + 0x50) == 2
    chip.write(SIO + 0x54, 1)
    assert "core 1 is not modelled" in chip.message


def test_interpolators_are_not_modelled(chip: Chip) -> None:
    chip.read(SIO + 0x80)
    assert chip.message.startswith("read of 0xd0000080: SIO+0x080 is not modelled")
