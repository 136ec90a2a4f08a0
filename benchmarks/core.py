# SPDX-License-Identifier: Apache-2.0
"""The emulator's cores, with cycles and XIP timing, against Unicorn without hooks in the same run.

The program is the plain kernel's kind of work: an int8 dot product with its data in SRAM, and its code
in SRAM for both engines. Unicorn (`pip install 'ripbench[dev]'`) is only compared with.
"""

from __future__ import annotations

import statistics
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tabulate import tabulate

from harness.build.command import find_compiler

SRAM = 0x2000_0000
ROUNDS = 8000
SOURCE = r"""
typedef signed char i8;
static i8 x[1024], w[4096];
__attribute__((used)) int work(int rounds)
{
    int total = 0;
    for (int n = 0; n < 1024; n++) x[n] = (i8)(n * 3);
    for (int n = 0; n < 4096; n++) w[n] = (i8)(n * 5);
    for (int r = 0; r < rounds; r++)
        for (int o = 0; o < 4; o++) {
            int sum = r;
            for (int n = 0; n < 1024; n++) sum += x[n] * w[o * 1024 + n];
            total ^= sum;
        }
    return total;
}
__attribute__((naked, section(".start"))) void start(void) { __asm("bl work\n bkpt 1\n"); }
"""
SCRIPT = (
    "SECTIONS { . = 0x20000000; .text : { *(.start) *(.text*) *(.rodata*) *(.data*) *(.bss*) } }"
)


@dataclass(frozen=True)
class Core:
    """A core: our chip, gcc's and Unicorn's name of it, and what the ratio must reach."""

    name: str
    chip: str
    cpu: str
    unicorn: str
    asked: str


CORES = (
    Core("M0+", "rp2040", "cortex-m0plus", "UC_CPU_ARM_CORTEX_M0", "0.35"),
    Core("M33", "rp2350", "cortex-m33", "UC_CPU_ARM_CORTEX_M33", "0.65"),
)


def _program(core: Core, folder: Path) -> bytes:
    (folder / "work.c").write_text(SOURCE)
    (folder / "work.ld").write_text(SCRIPT)
    flags = [f"-mcpu={core.cpu}", "-mthumb", "-O2", "-ffreestanding", "-nostdlib", "-w"]
    elf, binary = folder / "work.elf", folder / "work.bin"
    subprocess.run(
        [find_compiler(), *flags, "-T", folder / "work.ld", folder / "work.c", "-o", elf],
        check=True,
    )
    objcopy = find_compiler().replace("gcc", "objcopy")
    subprocess.run(
        [objcopy, "--set-section-flags", ".text=alloc,load,contents", "-O", "binary", elf, binary],
        check=True,
    )
    return binary.read_bytes()


def _ours(core: Core, program: bytes) -> tuple[float, int, int]:
    """Seconds, instructions and result."""
    from harness.emulator.machine import Counter, Machine

    machine = Machine(core.chip, 2 << 20)
    machine.power_on()
    machine.bus_write_block(SRAM, program)
    machine.memory_changed(SRAM, len(program))
    machine.bus_write(0xE000_EDF0, 4, 0xA05F_0003)  # halt, with a debugger: BKPT ends the run
    machine.run(machine.counter(Counter.CYCLES))
    for register, value in ((0, ROUNDS), (13, SRAM + 0x3_0000), (15, SRAM), (16, 0x0100_0000)):
        machine.set_register(register, value)
    machine.bus_write(0xE000_EDF0, 4, 0xA05F_0001)
    before = machine.counter(Counter.INSTRUCTIONS)
    start = time.perf_counter()
    machine.run(1 << 62)
    taken = time.perf_counter() - start
    return taken, machine.counter(Counter.INSTRUCTIONS) - before, machine.register(0)


def _unicorns(core: Core, program: bytes) -> tuple[float, int]:
    """Seconds and result."""
    import unicorn
    from unicorn import arm_const as arm

    engine = unicorn.Uc(unicorn.UC_ARCH_ARM, unicorn.UC_MODE_THUMB | unicorn.UC_MODE_MCLASS)
    engine.ctl_set_cpu_model(getattr(arm, core.unicorn))
    engine.mem_map(SRAM, 264 * 1024)
    engine.mem_write(SRAM, program)
    engine.reg_write(arm.UC_ARM_REG_R0, ROUNDS)
    engine.reg_write(arm.UC_ARM_REG_SP, SRAM + 0x3_0000)
    start = time.perf_counter()
    engine.emu_start(SRAM | 1, SRAM + 4)
    return time.perf_counter() - start, engine.reg_read(arm.UC_ARM_REG_R0)


def main() -> None:
    for core in CORES:
        _compare(core)


def _compare(core: Core) -> None:
    with tempfile.TemporaryDirectory() as folder:
        program = _program(core, Path(folder))
    mine = [_ours(core, program) for _ in range(5)]
    instructions, result = mine[0][1:]
    rows: list[tuple[str, str, str]] = []
    speed = statistics.median(instructions / seconds / 1e6 for seconds, _, _ in mine)
    rows.append(("ripbench, cycles and XIP", f"{speed:.0f} MIPS", ""))
    try:
        theirs = [_unicorns(core, program) for _ in range(5)]
    except ImportError:
        rows.append(("Unicorn", "not installed", "pip install 'ripbench[dev]'"))
    else:
        assert all(found == result for _, found in theirs), "the engines disagree"
        other = statistics.median(instructions / seconds / 1e6 for seconds, _ in theirs)
        rows.append(("Unicorn, no hooks", f"{other:.0f} MIPS", ""))
        rows.append(("ratio", f"{speed / other:.2f}", core.asked))
    print(f"\n{core.name} core, {instructions / 1e6:.1f} M instructions, median of 5")
    print(tabulate(rows, headers=("", "speed", "asked"), disable_numparse=True))


if __name__ == "__main__":
    main()
