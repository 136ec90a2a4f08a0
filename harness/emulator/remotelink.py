# SPDX-License-Identifier: Apache-2.0
"""The wire from a debug probe to a board that another process serves."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

from harness.emulator import channel
from harness.emulator.board import NS_PER_SECOND
from harness.emulator.channel import Malformed, integer
from harness.emulator.memap import CSW, TAR
from harness.emulator.remote import RemoteBoard
from harness.emulator.wireerrors import from_fields
from harness.errors import ProbeError


class RemoteLink:
    """As `debuglink.LocalLink`, on a served board. Transfers that reach nothing behind the debug port
    (the wire, DP registers, CSW and TAR of an access port) and deferred reads are collected; whatever
    reaches the board's bus goes out at once with all before it, so an error belongs to its access."""

    QUEUE_MAX, QUEUE_WORDS = 256, 16384

    def __init__(self, board: RemoteBoard, xip_miss_cycles: int) -> None:
        board.ask("swd.open", {"xip_miss_cycles": xip_miss_cycles})
        self._board = board
        self._generation = board.generation
        self._items: list[list[object]] = []
        self._out: list[int] = []
        self._reads: list[PendingRead] = []
        self._failed: Exception | None = None
        board.queue(self._flush_quietly)

    def close(self) -> None:
        self._board.queue(None)
        if self._board.is_connected(self._generation):
            self._flush_quietly()
            self._board.ask("swd.close")

    # ---- transfers ----

    def drive(self, length: int, bits: int) -> None:
        self._add(["drive", length, bits])

    def read_dp(self, register: int) -> Callable[[], int]:
        return self._add(["dp?", register], 1).first

    def write_dp(self, register: int, value: int) -> None:
        self._add(["dp!", register], out=(value,))

    def read_ap(self, address: int) -> Callable[[], int]:
        return self._add(["ap?", address], 1).first

    def write_ap(self, address: int, value: int) -> None:
        self._add(["ap!", address], out=(value,))
        if address & 0xFC not in (CSW, TAR):
            self.flush()

    def read_ap_block(self, address: int, count: int) -> Callable[[], Sequence[int]]:
        return self._add(["ap?*", address, count], count).all

    def write_ap_block(self, address: int, values: Sequence[int]) -> None:
        self._add(["ap!*", address, len(values)], out=values)
        self.flush()

    def hold_in_reset(self, asserted: bool) -> None:
        self._add(["reset", int(asserted)])
        self.flush()

    def held_in_reset(self) -> bool:
        answer = self._board.ask("swd.reset?", generation=self._generation)
        return answer.fields.get("held") is True

    # ---- the queue ----

    def flush(self) -> None:
        """Errors: of the first transfer that failed; those after it did not take place."""
        self._flush_quietly()
        failed, self._failed = self._failed, None
        if failed is not None:
            raise failed

    def _add(self, item: list[object], reads: int = 0, out: Sequence[int] = ()) -> PendingRead:
        pending = PendingRead(self, reads)
        self._items.append(item)
        self._reads.append(pending)
        self._out += out
        words = len(self._out) + sum(read.count for read in self._reads)
        if len(self._items) >= self.QUEUE_MAX or words >= self.QUEUE_WORDS:
            self.flush()
        return pending

    def _flush_quietly(self) -> None:
        """An error is kept for the next transfer: whoever asks for the time has no use for it."""
        if not self._items:
            return
        items, reads, out = self._items, self._reads, self._out
        self._items, self._reads, self._out = [], [], []
        failure: Exception | None = None
        done, words = 0, []
        try:
            answer = self._board.ask(
                "swd.do",
                {"do": items},
                struct.pack(f"<{len(out)}I", *out),
                ns=NS_PER_SECOND,
                generation=self._generation,
            )
            done = integer(answer.fields, "done", 0, len(items))
            words = channel.words(answer.data)
            if done < len(items):
                failure = from_fields(answer.fields.get("failure"))
        except Malformed as problem:
            failure = ProbeError("a torn answer of the served board", cause=str(problem))
        except Exception as error:
            failure = error
        for read in reads[:done]:
            read.values, words = words[: read.count], words[read.count :]
        for read in reads[done:]:
            read.error = failure
        self._failed = self._failed or failure


class PendingRead:
    """Words that were asked for."""

    def __init__(self, link: RemoteLink, count: int) -> None:
        self._link = link
        self.count = count
        self.values: list[int] | None = None
        self.error: Exception | None = None

    def all(self) -> list[int]:
        if self.values is None and self.error is None:
            self._link.flush()
        if self.error is not None:
            raise self.error
        if self.values is None or len(self.values) != self.count:
            raise ProbeError("the served board answered with too few words")
        return self.values

    def first(self) -> int:
        return self.all()[0]
