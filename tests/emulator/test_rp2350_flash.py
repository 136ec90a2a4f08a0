# SPDX-License-Identifier: Apache-2.0
"""RP2350: QMI direct mode, the cost of a cache miss by its set-up, XIP control, maintenance."""

from __future__ import annotations

import pytest

from harness.emulator.machine import Counter, Stop
from tests.emulator.rp2350_chip import (
    CLOCK_STEPS,
    CLR,
    DIRECT_CSR,
    DIRECT_RX,
    DIRECT_TX,
    IO_QSPI,
    M0_RCMD,
    M0_RFMT,
    M0_TIMING,
    MAINTENANCE,
    PADS_QSPI,
    PADS_QSPI_BIT,
    QMI,
    RESETS,
    SET,
    SRAM,
    UNCACHED,
    UNTRANSLATED,
    USB_STEPS,
    XIP,
    XIP_CTRL,
    Chip,
    booted,
    connect_flash,
    connected,
    image,
    started,
)

EN, BUSY, ASSERT_CS0N, AUTO_CS0N = 1, 2, 4, 1 << 6
TXFULL, TXEMPTY, RXEMPTY, RXFULL = 1 << 10, 1 << 11, 1 << 16, 1 << 17
NOPUSH, DWIDTH, OE = 1 << 20, 1 << 18, 1 << 19
CLKDIV_30 = 30 << 22
COOLDOWN = 1 << 30
QUAD = 2 << 2 | 2 << 4 | 2 << 6 | 2 << 8  # address, suffix, dummy, data
PREFIX, SUFFIX, DUMMY_4 = 1 << 12, 2 << 14, 4 << 16
EBH_CONTINUOUS = QUAD | SUFFIX | DUMMY_4
CTR_HIT, CTR_ACC = XIP_CTRL + 0x0C, XIP_CTRL + 0x10


@pytest.fixture
def chip() -> Chip:
    return connected()


def miss_cycles(chip: Chip) -> int:
    return chip.machine.counter(Counter.XIP_MISS_CYCLES)


def exchange(chip: Chip, *command: int, answer: int = 0) -> bytes:
    """One transaction with chip select from AUTO_CS0N: what comes back after the command."""
    chip.write(DIRECT_CSR, CLKDIV_30 | AUTO_CS0N | EN)
    received = bytearray()
    waiting = [*command, *[0] * answer]
    while len(received) < len(command) + answer:
        status = chip.read(DIRECT_CSR)
        if waiting and not status & TXFULL:
            chip.write(DIRECT_TX, waiting.pop(0))
        elif not status & RXEMPTY:
            received.append(chip.read(DIRECT_RX))
        else:
            chip.run_for(10)
    chip.wait(lambda: not chip.read(DIRECT_CSR) & BUSY)
    chip.write(DIRECT_CSR + CLR, EN)
    return bytes(received[len(command) :])


def configure(chip: Chip, timing: int, rfmt: int, rcmd: int) -> None:
    chip.write(M0_TIMING, timing)
    chip.write(M0_RCMD, rcmd)
    chip.write(M0_RFMT, rfmt)


def enter_continuous_read(chip: Chip, divider: int = 2) -> None:
    """What the pico-sdk's XIP set-up does with a W25Q part whose QE is set."""
    configure(chip, COOLDOWN | 2 << 8 | divider, EBH_CONTINUOUS | PREFIX, 0xA0EB)
    chip.read(UNCACHED, 1)
    chip.write(M0_RFMT, EBH_CONTINUOUS)


# ---- direct mode ----


def test_identity_status_and_unique_id(chip: Chip) -> None:
    assert exchange(chip, 0x9F, answer=3) == bytes.fromhex("ef4016")
    assert exchange(chip, 0x35, answer=1) == b"\x02"
    assert exchange(chip, 0x4B, 0, 0, 0, 0, answer=8) == bytes.fromhex("e660583883123456")
    assert chip.message == ""


def test_setting_quad_enable(chip: Chip) -> None:
    chip.machine.set_switch("flash_quad_enable", 0)
    exchange(chip, 0x06)
    exchange(chip, 0x01, 0x00, 0x02)
    assert exchange(chip, 0x05, answer=1) == b"\x01"
    chip.run_for(11_000_000 // 100)
    assert exchange(chip, 0x05, answer=1) == b"\x00"
    assert exchange(chip, 0x35, answer=1) == b"\x02"


def test_chip_select_by_hand_joins_frames(chip: Chip) -> None:
    chip.write(DIRECT_CSR, CLKDIV_30 | ASSERT_CS0N | EN)
    received = []
    for byte in (0x9F, 0, 0, 0):
        chip.write(DIRECT_TX, byte)
        chip.run_for(1000)
        received.append(chip.read(DIRECT_RX))
    assert received == [0xFF, 0xEF, 0x40, 0x16]
    chip.write(DIRECT_CSR + CLR, ASSERT_CS0N)
    chip.write(DIRECT_CSR + SET, AUTO_CS0N)
    for byte in (0x35, 0x05):  # two transactions: the second byte is no answer to the first
        chip.write(DIRECT_TX, byte)
        chip.run_for(1000)
    assert [chip.read(DIRECT_RX), chip.read(DIRECT_RX)] == [0xFF, 0xFF]
    assert chip.message == ""


def test_a_frame_takes_its_time_on_the_wire(chip: Chip) -> None:
    chip.write(DIRECT_CSR, 5 << 22 | AUTO_CS0N | EN)
    assert chip.read(DIRECT_CSR) & (BUSY | TXEMPTY | RXEMPTY) == TXEMPTY | RXEMPTY
    at = chip.cycles
    chip.write(DIRECT_TX, 0x35)
    chip.write(DIRECT_TX, 0)
    assert chip.read(DIRECT_CSR) >> 12 & 7 == 1  # TXLEVEL: one waits, one is on the wire
    chip.run_to(at + 40 - 1)
    assert chip.read(DIRECT_CSR) >> 18 & 7 == 0
    chip.run_to(at + 40)
    assert chip.read(DIRECT_CSR) >> 18 & 7 == 1
    chip.run_to(at + 80 - 1)
    assert chip.read(DIRECT_CSR) & BUSY
    chip.run_to(at + 80)
    assert not chip.read(DIRECT_CSR) & BUSY
    assert chip.read(DIRECT_RX) == 0xFF
    assert chip.read(DIRECT_RX) == 0x02


def test_a_full_receive_fifo_stalls_and_loses_nothing(chip: Chip) -> None:
    chip.machine.load_flash(0, bytes(range(1, 9)))
    chip.write(DIRECT_CSR, 2 << 22 | ASSERT_CS0N | EN)
    for word in (0x03 | NOPUSH, NOPUSH, NOPUSH, NOPUSH):
        chip.write(DIRECT_TX, word)
        chip.run_for(100)
    for _ in range(6):
        chip.write(DIRECT_TX, 0)
        chip.run_for(100)
    status = chip.read(DIRECT_CSR)
    assert status & (BUSY | RXFULL) == BUSY | RXFULL
    assert (status >> 18 & 7, status >> 12 & 7) == (4, 2)
    received: list[int] = []
    while len(received) < 6:
        received.append(chip.read(DIRECT_RX))
        chip.run_for(100)
    assert received == [1, 2, 3, 4, 5, 6]
    assert chip.message == ""


def test_sixteen_bit_frames_send_the_lower_byte_first(chip: Chip) -> None:
    chip.write(DIRECT_CSR, 4 << 22 | AUTO_CS0N | EN)
    at = chip.cycles
    chip.write(DIRECT_TX, DWIDTH | 0x0035)
    chip.run_to(at + 63)
    assert chip.read(DIRECT_CSR) & RXEMPTY
    chip.run_to(at + 64)
    assert chip.read(DIRECT_RX) == 0x02FF


@pytest.mark.parametrize(
    ("csr", "frame", "message"),
    [
        (AUTO_CS0N, 0x35, "QMI DIRECT_TX while DIRECT_CSR.EN is 0: it is lost"),
        (EN, 0x35, "QMI DIRECT_TX without a chip select: nobody listens"),
        (EN | AUTO_CS0N, 2 << 16 | OE | 0xFF, "QMI direct mode on more than one data line"),
        (EN | AUTO_CS0N, 0xC7, "SPI flash command C7h is not modelled"),
    ],
)
def test_what_goes_wrong_silently(chip: Chip, csr: int, frame: int, message: str) -> None:
    chip.write(DIRECT_CSR, CLKDIV_30 | csr)
    chip.write(DIRECT_TX, frame)
    assert chip.message.startswith(message)


def test_more_than_the_transmit_fifo_holds(chip: Chip) -> None:
    chip.write(DIRECT_CSR, CLKDIV_30 | AUTO_CS0N | EN)
    for _ in range(5):  # one on the wire, four wait
        chip.write(DIRECT_TX, 0x05)
    assert chip.read(DIRECT_CSR) & TXFULL
    assert chip.message == ""
    chip.write(DIRECT_TX, 0x05)
    assert chip.message.startswith("QMI DIRECT_TX while its FIFO is full")


def test_leaving_direct_mode_in_the_middle(chip: Chip) -> None:
    chip.write(DIRECT_CSR, CLKDIV_30 | AUTO_CS0N | EN)
    chip.write(DIRECT_TX, 0x35)
    chip.write(DIRECT_CSR + CLR, EN)
    assert chip.message.startswith("QMI DIRECT_CSR ends a transfer that is still BUSY")


# ---- the cost of a miss ----


def test_the_reset_set_up_reads_serially(chip: Chip) -> None:
    assert miss_cycles(chip) == (24 + 64) * 4
    assert miss_cycles(started()) == 0  # pins not connected


@pytest.mark.parametrize(("divider", "cycles"), [(1, 28), (2, 56), (3, 84), (4, 112), (0, 7168)])
def test_continuous_quad_read_costs_28_clocks(chip: Chip, divider: int, cycles: int) -> None:
    enter_continuous_read(chip, divider)
    assert miss_cycles(chip) == cycles
    assert chip.message == ""


def test_what_the_boot_rom_sets_up_costs_84_cycles_and_56_at_half_the_clock() -> None:
    chip = booted(image())
    assert chip.read(M0_TIMING) == 0x60007203
    assert chip.read(M0_RFMT) == EBH_CONTINUOUS | PREFIX
    assert chip.read(M0_RCMD) == 0x00EB
    assert miss_cycles(chip) == 84
    chip.write(M0_TIMING, 0x60007202)
    assert miss_cycles(chip) == 56
    assert chip.message == ""


@pytest.mark.parametrize(
    ("cooldown", "rfmt", "rcmd", "clocks"),
    [
        (0, PREFIX, 0x03, 8 + 24 + 64),
        (1, PREFIX, 0x03, 24 + 64),
        (0, PREFIX | 2 << 16, 0x0B, 8 + 24 + 8 + 64),
        (0, PREFIX | 2 << 16 | 1 << 8, 0x3B, 8 + 24 + 8 + 32),
        (0, PREFIX | SUFFIX | 1 << 2 | 1 << 4 | 1 << 8, 0xBB, 8 + 12 + 4 + 32),
        (0, PREFIX | 2 << 16 | 2 << 8, 0x6B, 8 + 24 + 8 + 16),
        (0, PREFIX | EBH_CONTINUOUS, 0xEB, 8 + 6 + 2 + 4 + 16),
    ],
)
def test_the_cost_follows_the_format(
    chip: Chip, cooldown: int, rfmt: int, rcmd: int, clocks: int
) -> None:
    configure(chip, cooldown << 30 | 2, rfmt, rcmd)
    assert miss_cycles(chip) == 2 * clocks
    assert chip.message == ""


@pytest.mark.parametrize(
    ("rfmt", "rcmd"),
    [
        (PREFIX, 0x05),  # no read command
        (PREFIX | EBH_CONTINUOUS ^ SUFFIX, 0xEB),  # no mode bits
        (PREFIX | EBH_CONTINUOUS ^ DUMMY_4, 0xEB),  # no dummy clocks
        (PREFIX | 2 | EBH_CONTINUOUS, 0xEB),  # the command on four lines
        (EBH_CONTINUOUS, 0xA0EB),  # continuous, but never entered
        (PREFIX | EBH_CONTINUOUS | 1 << 28, 0xEB),  # DTR
    ],
)
def test_a_format_that_the_flash_does_not_answer(chip: Chip, rfmt: int, rcmd: int) -> None:
    configure(chip, 2, rfmt, rcmd)
    assert miss_cycles(chip) == 0


def test_quad_without_quad_enable(chip: Chip) -> None:
    chip.machine.set_switch("flash_quad_enable", 0)
    enter_continuous_read(chip)
    assert miss_cycles(chip) == 0


def test_mode_bits_that_end_continuous_read(chip: Chip) -> None:
    enter_continuous_read(chip)
    chip.write(M0_RCMD, 0x00EB)
    assert miss_cycles(chip) == 0


def test_a_second_read_with_the_command_is_garbage_on_silicon(chip: Chip) -> None:
    configure(chip, 2, EBH_CONTINUOUS | PREFIX, 0xA0EB)
    chip.read(UNCACHED)
    chip.read(UNCACHED + 8)
    chip.write(M0_RFMT, EBH_CONTINUOUS)
    assert chip.message.startswith("QMI: 2 reads with the command EBh and mode bits A0h")


def test_a_read_through_the_cache_enters_continuous_mode_too(chip: Chip) -> None:
    configure(chip, 2, EBH_CONTINUOUS | PREFIX, 0xA0EB)  # then b . in one line of flash
    chip.machine.load_flash(0x100, bytes.fromhex("fee7"))
    chip.jump(XIP + 0x100)
    chip.machine.run(chip.cycles + 300)
    chip.sleep_in_sram()
    chip.write(M0_RFMT, EBH_CONTINUOUS)
    assert miss_cycles(chip) == 56
    assert chip.message == ""


def test_commands_by_hand_in_continuous_read_need_ffh_first(chip: Chip) -> None:
    enter_continuous_read(chip)
    exchange(chip, 0xFF, 0xFF)
    assert exchange(chip, 0x35, answer=1) == b"\x02"
    assert chip.message == ""
    assert miss_cycles(chip) == 0
    enter_continuous_read(chip)
    chip.write(DIRECT_CSR, CLKDIV_30 | AUTO_CS0N | EN)
    chip.write(DIRECT_TX, 0x35)
    assert chip.message.startswith("SPI byte 35h while the flash is in continuous read mode")


def test_what_takes_the_flash_away(chip: Chip) -> None:
    enter_continuous_read(chip)
    chip.write(DIRECT_CSR + SET, EN)
    assert miss_cycles(chip) == 0
    chip.write(DIRECT_CSR + CLR, EN)
    assert miss_cycles(chip) == 56
    chip.write(PADS_QSPI + 4 + SET, 1 << 8)  # ISO of SCLK
    assert miss_cycles(chip) == 0
    chip.write(PADS_QSPI + 4 + CLR, 1 << 8)
    chip.write(IO_QSPI + 0x1C, 0x1F)
    assert miss_cycles(chip) == 0
    chip.write(IO_QSPI + 0x1C, 0)
    assert miss_cycles(chip) == 56
    chip.write(RESETS + SET, PADS_QSPI_BIT)
    assert miss_cycles(chip) == 0


def test_a_program_that_runs_from_flash_in_direct_mode(chip: Chip) -> None:
    # ldr r0, [pc, #4]; ldr r0, [r0]; b .; the word it loads is CPUID of the SIO
    chip.machine.load_flash(0x1000, bytes.fromhex("01480068fee7c046000000d0"))
    chip.write(DIRECT_CSR + SET, EN)
    chip.jump(XIP + 0x1000)
    assert chip.machine.run(chip.cycles + 1000) == Stop.STRICT
    assert chip.message.startswith(
        "the program runs from flash, but the QMI is not set up for XIP: direct mode is enabled"
    )


def test_boards_yaml_is_held_against_the_set_up_that_a_device_works_with() -> None:
    for expected, message in ((56, ""), (84, "boards.yaml says 84 cycles a miss")):
        chip = started(*CLOCK_STEPS, *USB_STEPS[:-1])
        connect_flash(chip)
        chip.machine.set_switch("xip_miss_cycles", expected)
        enter_continuous_read(chip)
        assert chip.message == ""
        USB_STEPS[-1](chip)
        assert chip.message.startswith(message)
        assert bool(chip.message) == bool(message)


def test_address_translation_is_not_modelled(chip: Chip) -> None:
    assert chip.read(QMI + 0x38) == 0x04000400
    chip.write(QMI + 0x38, 0x04000400)
    assert chip.message == ""
    chip.write(QMI + 0x38, 0x04000000)
    assert "address translation is not modelled" in chip.message


# ---- windows and cache ----


def test_the_uncached_windows_read_the_flash(chip: Chip) -> None:
    chip.machine.load_flash(0x1000, b"\x11\x22\x33\x44")
    for window in (UNCACHED, UNTRANSLATED):
        assert chip.read(window + 0x1000) == 0x44332211
        assert chip.read(window + 0x1002, 1) == 0x33
    chip.write(UNCACHED + 0x1000, 0)
    assert chip.read(XIP + 0x1000) == 0x44332211
    assert chip.machine.counter(Counter.DROPPED_WRITES) == 1
    assert chip.message == ""
    chip.read(UNCACHED + 0x01000000)
    assert "nothing is connected to the QMI's chip select 1" in chip.message


def test_an_uncached_read_waits_for_the_flash(chip: Chip) -> None:
    enter_continuous_read(chip)
    before = chip.cycles
    chip.read(UNCACHED)
    assert chip.cycles - before == 56


def accesses_and_hits(chip: Chip, address: int) -> tuple[int, int]:
    chip.sleep_in_sram()
    chip.machine.run(chip.cycles + 1)  # away from the line that the core executed from
    chip.write(CTR_HIT, 0)
    chip.write(CTR_ACC, 0)
    chip.jump(address)
    chip.machine.run(chip.cycles + 300)
    return chip.read(CTR_ACC), chip.read(CTR_HIT)


def test_cache_maintenance(chip: Chip) -> None:
    enter_continuous_read(chip)
    # ldr r1, [pc, #12] (0x10001010); b .: a line of code, a line of data
    chip.machine.load_flash(0x1000, bytes.fromhex("0349fee7c046c046"))
    assert accesses_and_hits(chip, XIP + 0x1000) == (2, 0)
    assert accesses_and_hits(chip, XIP + 0x1000) == (2, 2)
    for operation, hits in ((1, 2), (3, 2), (2, 1)):  # clean by set and way, clean, invalidate
        chip.write(MAINTENANCE + 0x1010 + operation, 0, size=1)
        assert accesses_and_hits(chip, XIP + 0x1000) == (2, hits)
    chip.write(MAINTENANCE + 0x2010 + 2, 0, size=1)  # another address of the same set
    assert accesses_and_hits(chip, XIP + 0x1000) == (2, 2)
    for line in range(0, 0x4000, 8):  # all sets of both ways
        chip.write(MAINTENANCE + line, 0, size=1)
    assert accesses_and_hits(chip, XIP + 0x1000) == (2, 0)
    assert chip.message == ""
    chip.write(MAINTENANCE + 7, 0, size=1)
    assert chip.message.startswith("XIP cache maintenance operation 7 is not modelled")


def test_the_maintenance_window_can_not_be_read(chip: Chip) -> None:
    assert chip.machine.bus_read(MAINTENANCE, 4) is None


@pytest.mark.parametrize(
    ("bits", "message"),
    [
        (1 << 0, "the XIP cache is switched off"),
        (1 << 9, "XIP_CTRL.CTRL 00000283"),
        (1 << 3, "XIP_CTRL.CTRL 0000008b"),
    ],
)
def test_cache_modes_that_are_not_modelled(chip: Chip, bits: int, message: str) -> None:
    chip.write(XIP_CTRL, 0x83 ^ bits)
    assert chip.message.startswith(message)


def test_sram_is_not_flash(chip: Chip) -> None:
    chip.write(SRAM, 1)
    assert chip.machine.counter(Counter.DROPPED_WRITES) == 0
