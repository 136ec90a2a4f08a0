# SPDX-License-Identifier: Apache-2.0
"""A board whose frames are whole and whose numbers cannot be gives no numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from harness.boards import Board
from harness.build import RunnerImage
from harness.errors import ProtocolError
from harness.schema.constants import FrameType
from harness.schema.records import RunResult
from harness.wire import Decoder, Frame, encode
from tests.device.support import new_entry, small_pack


class _Liar:
    """The board's serial device, with 2^64 - 1 cycles in every result and the right CRC around it."""

    def __init__(self, device: Any) -> None:
        self._device = device
        self._decoder = Decoder()
        self._ready = b""
        self.timeout = 0.0

    @property
    def in_waiting(self) -> int:
        return len(self._ready)

    def read(self, count: int) -> bytes:
        if not self._ready:
            self._device.timeout = self.timeout
            data = self._device.read(1)
            data += self._device.read(self._device.in_waiting) if data else b""
            self._ready = b"".join(encode(_lie(frame)) for frame in self._decoder.feed(data))
        data, self._ready = self._ready[:count], self._ready[count:]
        return data

    def write(self, data: bytes) -> None:
        self._device.write(data)

    def close(self) -> None:
        self._device.close()


def _lie(frame: Frame) -> Frame:
    if frame.type != FrameType.RESULT:
        return frame
    result = replace(RunResult.unpack(frame.payload), cycles=2**64 - 1)
    return replace(frame, payload=result.pack())


def test_cycles_that_cannot_be(runner_image: RunnerImage) -> None:
    with Board(new_entry()) as board:
        board.start(runner_image, small_pack())
        assert board.run(0, seed=1).results[0].cycles < 2**32
        assert board.read(0, 0) == b""
        assert len(board.read(0, 4)) == 4
        port = board._conversation._port  # type: ignore[union-attr]
        port._device = _Liar(port._device)
        with pytest.raises(ProtocolError, match="states cycles that cannot be"):
            board.run(0, seed=1)
