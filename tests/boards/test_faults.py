# SPDX-License-Identifier: Apache-2.0
"""Fault records in words, without a board."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

import pytest

from harness.boards.faults import check_stack, describe
from harness.boards.postmortem import Finding, examine
from harness.boards.probe import Probe
from harness.boards.run import Run
from harness.boards.thumb import access
from harness.build import RunnerImage
from harness.build.image import FLASH_BASE
from harness.errors import FirmwareFault
from harness.schema.constants import PC_NOT_SAVED, BootStage
from harness.schema.records import (
    FaultRecord,
    Hello,
    MailboxReport,
    RunRequest,
    RunResult,
)

THUMB, ALIGNED = 1 << 24, 1 << 9
RECORD = FaultRecord(
    kind=3, r0=0x2000_0000, r1=0x2000_0101, r2=0x2000_0202, r3=0x2000_0300, r12=0, lr=0x1000_0201,
    pc=0x2000_0402, xpsr=THUMB, r4_r11=(4, 5, 6, 7, 8, 9, 10, 11), sp=0x2004_1F02,
    exc_return=0xFFFF_FFF9, cfsr=0, hfsr=0, fault_address=0, case_index=0xFFFF, op_index=0xFFFF,
)  # fmt: skip


@pytest.mark.parametrize(
    ("halfword", "text"),
    [
        (0x4801, "4-byte load from 0x20000408, which nothing answers"),  # ldr r0, [pc, #4]
        (0x5088, "unaligned 4-byte store to 0x40000303"),  # str r0, [r1, r2]
        (0x5288, "unaligned 2-byte store to 0x40000303"),  # strh r0, [r1, r2]
        (0x5488, "1-byte store to 0x40000303, which nothing answers"),  # strb r0, [r1, r2]
        (0x5688, "1-byte load from 0x40000303, which nothing answers"),  # ldrsb r0, [r1, r2]
        (0x5888, "unaligned 4-byte load from 0x40000303"),  # ldr r0, [r1, r2]
        (0x5A88, "unaligned 2-byte load from 0x40000303"),  # ldrh r0, [r1, r2]
        (0x5C88, "1-byte load from 0x40000303, which nothing answers"),  # ldrb r0, [r1, r2]
        (0x5E88, "unaligned 2-byte load from 0x40000303"),  # ldrsh r0, [r1, r2]
        (0x6008, "unaligned 4-byte store to 0x20000101"),  # str r0, [r1]
        (0x6848, "unaligned 4-byte load from 0x20000105"),  # ldr r0, [r1, #4]
        (0x7048, "1-byte store to 0x20000102, which nothing answers"),  # strb r0, [r1, #1]
        (0x7848, "1-byte load from 0x20000102, which nothing answers"),  # ldrb r0, [r1, #1]
        (0x8048, "unaligned 2-byte store to 0x20000103"),  # strh r0, [r1, #2]
        (0x8848, "unaligned 2-byte load from 0x20000103"),  # ldrh r0, [r1, #2]
        (0x9001, "unaligned 4-byte store to 0x20041f26"),  # str r0, [sp, #4]
        (0x9801, "unaligned 4-byte load from 0x20041f26"),  # ldr r0, [sp, #4]
        (0xC101, "unaligned 4-byte store to 0x20000101"),  # stm r1!, {r0}
        (0xC901, "unaligned 4-byte load from 0x20000101"),  # ldm r1!, {r0}
        (0xB510, "unaligned 4-byte store to 0x20041f1a"),  # push {r4, lr}
        (0xBD10, "unaligned 4-byte load from 0x20041f22"),  # pop {r4, pc}
        (0x4770, None),  # bx lr
        (0xDE00, None),  # udf
        (0xB100, None),  # cbz
    ],
)
def test_the_address_of_a_load_or_store(halfword: int, text: str | None) -> None:
    found = access(RECORD, halfword)
    assert (None if found is None else str(found)) == text


def test_the_stack_pointer_before_the_frame_was_aligned() -> None:
    found = access(replace(RECORD, xpsr=THUMB | ALIGNED), 0x9801)
    assert found is not None
    assert found.address == 0x2004_1F2A


@pytest.mark.parametrize(
    ("cfsr", "text"),
    [
        (1 << 0, "execution of memory that holds no code (MMFSR.IACCVIOL)"),
        (1 << 16, "undefined instruction (UFSR.UNDEFINSTR)"),
        (1 << 19, "coprocessor or FPU that is switched off (UFSR.NOCP)"),
        (1 << 20, "stack limit (UFSR.STKOF)"),
        (1 << 24, "unaligned access (UFSR.UNALIGNED)"),
        (1 << 25, "division by zero (UFSR.DIVBYZERO)"),
        (
            1 << 15 | 1 << 9,
            "access to an address that nothing answers (BFSR.PRECISERR) at 0x60000000",
        ),
        (1 << 7 | 1 << 1, "access to protected memory (MMFSR.DACCVIOL) at 0x60000000"),
        (
            1 << 20 | 1 << 24,
            "stack limit (UFSR.STKOF), unaligned access (UFSR.UNALIGNED)",
        ),
    ],
)
def test_the_status_register_of_the_m33(cfsr: int, text: str) -> None:
    fault = replace(RECORD, cfsr=cfsr, hfsr=1 << 30, fault_address=0x6000_0000)
    assert describe(fault, None) == f"HardFault: {text}"
    assert describe(replace(fault, kind=6), None) == f"UsageFault: {text}"


def test_a_vector_that_could_not_be_read() -> None:
    expected = "HardFault: a vector could not be read (HFSR.VECTTBL)"
    assert describe(replace(RECORD, hfsr=1 << 1), None) == expected


@pytest.mark.parametrize(
    ("kind", "name"),
    [(2, "NMI"), (11, "SVCall"), (13, "exception 13"), (21, "unexpected interrupt 5")],
)
def test_what_is_no_fault(kind: int, name: str) -> None:
    assert describe(replace(RECORD, kind=kind), None) == name


def test_a_hard_fault_without_an_image_has_no_cause() -> None:
    assert describe(RECORD, None) == "HardFault"
    assert describe(replace(RECORD, xpsr=0), None) == "HardFault: execution without the Thumb bit"


def _with_code(image: RunnerImage, *halfwords: int) -> tuple[RunnerImage, FaultRecord]:
    """The image with these at the start of a function, and a fault there."""
    at = (image.symbols["runner_main"] & ~1) - 0x1000_0000
    flash = bytearray(image.flash)
    for index, halfword in enumerate(halfwords):
        flash[at + 2 * index : at + 2 * index + 2] = halfword.to_bytes(2, "little")
    return replace(image, flash=bytes(flash)), replace(RECORD, pc=0x1000_0000 + at)


@pytest.mark.parametrize(
    ("halfwords", "text"),
    [
        ((0xDE00,), "undefined instruction de00"),
        ((0xFB91, 0xF0F2), "undefined instruction fb91 f0f2"),
        ((0xBE00,), "breakpoint without a debugger"),
        ((0xDF00,), "supervisor call with interrupts masked"),
        ((0x6008,), "unaligned 4-byte store to 0x20000101"),
    ],
)
def test_the_cause_by_the_instruction(
    runner_image: RunnerImage, halfwords: tuple[int, ...], text: str
) -> None:
    image, fault = _with_code(runner_image, *halfwords)
    assert describe(fault, image) == f"HardFault: {text}"


def _examine(fault: FaultRecord, image: RunnerImage) -> Finding:
    """The report says all; the probe is asked for flash alone, and it holds the image."""
    report = MailboxReport(BootStage.FAULTED, 0, bytes(8), fault)
    return examine(cast(Probe, _Flash(b"" if image is None else image.flash)), report, image, None)


@dataclass
class _Flash:
    """A probe that can do nothing but read flash."""

    content: bytes

    def read(self, address: int, length: int) -> bytes:
        offset = address - FLASH_BASE
        return self.content[offset : offset + length]


def test_a_program_that_is_not_what_was_written_is_the_cause(runner_image: RunnerImage) -> None:
    flash = bytearray(runner_image.flash)
    flash[0x200:0x204] = bytes(byte ^ 0xFF for byte in flash[0x200:0x204])
    report = MailboxReport(BootStage.FAULTED, 0, bytes(8), replace(RECORD, case_index=0xFFFF))
    found = examine(cast(Probe, _Flash(bytes(flash))), report, runner_image, None)
    assert found.fault is None
    assert found.evidence["flash"] == (
        "not what was written: 4 bytes differ, the first at 0x10000200"
    )
    in_a_case = replace(report, fault=replace(RECORD, case_index=0))
    assert examine(cast(Probe, _Flash(bytes(flash))), in_a_case, runner_image, None).fault


def test_where_a_fault_was(runner_image: RunnerImage) -> None:
    main = runner_image.symbols["runner_main"]
    here = _examine(replace(RECORD, pc=(main & ~1) + 2, lr=main + 8), runner_image)
    assert here.where == "runner_main+0x2"
    assert here.evidence["called from"] == "runner_main+0x8"
    elsewhere = _examine(replace(RECORD, pc=0x4005_4000, lr=main + 8), runner_image)
    assert elsewhere.where == "0x40054000, called from runner_main+0x8"
    assert elsewhere.fault == "HardFault: execution of memory that holds no code"
    lost = _examine(
        replace(RECORD, pc=PC_NOT_SAVED, xpsr=0, cfsr=1 << 20, lr=main + 8), runner_image
    )
    assert lost.where == "or below runner_main+0x8"
    assert lost.evidence["pc"] == "not saved: there was no room on the stack"


def _run(stack_peak: int) -> Run:
    fields = dict.fromkeys((m.name for m in RunResult.members()), 0)
    result = RunResult(**{**fields, "stack_peak": stack_peak, "outside_count": 7})
    return Run(RunRequest(0, 1, 1, 0, 0, 0, 0), cast("object", None), ((),), (result,))  # type: ignore[arg-type]


def test_a_stack_that_was_used_to_its_last_word() -> None:
    fields = {m.name: 0 for m in Hello.members()}
    hello = Hello(**{**fields, "stack_bytes": 4096})  # type: ignore[arg-type]
    check_stack(_run(4092), hello, "a case")
    with pytest.raises(FirmwareFault, match="overflowed its 4096 bytes while a case ran") as caught:
        check_stack(_run(4096), hello, "a case")
    assert caught.value.evidence == {"bytes changed outside the arena": 7}
