# SPDX-License-Identifier: Apache-2.0
"""Messages between a served board and its clients: a JSON object and bytes, over a Unix socket.

Little-endian: u32 bytes of the object, u32 bytes of data, the object in UTF-8, the data. Both are
capped before they are read, nothing that is read is executed, and whatever does not fit this is
Malformed: the connection ends there, since nothing after it can be trusted.
"""

from __future__ import annotations

import json
import select
import socket
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field

VERSION = 2
HEAD = struct.Struct("<II")
OBJECT_MAX, DATA_MAX = 1 << 20, 1 << 20  # bytes
NESTING_MAX = 8


class Malformed(Exception):
    """What came is not a message, or not one that was due."""


class Closed(Exception):
    """The other end is gone."""


@dataclass(frozen=True)
class Message:
    """fields: of the JSON object. data: raw bytes beside it."""

    fields: Mapping[str, object] = field(default_factory=dict)
    data: bytes = b""


def send(to: socket.socket, message: Message) -> None:
    """Errors: Closed; Malformed for a message that no receiver would take; TimeoutError."""
    text = json.dumps(message.fields, separators=(",", ":")).encode()
    if len(text) > OBJECT_MAX or len(message.data) > DATA_MAX:
        raise Malformed(f"{len(text)} and {len(message.data)} bytes are too many for one message")
    try:
        to.sendall(HEAD.pack(len(text), len(message.data)) + text + message.data)
    except TimeoutError:
        raise
    except OSError as error:
        raise Closed(str(error)) from error


def receive(source: socket.socket) -> Message:
    """Errors: Closed, Malformed, TimeoutError."""
    text_bytes, data_bytes = HEAD.unpack(_exactly(source, HEAD.size))
    if text_bytes > OBJECT_MAX or data_bytes > DATA_MAX:
        raise Malformed(f"{text_bytes} and {data_bytes} bytes announced")
    text, data = _exactly(source, text_bytes), _exactly(source, data_bytes)
    try:
        fields = json.loads(text.decode(), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise Malformed(f"no JSON: {error}") from error
    if not isinstance(fields, dict) or _depth(fields) > NESTING_MAX:
        raise Malformed("no JSON object, or one nested too deeply")
    return Message(fields, data)


def is_open(connection: socket.socket) -> bool:
    """Whether the other end has not closed it. Nothing is read."""
    poll = select.poll()  # not MSG_DONTWAIT: a socket with a time-out waits all the same
    try:
        poll.register(connection, select.POLLIN)
        return not poll.poll(0) or connection.recv(1, socket.MSG_PEEK) != b""
    except (OSError, ValueError):
        return False


def _no_constant(word: str) -> object:
    raise ValueError(f"{word} is no JSON")


def _depth(value: object) -> int:
    """Of nested objects and lists; json.loads itself ends long before Python's own stack does."""
    depth, layer = 0, [value]
    while layer and depth <= NESTING_MAX:
        layer = [
            inner
            for outer in layer
            if isinstance(outer, (dict, list))
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        depth += 1
    return depth


def _exactly(source: socket.socket, count: int) -> bytes:
    pieces = bytearray()
    while len(pieces) < count:
        try:
            piece = source.recv(min(count - len(pieces), 1 << 16))
        except TimeoutError:
            raise
        except OSError as error:
            raise Closed(str(error)) from error
        if not piece:
            raise Closed("the connection was closed")
        pieces += piece
    return bytes(pieces)


# ---- fields of a message that somebody else wrote ----


def integer(fields: Mapping[str, object], name: str, low: int, high: int) -> int:
    value = fields.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise Malformed(f"{name} is {value!r}, not a number from {low} to {high}")
    return value


def optional_integer(fields: Mapping[str, object], name: str, low: int, high: int) -> int | None:
    return None if fields.get(name) is None else integer(fields, name, low, high)


def boolean(fields: Mapping[str, object], name: str) -> bool:
    value = fields.get(name)
    if not isinstance(value, bool):
        raise Malformed(f"{name} is {value!r}, neither true nor false")
    return value


def text(fields: Mapping[str, object], name: str, longest: int = 200) -> str:
    value = fields.get(name)
    if not isinstance(value, str) or len(value) > longest:
        raise Malformed(f"{name} is no text of at most {longest} characters")
    return value


def items(fields: Mapping[str, object], name: str, most: int) -> list[object]:
    value = fields.get(name)
    if not isinstance(value, list) or len(value) > most:
        raise Malformed(f"{name} is no list of at most {most}")
    return value


def words(data: bytes) -> list[int]:
    """Little-endian u32 of a message's data."""
    if len(data) % 4:
        raise Malformed(f"{len(data)} bytes are no whole words")
    return list(struct.unpack(f"<{len(data) // 4}I", data))
