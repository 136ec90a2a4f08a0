# SPDX-License-Identifier: Apache-2.0
"""What the probe can still say about a board that does not answer."""

from __future__ import annotations

from dataclasses import dataclass

from harness.boards.faults import describe
from harness.boards.probe import Probe
from harness.build import RunnerImage
from harness.build.image import FLASH_BASE
from harness.case import Pack
from harness.schema.constants import PC_NOT_SAVED, BootStage
from harness.schema.records import FaultRecord, MailboxReport

_OUTSIDE = 0xFFFF  # case_index and op_index of a fault outside a case


@dataclass(frozen=True)
class Finding:
    """fault: what kind of fault, or None. where: the function. evidence: for an error."""

    fault: str | None
    where: str
    evidence: dict[str, object]


def examine(
    probe: Probe, report: MailboxReport, image: RunnerImage | None, pack: Pack | None
) -> Finding:
    """Halts the core and looks. A program that is not what was written explains whatever it does before
    its first case, and then its faults are not the cause. Errors: ProbeError."""
    if report.stage == BootStage.FAULTED and report.fault.kind:
        found = _faulted(report.fault, image, pack)
        unwritten = report.fault.case_index == _OUTSIDE and _unwritten(probe, image)
        if not unwritten:
            return found
        seen = {"flash": unwritten, "fault": f"{found.fault} in {found.where}", **found.evidence}
        return Finding(None, found.where, seen)
    evidence: dict[str, object] = {}
    state = probe.state()
    registers = probe.halted_registers()
    where = _name(registers["pc"], image)
    evidence["core"] = f"{state}, pc {registers['pc']:#010x} in {where}"
    evidence["called from"] = _name(registers["lr"], image)
    stage = report.stage
    evidence["firmware stage"] = BootStage(stage).name if stage <= max(BootStage) else stage
    fault = "the core is locked up: a fault inside the fault handler" if state == "lockup" else None
    if stage < BootStage.SERVING and (unwritten := _unwritten(probe, image)):
        return Finding(None, where, {"flash": unwritten, **evidence})
    return Finding(fault, where, evidence)


def _unwritten(probe: Probe, image: RunnerImage | None) -> str:
    """How the runner in flash differs from what was written; "" where it does not."""
    if image is None:
        return ""
    found = probe.read(FLASH_BASE, len(image.flash))
    wrong = [at for at, (a, b) in enumerate(zip(found, image.flash, strict=True)) if a != b]
    if not wrong:
        return ""
    return f"not what was written: {len(wrong)} bytes differ, the first at {FLASH_BASE + wrong[0]:#010x}"


def _faulted(fault: FaultRecord, image: RunnerImage | None, pack: Pack | None) -> Finding:
    caller = _name(fault.lr, image)
    where = _name(fault.pc, image)
    pc = f"{fault.pc:#010x} in {where}"
    if fault.pc == PC_NOT_SAVED:
        where, pc = f"or below {caller}", "not saved: there was no room on the stack"
    elif image is not None and not image.code_at(fault.pc, 2):
        where, pc = f"{where}, called from {caller}", where
    evidence: dict[str, object] = {
        "pc": pc,
        "called from": caller,
        "sp": f"{fault.sp:#010x}",
        "registers": " ".join(
            f"{name}={value:08x}"
            for name, value in zip(
                ("r0", "r1", "r2", "r3", "r12", *(f"r{n}" for n in range(4, 12))),
                (fault.r0, fault.r1, fault.r2, fault.r3, fault.r12, *fault.r4_r11),
                strict=True,
            )
        ),
    }
    if fault.case_index != _OUTSIDE:
        named = pack is not None and fault.case_index < len(pack.cases)
        evidence["case"] = pack.cases[fault.case_index].id if named and pack else fault.case_index
        evidence["op"] = fault.op_index if fault.op_index != _OUTSIDE else "none"
    return Finding(describe(fault, image), where, evidence)


def _name(address: int, image: RunnerImage | None) -> str:
    return image.function_at(address) if image is not None else f"{address:#010x}"
