# SPDX-License-Identifier: Apache-2.0
"""What a served board does with messages that nobody of ours would send."""

from __future__ import annotations

import json
import random
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.boards.probe import Probe
from harness.emulator import channel, registry, runtime
from harness.emulator.channel import HEAD, Closed, Malformed, Message
from harness.emulator.session import OPERATIONS
from harness.emulator.transfers import ARGUMENTS
from tests.served.conftest import short_folder
from tests.served.support import Server, entry_of

ENTRY = entry_of("rp2040")
HELLO = Message({"op": "hello", "version": channel.VERSION})


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    """The runtime folder and the flash file of one server for all of these tests, which must be as well
    as ever after the last of them."""
    flash = tmp_path_factory.mktemp("messages") / "flash.bin"
    with short_folder() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("RIPBENCH_RUNTIME", str(folder))
        server = Server([ENTRY.name, "--flash", str(flash)])
        yield folder, flash
        patch.setenv("RIPBENCH_RUNTIME", str(folder))
        with Probe(ENTRY) as probe:
            probe.reset_and_halt()
        registry.remove(ENTRY.name)
        assert server.stop() == 0
        assert server.complaints == ""


@pytest.fixture
def served(shared: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Its flash file. Whatever a test did to it, it serves the next client."""
    monkeypatch.setenv("RIPBENCH_RUNTIME", str(shared[0]))
    yield shared[1]
    connected().close()


def raw(text: bytes, data: bytes = b"") -> bytes:
    return HEAD.pack(len(text), len(data)) + text + data


def connected(greeted: bool = True) -> socket.socket:
    connection = runtime.connect(ENTRY.name)
    assert connection is not None
    connection.settimeout(20)
    if greeted:
        channel.send(connection, HELLO)
        assert channel.receive(connection).fields["version"] == channel.VERSION
    return connection


def ends(connection: socket.socket) -> str:
    """The last words of a server that hangs up, "" for none."""
    words = ""
    try:
        while True:
            words = str(channel.receive(connection).fields.get("malformed", words))
    except Closed:
        return words


MALFORMED = {
    "no JSON": raw(b"{op: info}"),
    "no UTF-8": raw(b'{"op": "\xff"}'),
    "no object": raw(b"[1]"),
    "no operation": raw(b'{"op": "exec", "code": "1"}'),
    "an operation that is no text": raw(b'{"op": ["info"]}'),
    "an object too large": HEAD.pack(channel.OBJECT_MAX + 1, 0),
    "data too large": HEAD.pack(2, channel.DATA_MAX + 1),
    "nested": raw(b'{"op":' + b"[" * 5000 + b"]" * 5000 + b"}"),
    "a number out of range": raw(b'{"op": "sleep", "ns": -1}'),
    "a number that is none": raw(b'{"op": "sleep", "ns": NaN}'),
    "a truth for a number": raw(b'{"op": "sleep", "ns": true}'),
    "a transfer before opening": raw(b'{"op": "swd.do", "do": []}'),
    "no fields": raw(b'{"op": "serial.open"}'),
    "a size out of range": raw(b'{"op": "witness.writer", "address": 4294967296}'),
}


@pytest.mark.parametrize("message", MALFORMED.values(), ids=MALFORMED)
def test_it_ends_the_connection_and_nothing_else(served: Path, message: bytes) -> None:  # noqa: ARG001
    with connected() as other, connected() as connection:
        connection.sendall(message)
        assert ends(connection) != ""
        channel.send(other, Message({"op": "now"}))
        assert channel.receive(other).fields["ns"] >= 0


@pytest.mark.parametrize(
    "first",
    [
        raw(json.dumps({"op": "hello", "version": channel.VERSION + 1}).encode()),
        raw(json.dumps({"op": "power", "version": channel.VERSION}).encode()),
        raw(b'{"op": "hello"}'),
        b"GET / HTTP/1.1\r\n\r\n",
    ],
)
def test_who_does_not_greet_is_not_served(served: Path, first: bytes) -> None:  # noqa: ARG001
    with connected(greeted=False) as connection:
        connection.sendall(first)
        assert ends(connection) != ""


BATCHES = {
    "an unknown kind": ([["eval", 1]], b""),
    "too few arguments": ([["ap?*", 0]], b""),
    "no list": ([7], b""),
    "too many words": ([["ap?*", 0, 200_000], ["ap?*", 0, 200_000]], b""),
    "words missing": ([["ap!*", 0, 2]], b"1234"),
    "words over": ([["dp?", 0]], b"1234"),
    "torn words": ([["ap!", 0]], b"123"),
    "an empty block": ([["ap?*", 0, 0]], b""),
    "a negative address": ([["ap?", -4]], b""),
    "too many": ([["dp?", 0]] * 5000, b""),
}


@pytest.mark.parametrize(("batch", "data"), BATCHES.values(), ids=BATCHES)
def test_batches_are_checked_before_anything_is_done(
    served: Path,  # noqa: ARG001
    batch: list[Any],
    data: bytes,
) -> None:
    with connected() as connection:
        channel.send(connection, Message({"op": "swd.open", "xip_miss_cycles": 0}))
        assert channel.receive(connection).fields == {}
        channel.send(connection, Message({"op": "swd.do", "do": [["drive", 8, 1], *batch]}, data))
        assert ends(connection) != ""


def test_connections_are_bounded(served: Path) -> None:  # noqa: ARG001
    some = [connected() for _ in range(16)]
    with connected(greeted=False) as late:
        assert "no room" in ends(late)
    for connection in some:
        connection.close()
    for _attempt in range(100):
        try:
            connected().close()
            break
        except (Closed, KeyError):
            continue
    else:
        pytest.fail("the places were not given back")


# ---- fuzzing ----

VALUES: tuple[Any, ...] = (
    *(0, 1, -1, 4, 255, 1 << 31, 1 << 32, 1 << 64, 10**30, 0.5, -0.0, 1e300, True, None),
    *("", "N", "x" * 300, [], [[]], [[0, 4]], {}, {"a": [[1, 2]]}, [["dp?", 0]], [["ap?", 12]]),
)
FIELDS = (
    *("ns", "do", "size", "patience", "address", "first", "begin", "end", "areas", "inputs"),
    *("outputs", "baudrate", "bytesize", "stopbits", "parity", "dtr", "rts", "on", "model"),
    *("xip_miss_cycles", "version", "op"),
)


def fuzzed(chance: random.Random) -> bytes:
    """Noise, a torn or wrongly sized message, or one whose fields are anything at all."""
    kind = chance.randrange(6)
    if kind == 0:
        return chance.randbytes(chance.randrange(1, 200))
    fields: dict[str, Any] = {"op": chance.choice([*OPERATIONS, "hello", "none"])}
    for name in chance.sample(FIELDS, chance.randrange(8)):
        fields[name] = chance.choice(VALUES)
    if fields.get("op") == "swd.do" and chance.random() < 0.5:
        kinds = [*ARGUMENTS, "?"]
        fields["do"] = [
            [chance.choice(kinds), *chance.choices(VALUES[:12], k=chance.randrange(3))]
            for _ in range(chance.randrange(5))
        ]
    text = bytearray(json.dumps(fields).encode())
    data = chance.randbytes(chance.choice((0, 0, 4, 16, 65)))
    if kind == 1:
        text[chance.randrange(len(text))] = chance.randrange(256)
    if kind == 2:
        return HEAD.pack(*chance.choices((0, 5, 1 << 20, 1 << 21, 0xFFFFFFFF), k=2)) + text
    message = raw(bytes(text), data)
    return message[: chance.randrange(1, len(message))] if kind == 3 else message


@pytest.mark.parametrize("count", [1000, pytest.param(10_000, marks=pytest.mark.extra)])
def test_any_bytes(served: Path, count: int) -> None:
    before = served.read_bytes()
    chance = random.Random(count)
    connection = connected()
    ended = 0
    for _ in range(count):
        try:
            connection.sendall(fuzzed(chance))
            if chance.random() < 0.3:
                connection.shutdown(socket.SHUT_WR)
                connection.settimeout(20)
                while connection.recv(65536):
                    pass
                raise Closed
            connection.settimeout(0.001)
            if not connection.recv(65536):
                raise Closed
        except TimeoutError:
            continue  # it waits for the rest, or for time to pass
        except (Closed, OSError):
            ended += 1
            connection.close()
            connection = connected()
    connection.close()
    assert ended > count // 4
    assert served.read_bytes() == before
    assert len(list(runtime.folder().iterdir())) == 2


def test_a_receiver_takes_what_a_sender_sends() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        sent = Message({"op": "x", "deep": [[1], {"a": "\N{MICRO SIGN}"}]}, b"\0\xff")
        channel.send(ours, sent)
        assert channel.receive(theirs) == sent
        with pytest.raises(Malformed):
            channel.send(ours, Message({}, bytes(channel.DATA_MAX + 1)))
        ours.close()
        with pytest.raises(Closed):
            channel.receive(theirs)
