# SPDX-License-Identifier: Apache-2.0
"""USB controller: attachment, SETUP, buffers, stalls, toggles, interrupts and events."""

from __future__ import annotations

import struct

import pytest

from harness.emulator.machine import Stop, UsbEvent
from tests.emulator.rp2040_chip import (
    CLOCK_STEPS,
    CLR,
    DPRAM,
    RESETS,
    SET,
    USB,
    USB_BIT,
    USB_STEPS,
    Chip,
    pull_up,
    started,
)

MAIN_CTRL, SOF_RD, SIE_CTRL, SIE_STATUS = USB + 0x40, USB + 0x48, USB + 0x4C, USB + 0x50
BUFF_STATUS, CPU_SHOULD_HANDLE, EP_ABORT, ABORT_DONE = (USB + at for at in (0x58, 0x5C, 0x60, 0x64))
STALL_ARM, STALL_NAK, INTR, INTE, INTS = (USB + at for at in (0x68, 0x70, 0x8C, 0x90, 0x98))
NVIC_ISPR = 0xE000E200
FULL, DATA1, SELECT_RESET, STALL, AVAILABLE = 1 << 15, 1 << 13, 1 << 12, 1 << 11, 1 << 10
ENABLE, DOUBLE, PER_BUFFER, PER_TWO = 1 << 31, 1 << 30, 1 << 29, 1 << 28
BUS_RESET, SETUP_REC, DATA_SEQ_ERROR = 1 << 19, 1 << 17, 1 << 31
NAK, STALLED = -1, -2
GET_DEVICE = struct.pack("<BBHHH", 0x80, 6, 0x100, 0, 18)


def endpoint_control(number: int, out: bool = False) -> int:
    return DPRAM + 8 * number + 4 * out


def buffer_control(number: int, out: bool = False) -> int:
    return DPRAM + 0x80 + 8 * number + 4 * out


@pytest.fixture
def chip() -> Chip:
    chip = started(*CLOCK_STEPS, *USB_STEPS)
    for word in range(0x80, 0x100, 4):
        chip.write(DPRAM + word, 0)
    chip.write(endpoint_control(2), ENABLE | PER_BUFFER | 2 << 26 | 0x200)
    chip.write(endpoint_control(2, out=True), ENABLE | PER_BUFFER | 2 << 26 | 0x180)
    chip.machine.usb_bus_reset(True)
    chip.machine.usb_bus_reset(False)
    chip.write(SIE_STATUS, BUS_RESET)
    chip.usb_events()
    return chip


def fill(chip: Chip, offset: int, data: bytes) -> None:
    chip.machine.bus_write_block(DPRAM + offset, data)


# ---- attachment ----


def test_attach_and_detach_are_noticed() -> None:
    chip = started(*CLOCK_STEPS, *USB_STEPS)
    events, cycle = chip.machine.usb_events()
    assert UsbEvent(events) == UsbEvent.ATTACH
    assert cycle == chip.cycles
    assert chip.usb_events() == UsbEvent(0)
    chip.write(SIE_CTRL + CLR, 1 << 16)
    assert chip.usb_events() == UsbEvent.DETACH
    chip.write(SIE_CTRL + SET, 1 << 16)
    assert chip.usb_events() == UsbEvent.ATTACH
    chip.run_for(100)
    cycle = chip.cycles
    chip.machine.reset()
    assert chip.machine.usb_events() == (UsbEvent.DETACH, cycle)


@pytest.mark.parametrize("register", [RESETS + SET, 0x40008054 + CLR, MAIN_CTRL + CLR])
def test_whatever_takes_the_device_away_detaches_it(chip: Chip, register: int) -> None:
    chip.write(register, {RESETS + SET: USB_BIT, MAIN_CTRL + CLR: 1}.get(register, 1 << 11))
    assert chip.usb_events() == UsbEvent.DETACH


def test_an_event_stops_a_run_that_asks_for_it() -> None:
    chip = started(*CLOCK_STEPS, *USB_STEPS[:-1])
    chip.machine.stop_on_usb(True)
    pull_up(chip)
    assert chip.machine.run(chip.cycles + 1000) == Stop.USB
    assert chip.machine.run(chip.cycles + 1000) == Stop.RAN


# ---- control transfers ----


def test_setup_packet(chip: Chip) -> None:
    chip.write(buffer_control(0), FULL | AVAILABLE | 5)
    chip.write(STALL_ARM, 3)
    chip.machine.usb_setup(GET_DEVICE)
    assert chip.machine.bus_read_block(DPRAM, 8) == GET_DEVICE
    assert chip.read(SIE_STATUS) & SETUP_REC
    assert chip.read(STALL_ARM) == 0
    assert chip.read(buffer_control(0)) == FULL | AVAILABLE | 5  # left alone
    chip.write(SIE_STATUS + CLR, SETUP_REC)
    assert not chip.read(SIE_STATUS) & SETUP_REC


def test_endpoint_0_answers(chip: Chip) -> None:
    assert chip.machine.usb_in(0) == NAK
    fill(chip, 0x100, b"descriptor")
    chip.write(buffer_control(0), FULL | DATA1 | 10)
    assert chip.machine.usb_in(0) == NAK
    chip.write(buffer_control(0), FULL | DATA1 | AVAILABLE | 10)
    assert chip.machine.usb_in(0) == (b"descriptor", 1)
    assert chip.read(buffer_control(0)) == DATA1 | 10
    assert chip.read(BUFF_STATUS) == 1
    assert chip.machine.usb_in(0) == NAK
    chip.write(BUFF_STATUS, 1)
    assert chip.read(BUFF_STATUS) == 0


def test_endpoint_0_takes_data(chip: Chip) -> None:
    assert chip.machine.usb_out(0, b"1234567", 1) == NAK
    chip.write(buffer_control(0, out=True), DATA1 | AVAILABLE | 64)
    assert chip.machine.usb_out(0, b"1234567", 1) == 7
    assert chip.read(buffer_control(0, out=True)) == FULL | DATA1 | 7
    assert chip.machine.bus_read_block(DPRAM + 0x100, 7) == b"1234567"
    assert chip.read(BUFF_STATUS) == 2


def test_endpoint_0_reports_no_buffer_without_its_interrupt_bit(chip: Chip) -> None:
    chip.write(SIE_CTRL + CLR, 1 << 29)
    chip.write(buffer_control(0), FULL | AVAILABLE)
    assert chip.machine.usb_in(0) == (b"", 0)
    assert chip.read(BUFF_STATUS) == 0


def test_a_stall_on_endpoint_0_has_to_be_armed(chip: Chip) -> None:
    chip.write(buffer_control(0), STALL)
    assert chip.machine.usb_in(0) == NAK
    assert chip.usb_events() == UsbEvent(0)
    chip.write(STALL_ARM, 1)
    assert chip.usb_events() == UsbEvent.STALLED
    assert chip.machine.usb_in(0) == STALLED
    chip.machine.usb_setup(GET_DEVICE)
    assert chip.machine.usb_in(0) == NAK


# ---- bulk ----


def test_bulk_in_and_out(chip: Chip) -> None:
    fill(chip, 0x200, bytes(range(64)))
    chip.write(buffer_control(2), FULL | AVAILABLE | 64)
    chip.write(buffer_control(2, out=True), DATA1 | AVAILABLE | 64)
    assert chip.machine.usb_in(2) == (bytes(range(64)), 0)
    assert chip.machine.usb_out(2, b"line\n", 1) == 5
    assert chip.machine.bus_read_block(DPRAM + 0x180, 5) == b"line\n"
    assert chip.read(BUFF_STATUS) == 1 << 4 | 1 << 5
    assert chip.machine.usb_out(2, b"more", 0) == NAK


def test_a_bulk_stall_needs_no_arming(chip: Chip) -> None:
    chip.write(buffer_control(2), STALL)
    assert chip.machine.usb_in(2) == STALLED


def test_an_endpoint_that_is_not_enabled_answers_nothing(chip: Chip) -> None:
    chip.write(buffer_control(3), FULL | AVAILABLE | 4)
    assert chip.machine.usb_in(3) == NAK


def test_a_repeated_packet_is_taken_and_thrown_away(chip: Chip) -> None:
    chip.write(buffer_control(2, out=True), DATA1 | AVAILABLE | 64)
    assert chip.machine.usb_out(2, b"again", 0) == 5
    assert chip.read(SIE_STATUS) & DATA_SEQ_ERROR
    assert chip.read(BUFF_STATUS) == 0
    assert chip.read(buffer_control(2, out=True)) == DATA1 | AVAILABLE | 64


def test_an_aborted_endpoint_naks(chip: Chip) -> None:
    chip.write(buffer_control(2), FULL | AVAILABLE | 4)
    chip.write(EP_ABORT, 1 << 4)
    assert chip.read(ABORT_DONE) == 1 << 4
    assert chip.machine.usb_in(2) == NAK
    chip.write(EP_ABORT, 0)
    chip.write(ABORT_DONE, 1 << 4)
    assert chip.read(ABORT_DONE) == 0
    assert chip.machine.usb_in(2) == (bytes(4), 0)


def test_double_buffers_alternate_with_one_interrupt_for_two(chip: Chip) -> None:
    chip.write(endpoint_control(2), ENABLE | DOUBLE | PER_TWO | 2 << 26 | 0x200)
    fill(chip, 0x200, b"A" * 64)
    fill(chip, 0x240, b"B" * 32)
    one, two = FULL | AVAILABLE | 64, FULL | DATA1 | AVAILABLE | 32
    chip.write(buffer_control(2), two << 16 | one | SELECT_RESET)
    assert chip.machine.usb_in(2) == (b"A" * 64, 0)
    assert chip.read(BUFF_STATUS) == 0
    assert chip.machine.usb_in(2) == (b"B" * 32, 1)
    assert chip.read(BUFF_STATUS) == 1 << 4
    assert chip.machine.usb_in(2) == NAK


def test_double_buffers_with_an_interrupt_each_say_which(chip: Chip) -> None:
    chip.write(endpoint_control(2, True), ENABLE | DOUBLE | PER_BUFFER | 2 << 26 | 0x180)
    available = AVAILABLE | 64
    chip.write(buffer_control(2, True), (available | DATA1) << 16 | available)
    assert chip.machine.usb_out(2, b"first", 0) == 5
    assert (chip.read(BUFF_STATUS), chip.read(CPU_SHOULD_HANDLE)) == (1 << 5, 0)
    chip.write(BUFF_STATUS, 1 << 5)
    assert chip.machine.usb_out(2, b"second", 1) == 6
    assert (chip.read(BUFF_STATUS), chip.read(CPU_SHOULD_HANDLE)) == (1 << 5, 1 << 5)
    assert chip.machine.bus_read_block(DPRAM + 0x1C0, 6) == b"second"


def test_the_buffer_select_can_be_reset(chip: Chip) -> None:
    chip.write(endpoint_control(2), ENABLE | DOUBLE | PER_BUFFER | 2 << 26 | 0x200)
    fill(chip, 0x200, b"0")
    fill(chip, 0x240, b"1")
    chip.write(buffer_control(2), FULL | AVAILABLE | 1)
    assert chip.machine.usb_in(2) == (b"0", 0)
    chip.write(buffer_control(2), FULL | AVAILABLE | 1)
    assert chip.machine.usb_in(2) == NAK  # buffer 1 is next
    chip.write(buffer_control(2), FULL | AVAILABLE | 1 | SELECT_RESET)
    assert chip.machine.usb_in(2) == (b"0", 0)


def test_a_buffer_outside_dpram(chip: Chip) -> None:
    chip.write(endpoint_control(2), ENABLE | DOUBLE | PER_BUFFER | 2 << 26 | 0xFC0)
    chip.write(buffer_control(2), (FULL | AVAILABLE | 64) << 16 | FULL | AVAILABLE | 64)
    assert isinstance(chip.machine.usb_in(2), tuple)
    assert chip.machine.usb_in(2) == NAK
    assert chip.message.startswith("USB buffer at DPRAM+0x1000 of 64 bytes")


# ---- what an idle host notices ----


def test_buffers_that_become_ready(chip: Chip) -> None:
    chip.write(buffer_control(2), FULL | 8)
    assert chip.usb_events() == UsbEvent(0)
    chip.write(buffer_control(2), FULL | AVAILABLE | 8)
    assert chip.usb_events() == UsbEvent.IN_READY
    chip.write(buffer_control(2), FULL | AVAILABLE | 8)
    assert chip.usb_events() == UsbEvent(0)
    chip.write(buffer_control(2, out=True), AVAILABLE | 64)
    assert chip.usb_events() == UsbEvent.OUT_READY
    chip.write(buffer_control(0), FULL | AVAILABLE | 8)
    chip.write(buffer_control(0, out=True), AVAILABLE)
    assert chip.usb_events() == UsbEvent.IN_READY | UsbEvent.OUT_READY
    chip.write(buffer_control(2) + 2, (FULL | AVAILABLE), size=2)
    assert chip.usb_events() == UsbEvent.IN_READY
    chip.write(buffer_control(2, out=True), STALL)
    assert chip.usb_events() == UsbEvent.STALLED


def test_the_cycle_of_the_first_event(chip: Chip) -> None:
    first = chip.cycles
    chip.write(buffer_control(2), FULL | AVAILABLE | 8)
    chip.run_for(1000)
    chip.write(buffer_control(2, out=True), AVAILABLE | 64)
    assert chip.machine.usb_events() == (UsbEvent.IN_READY | UsbEvent.OUT_READY, first)


# ---- bus reset, SOF, interrupts ----


def test_bus_reset(chip: Chip) -> None:
    chip.machine.usb_bus_reset(True)
    assert chip.read(SIE_STATUS) & (BUS_RESET | 1 << 16 | 3 << 2) == BUS_RESET
    chip.write(buffer_control(2), FULL | AVAILABLE | 8)
    assert chip.machine.usb_in(2) == NAK
    chip.machine.usb_bus_reset(False)
    assert chip.read(SIE_STATUS) & (1 << 16 | 3 << 2) == 1 << 16 | 1 << 2
    chip.write(SIE_STATUS, BUS_RESET)
    assert not chip.read(SIE_STATUS) & BUS_RESET


def test_reading_sof_clears_its_interrupt(chip: Chip) -> None:
    chip.write(INTE, 1 << 17)
    chip.machine.usb_sof(0x9ABC)
    assert chip.read(INTS) == 1 << 17
    assert chip.read(SOF_RD) == 0x2BC
    assert chip.read(INTS) == 0


def test_interrupt_line(chip: Chip) -> None:
    chip.run_for(1)
    assert chip.read(NVIC_ISPR) == 0
    chip.write(INTE, 1 << 16 | 1 << 4)
    chip.machine.usb_setup(GET_DEVICE)
    assert chip.read(INTR) & 1 << 16
    assert chip.read(INTS) == 1 << 16
    chip.run_for(1)
    assert chip.read(NVIC_ISPR) == 1 << 5
    chip.write(SIE_STATUS, SETUP_REC)
    assert chip.read(INTS) == 0


def test_stall_and_nak_flags_only_where_asked_for(chip: Chip) -> None:
    assert chip.machine.usb_in(2) == NAK
    assert chip.read(STALL_NAK) == 0
    chip.write(endpoint_control(2), ENABLE | PER_BUFFER | 1 << 16 | 2 << 26 | 0x200)
    assert chip.machine.usb_in(2) == NAK
    assert chip.read(STALL_NAK) == 1 << 4
    assert chip.read(INTR) & 1 << 19
    chip.write(STALL_NAK, 1 << 4)
    assert chip.read(STALL_NAK) == 0


def test_nothing_answers_when_detached(chip: Chip) -> None:
    chip.write(buffer_control(2), FULL | AVAILABLE | 8)
    chip.write(SIE_CTRL + CLR, 1 << 16)
    assert chip.machine.usb_in(2) == NAK
    chip.machine.usb_setup(GET_DEVICE)
    assert not chip.read(SIE_STATUS) & SETUP_REC


def test_a_reset_of_the_block_keeps_dpram_and_loses_registers(chip: Chip) -> None:
    fill(chip, 0x300, b"kept")
    chip.write(RESETS + SET, USB_BIT)
    chip.write(RESETS + CLR, USB_BIT)
    assert chip.machine.bus_read_block(DPRAM + 0x300, 4) == b"kept"
    assert chip.read(MAIN_CTRL) == 0
    assert chip.read(USB + 0x84) == 0x1F1F
