# SPDX-License-Identifier: Apache-2.0
"""A chip with more or less SRAM than there is: the memory ends where it is said to, and nowhere else."""

from __future__ import annotations

import pytest

from harness.emulator import registry
from harness.emulator.machine import OTHER_SRAM_BYTES, Counter, Machine, Stop
from harness.emulator.witness import Extent, Witness
from harness.errors import ConfigError
from tests.emulator.core_program import CODE, FLASH_BYTES, HARD_FAULT, PC, SP, SRAM, Core
from tests.emulator.test_chip_boot import boot2_image

XL, OWN, LEAST = 520 * 1024, 264 * 1024, 72 * 1024
END = 0x2008_2000
MSP = 17


def machine(sram_bytes: int = XL) -> Machine:
    made = Machine("rp2040", FLASH_BYTES, sram_bytes)
    made.power_on()
    return made


def test_its_end_as_the_debug_port_sees_it() -> None:
    large, own = machine(), machine(0)
    assert (len(large.sram()), len(own.sram())) == (XL, OWN)
    assert large.bus_write(END - 4, 4, 0x1234) and large.bus_read(END - 4, 4) == 0x1234
    assert large.sram()[XL - 4 : XL - 2].tobytes() == b"\x34\x12"
    assert large.bus_read(END, 4) is None and not large.bus_write(END, 4, 0)
    assert own.bus_read(SRAM + OWN, 4) is None


@pytest.mark.parametrize("size", [LEAST, 136 * 1024, OWN + 4096, XL])
def test_code_and_data_up_to_the_end(size: int) -> None:
    """A store through the last word, code in the last bytes, and a fault behind them."""
    end = SRAM + size
    core = Core("str r0, [r1]\n ldr r2, [r1]\n bx r3\n", machine(size))
    core.write(end - 8, 0xBE01, 2)  # bkpt #1
    core.set(0, 0xA5A5)
    core.set(1, end - 4)
    core.set(3, (end - 8) | 1)
    core.set(SP, end - 16)
    assert core.go() == Stop.HALTED
    assert (core.get(PC), core.get(2), core.read(end - 4)) == (end - 8, 0xA5A5, 0xA5A5)
    core.set(1, end)
    core.set(PC, CODE)
    assert core.go() == Stop.HALTED
    assert core.in_exception == HARD_FAULT
    assert f"address {end:#010x}" in core.machine.last_fault()


def test_the_second_stage_runs_in_its_last_bytes() -> None:
    """Where the boot ROM of the real one has it, and its stack below."""
    made = machine()
    assert made.register(MSP) == END - 256
    made.load_flash(0, boot2_image())
    made.reset()
    made.run(made.counter(Counter.CYCLES) + 2_000_000)
    assert made.bus_read_block(END - 256, 256) == boot2_image()
    assert END - 256 <= made.counter(Counter.PC) < END
    assert made.boot_state() == "boot2 entered"


def test_cycles_are_those_of_the_chip_that_exists() -> None:
    loop = "movs r0, #200\n1: ldr r1, [r2]\n stm r3!, {r0, r1}\n subs r0, #1\n bne 1b\n bkpt #1"
    took = []
    for size in (0, XL):
        core = Core(loop, machine(size))
        core.set(2, SRAM + 0x1_0000)
        core.set(3, SRAM + 0x1_1000)
        before = core.cycles
        assert core.go() == Stop.HALTED
        took.append(core.cycles - before)
    assert took[0] == took[1] > 1600


def test_the_witness_sees_all_of_it() -> None:
    core = Core("start: nop\n str r0, [r1]\n end: bkpt #1", machine())
    witness = Witness(core.machine)
    witness.watch(begin=0, end=0, areas={"top": [(END - 64, 64)]})
    core.machine.witness_open()
    core.set(1, END - 4)
    core.go()
    core.machine.witness_close()
    (window,) = witness.windows()
    assert window.zones["top"].written == Extent(4, END - 4, END)
    assert len(core.machine.witness_shadow()) == XL


@pytest.mark.parametrize(
    ("chip", "size"),
    [
        ("rp2040", LEAST - 4096),
        ("rp2040", OWN + 2048),
        ("rp2040", XL + 4096),
        ("rp2040", 4096),
        ("rp2350", XL + 4096),
        ("rp2350", OWN),
    ],
)
def test_chips_that_cannot_even_be_made_up(chip: str, size: int) -> None:
    assert size not in OTHER_SRAM_BYTES[chip]
    with pytest.raises(ConfigError, match="no such machine") as caught:
        Machine(chip, FLASH_BYTES, size)
    assert caught.value.evidence["sram_bytes"] == size


def test_every_size_that_is_offered() -> None:
    sizes = OTHER_SRAM_BYTES["rp2040"]
    assert (sizes[0], sizes[-1], sizes.step) == (LEAST, XL, 4096)
    for size in (sizes[0], sizes[1], sizes[-1]):
        assert len(machine(size).sram()) == size


def test_the_one_that_everybody_has() -> None:
    """Also after it was unplugged."""
    name = "pico1-emu-xl"
    for _ in range(2):
        assert registry.entry(name).options.sram_bytes == XL
        assert len(registry.board(name).machine.sram()) == XL
        registry.remove(name)
