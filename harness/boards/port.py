# SPDX-License-Identifier: Apache-2.0
"""The board's serial port: found by the board's unique id, opened when it appears."""

from __future__ import annotations

import contextlib
from typing import Any

import serial
from serial.tools import list_ports

from harness.boards.backend import Clock
from harness.boards.config import BoardEntry
from harness.boards.deadline import Deadline
from harness.errors import EnumerationError

_POLL_SECONDS = 0.02
_READ_SECONDS = 0.05
_WRITE_SECONDS = 2.0  # a request fits the operating system's buffer, so this is never waited for
_BAUD = 115_200  # a CDC port ignores it, but 1200 would send a stock Pico into BOOTSEL


class Port:
    """An open port. Every I/O error of pyserial becomes EnumerationError: the device went away."""

    def __init__(self, device: Any) -> None:
        self._device = device

    def read(self, deadline: Deadline) -> bytes:
        """What has come, after waiting for at least a byte, at most until the deadline."""
        with _gone():
            self._device.timeout = min(_READ_SECONDS, deadline.remaining())
            data: bytes = self._device.read(1)
            if data and (more := self._device.in_waiting):
                data += self._device.read(more)
            return data

    def write(self, data: bytes) -> None:
        """Hands the bytes over. They go out while the answer is waited for: waiting for them here
        could last for ever on a board that hangs."""
        with _gone():
            self._device.write(data)

    def close(self) -> None:
        with contextlib.suppress(OSError):  # the device may be gone already
            self._device.close()


def open_port(entry: BoardEntry, unique_id: str, clock: Clock, deadline: Deadline) -> Port:
    """Waits for the port and opens it. Errors: EnumerationError with what was seen instead."""
    refusal = "not tried"
    while True:
        urls = [entry.serial] if entry.serial else _devices_of(unique_id)
        url = urls[0] if len(urls) == 1 else None
        if url is None:
            many = f": {', '.join(urls)}" if urls else ""
            refusal = f"{len(urls) or 'no'} ports have the serial number {unique_id}{many}"
        else:
            try:
                device = serial.serial_for_url(
                    url, baudrate=_BAUD, timeout=0, write_timeout=_WRITE_SECONDS, do_not_open=True
                )
                device.exclusive = True
                device.open()
                return Port(device)
            except (serial.SerialException, ValueError) as error:
                refusal = str(error)
        if deadline.over:
            raise EnumerationError(
                f"the serial port of {entry.name} did not appear within {deadline.seconds:g} s",
                cause=refusal,
                evidence={
                    "stage": "enumerate",
                    "looked for": entry.serial or unique_id,
                    "ports": _ports(),
                },
                hint="check the USB cable of the board itself (not the probe's); try another hub",
            )
        clock.sleep(_POLL_SECONDS)


def _devices_of(unique_id: str) -> list[str]:
    return [
        str(port.device)
        for port in list_ports.comports()
        if port.serial_number and port.serial_number.upper() == unique_id.upper()
    ]


def _ports() -> str:
    """Serial numbers of all USB ports, never opened."""
    found = [f"{p.device} ({p.serial_number})" for p in list_ports.comports() if p.serial_number]
    return ", ".join(found) or "none"


@contextlib.contextmanager
def _gone() -> Any:
    try:
        yield
    except serial.SerialException as error:
        raise EnumerationError(
            "the serial port vanished",
            cause=str(error),
            hint="the board was reset, lost power, or its cable is loose",
        ) from error
