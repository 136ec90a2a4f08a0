# SPDX-License-Identifier: Apache-2.0
"""The emulated chip in Python: core/emu.h, function by function, and nothing else.

Times are absolute cycles of clk_sys since power-on. A bus access that the chip does not answer is
None (read) or False (write), as the debug port would report it.
"""

from __future__ import annotations

import ctypes
from ctypes import POINTER, byref, c_char_p, c_int, c_uint8, c_uint32, c_uint64, c_void_p
from enum import IntEnum, IntFlag
from functools import cache
from mmap import mmap

from harness.emulator import build
from harness.emulator.profile_records import PROFILE
from harness.emulator.witness_records import WINDOW, WRITER, WindowRecord
from harness.errors import ConfigError

XIP_BASE = 0x10000000
ROM_BYTES = {"rp2040": 16 * 1024, "rp2350": 32 * 1024}
SRAM_BYTES = {"rp2040": 264 * 1024, "rp2350": 520 * 1024}
OTHER_SRAM_BYTES = {  # what a chip that does not exist may have instead
    "rp2040": range(72 * 1024, 520 * 1024 + 1, 4096),
    "rp2350": range(0),
}
USB_PACKET_BYTES = 64


class Stop(IntEnum):
    """Why `run` came back; enum emu_stop."""

    RAN = 0
    HALTED = 1
    LOCKUP = 2
    RESET = 3
    STRICT = 4
    USB = 5


class Counter(IntEnum):
    """enum emu_counter."""

    CYCLES = 0
    INSTRUCTIONS = 1
    XIP_ACCESSES = 2
    XIP_MISSES = 3
    EXCEPTIONS = 4
    CLK_SYS_HZ = 5
    XIP_MISS_CYCLES = 6
    SLEEPING = 7
    PC = 8
    DROPPED_WRITES = 9
    TIME_NS = 10
    FLASH_PAGES = 11
    FLASH_ERASES = 12


class UsbEvent(IntFlag):
    """enum emu_usb_event."""

    ATTACH = 1
    DETACH = 2
    IN_READY = 4
    OUT_READY = 8
    STALLED = 16


# opened, closed, cycles of a miss; of each instruction pc, cycles, times, misses
ProfileWindow = tuple[int, int, int, tuple[tuple[int, int, int, int], ...]]

_MACHINE = c_void_p
_BYTES = POINTER(c_uint8)
_PROTOTYPES: dict[str, tuple[object, list[object]]] = {
    "emu_new": (_MACHINE, [c_char_p, c_uint32, c_uint32]),
    "emu_free": (None, [_MACHINE]),
    "emu_power_on": (None, [_MACHINE]),
    "emu_reset": (None, [_MACHINE]),
    "emu_run": (c_int, [_MACHINE, c_uint64]),
    "emu_stop_on_usb": (None, [_MACHINE, c_int]),
    "emu_counter": (c_uint64, [_MACHINE, c_int]),
    "emu_message": (c_char_p, [_MACHINE]),
    "emu_clear_message": (None, [_MACHINE]),
    "emu_last_fault": (c_char_p, [_MACHINE]),
    "emu_set_unique_id": (None, [_MACHINE, c_char_p]),
    "emu_set_switch": (None, [_MACHINE, c_char_p, c_uint32]),
    "emu_lend_flash": (None, [_MACHINE, c_void_p]),
    "emu_flash": (_BYTES, [_MACHINE]),
    "emu_sram": (_BYTES, [_MACHINE]),
    "emu_rom": (_BYTES, [_MACHINE]),
    "emu_memory_changed": (None, [_MACHINE, c_uint32, c_uint32]),
    "emu_bus_read": (c_int, [_MACHINE, c_uint32, c_int, POINTER(c_uint32)]),
    "emu_bus_write": (c_int, [_MACHINE, c_uint32, c_int, c_uint32]),
    "emu_bus_read_block": (c_int, [_MACHINE, c_uint32, c_char_p, c_uint32]),
    "emu_bus_write_block": (c_int, [_MACHINE, c_uint32, c_char_p, c_uint32]),
    "emu_register": (c_uint32, [_MACHINE, c_int]),
    "emu_set_register": (None, [_MACHINE, c_int, c_uint32]),
    "emu_usb_events": (c_uint32, [_MACHINE, POINTER(c_uint64)]),
    "emu_usb_attached": (c_int, [_MACHINE]),
    "emu_usb_why_not": (c_char_p, [_MACHINE]),
    "emu_boot_state": (c_char_p, [_MACHINE]),
    "emu_usb_bus_reset": (None, [_MACHINE, c_int]),
    "emu_usb_setup": (None, [_MACHINE, c_char_p]),
    "emu_usb_in": (c_int, [_MACHINE, c_int, c_char_p, POINTER(c_int)]),
    "emu_usb_out": (c_int, [_MACHINE, c_int, c_char_p, c_int, c_int]),
    "emu_usb_sof": (None, [_MACHINE, c_int]),
    "emu_witness_start": (c_int, [_MACHINE, c_uint32, c_uint32]),
    "emu_witness_stop": (None, [_MACHINE]),
    "emu_witness_zone": (None, [_MACHINE, c_int, c_uint32, c_uint32]),
    "emu_witness_role": (None, [_MACHINE, c_uint32, c_uint32, c_int]),
    "emu_witness_open": (None, [_MACHINE]),
    "emu_witness_close": (None, [_MACHINE]),
    "emu_witness_is_open": (c_int, [_MACHINE]),
    "emu_witness_windows": (c_uint32, [_MACHINE]),
    "emu_witness_window": (WINDOW, [_MACHINE, c_uint32]),
    "emu_witness_shadow": (_BYTES, [_MACHINE]),
    "emu_witness_writer": (WRITER, [_MACHINE, c_uint32]),
    "emu_witness_watch": (None, [_MACHINE, c_uint32, c_uint32, c_uint32]),
    "emu_witness_watched": (c_uint32, [_MACHINE]),
    "emu_profile_start": (c_int, [_MACHINE, c_uint32, c_uint32]),
    "emu_profile_stop": (None, [_MACHINE]),
    "emu_profile_lost": (c_int, [_MACHINE]),
    "emu_profile_windows": (c_uint32, [_MACHINE]),
    "emu_profile_window": (PROFILE, [_MACHINE, c_uint32]),
}


@cache
def _load(path: str) -> ctypes.CDLL:
    library = ctypes.CDLL(path)
    for name, (result, arguments) in _PROTOTYPES.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


class Machine:
    """One chip with its flash (erased). sram_bytes: 0 for the chip's own, or one of OTHER_SRAM_BYTES.
    compiler: see `build.library`.

    Raises ConfigError for an unknown chip, a flash size that is not a power of two or an SRAM that is
    not to be had, BuildError when the core cannot be compiled.
    """

    def __init__(
        self, chip: str, flash_bytes: int, sram_bytes: int = 0, *, compiler: str | None = None
    ) -> None:
        self._core = _load(str(build.library(compiler)))
        handle = self._core.emu_new(chip.encode(), flash_bytes, sram_bytes)
        if not handle:
            raise ConfigError(
                "no such machine",
                evidence={"chip": chip, "flash_bytes": flash_bytes, "sram_bytes": sram_bytes},
                hint="rp2040 or rp2350, with a power of two of at most 16 MB of flash",
            )
        self._handle: int = handle
        self._chip = chip
        self._flash_bytes = flash_bytes
        self._sram_bytes = sram_bytes or SRAM_BYTES[chip]

    def __del__(self) -> None:
        """A collector that breaks a cycle finalises its members in any order."""
        self.close()

    def close(self) -> None:
        """Frees it; the memory that `flash`, `sram` and `rom` gave is gone with it. Whoever still asks
        gets an AttributeError, no wild pointer."""
        handle = self.__dict__.pop("_handle", None)
        if handle:
            self._core.emu_free(handle)

    # ---- life and time ----

    def power_on(self) -> None:
        self._core.emu_power_on(self._handle)

    def reset(self) -> None:
        self._core.emu_reset(self._handle)

    def run(self, until: int) -> Stop:
        """To the first branch at or after cycle `until`, or a reason to come back earlier."""
        return Stop(self._core.emu_run(self._handle, until))

    def stop_on_usb(self, on: bool) -> None:
        self._core.emu_stop_on_usb(self._handle, on)

    def counter(self, which: Counter) -> int:
        return int(self._core.emu_counter(self._handle, which))

    def message(self) -> str:
        """Text of the last STRICT or LOCKUP, "" if there was none."""
        return self._text(self._core.emu_message(self._handle))

    def clear_message(self) -> None:
        self._core.emu_clear_message(self._handle)

    def last_fault(self) -> str:
        """The latest fault: cause, address, pc and cycle; "" if there was none."""
        return self._text(self._core.emu_last_fault(self._handle))

    def boot_state(self) -> str:
        """How far the boot ROM came, and why no further."""
        return self._text(self._core.emu_boot_state(self._handle))

    def set_unique_id(self, unique_id: bytes) -> None:
        """The 8 bytes that the flash chip answers to command 4Bh."""
        if len(unique_id) != 8:
            raise ValueError(f"a flash unique id has 8 bytes, not {len(unique_id)}")
        self._core.emu_set_unique_id(self._handle, unique_id)

    def set_switch(self, name: str, value: int) -> None:
        self._core.emu_set_switch(self._handle, name.encode(), value)

    # ---- memories, bus, registers ----

    def flash(self) -> memoryview:
        """The flash's bytes, live and writable; call `memory_changed` after writing."""
        return self._memory(self._core.emu_flash(self._handle), self._flash_bytes)

    def sram(self) -> memoryview:
        """As `flash`."""
        return self._memory(self._core.emu_sram(self._handle), self._sram_bytes)

    def rom(self) -> memoryview:
        """As `flash`."""
        return self._memory(self._core.emu_rom(self._handle), ROM_BYTES[self._chip])

    def lend_flash(self, memory: bytearray | mmap) -> None:
        """From now on the flash is this memory, with what it holds: a mapped file keeps every byte
        that is programmed or erased. Raises ValueError for another size than the flash has."""
        if len(memory) != self._flash_bytes:
            raise ValueError(f"a flash of {self._flash_bytes} bytes, not {len(memory)}")
        self._lent = (c_uint8 * self._flash_bytes).from_buffer(
            memory
        )  # kept: the core writes there
        self._core.emu_lend_flash(self._handle, ctypes.addressof(self._lent))

    def load_flash(self, offset: int, data: bytes) -> None:
        """Put bytes into the flash, as if they had been there at power-on."""
        self.flash()[offset : offset + len(data)] = data
        self.memory_changed(XIP_BASE + offset, len(data))

    def memory_changed(self, address: int, length: int) -> None:
        self._core.emu_memory_changed(self._handle, address, length)

    def bus_read(self, address: int, size: int) -> int | None:
        """size: 1, 2 or 4 bytes."""
        value = c_uint32()
        failed = self._core.emu_bus_read(self._handle, address, size, byref(value))
        return None if failed else value.value

    def bus_write(self, address: int, size: int, value: int) -> bool:
        return not self._core.emu_bus_write(self._handle, address, size, value)

    def bus_read_block(self, address: int, length: int) -> bytes | None:
        buffer = ctypes.create_string_buffer(length)
        failed = self._core.emu_bus_read_block(self._handle, address, buffer, length)
        return None if failed else buffer.raw

    def bus_write_block(self, address: int, data: bytes) -> bool:
        return not self._core.emu_bus_write_block(self._handle, address, bytes(data), len(data))

    def register(self, number: int) -> int:
        """By DCRSR.REGSEL: r0 to r15, 16 xPSR, 17 MSP, 18 PSP, 20 CONTROL and the masks.

        On ARMv8-M also 28 MSPLIM, 29 PSPLIM, 33 FPSCR and 64 to 95 S0 to S31.
        """
        return int(self._core.emu_register(self._handle, number))

    def set_register(self, number: int, value: int) -> None:
        self._core.emu_set_register(self._handle, number, value)

    # ---- USB, from the host's end of the cable ----

    def usb_events(self) -> tuple[UsbEvent, int]:
        """What happened since the last call, and the cycle of the first event."""
        cycle = c_uint64()
        events = UsbEvent(self._core.emu_usb_events(self._handle, byref(cycle)))
        return events, cycle.value

    def usb_attached(self) -> bool:
        return bool(self._core.emu_usb_attached(self._handle))

    def usb_why_not(self) -> str:
        return self._text(self._core.emu_usb_why_not(self._handle))

    def usb_bus_reset(self, on: bool) -> None:
        self._core.emu_usb_bus_reset(self._handle, on)

    def usb_setup(self, packet: bytes) -> None:
        if len(packet) != 8:
            raise ValueError(f"a SETUP packet has 8 bytes, not {len(packet)}")
        self._core.emu_usb_setup(self._handle, packet)

    def usb_in(self, endpoint: int) -> tuple[bytes, int] | int:
        """Data and PID (0 or 1) of an IN transaction, or -1 NAK, -2 STALL."""
        buffer, data_pid = ctypes.create_string_buffer(USB_PACKET_BYTES), c_int()
        count = self._core.emu_usb_in(self._handle, endpoint, buffer, byref(data_pid))
        return int(count) if count < 0 else (buffer.raw[:count], data_pid.value)

    def usb_out(self, endpoint: int, data: bytes, data_pid: int) -> int:
        """Bytes that were taken, or -1 NAK, -2 STALL."""
        return int(self._core.emu_usb_out(self._handle, endpoint, bytes(data), len(data), data_pid))

    def usb_sof(self, frame: int) -> None:
        self._core.emu_usb_sof(self._handle, frame)

    # ---- the witness ----

    def witness_start(self, begin: int, end: int) -> None:
        """Watch from where the function `begin` returns to where `end` is entered (0: never); earlier
        windows, zones and roles are forgotten. Raises ConfigError when there is no memory for it, or
        while there is a profile."""
        if self._core.emu_witness_start(self._handle, begin, end):
            raise ConfigError("there is no memory for a witness, or a profiler is at work")

    def witness_stop(self) -> None:
        self._core.emu_witness_stop(self._handle)

    def witness_zone(self, zone: int, address: int, length: int) -> None:
        self._core.emu_witness_zone(self._handle, zone, address, length)

    def witness_role(self, address: int, length: int, roles: int) -> None:
        self._core.emu_witness_role(self._handle, address, length, roles)

    def witness_open(self) -> None:
        self._core.emu_witness_open(self._handle)

    def witness_close(self) -> None:
        self._core.emu_witness_close(self._handle)

    def witness_is_open(self) -> bool:
        return bool(self._core.emu_witness_is_open(self._handle))

    def witness_windows(self) -> tuple[WindowRecord, ...]:
        """Copies of the closed windows, oldest first."""
        count = self._core.emu_witness_windows(self._handle)
        windows = (self._core.emu_witness_window(self._handle, n) for n in range(count))
        return tuple(WindowRecord.from_buffer_copy(window.contents) for window in windows)

    def witness_shadow(self) -> memoryview:
        """Flags of each byte of SRAM, live until the next start or stop; empty without a witness."""
        pointer = self._core.emu_witness_shadow(self._handle)
        return self._memory(pointer, self._sram_bytes) if pointer else memoryview(b"")

    def witness_writer(self, address: int) -> tuple[int, int] | None:
        """pc and cycle of the latest store to a byte in the latest window, None if there was none."""
        writer = self._core.emu_witness_writer(self._handle, address)
        return (writer.contents.pc, writer.contents.cycle) if writer else None

    def witness_watch(self, address: int, window: int, store: int) -> None:
        """Halt ahead of the store-th store (from 1; 0: never) to a byte in a window (from 0)."""
        self._core.emu_witness_watch(self._handle, address, window, store)

    def witness_watched(self) -> int:
        """Stores to the watched byte in the latest window."""
        return int(self._core.emu_witness_watched(self._handle))

    # ---- the profile ----

    def profile_start(self, begin: int, end: int) -> None:
        """As `witness_start`. Raises ConfigError when there is no memory for it, or while there is a
        witness."""
        if self._core.emu_profile_start(self._handle, begin, end):
            raise ConfigError("there is no memory for a profile, or a witness is at work")

    def profile_stop(self) -> None:
        self._core.emu_profile_stop(self._handle)

    def profile_windows(self) -> tuple[ProfileWindow, ...]:
        """Of the closed windows, oldest first. Raises ConfigError when memory ran out in one."""
        if self._core.emu_profile_lost(self._handle):
            raise ConfigError("there was no memory for all of the profile")
        found = []
        for number in range(self._core.emu_profile_windows(self._handle)):
            window = self._core.emu_profile_window(self._handle, number).contents
            counts = tuple(
                (count.pc, count.cycles, count.instructions, count.misses)
                for count in window.counts[: window.count]
            )
            found.append((window.opened, window.closed, window.miss_cycles, counts))
        return tuple(found)

    @staticmethod
    def _text(value: bytes | None) -> str:
        return (value or b"").decode(errors="replace")

    def _memory(self, pointer: ctypes._Pointer[c_uint8], length: int) -> memoryview:
        array = (c_uint8 * length).from_address(ctypes.addressof(pointer.contents))
        array._machine = self  # type: ignore[attr-defined]  # the view must not outlive the memory
        return memoryview(array).cast("B")
