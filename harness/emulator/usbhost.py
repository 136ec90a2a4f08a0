# SPDX-License-Identifier: Apache-2.0
"""A small USB host for one CDC-ACM device, driven by emulated time and nothing else.

It acts only on a grid of ticks that starts at the attach event. Every tick could be taken, but a
tick at which the host has nothing to send and the device has nothing new to say changes nothing
and is skipped: `due_ns` names the next tick that matters. `every_tick` takes them all, as a check.

An event of the device counts from the first tick at or after its own time, work that the host is
given counts from the first tick after it, so both ways of running give the same transactions at
the same cycles.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from harness.emulator.cdc import CdcPort
from harness.emulator.usb_descriptors import (
    CONFIGURATION,
    CONFIGURATION_BYTES,
    DEVICE,
    DEVICE_BYTES,
    STRING,
    CdcFunction,
    DescriptorError,
    DeviceDescriptor,
    configuration_length,
    find_cdc,
    parse_device,
    parse_string,
)
from harness.emulator.usb_pipes import (
    NEXT_TICK,
    UNTIL_DEVICE_ACTS,
    DeviceBus,
    Evidence,
    Handshake,
    Pause,
    Pipes,
    SetupPacket,
    Steps,
    TransferError,
)

CLEAR_FEATURE, SET_ADDRESS, GET_DESCRIPTOR, SET_CONFIGURATION = 1, 5, 6, 9
STANDARD_IN, STANDARD_OUT, STANDARD_ENDPOINT_OUT = 0x80, 0x00, 0x02
DEVICE_ADDRESS = 1
LANGUAGE_ENGLISH = 0x0409
STRING_BYTES = 255
SOF_NS = 1_000_000


@dataclass(frozen=True)
class HostTiming:
    """How a host times what it does, in ns: USB 2.0 sections 7.1.7.3, 7.1.7.5 and 9.2.6.

    tick: the grid on which it acts, a divisor of 1 ms. packets_per_tick: bulk packets each way (a
    full-speed frame of 1 ms carries at most 19 of 64 bytes).
    """

    tick: int = 100_000
    debounce: int = 100_000_000
    reset: int = 12_000_000
    recovery: int = 10_000_000
    set_address: int = 2_000_000
    control_timeout: int = 5_000_000_000
    packets_per_tick: int = 2


@dataclass(frozen=True)
class DeviceInfo:
    """What the device said of itself; strings are empty where it has none."""

    vendor: int
    product: int
    manufacturer: str
    product_name: str
    serial_number: str


class HostState(Enum):
    DETACHED = "not attached"
    ENUMERATING = "attached, being enumerated"
    READY = "enumerated"
    FAILED = "enumeration failed"


class Cable(Protocol):
    """What lies between the device's bulk endpoints and the port's buffers."""

    def received(self, packet: bytes, now_ns: int) -> bytes: ...
    def sent(self, packet: bytes) -> bytes: ...
    def resumes_ns(self, now_ns: int) -> int | None: ...


class UsbHost:
    """One root port with one device, or none. `port` is there while the device is enumerated. cable:
    None for a perfect one."""

    def __init__(
        self,
        bus: DeviceBus,
        timing: HostTiming | None = None,
        every_tick: bool = False,
        cable: Cable | None = None,
    ) -> None:
        self.state = HostState.DETACHED
        self.device: DeviceInfo | None = None
        self.port: CdcPort | None = None
        self.failure = ""
        self.evidence = Evidence()
        self.steps_taken = 0
        self.attached_ns: int | None = None
        self._bus = bus
        self._cable = cable
        self._timing = timing or HostTiming()
        self._every_tick = every_tick
        self._pipes = self._new_pipes()
        self._steps: Steps | None = None
        self._pause = NEXT_TICK
        self._last_tick = 0
        self._event_ns: int | None = None
        self._frames_from_ns: int | None = None
        self._frames_wanted_ns: int | None = None

    # ---- scheduling ----

    def due_ns(self, now_ns: int) -> int | None:
        """Emulated time of the next tick that matters, None when only the device can cause one."""
        if self.attached_ns is None or self._steps is None:
            return None
        following = self._last_tick + 1
        if self._every_tick:
            return self._tick_ns(following)
        ticks = []
        if self._pause.not_before is not None:
            ticks.append(self._tick_at_or_after(self._pause.not_before))
        if self._pause.for_device and self._event_ns is not None:
            ticks.append(self._tick_at_or_after(self._event_ns))
        if (frame_ns := self._next_frame_ns(now_ns)) is not None:
            ticks.append(self._tick_at_or_after(frame_ns))
        return self._tick_ns(max(following, min(ticks))) if ticks else None

    def notice(self, attached: bool, detached: bool, event_ns: int) -> None:
        """The device did something at `event_ns` (events of the controller, already taken)."""
        if detached:
            why = self._bus.why_not_attached()
            why = (
                f"the device left the bus: {why}"
                if why
                else "the device left the bus and came back"
            )
            self.device_gone(why, event_ns)
        if attached and self._bus.attached():
            self._attach(event_ns)
        elif self._event_ns is None:
            self._event_ns = event_ns

    def wake(self, now_ns: int) -> None:
        """The owner of the port queued or took something; counts from the tick after `now_ns`."""
        after = now_ns + 1
        self._event_ns = after if self._event_ns is None else min(self._event_ns, after)

    def step(self, now_ns: int) -> None:
        """Take the tick that `now_ns` has reached."""
        if self.attached_ns is None or self._steps is None:
            return
        self._last_tick = (now_ns - self.attached_ns) // self._timing.tick
        tick_ns = self._tick_ns(self._last_tick)
        self._start_of_frame(tick_ns)
        if not self._may_act(tick_ns):
            return
        self._event_ns = None
        self._pipes.now_ns = tick_ns
        self.steps_taken += 1
        self._pause = next(self._steps, UNTIL_DEVICE_ACTS)

    def device_gone(self, why: str, now_ns: int) -> None:
        """Detach or reset of the device: everything starts anew with its next attach."""
        if self.attached_ns is None:
            return
        self.evidence.note(now_ns, f"gone: {why}")
        if self.port is not None:
            self.port.vanish(why)
        self.state, self.device, self.port, self.failure = HostState.DETACHED, None, None, ""
        self.attached_ns = self._steps = self._event_ns = None
        self._frames_from_ns = self._frames_wanted_ns = None

    def why_no_port(self) -> str:
        """Why there is no serial port now; empty when there is one."""
        if self.state is HostState.READY:
            return ""
        if self.state is HostState.DETACHED:
            return f"no USB device is attached: {self._bus.why_not_attached()}"
        if self.state is HostState.FAILED:
            return f"enumeration failed: {self.failure}"
        return "the device is attached and still being enumerated"

    def _attach(self, event_ns: int) -> None:
        if self.attached_ns is not None:
            return
        self.evidence.note(event_ns, "attached")
        self.state = HostState.ENUMERATING
        self.attached_ns, self._last_tick, self._event_ns = event_ns, 0, None
        self._pipes = self._new_pipes()
        self._steps = self._life(event_ns)
        self._pause = next(self._steps)

    def _may_act(self, tick_ns: int) -> bool:
        due = self._pause.not_before is not None and self._pause.not_before <= tick_ns
        if not self._pause.for_device or due:
            return due
        if self._event_ns is not None:
            return self._event_ns <= tick_ns
        return self._every_tick

    def _tick_ns(self, tick: int) -> int:
        assert self.attached_ns is not None
        return self.attached_ns + tick * self._timing.tick

    def _tick_at_or_after(self, ns: int) -> int:
        assert self.attached_ns is not None
        return -((self.attached_ns - ns) // self._timing.tick)

    def _next_frame_ns(self, now_ns: int) -> int | None:
        """The first frame after the last tick, and not before the device was seen to want frames."""
        if self._frames_from_ns is None or not self._bus.wants_sof():
            self._frames_wanted_ns = None
            return None
        if self._frames_wanted_ns is None:
            self._frames_wanted_ns = now_ns
        earliest = max(self._tick_ns(self._last_tick + 1), self._frames_wanted_ns)
        return self._frames_from_ns - (self._frames_from_ns - earliest) // SOF_NS * SOF_NS

    def _start_of_frame(self, tick_ns: int) -> None:
        """A frame starts every 1 ms; only a device that asked for the interrupt is told."""
        if self._frames_from_ns is None or (tick_ns - self._frames_from_ns) % SOF_NS:
            return
        if self._bus.wants_sof():
            self._bus.sof((tick_ns - self._frames_from_ns) // SOF_NS & 0x7FF)

    def _new_pipes(self) -> Pipes:
        return Pipes(self._bus, self.evidence, self._timing.control_timeout)

    # ---- what the host does, from attach to detach ----

    def _life(self, attached_ns: int) -> Steps:
        try:
            function = yield from self._enumerate(attached_ns)
        except (TransferError, DescriptorError) as reason:
            self.state, self.failure = HostState.FAILED, str(reason)
            self.evidence.complain(self._pipes.now_ns, f"enumeration failed: {reason}")
            return
        self.state = HostState.READY
        self.port = CdcPort(function)
        self.evidence.note(self._pipes.now_ns, "port ready")
        yield from self._serve(self.port)

    def _enumerate(self, attached_ns: int) -> Generator[Pause, None, CdcFunction]:
        timing, pipes = self._timing, self._pipes
        yield Pause(attached_ns + timing.debounce)
        self._bus.bus_reset(True)
        yield Pause(pipes.now_ns + timing.reset)
        self._bus.bus_reset(False)
        self._frames_from_ns = pipes.now_ns
        yield Pause(pipes.now_ns + timing.recovery)

        head = yield from self._get_descriptor(DEVICE, 0, 8)
        if len(head) == 8:
            pipes.max_packet0 = head[7] or pipes.max_packet0
        yield from pipes.control(SetupPacket(STANDARD_OUT, SET_ADDRESS, DEVICE_ADDRESS, 0, 0))
        pipes.address = DEVICE_ADDRESS
        yield Pause(pipes.now_ns + timing.set_address)

        device = parse_device((yield from self._get_descriptor(DEVICE, 0, DEVICE_BYTES)))
        raw = yield from self._get_descriptor(CONFIGURATION, 0, CONFIGURATION_BYTES)
        raw = yield from self._get_descriptor(CONFIGURATION, 0, configuration_length(raw))
        function = find_cdc(raw)
        self.device = yield from self._read_strings(device)

        yield from pipes.control(
            SetupPacket(STANDARD_OUT, SET_CONFIGURATION, function.configuration, 0, 0)
        )
        pipes.reset_toggles()
        return function

    def _get_descriptor(
        self, kind: int, index: int, length: int, language: int = 0
    ) -> Generator[Pause, None, bytes]:
        return self._pipes.control(
            SetupPacket(STANDARD_IN, GET_DESCRIPTOR, kind << 8 | index, language, length)
        )

    def _read_strings(self, device: DeviceDescriptor) -> Generator[Pause, None, DeviceInfo]:
        indices = (device.manufacturer_index, device.product_index, device.serial_index)
        strings = []
        for index in indices:
            strings.append((yield from self._read_string(index)) if index else "")
        return DeviceInfo(device.vendor, device.product, *strings)

    def _read_string(self, index: int) -> Generator[Pause, None, str]:
        """A missing string does not stop an enumeration; it is recorded."""
        try:
            raw = yield from self._get_descriptor(STRING, index, STRING_BYTES, LANGUAGE_ENGLISH)
            return parse_string(raw)
        except (TransferError, DescriptorError) as reason:
            self.evidence.complain(self._pipes.now_ns, f"string {index}: {reason}")
            return ""

    def _serve(self, port: CdcPort) -> Steps:
        while True:
            while port.requests:
                yield from self._line_request(port)
            sent = yield from self._send(port)
            received = yield from self._receive(port)
            notified = self._take_notifications(port)
            yield NEXT_TICK if sent or received or notified else UNTIL_DEVICE_ACTS

    def _line_request(self, port: CdcPort) -> Steps:
        request = port.requests[0]
        try:
            yield from self._pipes.control(request.setup, request.data)
        except TransferError as reason:
            request.error = str(reason)
            self.evidence.complain(self._pipes.now_ns, request.error)
        request.done = True
        port.requests.popleft()

    def _send(self, port: CdcPort) -> Generator[Pause, None, bool]:
        endpoint = port.function.bulk_out
        for sent in range(self._timing.packets_per_tick):
            if not port.tx:
                return sent > 0
            packet = bytes(port.tx[: endpoint.max_packet])
            refusal = self._pipes.write_packet(endpoint.number, packet)
            if refusal is Handshake.STALL:
                yield from self._clear_halt(endpoint.address)
            if refusal is not None:
                return sent > 0
            del port.tx[: len(packet)]
            if self._cable is not None and port.is_open:
                port.rx += self._cable.sent(packet)
        return True

    def _receive(self, port: CdcPort) -> Generator[Pause, None, bool]:
        endpoint = port.function.bulk_in
        if self._cable is not None:
            resumes = self._cable.resumes_ns(self._pipes.now_ns)
            if resumes is not None:
                yield Pause(resumes)
        for received in range(self._timing.packets_per_tick):
            if not port.is_open or port.rx_room() < endpoint.max_packet:
                return received > 0
            packet = self._pipes.read_packet(endpoint.number)
            if packet is Handshake.STALL:
                yield from self._clear_halt(endpoint.address)
            if isinstance(packet, Handshake):
                return received > 0
            if self._cable is not None:
                packet = self._cable.received(packet, self._pipes.now_ns)
            port.rx += packet
        return True

    def _take_notifications(self, port: CdcPort) -> bool:
        if port.function.notification is None:
            return False
        packet = self._pipes.read_packet(port.function.notification.number)
        if isinstance(packet, Handshake):
            return False
        port.take_notification(packet)
        return True

    def _clear_halt(self, endpoint_address: int) -> Steps:
        self.evidence.complain(self._pipes.now_ns, f"endpoint {endpoint_address:02x} was halted")
        try:
            yield from self._pipes.control(
                SetupPacket(STANDARD_ENDPOINT_OUT, CLEAR_FEATURE, 0, endpoint_address, 0)
            )
        except TransferError as reason:
            self.evidence.complain(self._pipes.now_ns, str(reason))
        self._pipes.reset_toggle(endpoint_address)
