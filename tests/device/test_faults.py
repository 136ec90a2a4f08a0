# SPDX-License-Identifier: Apache-2.0
"""Faults that a kernel can commit, and what the harness says of each: what, where, in which case and op.

The kernel of `firmware/fault_table.c` calls the function whose address is its only bias.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from harness.boards import Board
from harness.boards.run import Run
from harness.build import build_runner
from harness.case import build_pack, make_case
from harness.errors import FirmwareFault
from harness.geometry import DIRECT, ConvGeometry
from harness.network import Layer
from harness.plan import Mode, Strategy, plan_layer
from harness.reference import ConvParameters
from tests.device.support import emulated, new_entry

TABLE = Path(__file__).parent / "firmware" / "fault_table.c"
CHIPS = ["rp2040", "rp2350"]


class _Faults:
    """A board whose only kernel does what it should not."""

    def __init__(self, chip: str) -> None:
        self.image = build_runner(chip, TABLE)
        self.entry = new_entry(chip=chip)
        self.board = Board(self.entry).__enter__()
        self.plan = plan_layer(
            Layer("fault", ConvGeometry(1, 1, 1, 1)), Strategy.DUAL, Mode(DIRECT)
        )

    def commit(self, function: str, *, keep_interrupts: bool = False) -> Run:
        address = np.array([self.image.symbols[function] | 1], np.int32)
        zero = np.zeros(1, np.int32)
        parameters = ConvParameters(np.ones((1, 1, 1, 1), np.int8), address, zero, zero, 0, 0)
        self.board.start(self.image, build_pack([make_case(self.plan, parameters)]))
        return self.board.run(0, seed=1, keep_interrupts=keep_interrupts)

    def fault(self, function: str) -> FirmwareFault:
        with pytest.raises(FirmwareFault) as caught:
            self.commit(function)
        return caught.value


@pytest.fixture(scope="module")
def boards() -> Iterator[dict[str, _Faults]]:
    boards: dict[str, _Faults] = {}
    yield boards
    for faults in boards.values():
        faults.board.__exit__(None, None, None)


def _board(boards: dict[str, _Faults], chip: str) -> _Faults:
    if chip not in boards:
        boards[chip] = _Faults(chip)
    return boards[chip]


# function: the offset of the instruction in it, and the cause in words. ARMv6-M only knows HardFault:
# the harness finds the rest from the registers and the instruction.
_ON_RP2040 = {
    "fault_load_word_unaligned": (4, "HardFault: unaligned 4-byte load from 0x20000106"),
    "fault_store_half_unaligned": (2, "HardFault: unaligned 2-byte store to 0x20041003"),
    "fault_load_multiple_unaligned": (2, "HardFault: unaligned 4-byte load from 0x20000102"),
    "fault_store_multiple_unaligned": (2, "HardFault: unaligned 4-byte store to 0x20041002"),
    "fault_load_from_hole": (2, "HardFault: 4-byte load from 0x20050000, which nothing answers"),
    "fault_store_to_hole": (2, "HardFault: 1-byte store to 0x20050004, which nothing answers"),
    "fault_undefined": (0, "HardFault: undefined instruction de00"),
    "fault_undefined_in_sram": (0, "HardFault: undefined instruction de00"),
    "fault_v8_divide": (0, "HardFault: undefined instruction fb91 f0f2"),
    "fault_v8_compare_branch": (0, "HardFault: undefined instruction b100"),
    "fault_v8_if_then": (0, "HardFault: undefined instruction bf08"),
    "fault_v8_move_wide": (0, "HardFault: undefined instruction f240 0001"),
}
_NO_ANSWER = "BusFault: access to an address that nothing answers (BFSR.PRECISERR)"
_ON_RP2350 = {
    "fault_load_multiple_unaligned": (2, "UsageFault: unaligned access (UFSR.UNALIGNED)"),
    "fault_store_multiple_unaligned": (2, "UsageFault: unaligned access (UFSR.UNALIGNED)"),
    "fault_load_double_unaligned": (2, "UsageFault: unaligned access (UFSR.UNALIGNED)"),
    "fault_load_from_hole": (2, f"{_NO_ANSWER} at 0x20090000"),
    "fault_store_to_hole": (2, f"{_NO_ANSWER} at 0x20090004"),
    "fault_undefined": (0, "UsageFault: undefined instruction (UFSR.UNDEFINSTR)"),
    "fault_undefined_in_sram": (0, "UsageFault: undefined instruction (UFSR.UNDEFINSTR)"),
    "fault_fpu_off": (0, "UsageFault: coprocessor or FPU that is switched off (UFSR.NOCP)"),
    "fault_divide_by_zero": (2, "UsageFault: division by zero (UFSR.DIVBYZERO)"),
    "fault_large_frame": (0, "UsageFault: stack limit (UFSR.STKOF)"),
}
_IN_A_FUNCTION = [
    (chip, function, *expected)
    for chip, table in (("rp2040", _ON_RP2040), ("rp2350", _ON_RP2350))
    for function, expected in table.items()
]


@pytest.mark.parametrize(("chip", "function", "offset", "cause"), _IN_A_FUNCTION)
def test_a_fault_in_a_function(
    boards: dict[str, _Faults], chip: str, function: str, offset: int, cause: str
) -> None:
    error = _board(boards, chip).fault(function)
    assert error.message == f"the firmware faulted in {function}+{offset:#x} (run)"
    assert error.cause == cause
    assert error.evidence["case"] == "fault/dual-direct@4"
    assert error.evidence["op"] == 0


_NO_CODE = "HardFault: execution of memory that holds no code"
_ELSEWHERE = [
    ("rp2040", "fault_execute_peripheral", "0x40054000", _NO_CODE),
    ("rp2040", "fault_execute_hole", "0x20050000", _NO_CODE),
    (
        "rp2350",
        "fault_execute_peripheral",
        "0x400b0000",
        "MemManage: execution of memory that holds no code (MMFSR.IACCVIOL)",
    ),
    (
        "rp2350",
        "fault_execute_hole",
        "0x20090000",
        "BusFault: instruction fetch from an address that nothing answers (BFSR.IBUSERR)",
    ),
]


@pytest.mark.parametrize(("chip", "function", "address", "cause"), _ELSEWHERE)
def test_execution_where_no_code_is(
    boards: dict[str, _Faults], chip: str, function: str, address: str, cause: str
) -> None:
    error = _board(boards, chip).fault(function)
    assert error.message == f"the firmware faulted in {address}, called from {function}+0x4 (run)"
    assert error.cause == cause


@pytest.mark.parametrize(
    ("chip", "cause"),
    [
        ("rp2040", "HardFault: execution without the Thumb bit"),
        ("rp2350", "UsageFault: execution without the Thumb bit (UFSR.INVSTATE)"),
    ],
)
def test_a_branch_without_the_thumb_bit(boards: dict[str, _Faults], chip: str, cause: str) -> None:
    error = _board(boards, chip).fault("fault_no_thumb_bit")
    assert "in fault_no_thumb_bit+0x4" in error.message
    assert error.cause == cause


@pytest.mark.parametrize("chip", CHIPS)
def test_a_fault_in_the_fault_handler_is_a_lock_up(boards: dict[str, _Faults], chip: str) -> None:
    error = _board(boards, chip).fault("fault_in_handler")
    assert error.cause == "the core is locked up: a fault inside the fault handler"
    assert "lockup" in str(error.evidence["core"])


def test_a_stack_that_overflows_on_the_m0_is_seen_in_the_pool(boards: dict[str, _Faults]) -> None:
    """Nothing stops it: 4352 bytes and what was in use, of 4096, reach into the pool's end."""
    error = _board(boards, "rp2040").fault("overflow_stack")
    assert error.message == "the stack overflowed its 4096 bytes while fault/dual-direct@4 ran"
    changed = error.evidence["bytes changed outside the arena"]
    assert isinstance(changed, int)
    assert 256 < changed < 1536


@pytest.mark.parametrize("function", ["overflow_stack", "fault_endless_recursion"])
def test_the_m33_stops_a_stack_at_its_limit(boards: dict[str, _Faults], function: str) -> None:
    """Where the exception's frame does not fit either, what called is found on the stack."""
    error = _board(boards, "rp2350").fault(function)
    assert error.message.startswith("the firmware faulted in ")
    assert error.cause == "UsageFault: stack limit (UFSR.STKOF)"
    assert error.evidence["case"] == "fault/dual-direct@4"


def test_who_recursed_is_found_on_the_stack(boards: dict[str, _Faults]) -> None:
    error = _board(boards, "rp2350").fault("fault_endless_recursion")
    assert "fault_endless_recursion" in error.message
    assert error.evidence["called from"] == "fault_endless_recursion+0x6"


def test_recursion_through_all_of_sram_on_the_m0(boards: dict[str, _Faults]) -> None:
    """It destroys the runner and its report; that the core is locked up is left to see."""
    error = _board(boards, "rp2040").fault("fault_endless_recursion")
    assert error.cause == "the core is locked up: a fault inside the fault handler"


@pytest.mark.parametrize("chip", CHIPS)
def test_a_store_to_flash_is_dropped(boards: dict[str, _Faults], chip: str) -> None:
    """As on the chips: no fault. That nothing has changed is what the next run's CRCs prove."""
    faults = _board(boards, chip)
    assert faults.commit("store_to_flash").results[0].outside_count == 0
    machine = emulated(faults.entry).machine
    assert bytes(machine.flash()[: len(faults.image.flash)]) == faults.image.flash
    assert faults.board.run(0, seed=2).verified.image_crc == faults.image.crc


def test_the_m33_loads_unaligned_words(boards: dict[str, _Faults]) -> None:
    assert _board(boards, "rp2350").commit("load_word_unaligned").results[0].outside_count == 0


@pytest.mark.parametrize("chip", CHIPS)
def test_a_fault_with_interrupts_on(boards: dict[str, _Faults], chip: str) -> None:
    """The USB interrupt may be taken in the window; the fault is told all the same."""
    with pytest.raises(FirmwareFault, match=r"faulted in fault_undefined\+0x0"):
        _board(boards, chip).commit("fault_undefined", keep_interrupts=True)
