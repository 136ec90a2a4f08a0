# SPDX-License-Identifier: Apache-2.0
"""pyOCD on an emulated board: its own discovery, memory access, breakpoints and resets."""

from __future__ import annotations

import pytest
from pyocd.core import exceptions
from pyocd.core.target import Target
from pyocd.coresight.core_ids import CoreArchitecture
from pyocd.coresight.dap import DP_IDR
from pyocd.probe import aggregator

from harness.emulator import registry
from harness.emulator.board import EmulatedBoard
from harness.emulator.debugbus import ACCESS_NS, POLL_CYCLES
from harness.emulator.machine import Counter
from harness.emulator.probe import EmulatedProbe
from harness.emulator.usbhost import HostState
from harness.errors import ProbeError
from tests.emulator.conftest import NAMES
from tests.emulator.debugger import HALTED, MS, SRAM, program, session, wait_halted
from tests.emulator.echo_firmware import echo_elf, symbol

# ---- finding it ----


def test_the_entry_point_brings_the_probe() -> None:
    assert aggregator.PROBE_CLASSES["emu"] is EmulatedProbe


def test_listing_powers_no_board(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "EmulatedBoard", None)
    probes = aggregator.DebugProbeAggregator.get_all_connected_probes("emu:")
    assert [probe.unique_id for probe in probes] == [entry.name for entry in registry.known()]
    assert not any(probe.is_open for probe in probes)


@pytest.mark.parametrize("prefix", ["emu:", ""])
def test_probe_ids(chip: str, prefix: str) -> None:
    probe = aggregator.DebugProbeAggregator.get_probe_with_id(prefix + NAMES[chip])
    assert isinstance(probe, EmulatedProbe) and probe.unique_id == NAMES[chip]
    assert probe.associated_board_info.target == chip


def test_an_unknown_id_is_no_probe() -> None:
    assert aggregator.DebugProbeAggregator.get_probe_with_id("emu:pico1") is None


def test_a_board_has_one_debugger(board: EmulatedBoard) -> None:
    with session(board):
        with (
            pytest.raises(ProbeError, match=f"{board.name} already has a debugger") as refused,
            session(board),
        ):
            pass
        assert isinstance(refused.value, exceptions.ProbeError)
        assert "the pyOCD session that thread 'MainThread' opened at" in str(refused.value)
    assert board.debugger == ""
    with session(board):
        pass


# ---- connecting ----


def test_the_core_is_identified(board: EmulatedBoard) -> None:
    expected = {
        "rp2040": ("Cortex-M0+", 0, 1, CoreArchitecture.ARMv6M, "MPU", 4),
        "rp2350": ("Cortex-M33", 1, 0, CoreArchitecture.ARMv8M_MAIN, "DSP SEC MPU FPU FPUv5", 8),
    }
    with session(board) as opened:
        core = opened.target.cores[0]
        assert (
            core.name,
            core.cpu_revision,
            core.cpu_patch,
            core.architecture,
            " ".join(extension.value for extension in core.extensions),
            core.available_breakpoint_count,
        ) == expected[board.chip.name]
        assert opened.target.get_state() is HALTED
        assert len(opened.target.cores) == 1


@pytest.mark.parametrize("chip", ["rp2350"], indirect=True)
def test_the_m33_is_debugged_in_its_secure_state(board: EmulatedBoard) -> None:
    """pyOCD's RP2350 insists on it: its flash algorithm calls the boot ROM's secure functions."""
    with session(board) as opened:
        assert opened.target.get_security_state() is Target.SecurityState.SECURE


@pytest.mark.parametrize("chip", ["rp2040"], indirect=True)
def test_core_1_answers_as_a_sleeping_core(board: EmulatedBoard) -> None:
    with session(board, "rp2040_core1", connect_mode="attach") as opened:
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


@pytest.mark.parametrize("chip", ["rp2040"], indirect=True)
def test_without_target_selection_nobody_answers(board: EmulatedBoard) -> None:
    with pytest.raises(exceptions.Error, match="Target not detected"), session(board, "cortex_m"):
        pass
    assert board.debugger == ""


@pytest.mark.parametrize("chip", ["rp2350"], indirect=True)
def test_a_port_alone_on_its_wire_answers_without_selection(board: EmulatedBoard) -> None:
    with session(board, "cortex_m") as opened:
        assert opened.target.dp.dpidr.idr == 0x4C013477


@pytest.mark.parametrize("chip", ["rp2350"], indirect=True)
def test_another_targetsel_silences_it_until_the_next_line_reset(board: EmulatedBoard) -> None:
    with session(board) as opened:
        probe = opened.probe
        target = 0x00040927
        for selected in (target ^ 1 << 28, target):
            probe.swj_sequence(51, (1 << 51) - 1)
            parity = selected.bit_count() & 1
            probe.swd_sequence([(8, 0x99), (5,), (33, selected | parity << 32), (2, 0)])
            if selected == target:
                assert opened.target.dp.read_reg(DP_IDR) == 0x4C013477
            else:
                with pytest.raises(exceptions.TransferError, match="no debug port has TARGETSEL"):
                    opened.target.dp.read_reg(DP_IDR)


@pytest.mark.parametrize("chip", ["rp2040"], indirect=True)
def test_the_rescue_port_is_refused(board: EmulatedBoard) -> None:
    with (
        session(board) as opened,
        pytest.raises(exceptions.TransferError, match="rescue debug port"),
    ):
        opened.target.select_dp(opened.target.Targetsel.RESCUE_DP)


# ---- memory ----


def test_a_bad_address_is_a_fault_and_the_session_survives(board: EmulatedBoard) -> None:
    with session(board) as opened:
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
    with session(board) as opened:
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


def test_registers_can_be_read_and_written(board: EmulatedBoard) -> None:
    with session(board) as opened:
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
    with session(echo_board) as opened:
        instructions = echo_board.machine.counter(Counter.INSTRUCTIONS)
        opened.target.reset_and_halt()
        assert opened.target.get_state() is HALTED
        vector = int.from_bytes(echo_board.machine.rom()[4:8], "little")
        assert opened.target.read_core_register("pc") == vector & ~1
        assert echo_board.machine.counter(Counter.INSTRUCTIONS) == instructions
    assert echo_board.resets == 1
    assert echo_board.host.state is HostState.DETACHED


def test_hardware_breakpoint_stops_at_its_address(echo_board: EmulatedBoard) -> None:
    with session(echo_board) as opened:
        target = opened.target
        stop = symbol(echo_elf(echo_board.chip.name), "runner_main")
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
    with session(board) as opened:
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
    with session(board) as opened:
        opened.target.reset()
        polls = wait_halted(opened.target)
        assert opened.target.read_core_register("pc") == labels["here"]
        # 3 to 4 cycles a round; pyOCD polls a few times by itself
        assert 25 <= polls <= 4_000_000 // POLL_CYCLES


def test_the_cost_of_an_access_while_the_core_runs(echo_board: EmulatedBoard) -> None:
    echo_board.advance(ns=300 * MS)
    with session(echo_board, connect_mode="attach") as opened:
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
    with session(echo_board, connect_mode="attach") as opened:
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
    with session(echo_board, connect_mode="under-reset", **{"reset.hold_time": 0.0}) as opened:
        vector = int.from_bytes(echo_board.machine.rom()[4:8], "little")
        assert opened.target.get_state() is HALTED
        assert opened.target.read_core_register("pc") == vector & ~1


def test_leaving_the_session_lets_the_firmware_run(echo_board: EmulatedBoard) -> None:
    with session(echo_board) as opened:
        opened.target.reset()
        opened.target.halt()
    echo_board.advance(ns=300 * MS)
    assert echo_board.host.state is HostState.READY
