# SPDX-License-Identifier: Apache-2.0
"""One client of a served board: what its messages ask for, done on the board in its turn.

A request is `{"op": ...}` with that operation's fields, the answer an object of its own or
`{"error": ...}`. The first request is `hello`. A client has whatever it took (the debugger's or the
serial port's seat, the witness, a timing model) until it says so or its connection ends.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict

from serial import serialutil

from harness.emulator import channel, runtime
from harness.emulator.channel import (
    Closed,
    Malformed,
    Message,
    boolean,
    integer,
    items,
    text,
)
from harness.emulator.debuglink import InUse, LocalLink
from harness.emulator.faultplan import spec
from harness.emulator.faultplan_wire import listings
from harness.emulator.servedboard import SERIAL, SWD, ServedBoard, ServedSerial
from harness.emulator.transfers import perform
from harness.emulator.wireerrors import CARRIED, to_fields
from harness.emulator.witness import Witness

HELLO_SECONDS = 5.0
SEND_SECONDS = 20.0  # for a client that does not take its answer
LONGEST_NS = 10**15  # of a wait: eleven days
READ_MAX = 65536  # bytes, the port's own buffer
WINDOWS_AT_ONCE = 32
RANGES_MAX = 4096
U32 = (1 << 32) - 1


class Session:
    """Errors of `serve`: none; it returns when the connection has ended, however it did."""

    def __init__(
        self, connection: socket.socket, served: ServedBoard, stopping: threading.Event
    ) -> None:
        self._connection = connection
        self._served = served
        self._stopping = stopping
        self._link: LocalLink | None = None
        self._serial: ServedSerial | None = None
        self._witness: Witness | None = None
        self._chose_model = False
        pid = runtime.peer(connection)[0]
        self.description = f"process {pid}" if pid else "another process"

    def is_there(self) -> bool:
        """Whether the other end still has its socket. Any thread may ask."""
        return channel.is_open(self._connection)

    def serve(self) -> None:
        try:
            self._connection.settimeout(HELLO_SECONDS)
            self._answer(self._greet(channel.receive(self._connection)))
            while True:
                self._connection.settimeout(None)
                request = channel.receive(self._connection)
                answer = self._perform(request)
                self._connection.settimeout(SEND_SECONDS)
                self._answer(answer)
        except Malformed as problem:
            self._last_words(problem)
        except (Closed, TimeoutError):
            pass
        finally:
            self._leave()

    def hang_up(self) -> None:
        """Ends the connection from any thread."""
        with suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)

    # ---- requests and answers ----

    def _greet(self, request: Message) -> Message:
        fields = request.fields
        version = integer(fields, "version", 0, U32)
        if text(fields, "op") != "hello" or version != channel.VERSION:
            raise Malformed(f"this board speaks version {channel.VERSION}, not {version}")
        entry = self._served.entry
        return Message(
            {
                "version": channel.VERSION,
                "name": entry.name,
                "chip": entry.chip.name,
                "sram_bytes": entry.options.sram_bytes,
                "pid": os.getpid(),
                "boot": self._served.boot,
                "flash": str(self._served.flash.path),
                "faults": spec(entry.options.faults),
                "probes": listings(entry.options.faults),
            }
        )

    def _perform(self, request: Message) -> Message:
        """Errors: Malformed, Closed; every other error is an answer."""
        operation = OPERATIONS.get(text(request.fields, "op"))
        if operation is None:
            raise Malformed(f"no operation {request.fields.get('op')!r}")
        try:
            if operation in UNTIMED:
                return operation(self, request)
            with self._served.turns.turn():
                return operation(self, request)
        except CARRIED as error:
            return Message({"error": to_fields(error)})

    def _answer(self, message: Message) -> None:
        channel.send(self._connection, message)

    def _last_words(self, problem: Malformed) -> None:
        try:
            self._connection.settimeout(1.0)
            self._answer(Message({"malformed": str(problem)[:500]}))
        except (Closed, Malformed, TimeoutError):
            pass

    def _check(self) -> None:
        """Between two pieces of a wait."""
        if self._stopping.is_set() or not self.is_there():
            raise Closed("nobody waits any more")

    def _leave(self) -> None:
        with self._served.turns.turn():
            if self._link is not None:
                self._served.close_link()
            if self._serial is not None:
                self._serial.abandon()
            if self._witness is not None:
                self._witness.stop()
            if self._chose_model:
                self._served.select(None)
        self._served.leave_seat(SWD, self)
        self._served.leave_seat(SERIAL, self)
        self._connection.close()

    # ---- the board ----

    def info(self, _: Message) -> Message:
        """Needs no turn, so a busy board is listed too."""
        served = self._served
        return Message({"seats": served.seats(), "power_cycles": served.power_cycles})

    def power(self, _: Message) -> Message:
        self._served.power_cycle()
        return Message({"power_cycles": self._served.power_cycles})

    def now(self, _: Message) -> Message:
        return Message({"ns": self._served.now_ns})

    def sleep(self, request: Message) -> Message:
        self._served.sleep(integer(request.fields, "ns", 0, LONGEST_NS), self._check)
        return Message()

    def select(self, request: Message) -> Message:
        self._served.select(text(request.fields, "model"))
        self._chose_model = True
        return Message()

    # ---- the debug port ----

    def open_swd(self, request: Message) -> Message:
        miss = integer(request.fields, "xip_miss_cycles", 0, U32)
        if self._link is not None:
            raise InUse(
                f"{self._served.entry.name} already has a debugger",
                evidence={"held by": f"{self.description}, which asks again"},
                hint="close that session first; a board has one debug port",
            )
        self._served.take_seat(SWD, self)
        with self._served.turns.turn():
            self._link = self._served.open_link(self, miss)
        return Message()

    def close_swd(self, _: Message) -> Message:
        if self._link is not None:
            self._served.close_link()
            self._link = None
        self._served.leave_seat(SWD, self)
        return Message()

    def is_reset_held(self, _: Message) -> Message:
        return Message({"held": self._opened().held_in_reset()})

    def transfer(self, request: Message) -> Message:
        return perform(self._opened(), request)

    def _opened(self) -> LocalLink:
        if self._link is None:
            raise Malformed("a transfer before the debug port was opened")
        return self._link

    # ---- the serial port ----

    def open_serial(self, request: Message) -> Message:
        """Answered by another board's name where the cable of this port goes there, unless that is what
        was asked of: `plugged` is who already followed a cable."""
        settings = _line(request.fields)
        plugged = boolean(request.fields, "plugged")
        dtr, rts = boolean(request.fields, "dtr"), boolean(request.fields, "rts")
        if self._serial is not None:
            raise serialutil.SerialException(
                f"could not open port {self._serial.port}: it is already open in this process"
            )
        with self._served.turns.turn():
            board = self._served.entry.name if plugged else self._served.board_at_port()
        if board != self._served.entry.name:
            return Message({"board": board})
        self._served.take_seat(SERIAL, self)
        try:
            with self._served.turns.turn():
                port = ServedSerial(self._served, self._check, **settings)
                port.dtr, port.rts = dtr, rts
                port.open()
                self._serial = port
        except BaseException:
            self._served.leave_seat(SERIAL, self)
            raise
        return Message()

    def close_serial(self, _: Message) -> Message:
        if self._serial is not None:
            self._serial.close()
            self._serial = None
        self._served.leave_seat(SERIAL, self)
        return Message()

    def read(self, request: Message) -> Message:
        port = self._port()
        patience = channel.optional_integer(request.fields, "patience", 0, LONGEST_NS)
        return Message({}, port.read_ns(integer(request.fields, "size", 0, READ_MAX), patience))

    def write(self, request: Message) -> Message:
        port = self._port()
        patience = channel.optional_integer(request.fields, "patience", 0, LONGEST_NS)
        return Message({"size": port.write_ns(request.data, patience)})

    def flush(self, request: Message) -> Message:
        port = self._port()
        port.flush_ns(channel.optional_integer(request.fields, "patience", 0, LONGEST_NS))
        return Message()

    def waiting(self, _: Message) -> Message:
        return Message({"count": self._port().in_waiting})

    def unsent(self, _: Message) -> Message:
        return Message({"count": self._port().out_waiting})

    def drop_input(self, _: Message) -> Message:
        self._port().reset_input_buffer()
        return Message()

    def drop_output(self, _: Message) -> Message:
        self._port().reset_output_buffer()
        return Message()

    def configure(self, request: Message) -> Message:
        self._port().apply_settings(_line(request.fields))
        return Message()

    def set_lines(self, request: Message) -> Message:
        self._port().set_lines(boolean(request.fields, "dtr"), boolean(request.fields, "rts"))
        return Message()

    def send_break(self, request: Message) -> Message:
        self._port().break_condition = boolean(request.fields, "on")
        return Message()

    def lines(self, _: Message) -> Message:
        port = self._port()
        return Message({"cts": port.cts, "dsr": port.dsr, "ri": port.ri, "cd": port.cd})

    def _port(self) -> ServedSerial:
        if self._serial is None:
            raise serialutil.PortNotOpenError()
        return self._serial

    # ---- the witness ----

    def watch(self, request: Message) -> Message:
        fields = request.fields
        areas = fields.get("areas")
        if not isinstance(areas, dict):
            raise Malformed("areas are no object")
        witness = Witness(self._served.board.machine)
        witness.watch(
            begin=integer(fields, "begin", 0, U32),
            end=integer(fields, "end", 0, U32),
            areas={name: _ranges(areas, name) for name in areas},
            inputs=_ranges(fields, "inputs"),
            outputs=_ranges(fields, "outputs"),
        )
        self._witness = witness
        return Message()

    def windows(self, request: Message) -> Message:
        first = integer(request.fields, "first", 0, U32)
        found = self._witness.windows() if self._witness is not None else ()
        some = found[first : first + WINDOWS_AT_ONCE]
        return Message({"windows": [asdict(w) for w in some], "count": len(found)})

    def last_writer(self, request: Message) -> Message:
        address = integer(request.fields, "address", 0, U32)
        writer = self._witness.last_writer(address) if self._witness is not None else None
        return Message({"writer": None if writer is None else list(writer)})

    def unwatch(self, _: Message) -> Message:
        if self._witness is not None:
            self._witness.stop()
            self._witness = None
        return Message()


def _line(fields: Mapping[str, object]) -> dict[str, object]:
    """Settings of a serial line. Errors: Malformed."""
    stop, parity = fields.get("stopbits"), text(fields, "parity")
    if isinstance(stop, bool) or stop not in serialutil.SerialBase.STOPBITS:
        raise Malformed(f"stopbits {stop!r}")
    if parity not in serialutil.SerialBase.PARITIES:
        raise Malformed(f"parity {parity!r}")
    return {
        "baudrate": integer(fields, "baudrate", 0, U32),
        "bytesize": integer(fields, "bytesize", 5, 8),
        "stopbits": stop,
        "parity": parity,
    }


def _ranges(fields: Mapping[str, object], name: str) -> list[tuple[int, int]]:
    ranges = []
    for pair in items(fields, name, RANGES_MAX):
        if not isinstance(pair, list) or len(pair) != 2:
            raise Malformed("a range is an address and a length")
        both = {"address": pair[0], "length": pair[1]}
        ranges.append((integer(both, "address", 0, U32), integer(both, "length", 0, U32)))
    return ranges


OPERATIONS: Mapping[str, Callable[[Session, Message], Message]] = {
    "info": Session.info,
    "power": Session.power,
    "now": Session.now,
    "sleep": Session.sleep,
    "timing": Session.select,
    "swd.open": Session.open_swd,
    "swd.close": Session.close_swd,
    "swd.do": Session.transfer,
    "swd.reset?": Session.is_reset_held,
    "serial.open": Session.open_serial,
    "serial.close": Session.close_serial,
    "serial.read": Session.read,
    "serial.write": Session.write,
    "serial.flush": Session.flush,
    "serial.waiting": Session.waiting,
    "serial.unsent": Session.unsent,
    "serial.drop_input": Session.drop_input,
    "serial.drop_output": Session.drop_output,
    "serial.configure": Session.configure,
    "serial.set": Session.set_lines,
    "serial.break": Session.send_break,
    "serial.lines": Session.lines,
    "witness.watch": Session.watch,
    "witness.windows": Session.windows,
    "witness.writer": Session.last_writer,
    "witness.stop": Session.unwatch,
}
# They take a turn themselves, or need none.
UNTIMED = {Session.info, Session.open_swd, Session.open_serial}
