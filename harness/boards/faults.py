# SPDX-License-Identifier: Apache-2.0
"""A fault record in words.

ARMv8-M says in CFSR what kind of fault it was. ARMv6-M only says HardFault, but the record holds every
register and the image the instruction, and from these the cause follows.
"""

from __future__ import annotations

from harness.boards.run import Run
from harness.boards.thumb import access
from harness.build import RunnerImage
from harness.errors import FirmwareFault
from harness.schema.constants import PC_NOT_SAVED
from harness.schema.records import FaultRecord, Hello

_EXCEPTIONS = {
    **{2: "NMI", 3: "HardFault", 4: "MemManage", 5: "BusFault", 6: "UsageFault", 7: "SecureFault"},
    **{11: "SVCall", 12: "DebugMonitor", 14: "PendSV", 15: "SysTick"},
}
_FIRST_IRQ = 16

# ARMv8-M D1.2.30, D1.2.6, D1.2.251: bits of CFSR, which are MMFSR, BFSR and UFSR side by side.
_CFSR = {
    0: ("MMFSR.IACCVIOL", "execution of memory that holds no code"),
    1: ("MMFSR.DACCVIOL", "access to protected memory"),
    3: ("MMFSR.MUNSTKERR", "protected memory where an exception's frame was"),
    4: ("MMFSR.MSTKERR", "protected memory where an exception's frame belongs"),
    5: ("MMFSR.MLSPERR", "protected memory where the FPU's registers belong"),
    8: ("BFSR.IBUSERR", "instruction fetch from an address that nothing answers"),
    9: ("BFSR.PRECISERR", "access to an address that nothing answers"),
    10: ("BFSR.IMPRECISERR", "a store shortly before, to an address that nothing answers"),
    11: ("BFSR.UNSTKERR", "no memory where an exception's frame was"),
    12: ("BFSR.STKERR", "no memory where an exception's frame belongs"),
    13: ("BFSR.LSPERR", "no memory where the FPU's registers belong"),
    16: ("UFSR.UNDEFINSTR", "undefined instruction"),
    17: ("UFSR.INVSTATE", "execution without the Thumb bit"),
    18: ("UFSR.INVPC", "invalid exception return"),
    19: ("UFSR.NOCP", "coprocessor or FPU that is switched off"),
    20: ("UFSR.STKOF", "stack limit"),
    24: ("UFSR.UNALIGNED", "unaligned access"),
    25: ("UFSR.DIVBYZERO", "division by zero"),
}
_MMARVALID, _BFARVALID = 1 << 7, 1 << 15
_HFSR_VECTTBL = 1 << 1
_EPSR_T = 1 << 24


def describe(fault: FaultRecord, image: RunnerImage | None) -> str:
    """`HardFault: unaligned 4-byte load from 0x20000102`, or as much of it as can be known."""
    kind = exception_name(fault.kind)
    cause = _status(fault) or _reconstructed(fault, image)
    return f"{kind}: {cause}" if cause else kind


def exception_name(number: int) -> str:
    if number >= _FIRST_IRQ:
        return f"unexpected interrupt {number - _FIRST_IRQ}"
    return _EXCEPTIONS.get(number, f"exception {number}")


def check_stack(run: Run, hello: Hello, case: str) -> None:
    """Nothing stops a stack on the M0+: it grows into the end of the pool. Errors: FirmwareFault."""
    for result in run.results:
        if result.stack_peak >= hello.stack_bytes:
            raise FirmwareFault(
                f"the stack overflowed its {hello.stack_bytes} bytes while {case} ran",
                cause="its lowest word was written; below it is the end of the pool",
                evidence={"bytes changed outside the arena": result.outside_count},
                hint="large arrays and recursion do not fit; what the run measured is worthless",
            )


def _status(fault: FaultRecord) -> str:
    """What CFSR and HFSR say; empty on ARMv6-M, which has neither."""
    found = [f"{words} ({name})" for bit, (name, words) in _CFSR.items() if fault.cfsr >> bit & 1]
    if fault.hfsr & _HFSR_VECTTBL:
        found.append("a vector could not be read (HFSR.VECTTBL)")
    if found and fault.cfsr & (_MMARVALID | _BFARVALID):
        found[-1] += f" at {fault.fault_address:#010x}"
    return ", ".join(found)


def _reconstructed(fault: FaultRecord, image: RunnerImage | None) -> str:
    """Of an ARMv6-M HardFault; empty when the instruction is not known."""
    if exception_name(fault.kind) != "HardFault" or fault.pc == PC_NOT_SAVED:
        return ""
    if not fault.xpsr & _EPSR_T:
        return "execution without the Thumb bit"
    code = image.code_at(fault.pc, 4) if image is not None else b""
    if image is not None and not code:
        return "execution of memory that holds no code"
    if len(code) < 4:
        return ""
    halfword = int.from_bytes(code[:2], "little")
    done = access(fault, halfword)
    if done is not None:
        return str(done)
    if halfword >> 8 == 0xBE:
        return "breakpoint without a debugger"
    if halfword >> 8 == 0xDF:
        return "supervisor call with interrupts masked"
    whole = f"{halfword:04x}" + (f" {code[3]:02x}{code[2]:02x}" if halfword >> 11 > 0x1C else "")
    return f"undefined instruction {whole}"
