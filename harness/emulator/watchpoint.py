# SPDX-License-Identifier: Apache-2.0
"""A watchpoint of an emulated board: its core halts ahead of one store of many to a byte.

Silicon's halts behind every store to an address; here the store is chosen by its number in its window,
and has not happened yet: pc is its instruction. Windows are a witness's (`witness.py`), whose place it
takes.
"""

from __future__ import annotations

from harness.emulator.machine import Machine

_NEVER = 0


class Watchpoint:
    """Of one machine, whose witness it is. It watches nothing before `watch` and after `stop`."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._address = 0

    def watch(
        self, *, begin: int, end: int, address: int, window: int = 0, store: int = _NEVER
    ) -> None:
        """Count the stores to the byte at `address`. store: of window number `window` (from 0) the one
        to halt at, from 1; 0: none. Errors: ConfigError while a profiler is at work."""
        self._machine.witness_start(begin, end)
        self._machine.witness_watch(address, window, store)
        self._address = address

    def stores(self) -> int:
        """To the byte, in the latest window."""
        return self._machine.witness_watched()

    def last_store(self) -> int | None:
        """pc of the last of them, None where there was none."""
        writer = self._machine.witness_writer(self._address)
        return None if writer is None else writer[0]

    def stop(self) -> None:
        self._machine.witness_stop()
