# SPDX-License-Identifier: Apache-2.0
"""The debug side below pyOCD: waking and selecting ports, DP and AP registers, core 1."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from harness.emulator.chips import RP2040, RP2350, ChipFacts
from harness.emulator.debugport import (
    DP_CTRL_STAT,
    DP_IDR_ABORT,
    DP_RDBUFF,
    DP_SELECT,
    DebugPort,
)
from harness.emulator.heldcore import HeldCore
from harness.emulator.memap import CSW, DRW, TAR, Fault
from harness.emulator.swd import SerialWire, WireState

ALERT = (136, 0x19BC0EA2E3DDAFE986852D956209F392FF)
ACTIVATE_SWD, ACTIVATE_JTAG = (12, 0x1A0), (12, 0x0A0)
LINE_RESET = (51, (1 << 51) - 1)
CORE0, CORE1 = RP2040.targetsel
POWER_UP = 0x50000F00
WORDS, BYTES_INCREMENT = 0x23000012, 0x23000010


class FakeBus:
    """64 KB of memory at 0; anything else is a bus fault. `accesses` are the calls."""

    def __init__(self) -> None:
        self.memory = bytearray(range(256)) * 256
        self.accesses: list[tuple[str, int, int]] = []

    def read(self, address: int, size: int) -> int | None:
        data = self.read_block(address, size)
        self.accesses[-1] = ("read", address, size)
        return None if data is None else int.from_bytes(data, "little")

    def write(self, address: int, size: int, value: int) -> bool:
        done = self.write_block(address, value.to_bytes(size, "little"))
        self.accesses[-1] = ("write", address, size)
        return done

    def read_block(self, address: int, length: int) -> bytes | None:
        self.accesses.append(("read_block", address, length))
        there = address + length <= len(self.memory)
        return bytes(self.memory[address : address + length]) if there else None

    def write_block(self, address: int, data: bytes) -> bool:
        self.accesses.append(("write_block", address, len(data)))
        if address + len(data) > len(self.memory):
            return False
        self.memory[address : address + len(data)] = data
        return True


class Rig:
    """A powered debug port on a FakeBus, with its MEM-AP's registers by their ADIv5 offsets."""

    def __init__(self, chip: ChipFacts = RP2040, targetsel: int | None = None) -> None:
        self.bus = FakeBus()
        self.port = DebugPort(chip, targetsel or chip.targetsel[0], self.bus)
        self._frame = 0x2D00 if chip is RP2350 else 0
        self.port.write_dp(DP_CTRL_STAT, POWER_UP)

    def select(self, register: int) -> int:
        """A[3:2] of a register, with its bank selected."""
        self.port.write_dp(DP_SELECT, self._frame | register & 0xF0)
        return register & 0xC

    def read(self, register: int) -> int:
        return self.port.read_ap(self.select(register))

    def write(self, register: int, value: int) -> None:
        self.port.write_ap(self.select(register), value)

    def read_block(self, register: int, count: int) -> list[int]:
        return list(self.port.read_ap_block(self.select(register), count))

    def write_block(self, register: int, values: Sequence[int]) -> None:
        self.port.write_ap_block(self.select(register), values)

    def at(self, address: int, csw: int = WORDS) -> None:
        self.write(CSW, csw)
        self.write(TAR, address)


@pytest.fixture(params=[RP2040, RP2350], ids=lambda chip: chip.name)
def rig(request: pytest.FixtureRequest) -> Rig:
    return Rig(request.param)


def select(wire: SerialWire, target: int, parity: int | None = None) -> None:
    wire.drive(8, 0x99)
    parity = target.bit_count() & 1 if parity is None else parity
    wire.drive(33, target | parity << 32)
    wire.drive(2, 0)


def awake() -> SerialWire:
    wire = SerialWire()
    for sequence in (ALERT, ACTIVATE_SWD, LINE_RESET):
        wire.drive(*sequence)
    return wire


def test_wire_sleeps_until_the_alert_and_the_activation_code() -> None:
    wire = SerialWire()
    for sequence in (LINE_RESET, (16, 0xE79E), LINE_RESET, ACTIVATE_SWD):
        wire.drive(*sequence)
        assert wire.state is WireState.DORMANT
    wire.drive(*ALERT)
    wire.drive(*ACTIVATE_JTAG)
    assert wire.state is WireState.ALERTED
    assert awake().state is WireState.SWD


def test_sequences_may_come_in_pieces() -> None:
    wire = SerialWire()
    length, bits = ALERT
    for at_bit in range(0, length, 17):
        wire.drive(min(17, length - at_bit), bits >> at_bit)
    assert wire.state is WireState.ALERTED


def test_targetsel_selects_and_a_line_reset_deselects() -> None:
    wire = awake()
    assert wire.selected is None
    select(wire, CORE1)
    assert wire.selected == 0x11002927
    wire.drive(*LINE_RESET)
    assert wire.selected is None
    select(wire, CORE0)
    assert wire.selected == 0x01002927
    wire.drive(16, 0xE3BC)
    assert (wire.state, wire.selected) == (WireState.DORMANT, None)


def test_targetsel_with_wrong_parity_selects_nothing() -> None:
    wire = awake()
    select(wire, CORE0, parity=1 - (CORE0.bit_count() & 1))
    assert wire.selected is None


def test_after_a_line_reset_everybody_listens_until_targetsel() -> None:
    wire = SerialWire()
    assert not wire.everybody
    wire = awake()
    assert wire.everybody
    select(wire, CORE0)
    assert not wire.everybody
    wire.drive(*LINE_RESET)
    assert wire.everybody
    wire.drive(16, 0xE3BC)
    assert not wire.everybody


# ---- debug ports ----


@pytest.mark.parametrize(("targetsel", "dlpidr"), [(CORE0, 0x00000001), (CORE1, 0x10000001)])
def test_identification_of_an_rp2040(targetsel: int, dlpidr: int) -> None:
    port = Rig(RP2040, targetsel).port
    assert port.read_dp(DP_IDR_ABORT) == 0x0BC12477
    port.write_dp(DP_SELECT, 1)
    assert port.read_dp(DP_IDR_ABORT) == 0x0BC12477  # not banked in DPv2
    port.write_dp(DP_SELECT, 2)
    assert port.read_dp(DP_CTRL_STAT) == 0x01002927
    port.write_dp(DP_SELECT, 3)
    assert port.read_dp(DP_CTRL_STAT) == dlpidr
    port.write_dp(DP_SELECT, 0xF0)
    assert port.read_ap(0x4) == 0  # CFG: little-endian, nothing large
    assert port.read_ap(0x8) == 0xE00FF003
    assert port.read_ap(0xC) == 0x04770031
    port.write_dp(DP_SELECT, 0x010000F0)
    assert port.read_ap(0xC) == 0  # no second AP
    assert list(port.read_ap_block(0xC, 2)) == [0, 0]
    port.write_ap(0x4, 1)
    port.write_ap_block(0x4, [1, 2])  # to nobody


def test_identification_of_an_rp2350() -> None:
    port = Rig(RP2350).port
    found = []
    for bank in range(4):
        port.write_dp(DP_SELECT, bank)
        found.append((port.read_dp(DP_IDR_ABORT), port.read_dp(DP_CTRL_STAT)))
    assert found == [
        (0x4C013477, 0xF0000F00),  # DPIDR, CTRL/STAT
        (0x00000020, 0),  # DPIDR1: 32-bit addresses; DLCR
        (0x00000001, 0x00040927),  # BASEPTR0: the table at 0; TARGETID
        (0x00000000, 0x00000001),  # BASEPTR1; DLPIDR
    ]
    port.write_dp(DP_SELECT, 5)
    port.write_dp(DP_CTRL_STAT, 0xFFFFFFFF)  # SELECT1: above the 32 bits there are
    port.write_dp(DP_SELECT, 0)
    assert port.read_dp(DP_CTRL_STAT) == 0xF0000F00


def read_frame(port: DebugPort, frame: int, first: int, count: int) -> list[int]:
    values = []
    for address in range(frame + first, frame + first + 4 * count, 4):
        port.write_dp(DP_SELECT, address)
        values.append(port.read_ap(address & 0xC))
    return values


def test_the_rom_table_of_an_rp2350_names_its_access_port() -> None:
    port = Rig(RP2350).port
    assert read_frame(port, 0, 0, 3) == [0x00002003, 0, 0]
    assert read_frame(port, 0, 0xFBC, 1) == [0x47700AF7]
    assert read_frame(port, 0, 0xFCC, 1) == [0]
    pidr = [0xC0, 0xB4, 0x0B, 0]
    assert read_frame(port, 0, 0xFD0, 12) == [4, 0, 0, 0, *pidr, 0x0D, 0x90, 0x05, 0xB1]
    assert read_frame(port, 0x2000, 0xFBC, 1) == [0x47700A17]
    pidr = [0xE3, 0xB9, 0x0B, 0]
    assert read_frame(port, 0x2000, 0xFD0, 12) == [4, 0, 0, 0, *pidr, 0x0D, 0x90, 0x05, 0xB1]
    assert read_frame(port, 0x2000, 0xDF4, 3) == [0x00010000, 0xE00FF003, 0x34770008]
    assert read_frame(port, 0x3000, 0xFBC, 1) == [0]
    port.write_dp(DP_SELECT, 0)
    assert list(port.read_ap_block(0, 2)) == [0x2003, 0x2003]
    port.write_ap(0, 1)
    port.write_ap_block(0, [1, 2])  # a ROM table is not writable
    assert read_frame(port, 0, 0, 1) == [0x00002003]


@pytest.mark.parametrize(
    ("chip", "at_reset", "all_ones"),
    [(RP2040, 0x03000042, 0x0F000072), (RP2350, 0x43800042, 0x5F808072)],
    ids=["rp2040", "rp2350"],
)
def test_csw_has_the_bits_of_its_access_port(chip: ChipFacts, at_reset: int, all_ones: int) -> None:
    """An unsupported size reads back as words."""
    rig = Rig(chip)
    assert rig.read(CSW) == at_reset
    rig.write(CSW, 0xFFFFFFFF)
    assert rig.read(CSW) == all_ones
    rig.write(CSW, 0x23000013)
    assert rig.read(CSW) == (0x03000052 if chip is RP2040 else 0x03800052)


@pytest.mark.parametrize("chip", [RP2040, RP2350], ids=lambda chip: chip.name)
def test_power_requests_are_acknowledged(chip: ChipFacts) -> None:
    port = DebugPort(chip, chip.targetsel[0], FakeBus())
    assert port.read_dp(DP_CTRL_STAT) == 0
    with pytest.raises(Fault, match="debug power is off"):
        port.read_ap(TAR)
    port.write_dp(DP_IDR_ABORT, 4)
    port.write_dp(DP_CTRL_STAT, POWER_UP)
    assert port.read_dp(DP_CTRL_STAT) == 0xF0000F00
    port.read_ap(TAR)


def test_a_bus_fault_sticks_until_abort(rig: Rig) -> None:
    port = rig.port
    rig.at(0x40000)
    with pytest.raises(Fault, match="bus fault reading 4 bytes at 0x00040000"):
        rig.read(DRW)
    port.write_dp(DP_SELECT, 0)
    assert port.read_dp(DP_CTRL_STAT) & 0x20
    for access in (
        lambda: rig.read(TAR),
        lambda: rig.write(TAR, 0),
        lambda: rig.read_block(DRW, 4),
        lambda: rig.write_block(DRW, [1, 2]),
    ):
        with pytest.raises(Fault, match="sticky error"):
            access()
    port.write_dp(DP_SELECT, 0)
    port.write_dp(DP_IDR_ABORT, 1 << 1)  # STKCMPCLR is another flag
    assert port.read_dp(DP_CTRL_STAT) & 0x20
    port.write_dp(DP_IDR_ABORT, 1 << 2)
    assert not port.read_dp(DP_CTRL_STAT) & 0x20
    assert rig.read(TAR) == 0x40000


def test_words_halfwords_and_bytes_use_their_lanes(rig: Rig) -> None:
    rig.at(0x11, BYTES_INCREMENT)
    assert rig.read(DRW) == 0x1100
    assert rig.read(DRW) == 0x120000
    rig.at(0x16, 0x23000011)
    assert rig.read(DRW) == 0x17160000
    assert rig.port.read_dp(DP_RDBUFF) == 0x17160000
    rig.at(0x21, BYTES_INCREMENT)
    rig.write(DRW, 0xAABBCCDD)
    assert rig.bus.memory[0x20:0x24].hex() == "20cc2223"
    assert rig.bus.accesses[-1] == ("write", 0x21, 1)


def test_tar_increments_within_one_kilobyte(rig: Rig) -> None:
    rig.at(0x7FC)
    rig.read(DRW)
    assert rig.read(TAR) == 0x400
    rig.at(0x7F8)
    values = rig.read_block(DRW, 4)
    assert values[2] == int.from_bytes(rig.bus.memory[0x400:0x404], "little")
    rig.at(0x100, 0x23000002)
    rig.read(DRW)
    assert rig.read(TAR) == 0x100


def test_banked_data_registers_see_sixteen_bytes(rig: Rig) -> None:
    rig.at(0x108)
    assert rig.read(0x10) == 0x03020100
    assert rig.read(0x1C) == 0x0F0E0D0C
    rig.write(0x14, 0x12345678)
    assert rig.bus.memory[0x104:0x108].hex() == "78563412"


def test_a_block_is_one_copy(rig: Rig) -> None:
    rig.at(0x400)
    rig.bus.accesses.clear()
    rig.write_block(DRW, range(256))
    assert rig.bus.accesses == [("write_block", 0x400, 1024)]
    assert rig.read(TAR) == 0x400
    assert rig.read_block(DRW, 256) == list(range(256))
    assert rig.bus.accesses[1:] == [("read_block", 0x400, 1024)]


def test_a_block_that_leaves_memory_faults(rig: Rig) -> None:
    rig.at(0x10000)
    with pytest.raises(Fault, match="bus fault writing 8 bytes at 0x00010000"):
        rig.write_block(DRW, [1, 2])
    rig.port.write_dp(DP_SELECT, 0)
    assert rig.port.read_dp(DP_CTRL_STAT) & 0x20


# ---- core 1 of an RP2040 ----

DHCSR, DCRSR, DCRDR, DEMCR, DFSR = 0xE000EDF0, 0xE000EDF4, 0xE000EDF8, 0xE000EDFC, 0xE000ED30


def test_core_1_sleeps_and_can_be_halted() -> None:
    core = HeldCore(FakeBus())
    assert core.read(DHCSR, 4) == 0x00050000  # S_SLEEP, S_REGRDY
    core.write(DHCSR, 4, 0x12340003)  # without the key
    assert core.read(DHCSR, 4) == 0x00050000
    core.write(DHCSR, 4, 0xA05F0003)
    assert core.read(DHCSR, 4) == 0x00030003
    assert core.read(DFSR, 4) == 1
    core.write(DFSR, 4, 1)
    core.write(DHCSR, 4, 0xA05F0001)
    assert core.read(DHCSR, 4) == 0x00050001 and core.read(DFSR, 4) == 0


def test_core_1_has_registers_of_its_own() -> None:
    core = HeldCore(FakeBus())
    core.write(DCRDR, 4, 0xCAFE)
    core.write(DCRSR, 4, 1 << 16 | 3)
    core.write(DCRDR, 4, 0)
    core.write(DCRSR, 4, 3)
    assert core.read(DCRDR, 4) == 0xCAFE
    core.write(DCRSR, 4, 15)
    assert core.read(DCRDR, 4) == 0x138
    core.write(DEMCR, 4, 1)
    assert core.read(DEMCR, 4) == 1
    assert core.read(DHCSR + 2, 1) == 5


def test_core_1_shares_the_memories() -> None:
    bus = FakeBus()
    core = HeldCore(bus)
    assert core.write_block(0x100, b"shared")
    assert bus.memory[0x100:0x106] == b"shared"
    assert core.read(0x100, 4) == int.from_bytes(b"shar", "little")
    assert core.read_block(0x20000, 4) is None
    assert core.read_block(DHCSR, 8) == bytes.fromhex("00000500 00000000")
    core.read(0xE000ED00, 4)
    assert bus.accesses[-1] == ("read", 0xE000ED00, 4)  # CPUID is asked of core 0
