# SPDX-License-Identifier: Apache-2.0
"""Small programs on the emulated core: assembled, put into SRAM (or flash), started as a debugger does.

SRAM from the bottom: the vector table, then code; the stack is at the top of the striped banks. Every
handler that a program does not name is `bkpt #0xff`.
"""

from __future__ import annotations

import functools
import struct
import subprocess
import tempfile
from pathlib import Path

from elftools.elf.elffile import ELFFile

from harness.emulator.machine import Counter, Machine, Stop

FLASH_BYTES = 2 * 1024 * 1024
XIP, SRAM, CODE, DATA, STACK_TOP = 0x10000000, 0x20000000, 0x20000200, 0x20010000, 0x20040000
SP, LR, PC, XPSR, MSP, PSP, CFBP = 13, 14, 15, 16, 17, 18, 20
XPSR_T = 1 << 24
VTOR, SHPR2, SHPR3, ICSR = 0xE000ED08, 0xE000ED1C, 0xE000ED20, 0xE000ED04
NVIC_ISER, NVIC_ISPR, NVIC_IPR0 = 0xE000E100, 0xE000E200, 0xE000E400
DHCSR, DCRSR, DCRDR, DEMCR, DFSR = 0xE000EDF0, 0xE000EDF4, 0xE000EDF8, 0xE000EDFC, 0xE000ED30
DBGKEY, C_DEBUGEN, C_HALT, C_STEP, C_MASKINTS = 0xA05F << 16, 1, 2, 4, 8
HARD_FAULT, SVCALL, PENDSV, SYSTICK, IRQ0 = 3, 11, 14, 15, 16
FIRMWARE = Path(__file__).parent / "firmware"
CPU: tuple[str, ...] = ("-mcpu=cortex-m0plus", "-mthumb")
FLAGS = ("N", "Z", "C", "V")


@functools.cache
def assemble(
    source: str, at: int = CODE, cpu: tuple[str, ...] = CPU
) -> tuple[bytes, dict[str, int]]:
    """The bytes of a piece of assembly linked at `at`, and its labels."""
    with tempfile.TemporaryDirectory() as folder:
        text, elf = Path(folder, "program.S"), Path(folder, "program.elf")
        text.write_text(f".syntax unified\n.thumb\n.global start\nstart:\n{source}\n")
        link = ("-nostdlib", "-Wl,-e,start", f"-Wl,-Ttext={at:#x}", "-Wl,--no-warn-rwx-segments")
        _gcc(*cpu, *link, "-o", str(elf), str(text))
        return _section_text(elf), _symbols(elf)


@functools.cache
def compile_firmware(
    name: str, at: int = SRAM, cpu: tuple[str, ...] = CPU
) -> tuple[bytes, dict[str, int]]:
    """firmware/<name>.c linked by firmware/test.ld with its vector table at `at`."""
    with tempfile.TemporaryDirectory() as folder:
        elf = Path(folder, "firmware.elf")
        script, flags = FIRMWARE / "test.ld", ("-O2", "-ffreestanding", "-nostdlib", "-Wall")
        link = (f"-Wl,-T,{script}", f"-Wl,--defsym=BASE={at:#x}", "-Wl,--no-warn-rwx-segments")
        _gcc(*cpu, *flags, *link, "-o", str(elf), str(FIRMWARE / f"{name}.c"), "-lgcc")
        return _section_text(elf), _symbols(elf)


def _gcc(*arguments: str) -> None:
    subprocess.run(["arm-none-eabi-gcc", *arguments], check=True)


def _section_text(elf: Path) -> bytes:
    with elf.open("rb") as file:
        return bytes(ELFFile(file).get_section_by_name(".text").data())


def _symbols(elf: Path) -> dict[str, int]:
    with elf.open("rb") as file:
        table = ELFFile(file).get_section_by_name(".symtab")
        return {s.name: s["st_value"] for s in table.iter_symbols() if s.name}


class Core:
    """A chip whose core is halted by a debugger, with a vector table in SRAM; no boot code is needed.

    machine: one that is already powered; a new one otherwise.
    """

    CHIP = "rp2040"
    CPU = CPU

    def __init__(self, source: str = "", machine: Machine | None = None) -> None:
        self.machine = machine or Machine(self.CHIP, FLASH_BYTES)
        if machine is None:
            self.machine.power_on()
        self.halt()
        self.write(VTOR, SRAM)
        catch_all, _ = assemble("bkpt #0xff", SRAM + 0x100)
        self.machine.bus_write_block(SRAM + 0x100, catch_all)
        for number in range(64):
            self.write(SRAM + 4 * number, (SRAM + 0x100) | 1)
        self.labels: dict[str, int] = {}
        if source:
            self.load(source)

    def load(self, source: str, at: int = CODE) -> None:
        """Assemble to `at` and make the core ready to run from there, with the default stack."""
        code, self.labels = assemble(source, at, self.CPU)
        if at < SRAM:
            self.machine.load_flash(at - XIP, code)
        else:
            self.machine.bus_write_block(at, code)
        self.set(SP, STACK_TOP)
        self.set(XPSR, XPSR_T)
        self.set(PC, at)

    def vector(self, exception: int, label: str) -> None:
        self.write(SRAM + 4 * exception, self.labels[label] | 1)

    # ---- the debug port ----

    def read(self, address: int, size: int = 4) -> int:
        value = self.machine.bus_read(address, size)
        assert value is not None, f"bus fault at {address:#x}"
        return value

    def write(self, address: int, value: int, size: int = 4) -> None:
        assert self.machine.bus_write(address, size, value), f"bus fault at {address:#x}"

    def halt(self) -> None:
        self.write(DHCSR, DBGKEY | C_DEBUGEN | C_HALT)

    def go(self, cycles: int = 100_000, debugger: bool = True) -> Stop:
        self.write(DHCSR, DBGKEY | (C_DEBUGEN if debugger else 0))
        return self.machine.run(self.cycles + cycles)

    def step(self, control: int = 0) -> Stop:
        self.write(DHCSR, DBGKEY | C_DEBUGEN | C_STEP | control)
        return self.machine.run(self.cycles + 100_000)

    # ---- what is seen ----

    def get(self, register: int) -> int:
        return self.machine.register(register)

    def set(self, register: int, value: int) -> None:
        self.machine.set_register(register, value)

    @property
    def cycles(self) -> int:
        return self.machine.counter(Counter.CYCLES)

    @property
    def flags(self) -> str:
        """The set ones of N, Z, C, V."""
        return "".join(name for k, name in enumerate(FLAGS) if self.get(XPSR) >> (31 - k) & 1)

    @property
    def in_exception(self) -> int:
        return self.get(XPSR) & 0x3F

    def frame(self, pointer: int | None = None) -> dict[str, int]:
        """The eight stacked words at `pointer`, or at the current stack pointer."""
        data = self.machine.bus_read_block(self.get(SP) if pointer is None else pointer, 32)
        assert data is not None
        names = ("r0", "r1", "r2", "r3", "r12", "lr", "pc", "xpsr")
        return dict(zip(names, struct.unpack("<8I", data), strict=True))
