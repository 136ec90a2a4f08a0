# SPDX-License-Identifier: Apache-2.0
"""pyOCD on an emulated board: its own discovery, flash algorithm, breakpoints and resets."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyocd.core import exceptions
from pyocd.core.helpers import ConnectHelper
from pyocd.core.session import Session
from pyocd.core.target import Target
from pyocd.flash.file_programmer import FileProgrammer
from pyocd.flash.loader import FlashLoader
from pyocd.probe import aggregator

from harness.emulator import registry
from harness.emulator.board import EmulatedBoard
from harness.emulator.debugbus import ACCESS_NS, POLL_CYCLES
from harness.emulator.machine import Counter
from harness.emulator.probe import EmulatedProbe
from harness.emulator.usbhost import HostState
from harness.errors import FirmwareFault, ProbeError
from tests.emulator.echo_firmware import boot2_program, echo_elf, segments, symbol

MS = 1_000_000
FLASH, SRAM = 0x10000000, 0x20000000
RUNNING, HALTED = Target.State.RUNNING, Target.State.HALTED


@contextmanager
def session(target: str = "rp2040", **options: object) -> Iterator[Session]:
    """An open pyOCD session on pico1-emu that looks at no file and shows no progress."""
    opened = ConnectHelper.session_with_chosen_probe(
        unique_id="emu:pico1-emu",
        target_override=target,
        no_config=True,
        options={
            "connect_mode": "halt",
            "user_script": os.devnull,
            "hide_programming_progress": True,
            "reset.post_delay": 0.0,
            **options,
        },
    )
    with opened:
        yield opened


@pytest.fixture
def echo_file(tmp_path: Path) -> Path:
    path = tmp_path / "echo.elf"
    path.write_bytes(echo_elf())
    return path


def program(board: EmulatedBoard, source: str) -> dict[str, int]:
    image, labels = boot2_program(source)
    board.machine.load_flash(0, image)
    return labels


def wait_halted(target: Target) -> int:
    """How often it had to be asked."""
    for polls in range(1000):
        if target.get_state() is HALTED:
            return polls
    pytest.fail("the core never halted")


# ---- finding it ----


def test_the_entry_point_brings_the_probe() -> None:
    assert aggregator.PROBE_CLASSES["emu"] is EmulatedProbe


def test_listing_powers_no_board(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "EmulatedBoard", None)
    probes = aggregator.DebugProbeAggregator.get_all_connected_probes("emu:")
    assert [probe.unique_id for probe in probes] == [entry.name for entry in registry.known()]
    assert not any(probe.is_open for probe in probes)


@pytest.mark.parametrize("name", ["emu:pico1-emu", "pico1-emu"])
def test_probe_ids(name: str) -> None:
    probe = aggregator.DebugProbeAggregator.get_probe_with_id(name)
    assert isinstance(probe, EmulatedProbe) and probe.unique_id == "pico1-emu"
    assert probe.associated_board_info.target == "rp2040"


def test_an_unknown_id_is_no_probe() -> None:
    assert aggregator.DebugProbeAggregator.get_probe_with_id("emu:pico1") is None


def test_a_board_has_one_debugger(board: EmulatedBoard) -> None:
    with session():
        with (
            pytest.raises(ProbeError, match="pico1-emu already has a debugger") as refused,
            session(),
        ):
            pass
        assert isinstance(refused.value, exceptions.ProbeError)
        assert "the pyOCD session that thread 'MainThread' opened at" in str(refused.value)
    assert board.debugger == ""
    with session():
        pass


# ---- connecting ----


@pytest.mark.usefixtures("board")
def test_the_core_is_identified() -> None:
    with session() as opened:
        core = opened.target.cores[0]
        assert (core.name, core.cpu_revision, core.cpu_patch) == ("Cortex-M0+", 0, 1)
        assert core.available_breakpoint_count == 4
        assert opened.target.get_state() is HALTED


def test_core_1_answers_as_a_sleeping_core(board: EmulatedBoard) -> None:
    with session("rp2040_core1", connect_mode="attach") as opened:
        target = opened.target
        assert target.get_state() is Target.State.SLEEPING
        target.halt()
        assert target.get_state() is HALTED
        assert target.read_core_register("pc") == 0x138
        target.write_memory(SRAM + 0x1000, 0x600DF00D)
        target.resume()
        assert target.get_state() is Target.State.SLEEPING
    assert board.machine.bus_read(SRAM + 0x1000, 4) == 0x600DF00D
    assert board.standing == ""  # core 0 was never touched


def test_without_target_selection_nobody_answers(board: EmulatedBoard) -> None:
    with pytest.raises(exceptions.Error, match="Target not detected"), session("cortex_m"):
        pass
    assert board.debugger == ""


@pytest.mark.usefixtures("board")
def test_the_rescue_port_is_refused() -> None:
    with session() as opened, pytest.raises(exceptions.TransferError, match="rescue debug port"):
        opened.target.select_dp(opened.target.Targetsel.RESCUE_DP)


# ---- memory ----


@pytest.mark.usefixtures("board")
def test_a_bad_address_is_a_fault_and_the_session_survives() -> None:
    with session() as opened:
        target = opened.target
        for bad in (
            lambda: target.read32(0x30000000),
            lambda: target.write32(0x30000000, 1),
            lambda: target.read_memory_block32(0x30000000, 8),
            lambda: target.write_memory_block32(0x30000000, [1, 2, 3]),
        ):
            with pytest.raises(exceptions.TransferFaultError) as fault:
                bad()
            assert fault.value.fault_address == 0x30000000
        target.write32(SRAM, 0x12345678)
        assert target.read32(SRAM) == 0x12345678


def test_memory_in_every_size(board: EmulatedBoard) -> None:
    with session() as opened:
        target = opened.target
        data = [k * 7 & 0xFF for k in range(3001)]
        target.write_memory_block8(SRAM + 0x101, data)
        assert list(target.read_memory_block8(SRAM + 0x101, 3001)) == data
        target.write16(SRAM + 2, 0xBEEF)
        target.write8(SRAM + 1, 0xAD)
        assert target.read32(SRAM) == 0xBEEFAD00
        assert bytes(board.machine.sram()[:4]).hex() == "00adefbe"


# ---- registers, breakpoints, steps, resets ----

COUNT = """
    movs r0, #0
loop:
    adds r0, #1
    adds r1, r0, #5
again:
    b loop
"""


@pytest.mark.usefixtures("board")
def test_registers_can_be_read_and_written() -> None:
    with session() as opened:
        target = opened.target
        values = {f"r{n}": 0x1000 + n for n in range(13)}
        values |= {"lr": 0x10000301, "pc": 0x10000100, "msp": 0x20030000, "psp": 0x20020000}
        values |= {"xpsr": 0xA1000000, "primask": 1}
        for name, value in values.items():
            target.write_core_register(name, value)
        assert {name: target.read_core_register(name) for name in values} == values
        assert target.read_core_register("sp") == 0x20030000
        target.write_core_register("control", 2)
        assert target.read_core_register("sp") == 0x20020000


def test_reset_and_halt_stops_before_the_first_instruction(echo_board: EmulatedBoard) -> None:
    echo_board.advance(ns=300 * MS)
    with session() as opened:
        instructions = echo_board.machine.counter(Counter.INSTRUCTIONS)
        opened.target.reset_and_halt()
        assert opened.target.get_state() is HALTED
        vector = int.from_bytes(echo_board.machine.rom()[4:8], "little")
        assert opened.target.read_core_register("pc") == vector & ~1
        assert echo_board.machine.counter(Counter.INSTRUCTIONS) == instructions
    assert echo_board.resets == 1
    assert echo_board.host.state is HostState.DETACHED


@pytest.mark.usefixtures("echo_board")
def test_hardware_breakpoint_stops_at_its_address() -> None:
    with session() as opened:
        target = opened.target
        stop = symbol(echo_elf(), "runner_main")
        target.reset_and_halt()
        assert target.set_breakpoint(stop, Target.BreakpointType.HW)
        target.resume()
        wait_halted(target)
        assert target.read_core_register("pc") == stop
        assert target.get_halt_reason() is Target.HaltReason.BREAKPOINT
        target.remove_breakpoint(stop)
        target.resume()
        assert target.get_state() is not HALTED


def test_stepping_executes_one_instruction(board: EmulatedBoard) -> None:
    labels = program(board, COUNT)
    with session() as opened:
        target = opened.target
        target.reset_and_halt()
        while target.read_core_register("pc") != labels["loop"]:
            target.step()
        seen = []
        for _ in range(5):
            target.step()
            seen.append((target.read_core_register("pc"), target.read_core_register("r0")))
    loop = labels["loop"]
    assert seen == [(loop + 2, 1), (loop + 4, 1), (loop, 1), (loop + 2, 2), (loop + 4, 2)]


def test_a_debugger_that_waits_for_a_halt_gets_it(board: EmulatedBoard) -> None:
    delay = "ldr r0, =1000000\nloop: subs r0, #1\nbne loop\nhere: bkpt #1\n.ltorg"
    labels = program(board, delay)
    with session() as opened:
        opened.target.reset()
        polls = wait_halted(opened.target)
        assert opened.target.read_core_register("pc") == labels["here"]
        assert 25 <= polls <= 3_000_000 // POLL_CYCLES  # pyOCD polls a few times by itself


def test_the_cost_of_an_access_while_the_core_runs(echo_board: EmulatedBoard) -> None:
    echo_board.advance(ns=300 * MS)
    with session(connect_mode="attach") as opened:
        target = opened.target
        target.read32(SRAM)
        start = echo_board.now_ns
        target.read32(SRAM)
        assert echo_board.now_ns - start == ACCESS_NS == 10_000
        start = echo_board.now_ns
        target.read_memory_block32(SRAM, 512)
        assert echo_board.now_ns - start == 2 * ACCESS_NS
        cycles = echo_board.cycles
        target.read32(0xE000EDF0)
        assert echo_board.cycles - cycles == POLL_CYCLES == 100_000
        target.halt()
        start = echo_board.now_ns
        target.read_memory_block32(SRAM, 512)
        target.read32(0xE000EDF0)
        assert echo_board.now_ns == start


def test_reset_pin(echo_board: EmulatedBoard) -> None:
    echo_board.advance(ns=300 * MS)
    with session(connect_mode="attach") as opened:
        opened.probe.assert_reset(True)
        assert opened.probe.is_reset_asserted()
        cycles = echo_board.cycles
        opened.target.read32(SRAM)
        assert echo_board.cycles == cycles
        opened.probe.assert_reset(False)
        assert not opened.probe.is_reset_asserted()
    assert echo_board.resets == 1


def test_connecting_under_reset_stops_at_the_reset_vector(echo_board: EmulatedBoard) -> None:
    echo_board.advance(ns=300 * MS)
    with session(connect_mode="under-reset", **{"reset.hold_time": 0.0}) as opened:
        vector = int.from_bytes(echo_board.machine.rom()[4:8], "little")
        assert opened.target.get_state() is HALTED
        assert opened.target.read_core_register("pc") == vector & ~1


def test_leaving_the_session_lets_the_firmware_run(echo_board: EmulatedBoard) -> None:
    with session() as opened:
        opened.target.reset()
        opened.target.halt()
    echo_board.advance(ns=300 * MS)
    assert echo_board.host.state is HostState.READY


# ---- flash ----


def summary(caplog: pytest.LogCaptureFixture) -> str:
    """pyOCD's last word on a programming job, without its speed."""
    lines = [record.getMessage() for record in caplog.records if "Erased" in record.getMessage()]
    return lines[-1].split(" at ")[0]


def test_programming_an_elf(
    board: EmulatedBoard, echo_file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "pyocd")
    with session() as opened:
        FileProgrammer(opened).program(str(echo_file))
        for offset, data in segments(echo_elf()):
            assert bytes(opened.target.read_memory_block8(FLASH + offset, len(data))) == data
            assert bytes(board.machine.flash()[offset : offset + len(data)]) == data
        first = summary(caplog)
        assert first.startswith("Erased ") and "identical 0 bytes" in first
        FileProgrammer(opened).program(str(echo_file))
        assert summary(caplog).startswith(
            "Erased 0 bytes (0 sectors), programmed 0 bytes (0 pages)"
        )
        opened.target.reset()
    board.advance(ns=300 * MS)
    assert board.host.state is HostState.READY


def test_the_runner_boots_after_programming(board: EmulatedBoard, runner_elf: Path) -> None:
    with session() as opened:
        FileProgrammer(opened).program(str(runner_elf))
        opened.target.reset()
    board.advance(ns=300 * MS)
    assert board.host.state is HostState.READY
    assert board.host.device is not None
    assert board.host.device.serial_number == board.unique_id.hex().upper()
    assert board.host.evidence.complaints == []


def write(opened: Session, offset: int, data: bytes) -> None:
    loader = FlashLoader(opened)
    loader.add_data(FLASH + offset, data)
    loader.commit()


def test_smart_flash_programs_only_the_sector_that_differs(
    board: EmulatedBoard, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "pyocd")
    image = bytes(k * 13 & 0xFF for k in range(65536))
    with session() as opened:
        write(opened, 0, image)
        changed = bytearray(image)
        changed[30_000] ^= 1
        write(opened, 0, bytes(changed))
    assert "Erased 4096 bytes (1 sector), programmed 4096 bytes (16 pages)" in summary(caplog)
    assert bytes(board.machine.flash()[:65536]) == changed


@pytest.mark.parametrize("keep", [True, False])
def test_keep_unwritten(board: EmulatedBoard, keep: bool) -> None:
    board.machine.load_flash(0x8000, b"\x5a" * 4096)
    with session(keep_unwritten=keep) as opened:
        write(opened, 0x8100, b"\x11" * 256)
    sector = bytes(board.machine.flash()[0x8000:0x9000])
    kept = b"\x5a" if keep else b"\xff"
    assert sector == kept * 256 + b"\x11" * 256 + kept * 3584


@pytest.mark.usefixtures("board")
def test_flash_is_not_writable_over_the_bus() -> None:
    with session() as opened:
        opened.target.write32(FLASH, 0)
        assert opened.target.read32(FLASH) == 0xFFFFFFFF


# ---- a board whose firmware is wrong ----

BROKEN = """
    ldr r0, =0x40008030
    movs r1, #2
    str r1, [r0]             @ clk_ref from the crystal oscillator, which was never started
loop: b loop
    .ltorg
"""


def test_a_debugger_can_repair_what_stands_in_an_error(
    board: EmulatedBoard, echo_file: Path
) -> None:
    program(board, BROKEN)
    with pytest.raises(FirmwareFault):
        board.advance(ns=100 * MS)
    with session() as opened:
        assert board.fault is None  # halting took the board over
        opened.target.reset_and_halt()
        FileProgrammer(opened).program(str(echo_file))
        opened.target.reset()
    board.advance(ns=300 * MS)
    assert board.host.state is HostState.READY


def test_an_error_while_connecting_does_not_stop_the_debugger(
    board: EmulatedBoard, echo_file: Path
) -> None:
    program(board, BROKEN)
    with session() as opened:  # discovery lets the broken program run into its error
        opened.target.reset_and_halt()
        FileProgrammer(opened).program(str(echo_file))


def test_a_debugger_that_only_waits_is_told(board: EmulatedBoard) -> None:
    program(board, BROKEN)
    with session() as opened:
        opened.target.reset()
        with pytest.raises(FirmwareFault, match="clk_ref"):
            wait_halted(opened.target)
        opened.target.halt()
        assert opened.target.get_state() is HALTED


def test_locked_up_core_is_seen_as_such(board: EmulatedBoard) -> None:
    lock_up = "ldr r0, =0x20000000\nmovs r1, #0\nstr r1, [r0, #12]\nldr r2, =0xe000ed08\n"
    program(board, lock_up + "str r0, [r2]\nudf #0\n.ltorg")
    board.advance(ns=100 * MS)
    with session(connect_mode="attach") as opened:
        assert opened.target.get_state() is Target.State.LOCKUP
        opened.target.halt()
        assert opened.target.get_state() is HALTED
