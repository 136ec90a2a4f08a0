# SPDX-License-Identifier: Apache-2.0
"""Boards: time, resets, faults, the registry, and that no way of running changes the outcome."""

from __future__ import annotations

import functools
from collections.abc import Callable

import pytest
import serial

from harness.emulator import backend, registry
from harness.emulator.board import BoardOptions, EmulatedBoard, unique_id_of
from harness.emulator.machine import Counter, UsbEvent
from harness.emulator.usbhost import HostState, HostTiming
from harness.errors import ConfigError, FirmwareFault, ProbeError
from tests.emulator.conftest import new_echo_board
from tests.emulator.echo_firmware import PATTERN, REPLUG, RESET, SEND

MS, SECOND = 1_000_000, 1_000_000_000
ProgramBoard = Callable[[str], tuple[EmulatedBoard, dict[str, int]]]

SLEEP = "loop: wfi\n b loop"
LOCK_UP = """
    ldr r0, =0x20000000
    movs r1, #0
    str r1, [r0, #12]        @ HardFault vector without its Thumb bit
    ldr r2, =0xe000ed08
    str r0, [r2]             @ VTOR
    udf #0
    .ltorg
"""
RESET_ITSELF = """
    ldr r0, =0x20000000
    ldr r1, [r0]
    adds r1, #1
    str r1, [r0]             @ starts are counted in SRAM
    cmp r1, #3
    beq done
    ldr r2, =0xe000ed0c
    ldr r3, =0x05fa0004
    str r3, [r2]             @ AIRCR.SYSRESETREQ
done: b done
    .ltorg
"""
# clk_sys from the crystal oscillator, which was never started
CLK_REF_CTRL = {"rp2040": 0x40008030, "rp2350": 0x40010030}
STRICT_CLOCK = """
    ldr r0, =CLK_REF_CTRL
    movs r1, #2
    str r1, [r0]             @ CLK_REF_CTRL.SRC = XOSC
loop: b loop
    .ltorg
"""


def test_unique_id_comes_from_the_name() -> None:
    assert unique_id_of("pico1-emu").hex() == "661266849fef999c"
    assert unique_id_of("pico2-emu").hex() == "ceda0b6a5df02726"


def test_firmware_and_host_see_the_unique_id(echo_board: EmulatedBoard) -> None:
    echo_board.advance(ns=200 * MS)
    assert echo_board.host.device is not None
    assert echo_board.host.device.serial_number == echo_board.unique_id.hex().upper()


def test_unknown_chip() -> None:
    with pytest.raises(ConfigError, match="no emulated board has the chip 'rp2050'"):
        EmulatedBoard("x", "rp2050")


def test_ns_pass_exactly_while_the_core_sleeps(program_board: ProgramBoard) -> None:
    board, _ = program_board(SLEEP)
    board.advance(ns=10 * MS)
    start = board.now_ns
    board.advance(ns=SECOND)
    assert 0 <= board.now_ns - start - SECOND < cycle_ns(board)
    assert board.machine.counter(Counter.SLEEPING) == 1


def cycle_ns(board: EmulatedBoard) -> int:
    """A cycle of the ring oscillator, on which a program starts: 154 ns or 91 ns."""
    return -(-SECOND // board.machine.counter(Counter.CLK_SYS_HZ))


def test_cycles_pass_exactly_while_the_core_sleeps(program_board: ProgramBoard) -> None:
    board, _ = program_board(SLEEP)
    board.advance(ns=10 * MS)
    board.advance(until_cycle=1_000_000)
    assert board.cycles == 1_000_000
    board.advance(cycles=12_345)
    assert board.cycles == 1_012_345


def test_ten_seconds_of_silence_cost_one_run(echo_board: EmulatedBoard) -> None:
    echo_board.advance(ns=300 * MS)
    assert echo_board.host.state is HostState.READY
    runs, steps, start = echo_board.core_runs, echo_board.host.steps_taken, echo_board.now_ns
    echo_board.advance(ns=10 * SECOND)
    assert echo_board.now_ns - start == 10 * SECOND
    assert echo_board.core_runs - runs <= 2
    assert echo_board.host.steps_taken == steps


def test_usb_events_have_the_time_of_their_cycle(
    program_board: ProgramBoard, monkeypatch: pytest.MonkeyPatch
) -> None:
    board, _ = program_board(SLEEP)
    board.advance(ns=10 * MS)
    noticed: list[int] = []
    monkeypatch.setattr(
        board.machine, "usb_events", lambda: (UsbEvent.OUT_READY, board.cycles - 65)
    )
    monkeypatch.setattr(board.host, "notice", lambda *arguments: noticed.append(arguments[-1]))
    board.advance(cycles=1000)
    assert noticed == [board.now_ns - 65 * SECOND // board.machine.counter(Counter.CLK_SYS_HZ)]


def test_locked_up_core_lets_time_pass(program_board: ProgramBoard) -> None:
    board, _ = program_board(LOCK_UP)
    board.advance(ns=SECOND)
    assert board.standing == "locked up"
    assert SECOND <= board.now_ns < SECOND + cycle_ns(board)
    cycles = board.cycles
    board.advance(cycles=1000)
    assert board.cycles == cycles + 1000
    assert "EPSR.T clear" in board.machine.last_fault()
    board.reset()
    assert board.standing == ""


def test_program_that_resets_the_chip(program_board: ProgramBoard) -> None:
    board, labels = program_board(RESET_ITSELF)
    board.advance(ns=500 * MS)
    assert board.resets == 2
    assert board.machine.bus_read(0x20000000, 4) == 3
    assert board.machine.counter(Counter.PC) == labels["done"]
    assert board.now_ns >= 500 * MS  # time is not set back


def test_strictness_is_raised_again_until_a_reset(program_board: ProgramBoard, chip: str) -> None:
    board, _ = program_board(STRICT_CLOCK.replace("CLK_REF_CTRL", f"{CLK_REF_CTRL[chip]:#x}", 1))
    with pytest.raises(FirmwareFault) as first:
        board.advance(ns=100 * MS)
    assert "clk_ref" in first.value.message and f"(pc {program_at(chip)}" in first.value.message
    assert first.value.hint.startswith("real silicon would ")
    cycles = board.cycles
    for again in (lambda: board.advance(ns=1), lambda: board.advance(cycles=1)):
        with pytest.raises(FirmwareFault) as second:
            again()
        assert second.value.message == first.value.message
    assert board.cycles == cycles
    board.machine.load_flash(0, bytes(256))
    board.reset()
    board.advance(ns=100 * MS)
    assert board.fault is None


def program_at(chip: str) -> str:
    """How an address of a program begins."""
    return "0x2004" if chip == "rp2040" else "0x1000"


def test_contradiction_of_boards_yaml_is_a_config_error(chip: str) -> None:
    board = new_echo_board(chip, BoardOptions(xip_miss_cycles=99))
    try:
        with pytest.raises(ConfigError, match=r"^boards\.yaml says"):
            board.advance(ns=200 * MS)
        with pytest.raises(ConfigError):
            board.advance(ns=1)
    finally:
        registry.remove(board.name)


def test_halted_core_lets_ns_pass_but_no_cycles(program_board: ProgramBoard) -> None:
    board, _ = program_board(SLEEP)
    board.advance(ns=10 * MS)
    board.machine.bus_write(0xE000EDF0, 4, 0xA05F0003)  # DHCSR: C_DEBUGEN, C_HALT
    cycles, start = board.cycles, board.now_ns
    board.advance(ns=SECOND)
    assert (board.cycles, board.now_ns) == (cycles, start + SECOND)
    board.advance(cycles=100)
    assert (board.cycles, board.now_ns) == (cycles, start + SECOND)
    assert board.standing == "halted"
    board.machine.bus_write(0xE000EDF0, 4, 0xA05F0001)
    board.advance(cycles=100)
    assert board.cycles >= cycles + 100


def test_reset_takes_the_device_off_the_bus_at_that_cycle(echo_board: EmulatedBoard) -> None:
    echo_board.advance(ns=300 * MS)
    port, now = echo_board.host.port, echo_board.now_ns
    assert port is not None
    echo_board.reset()
    assert port.gone == "the board was reset"
    assert echo_board.host.state is HostState.DETACHED
    assert echo_board.now_ns == now
    assert echo_board.host.evidence.transcript[-1] == (now, "gone: the board was reset")
    echo_board.advance(ns=300 * MS)
    assert echo_board.host.state is HostState.READY
    assert echo_board.host.port is not port


def test_held_in_reset_nothing_executes(echo_board: EmulatedBoard) -> None:
    echo_board.advance(ns=300 * MS)
    echo_board.hold_in_reset(True)
    cycles = echo_board.cycles
    echo_board.advance(ns=SECOND)
    assert echo_board.cycles == cycles and echo_board.host.port is None
    echo_board.hold_in_reset(False)
    echo_board.advance(ns=300 * MS)
    assert echo_board.host.state is HostState.READY


def converse(chip: str, slice_cycles: int = 0, every_tick: bool = False) -> tuple[object, ...]:
    """Boot, talk, replug, reset, talk again; all that can be seen of it. A patient host would only
    make it longer."""
    host = HostTiming(debounce=2 * MS, reset=MS, recovery=MS)
    board = new_echo_board(
        chip, BoardOptions(slice_cycles=slice_cycles, every_tick=every_tick, host=host)
    )
    seen: list[object] = []
    try:
        for order in (REPLUG, RESET):
            board.advance(ns=30 * MS)
            with serial.serial_for_url(f"emu://{board.name}", timeout=0.05) as port:
                seen.append(board.cycles)
                port.write(b"A line\n" + PATTERN[32:232])
                seen.append(port.read(207))
                port.write(SEND)
                seen.append(port.read(10_001))
                port.write(order)
                with pytest.raises(serial.SerialException):
                    port.read(1)
                seen.append((board.cycles, board.now_ns))
        board.advance(ns=40 * MS)
        counters = [board.machine.counter(which) for which in Counter]
        return (*seen, counters, board.host.state, list(board.host.evidence.transcript))
    finally:
        registry.remove(board.name)


@functools.cache
def conversation(chip: str) -> tuple[object, ...]:
    """In one go."""
    return converse(chip)


def test_the_conversation_says_what_it_should(chip: str) -> None:
    assert conversation(chip)[1] == b"A line\n" + PATTERN[32:232]
    assert conversation(chip)[2] == PATTERN


@pytest.mark.parametrize("slice_cycles", [97, 10_000, 1_000_000])
def test_slices_change_nothing(chip: str, slice_cycles: int) -> None:
    assert converse(chip, slice_cycles=slice_cycles) == conversation(chip)


def test_taking_every_tick_changes_nothing(chip: str) -> None:
    assert converse(chip, every_tick=True) == conversation(chip)


def test_registry_makes_one_board_per_name(board: EmulatedBoard) -> None:
    assert registry.board(board.name) is board
    with pytest.raises(ProbeError, match="no emulated board 'pico9-emu'") as unknown:
        registry.board("pico9-emu")
    assert "pico1-emu" in str(unknown.value)


def test_configure_adds_a_board(chip: str) -> None:
    entry = {"name": "bench-7", "chip": chip, "clock_hz": 125_000_000, "xip_miss_cycles": 56}
    backend.configure(entry)
    try:
        assert registry.board("bench-7").options.xip_miss_cycles == 56
        assert registry.board("bench-7").chip.name == chip
        backend.configure(entry)
        with pytest.raises(ConfigError, match="bench-7 is already powered"):
            backend.configure({**entry, "xip_miss_cycles": 40})
    finally:
        registry.remove("bench-7")
    assert "bench-7" not in [known.name for known in registry.known()]


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"chip": "rp2040"}, "needs a name"),
        ({"name": "b"}, "needs a chip"),
        ({"name": "b", "chip": "esp32"}, "board b: no emulated board has the chip 'esp32'"),
        ({"name": "b", "chip": "rp2040", "xip_miss_cycles": "many"}, "not a number of cycles"),
        ({"name": "b", "chip": "rp2040", "xip_miss_cycles": -1}, "not a number of cycles"),
    ],
)
def test_configure_says_what_is_wrong(entry: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        backend.configure(entry)


def test_clock_counts_emulated_seconds(echo_board: EmulatedBoard) -> None:
    clock = backend.clock(echo_board.name)
    assert clock.now() == 0.0
    clock.sleep(0.3)
    assert 0.3 <= clock.now() < 0.300001
    before = echo_board.now_ns
    clock.sleep(2.5)
    assert echo_board.now_ns - before == 2_500_000_000
