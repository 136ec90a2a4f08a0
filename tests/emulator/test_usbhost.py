# SPDX-License-Identifier: Apache-2.0
"""The USB host alone, against a device in Python: what it sends, when, and what it tells."""

from __future__ import annotations

import pytest

from harness.emulator.usbhost import HostState, HostTiming, UsbHost
from tests.emulator.usb_device import BULK_IN, BULK_OUT, NOTIFICATION, FakeDevice

MS = 1_000_000
ATTACHED = 7_000_123


def run_until(host: UsbHost, deadline_ns: int, now_ns: int = 0) -> list[int]:
    """Take every tick that the host asks for; the times of the ticks."""
    ticks = []
    while (due := host.due_ns(now_ns)) is not None and due <= deadline_ns:
        host.step(due)
        ticks.append(now_ns := due)
    return ticks


def attach(device: FakeDevice, **options: object) -> UsbHost:
    host = UsbHost(device, **options)  # type: ignore[arg-type]
    device.pulled_up = True
    host.notice(attached=True, detached=False, event_ns=ATTACHED)
    return host


def enumerated(**options: object) -> tuple[FakeDevice, UsbHost]:
    device = FakeDevice()
    host = attach(device, **options)
    run_until(host, ATTACHED + 200 * MS)
    assert host.state is HostState.READY
    return device, host


def test_nothing_attached_needs_no_step() -> None:
    host = UsbHost(FakeDevice())
    assert host.due_ns(0) is None
    assert host.why_no_port() == "no USB device is attached: the pull-up is off"


def test_enumeration_is_that_of_a_host() -> None:
    device = FakeDevice()
    ticks = run_until(attach(device), ATTACHED + 200 * MS)
    assert ticks[0] == ATTACHED + 100 * MS + 0  # debounce
    assert ticks[1] == ATTACHED + 112 * MS  # reset
    assert ticks[2] == ATTACHED + 122 * MS  # recovery
    assert device.resets == 1
    assert device.requests == [
        "8006000100000800",  # device descriptor, 8 bytes
        "0005010000000000",  # SET_ADDRESS 1
        "8006000100001200",
        "8006000200000900",  # configuration, head and whole
        "8006000200004300",
        "800601030904ff00",  # strings
        "800602030904ff00",
        "800603030904ff00",
        "0009010000000000",  # SET_CONFIGURATION 1
    ]


def test_port_and_device_come_from_the_descriptors() -> None:
    _, host = enumerated()
    assert host.device is not None and host.port is not None
    assert (host.device.vendor, host.device.product) == (0x2E8A, 0x000A)
    assert host.device.serial_number == "0011223344556677"
    function = host.port.function
    assert (function.control_interface, function.data_interface) == (2, 4)
    assert (function.bulk_in.number, function.bulk_out.number) == (5, 3)
    assert function.notification is not None and function.notification.number == 6
    assert host.why_no_port() == ""


def test_an_idle_host_waits_for_the_device() -> None:
    device, host = enumerated()
    assert host.due_ns(0) is None
    steps = host.steps_taken
    host.port.is_open = True
    device.send(BULK_IN, b"late")
    host.notice(attached=False, detached=False, event_ns=ATTACHED + 200 * MS + 1)
    assert host.due_ns(0) == ATTACHED + 200 * MS + 100_000
    run_until(host, ATTACHED + 300 * MS)
    assert bytes(host.port.rx) == b"late"
    assert host.steps_taken - steps == 2  # the packet, and the refusal after it


def test_an_event_on_a_tick_counts_at_once_and_work_for_the_host_one_tick_later() -> None:
    device, host = enumerated()
    tick = ATTACHED + 250 * MS
    host.notice(attached=False, detached=False, event_ns=tick)
    assert host.due_ns(0) == tick
    run_until(host, tick)
    host.port.tx += b"x"
    host.wake(tick + 5 * 100_000)
    assert host.due_ns(0) == tick + 6 * 100_000
    run_until(host, tick + 6 * 100_000)
    assert device.from_host[BULK_OUT] == [b"x"]


@pytest.mark.parametrize("every_tick", [False, True])
def test_what_the_device_did_after_a_tick_is_not_seen_at_it(every_tick: bool) -> None:
    """The core stops a little late: what it did meanwhile belongs to the next tick."""
    device, host = enumerated(every_tick=every_tick)
    host.port.is_open = True
    tick = ATTACHED + 250 * MS
    run_until(host, tick - 1)
    device.send(BULK_IN, b"data")
    host.notice(attached=False, detached=False, event_ns=tick + 3)
    if every_tick:
        assert host.due_ns(tick + 10) == tick
        host.step(tick + 10)
        assert not host.port.rx
    assert host.due_ns(tick + 10) == tick + 100_000
    host.step(tick + 100_000)
    assert bytes(host.port.rx) == b"data"


def test_every_tick_changes_nothing_but_the_number_of_steps() -> None:
    transcripts, steps = [], []
    for every_tick in (False, True):
        device, host = enumerated(every_tick=every_tick)
        host.port.is_open = True
        run_until(host, ATTACHED + 230 * MS)
        device.send(BULK_IN, b"a" * 64)
        device.send(BULK_IN, b"b")
        host.notice(attached=False, detached=False, event_ns=ATTACHED + 230 * MS + 40_000)
        host.port.tx += bytes(200)
        host.wake(ATTACHED + 230 * MS + 60_000)
        run_until(host, ATTACHED + 400 * MS)
        transcripts.append(list(host.evidence.transcript))
        steps.append(host.steps_taken)
    assert transcripts[0] == transcripts[1]
    assert steps[0] < 40 < 1500 < steps[1]


def test_closed_port_leaves_data_in_the_device() -> None:
    device, host = enumerated()
    device.send(BULK_IN, b"early")
    host.notice(attached=False, detached=False, event_ns=ATTACHED + 210 * MS)
    run_until(host, ATTACHED + 220 * MS)
    assert not host.port.rx and device.to_host[BULK_IN]


def test_full_receive_buffer_throttles_the_device() -> None:
    device, host = enumerated()
    host.port.is_open = True
    for _ in range(1100):
        device.send(BULK_IN, bytes(64))
    host.notice(attached=False, detached=False, event_ns=ATTACHED + 210 * MS)
    run_until(host, ATTACHED + 400 * MS)
    assert len(host.port.rx) == 65536
    assert len(device.to_host[BULK_IN]) == 1100 - 1024
    del host.port.rx[:64]
    host.wake(ATTACHED + 400 * MS)
    run_until(host, ATTACHED + 500 * MS)
    assert len(device.to_host[BULK_IN]) == 1100 - 1025


def test_out_packets_alternate_their_toggle_and_are_cut_at_64_bytes() -> None:
    device, host = enumerated()
    host.port.tx += bytes(range(200))
    host.wake(ATTACHED + 210 * MS)
    run_until(host, ATTACHED + 220 * MS)
    assert [len(packet) for packet in device.from_host[BULK_OUT]] == [64, 64, 64, 8]
    assert b"".join(device.from_host[BULK_OUT]) == bytes(range(200))
    assert device.pids_out[BULK_OUT] == [0, 1, 0, 1]


def test_a_device_that_does_not_accept_makes_the_host_wait_for_its_event() -> None:
    device, host = enumerated()
    device.accepting.discard(BULK_OUT)
    host.port.tx += b"hello"
    host.wake(ATTACHED + 210 * MS)
    run_until(host, ATTACHED + 900 * MS)
    assert host.due_ns(0) is None and bytes(host.port.tx) == b"hello"
    device.accepting.add(BULK_OUT)
    host.notice(attached=False, detached=False, event_ns=ATTACHED + 900 * MS)
    run_until(host, ATTACHED + 901 * MS)
    assert device.from_host[BULK_OUT] == [b"hello"] and not host.port.tx


def test_wrong_toggle_is_dropped_and_recorded() -> None:
    device, host = enumerated()
    host.port.is_open = True
    device.send(BULK_IN, b"one")
    device.send(BULK_IN, b"two")
    device.pid_in[BULK_IN] = 1
    host.notice(attached=False, detached=False, event_ns=ATTACHED + 210 * MS)
    run_until(host, ATTACHED + 211 * MS)
    host.notice(attached=False, detached=False, event_ns=ATTACHED + 212 * MS)
    run_until(host, ATTACHED + 220 * MS)
    assert bytes(host.port.rx) == b"two"
    assert host.evidence.complaints == [
        (ATTACHED + 210 * MS, "IN 5: DATA1 where DATA0 was due; dropped")
    ]


def test_notification_sets_the_line_states() -> None:
    device, host = enumerated()
    device.send(NOTIFICATION, bytes.fromhex("a1 20 00 00 02 00 02 00 03 00"))
    host.notice(attached=False, detached=False, event_ns=ATTACHED + 210 * MS)
    run_until(host, ATTACHED + 220 * MS)
    assert host.port.serial_state == 3


def test_line_requests_are_class_requests_to_the_control_interface() -> None:
    device, host = enumerated()
    coding = host.port.request_line_coding(115200, 0, 0, 8)
    state = host.port.request_line_state(True, False)
    host.wake(ATTACHED + 210 * MS)
    run_until(host, ATTACHED + 220 * MS)
    assert coding.done and state.done and not coding.error
    assert device.requests[-2:] == ["2120000002000700", "2122010002000000"]
    assert device.from_host[0][-1] == bytes.fromhex("00 c2 01 00 00 00 08")


def test_stalled_line_request_fails_alone() -> None:
    device, host = enumerated()
    device.stalled_requests.add(0x22)
    request = host.port.request_line_state(True, True)
    host.wake(ATTACHED + 210 * MS)
    run_until(host, ATTACHED + 220 * MS)
    assert request.done
    assert request.error == (
        "control request [21 22 0003 0002 0000] was stalled in its status stage"
    )
    assert host.state is HostState.READY


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (
            {"silent_requests": {9}},
            "control request [00 09 0001 0000 0000] was not answered in 5 s (status stage)",
        ),
        (
            {"stalled_requests": {6}},
            "control request [80 06 0100 0000 0008] was stalled in its data stage",
        ),
        (
            {"takes_address": False},
            "control request [80 06 0100 0000 0012] to address 1 was not answered: "
            "the device listens to address 0",
        ),
    ],
)
def test_failed_enumeration_keeps_its_reason(fault: dict[str, object], reason: str) -> None:
    device = FakeDevice()
    for name, value in fault.items():
        setattr(device, name, value)
    host = attach(device)
    run_until(host, ATTACHED + 6000 * MS)
    assert host.state is HostState.FAILED and host.port is None
    assert host.why_no_port() == f"enumeration failed: {reason}"
    assert host.due_ns(0) is None


def test_control_timeout_is_five_seconds_after_the_setup_packet() -> None:
    device = FakeDevice()
    device.silent_requests = {9}
    host = attach(device)
    run_until(host, ATTACHED + 6000 * MS)
    (asked,) = [ns for ns, text in host.evidence.transcript if text.startswith("SETUP 00 09")]
    (failed,) = [ns for ns, text in host.evidence.complaints]
    assert failed - asked == 5000 * MS


def test_missing_string_is_recorded_and_empty() -> None:
    device = FakeDevice()
    del device.strings[2]
    host = attach(device)
    run_until(host, ATTACHED + 200 * MS)
    assert host.device is not None and host.device.product_name == ""
    assert "string 2: control request" in host.evidence.complaints[0][1]


def test_detach_and_attach_start_anew() -> None:
    device, host = enumerated()
    old = host.port
    old.is_open = True
    old.rx += b"unread"
    pending = old.request_line_state(True, True)
    device.pulled_up = False
    host.notice(attached=False, detached=True, event_ns=ATTACHED + 300 * MS)
    assert host.port is None and host.due_ns(0) is None
    assert old.gone == "the device left the bus: the pull-up is off"
    assert not old.rx and pending.done and pending.error == old.gone
    device.pulled_up = True
    device.address = 0
    host.notice(attached=True, detached=False, event_ns=ATTACHED + 400 * MS)
    assert host.due_ns(0) == ATTACHED + 500 * MS
    run_until(host, ATTACHED + 600 * MS)
    assert host.state is HostState.READY and host.port is not old


def test_timing_is_a_parameter() -> None:
    device = FakeDevice()
    host = attach(device, timing=HostTiming(debounce=500 * MS))
    assert host.due_ns(0) == ATTACHED + 500 * MS


def test_frames_reach_only_a_device_that_asked() -> None:
    device, host = enumerated()
    run_until(host, ATTACHED + 300 * MS)
    assert device.frames == []
    device.sof_enabled = True
    ticks = run_until(host, ATTACHED + 303 * MS, now_ns=ATTACHED + 300 * MS + 1)
    assert device.frames == [189, 190, 191]  # ms since the end of the bus reset at 112 ms
    assert ticks == [ATTACHED + 301 * MS, ATTACHED + 302 * MS, ATTACHED + 303 * MS]
    device.sof_enabled = False
    assert host.due_ns(ATTACHED + 303 * MS) is None
