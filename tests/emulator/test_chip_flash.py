# SPDX-License-Identifier: Apache-2.0
"""SSI, XIP control and the SPI flash: commands by hand, continuous read, and the cost of a miss."""

from __future__ import annotations

import pytest

from harness.emulator.machine import Counter, Stop
from tests.emulator.rp2040_chip import (
    CLR,
    IO_QSPI,
    RESETS,
    SET,
    SSI,
    XIP,
    Chip,
    started,
)

CTRLR0, CTRLR1, SSIENR, SER, BAUDR = (SSI + offset for offset in (0, 4, 8, 0x10, 0x14))
SR, DR0, RX_SAMPLE_DLY, SPI_CTRLR0 = SSI + 0x28, SSI + 0x60, SSI + 0xF0, SSI + 0xF4
BUSY, TFE, RFNE = 1, 4, 8
SS_CTRL = IO_QSPI + 0x0C
XIP_FLUSH, CTR_HIT, CTR_ACC = 0x14000004, 0x1400000C, 0x14000010
TXRX_8 = 7 << 16
EEPROM_READ_STANDARD, EEPROM_READ_QUAD = 0x001F0300, 0x005F0300
READ_03H, ENTER_EBH, CONTINUOUS_EBH = 0x03000218, 0x00002221, 0xA0002022


def connected() -> Chip:
    """As the boot ROM hands over: pins on the flash, SSI in 8-bit transmit-and-receive, enabled."""
    chip = started()
    chip.write(RESETS + CLR, 1 << 6 | 1 << 9)
    for pin in range(6):
        chip.write(IO_QSPI + 8 * pin + 4, 0)
    chip.write(BAUDR, 6)
    chip.write(CTRLR0, TXRX_8)
    chip.write(SER, 1)
    chip.write(SSIENR, 1)
    return chip


@pytest.fixture
def chip() -> Chip:
    return connected()


def exchange(chip: Chip, *command: int, answer: int = 0) -> bytes:
    """One transaction with chip select left to the SSI: what comes back after the command."""
    for byte in [*command, *[0] * answer]:
        chip.write(DR0, byte)
    chip.wait(lambda: chip.read(SR) & (BUSY | TFE) == TFE)
    received = bytes(chip.read(DR0) for _ in range(len(command) + answer))
    return received[len(command) :]


def configure(chip: Chip, ctrlr0: int, spi_ctrlr0: int, baudr: int) -> None:
    chip.write(SSIENR, 0)
    chip.write(BAUDR, baudr)
    chip.write(CTRLR0, ctrlr0)
    chip.write(CTRLR1, 0)
    chip.write(SPI_CTRLR0, spi_ctrlr0)
    chip.write(SSIENR, 1)


def enter_continuous_read(chip: Chip, baudr: int = 2) -> None:
    """What the pico-sdk's boot2 does with a W25Q part whose QE is set."""
    configure(chip, EEPROM_READ_QUAD, ENTER_EBH, baudr)
    chip.write(DR0, 0xEB)
    chip.write(DR0, 0xA0)
    chip.wait(lambda: chip.read(SR) & (BUSY | TFE) == TFE)
    configure(chip, EEPROM_READ_QUAD, CONTINUOUS_EBH, baudr)


def miss_cycles(chip: Chip) -> int:
    return chip.machine.counter(Counter.XIP_MISS_CYCLES)


# ---- by hand ----


def test_identity_and_status(chip: Chip) -> None:
    assert exchange(chip, 0x9F, answer=3) == bytes.fromhex("ef4015")
    assert exchange(chip, 0x05, answer=1) == b"\x00"
    assert exchange(chip, 0x35, answer=1) == b"\x02"
    assert chip.message == ""


def test_unique_id(chip: Chip) -> None:
    assert exchange(chip, 0x4B, 0, 0, 0, 0, answer=8) == bytes.fromhex("e660583883123456")
    chip.machine.set_unique_id(bytes(range(1, 9)))
    assert exchange(chip, 0x4B, 0, 0, 0, 0, answer=8) == bytes(range(1, 9))


def test_read_data(chip: Chip) -> None:
    chip.machine.load_flash(0x012344, b"\x00\x11\x22\x33\x44")
    assert exchange(chip, 0x03, 0x01, 0x23, 0x45, answer=4) == b"\x11\x22\x33\x44"


def test_bytes_take_their_time_on_the_wire(chip: Chip) -> None:
    chip.write(DR0, 0x35)
    chip.write(DR0, 0)
    end = chip.cycles + 2 * 8 * 6
    assert chip.read(SR) & (BUSY | TFE | RFNE) == BUSY
    chip.run_to(end - 48)
    assert chip.read(SR) & (BUSY | TFE | RFNE) == BUSY | TFE | RFNE
    chip.run_to(end - 1)
    assert chip.read(SR) & BUSY
    chip.run_to(end)
    assert chip.read(SR) & (BUSY | TFE | RFNE) == TFE | RFNE


def test_a_pause_ends_the_transaction_when_the_ssi_drives_chip_select(chip: Chip) -> None:
    chip.write(DR0, 0x9F)
    chip.run_for(100)
    chip.write(DR0, 0x05)  # a command of its own, no byte of the identity
    chip.run_for(100)
    chip.write(DR0, 0x35)
    chip.write(DR0, 0x00)
    chip.run_for(100)
    assert [chip.read(DR0) for _ in range(4)] == [0xFF, 0xFF, 0xFF, 0x02]


def test_a_pause_does_not_when_io_qspi_holds_it_low(chip: Chip) -> None:
    chip.write(SS_CTRL, 2 << 8)
    received = []
    for byte in (0x9F, 0, 0, 0):
        chip.write(DR0, byte)
        chip.run_for(1000)
        received.append(chip.read(DR0))
    chip.write(SS_CTRL, 3 << 8)
    assert received == [0xFF, 0xEF, 0x40, 0x15]
    chip.write(DR0, 0x35)
    chip.write(DR0, 0)
    chip.run_for(100)
    assert [chip.read(DR0) for _ in range(2)] == [0xFF, 0xFF]  # chip select is held high


def test_setting_quad_enable() -> None:
    chip = connected()
    chip.machine.set_switch("flash_quad_enable", 0)
    assert exchange(chip, 0x35, answer=1) == b"\x00"
    exchange(chip, 0x01, 0x00, 0x02)
    assert exchange(chip, 0x35, answer=1) == b"\x00"  # no write enable before it
    exchange(chip, 0x06)
    assert exchange(chip, 0x05, answer=1) == b"\x02"
    exchange(chip, 0x01, 0x00, 0x02)
    assert exchange(chip, 0x05, answer=1) == b"\x01"
    chip.run_for(6_500_000 // 100)
    assert exchange(chip, 0x05, answer=1) == b"\x00"
    assert exchange(chip, 0x35, answer=1) == b"\x02"
    exchange(chip, 0x06)
    exchange(chip, 0x31, 0x00)
    chip.run_for(6_500_000 // 100)
    assert exchange(chip, 0x35, answer=1) == b"\x00"
    assert chip.message == ""


def test_an_unknown_flash_command(chip: Chip) -> None:
    chip.write(DR0, 0xC7)
    assert chip.message.startswith("SPI flash command C7h is not modelled")


# ---- set-up ----


def test_serial_read_costs_384_cycles_at_divider_4(chip: Chip) -> None:
    configure(chip, EEPROM_READ_STANDARD, READ_03H, 4)
    assert miss_cycles(chip) == 384
    assert chip.message == ""


def test_continuous_quad_read_costs_56_cycles_at_divider_2(chip: Chip) -> None:
    assert miss_cycles(chip) == 0
    enter_continuous_read(chip)
    assert miss_cycles(chip) == 56
    assert chip.message == ""


def test_the_cost_follows_the_divider(chip: Chip) -> None:
    enter_continuous_read(chip, baudr=4)
    assert miss_cycles(chip) == 112


@pytest.mark.parametrize(
    ("spi_frf", "spi_ctrlr0", "clocks"),
    [
        (0, 0x0B000218 | 8 << 11, 8 + 24 + 8 + 64),
        (1, 0x3B000218 | 8 << 11, 8 + 24 + 8 + 32),
        (1, 0xBB000219 | 4 << 11, 8 + 12 + 4 + 32),
        (2, 0x6B000218 | 8 << 11, 8 + 24 + 8 + 16),
        (2, 0xEB000219 | 6 << 11, 8 + 6 + 6 + 16),
    ],
)
def test_other_read_commands(chip: Chip, spi_frf: int, spi_ctrlr0: int, clocks: int) -> None:
    configure(chip, 0x001F0300 | spi_frf << 21, spi_ctrlr0, 2)
    assert miss_cycles(chip) == 2 * clocks
    assert chip.message == ""


def test_boards_yaml_contradicted_by_the_image() -> None:
    chip = connected()
    chip.machine.set_switch("xip_miss_cycles", 56)
    configure(chip, EEPROM_READ_STANDARD, READ_03H, 4)
    assert chip.message.startswith(
        "boards.yaml says 56 cycles a miss, the flash set-up of this image gives 384 "
    )


def test_boards_yaml_confirmed_by_the_image() -> None:
    chip = connected()
    chip.machine.set_switch("xip_miss_cycles", 56)
    enter_continuous_read(chip)
    assert chip.message == ""


@pytest.mark.parametrize("register", [CTRLR0, CTRLR1, BAUDR, RX_SAMPLE_DLY, SPI_CTRLR0])
def test_changing_the_ssi_while_it_is_enabled(chip: Chip, register: int) -> None:
    before = chip.read(register)
    chip.write(register, 0x55)
    assert "is written while SSIENR is 1: it keeps its value" in chip.message
    assert chip.read(register) == before


def test_quad_without_quad_enable() -> None:
    chip = connected()
    chip.machine.set_switch("flash_quad_enable", 0)
    enter_continuous_read(chip)
    assert chip.message.startswith("quad read EBh while QE in status register 2 is 0")
    assert miss_cycles(chip) == 0


def test_continuous_set_up_without_entering_it_first(chip: Chip) -> None:
    configure(chip, EEPROM_READ_QUAD, CONTINUOUS_EBH, 2)
    assert miss_cycles(chip) == 0


def test_commands_in_continuous_read_need_ffh_first(chip: Chip) -> None:
    enter_continuous_read(chip)
    configure(chip, TXRX_8, 0, 6)
    assert miss_cycles(chip) == 0
    exchange(chip, 0xFF, 0xFF)
    assert chip.message == ""
    assert exchange(chip, 0x35, answer=1) == b"\x02"
    enter_continuous_read(chip)
    configure(chip, TXRX_8, 0, 6)
    chip.write(DR0, 0x35)
    assert chip.message.startswith("SPI byte 35h while the flash is in continuous read mode")


def test_the_flash_stays_in_continuous_read_over_a_system_reset(chip: Chip) -> None:
    enter_continuous_read(chip)
    chip.machine.reset()
    assert miss_cycles(chip) == 0
    chip.machine.run(chip.cycles + 1)  # the boot ROM leaves the mode before it reads
    assert chip.message == ""
    assert chip.machine.boot_state().startswith("boot2 CRC is")


def test_a_program_that_runs_from_flash_before_the_set_up(chip: Chip) -> None:
    # ldr r0, [pc]; ldr r0, [r0]; b .; the word it loads is CPUID of the SIO
    code = bytes.fromhex("01480068fee7c046000000d0")
    chip.machine.load_flash(0x1000, code)
    chip.jump(XIP + 0x1000)
    assert chip.machine.run(chip.cycles + 100) == Stop.STRICT
    assert chip.message.startswith(
        "the program runs from flash, but the SSI is not set up for XIP: CTRLR0 is not set to "
        "EEPROM read with 32-bit frames"
    )
    chip = connected()
    chip.machine.load_flash(0x1000, code)
    enter_continuous_read(chip)
    chip.jump(XIP + 0x1000)
    assert chip.machine.run(chip.cycles + 200) == Stop.RAN


def test_resetting_the_qspi_pins_takes_flash_away(chip: Chip) -> None:
    enter_continuous_read(chip)
    chip.write(RESETS + SET, 1 << 6)
    assert miss_cycles(chip) == 0
    chip.write(RESETS + CLR, 1 << 6)
    assert miss_cycles(chip) == 0  # FUNCSEL is null after reset
    for pin in range(6):
        chip.write(IO_QSPI + 8 * pin + 4, 0)
    assert miss_cycles(chip) == 56


# ---- XIP control ----


def test_cache_counters_and_flush(chip: Chip) -> None:
    enter_continuous_read(chip)
    # ldr r1, [pc, #8] (0x10001010); b .
    chip.machine.load_flash(0x1000, bytes.fromhex("0349fee7c046c046"))
    chip.write(CTR_HIT, 0)
    chip.write(CTR_ACC, 0)
    chip.jump(XIP + 0x1000)
    chip.machine.run(chip.cycles + 150)
    accesses, hits = chip.read(CTR_ACC), chip.read(CTR_HIT)
    assert (accesses, hits) == (2, 0)  # a line of code, a line of data, both for the first time
    chip.jump(XIP + 0x1000)
    chip.machine.run(chip.cycles + 150)
    assert chip.read(CTR_ACC) - chip.read(CTR_HIT) == 2
    chip.write(XIP_FLUSH, 1)
    chip.sleep_in_sram()
    chip.machine.run(chip.cycles + 1)
    chip.jump(XIP + 0x1000)
    chip.machine.run(chip.cycles + 150)
    assert chip.read(CTR_ACC) - chip.read(CTR_HIT) == 4
    chip.write(CTR_ACC, 0xFFFF)
    assert chip.read(CTR_ACC) == 0


def test_switching_the_cache_off_is_not_modelled(chip: Chip) -> None:
    chip.write(0x14000000 + CLR, 1)
    assert chip.message.startswith("the XIP cache is switched off")


def test_streaming_is_not_modelled(chip: Chip) -> None:
    chip.write(0x14000018, 0)
    assert chip.message == ""
    chip.write(0x14000018, 4)
    assert "XIP_CTRL+0x018 is not modelled" in chip.message
