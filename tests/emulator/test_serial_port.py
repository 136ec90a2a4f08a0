# SPDX-License-Identifier: Apache-2.0
"""`emu://`: pyserial's calls on an emulated board, with time-outs in emulated time."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import serial

from harness.emulator import backend, registry
from harness.emulator.board import EmulatedBoard
from harness.errors import FirmwareFault
from tests.emulator.conftest import NAMES, new_echo_board
from tests.emulator.echo_firmware import DEAF, PATTERN, REPLUG, RESET, SEND, STRICT, UNPLUG

MS, SECOND = 1_000_000, 1_000_000_000


@pytest.fixture
def url(chip: str) -> str:
    return f"emu://{NAMES[chip]}"


@pytest.fixture
def port(echo_board: EmulatedBoard, url: str) -> Iterator[serial.SerialBase]:
    """The port of an enumerated echo board."""
    echo_board.advance(ns=300 * MS)
    with serial.serial_for_url(url, timeout=1) as opened:
        yield opened


@pytest.fixture
def ready(echo_board: EmulatedBoard) -> EmulatedBoard:
    """The board of `port`; its time starts when both exist."""
    return echo_board


def test_the_handler_is_registered_by_the_backend() -> None:
    assert serial.protocol_handler_packages.count(backend.URL_HANDLERS) == 1


def test_open_before_the_port_exists(echo_board: EmulatedBoard, url: str) -> None:
    with pytest.raises(serial.SerialException, match="no USB device is attached: ") as absent:
        serial.serial_for_url(url)
    assert f"could not open port {url}" in str(absent.value)
    assert echo_board.now_ns >= 10 * MS  # a refused open costs a little time ...
    for _attempt in range(30):  # ... so a loop that tries again gets there
        try:
            serial.serial_for_url(url).close()
            break
        except serial.SerialException as refused:
            reason = str(refused)
    else:
        pytest.fail("the port never appeared")
    assert reason.endswith("the device is attached and still being enumerated")


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("emu://pico9-emu", "no emulated board 'pico9-emu'"),
        ("emu://", "expected emu://BOARD"),
        ("emu://pico1-emu/1", "expected emu://BOARD"),
    ],
)
def test_open_of_what_is_no_board(url: str, message: str) -> None:
    with pytest.raises(serial.SerialException, match=message):
        serial.serial_for_url(url)


def test_bytes_come_back(port: serial.SerialBase) -> None:
    assert port.write(b"hello\n") == 6
    assert port.readline() == b"hello\n"
    assert port.write(bytearray(b"again\n")) == 6
    assert port.read_until(b"\n") == b"again\n"


def test_two_fresh_boards_answer_with_the_same_bytes_at_the_same_cycle(chip: str, url: str) -> None:
    def talk() -> tuple[bytes, int, int]:
        board = new_echo_board(chip)
        board.advance(ns=300 * MS)
        with serial.serial_for_url(url, timeout=1) as port:
            port.write(SEND)
            return port.read(10_000), board.cycles, board.now_ns

    try:
        first = talk()
        assert first[0] == PATTERN
        assert talk() == first
    finally:
        registry.remove(NAMES[chip])


def test_a_read_that_gets_nothing_lasts_exactly_its_timeout(
    port: serial.SerialBase, ready: EmulatedBoard
) -> None:
    port.timeout = 1.5
    start = ready.now_ns
    assert port.read(1) == b""
    assert ready.now_ns - start == 1_500_000_000


def test_a_read_that_gets_too_little_lasts_its_timeout_too(
    port: serial.SerialBase, ready: EmulatedBoard
) -> None:
    port.timeout = 0.25
    port.write(b"abc")
    start = ready.now_ns
    assert port.read(4) == b"abc"
    assert ready.now_ns - start == 250_000_000


def test_a_read_that_is_served_returns_at_once(
    port: serial.SerialBase, ready: EmulatedBoard
) -> None:
    port.write(b"abc")
    start = ready.now_ns
    assert port.read(3) == b"abc"
    assert ready.now_ns - start <= 3 * 100_000  # ticks of the USB host


def test_polling_lets_a_tick_pass(port: serial.SerialBase, ready: EmulatedBoard) -> None:
    start = ready.now_ns
    assert port.in_waiting == 0
    assert ready.now_ns - start == 100_000
    port.timeout = 0
    assert port.read(1) == b""
    assert ready.now_ns - start == 200_000
    port.write(b"xyz")
    polls = 0
    while not port.in_waiting:
        polls += 1
    assert polls <= 3
    assert port.read(10) == b"xyz"


def test_reading_without_timeout_waits_for_the_bytes(port: serial.SerialBase) -> None:
    port.timeout = None
    port.write(SEND)
    assert port.read(10_000) == PATTERN


def test_a_halted_board_ends_a_read_without_timeout(
    port: serial.SerialBase, ready: EmulatedBoard
) -> None:
    ready.machine.bus_write(0xE000EDF0, 4, 0xA05F0003)
    port.timeout = None
    with pytest.raises(serial.SerialException, match=r"the core of pico[12]-emu is halted"):
        port.read(1)


@pytest.mark.parametrize(
    ("order", "reason"),
    [
        (RESET, "device disconnected: the board was reset"),
        (REPLUG, "device disconnected: the device left the bus and came back"),
        (UNPLUG, r"device disconnected: the device left the bus: SIE_CTRL\.PULLUP_EN is 0"),
    ],
)
def test_the_port_vanishes(
    port: serial.SerialBase, ready: EmulatedBoard, order: bytes, reason: str
) -> None:
    port.write(b"last words" + order)
    with pytest.raises(serial.SerialException, match=reason):
        port.read(100)
    for call in (
        lambda: port.read(1),
        lambda: port.write(b"x"),
        lambda: port.in_waiting,
        port.flush,
        port.reset_input_buffer,
    ):
        with pytest.raises(serial.SerialException, match=reason):
            call()
    port.close()
    if order == UNPLUG:
        ready.advance(ns=SECOND)
        with pytest.raises(serial.SerialException, match=r"SIE_CTRL\.PULLUP_EN is 0"):
            port.open()
        return
    ready.advance(ns=300 * MS)
    port.open()
    port.write(b"back\n")
    assert port.readline() == b"back\n"


def test_a_second_open_is_refused(port: serial.SerialBase, url: str) -> None:
    with pytest.raises(serial.SerialException, match="already open in this process"):
        serial.serial_for_url(url)
    with pytest.raises(serial.SerialException, match="already open"):
        port.open()
    port.close()
    port.close()
    serial.serial_for_url(url).close()


def test_calls_on_a_closed_port(port: serial.SerialBase) -> None:
    port.close()
    for call in (lambda: port.read(1), lambda: port.write(b"x"), lambda: port.in_waiting):
        with pytest.raises(serial.PortNotOpenError):
            call()


def test_a_deaf_device_fills_the_buffers_and_write_times_out(
    port: serial.SerialBase, ready: EmulatedBoard
) -> None:
    port.write(DEAF)
    port.flush()
    port.write_timeout = 0.75
    start = ready.now_ns
    with pytest.raises(serial.SerialTimeoutException):
        port.write(bytes(20_000))
    assert 0.75 * SECOND <= ready.now_ns - start < 0.76 * SECOND
    assert port.out_waiting == 4096
    with pytest.raises(serial.SerialTimeoutException):
        port.flush()
    port.reset_output_buffer()
    assert port.out_waiting == 0
    port.flush()


def test_flush_waits_until_the_device_has_the_bytes(
    port: serial.SerialBase, ready: EmulatedBoard
) -> None:
    port.write(b"x" * 1000)
    assert port.out_waiting == 1000
    start = ready.now_ns
    port.flush()
    assert port.out_waiting == 0
    assert ready.now_ns > start


def test_reset_input_buffer_drops_what_came(port: serial.SerialBase, ready: EmulatedBoard) -> None:
    port.write(b"old")
    ready.advance(ns=10 * MS)
    assert port.in_waiting == 3
    port.reset_input_buffer()
    port.write(b"new")
    assert port.read(3) == b"new"


def requests(board: EmulatedBoard, code: str) -> list[str]:
    """SETUP packets with this bmRequestType and bRequest, as the host noted them."""
    return [
        text.removeprefix("SETUP ")
        for _, text in board.host.evidence.transcript
        if text.startswith(f"SETUP {code}")
    ]


def test_open_and_close_set_the_line_as_an_operating_system_does(
    port: serial.SerialBase, ready: EmulatedBoard
) -> None:
    assert requests(ready, "21 20") == ["21 20 0000 0000 0007"]
    assert requests(ready, "21 22") == ["21 22 0003 0000 0000"]
    port.rts = False
    assert requests(ready, "21 22")[-1] == "21 22 0001 0000 0000"
    port.dtr, port.rts = False, True
    assert requests(ready, "21 22")[-1] == "21 22 0002 0000 0000"
    port.close()
    assert requests(ready, "21 22")[-1] == "21 22 0000 0000 0000"


def test_line_coding_is_sent_when_it_changes(port: serial.SerialBase, ready: EmulatedBoard) -> None:
    port.timeout = 2
    assert len(requests(ready, "21 20")) == 1
    port.baudrate = 115200
    assert len(requests(ready, "21 20")) == 2


def test_inter_byte_timeout_is_refused(echo_board: EmulatedBoard, url: str) -> None:
    echo_board.advance(ns=300 * MS)
    with pytest.raises(ValueError, match="inter_byte_timeout"):
        serial.serial_for_url(url, inter_byte_timeout=0.1)
    serial.serial_for_url(url).close()  # and nothing is left open


def test_strictness_passes_through(port: serial.SerialBase, ready: EmulatedBoard) -> None:
    port.write(STRICT)
    with pytest.raises(FirmwareFault, match="clk_sys: AUXSRC changes while SRC selects it"):
        port.read(1)
    for call in (lambda: port.read(1), lambda: port.write(b"x"), lambda: port.in_waiting):
        with pytest.raises(FirmwareFault):
            call()
    port.close()  # closing is not the place to be told again
    assert ready.fault is not None


def test_the_port_can_be_closed_and_opened_again(
    port: serial.SerialBase, ready: EmulatedBoard
) -> None:
    port.write(SEND)
    assert port.read(10_000) == PATTERN
    port.close()
    ready.advance(ns=SECOND)
    port.open()
    port.write(SEND)
    assert port.read(10_000) == PATTERN
    assert ready.host.evidence.complaints == []
