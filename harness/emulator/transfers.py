# SPDX-License-Identifier: Apache-2.0
"""Transfers of a debug port as a served board gets them: many in one message, done in order.

A transfer is a list, its kind and its arguments; words to write and words that were read are the data of
request and answer, little-endian. What failed ends the batch: nothing after it takes place, as a probe's
hardware does it.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping

from harness.emulator import channel
from harness.emulator.channel import Malformed, Message, integer, items, words
from harness.emulator.debuglink import DebugLink
from harness.emulator.wireerrors import CARRIED, to_fields

BATCH_MAX = 4096  # transfers in one message
BLOCK_WORDS = channel.DATA_MAX // 4
DRIVE_BITS = 4096
U64 = (1 << 64) - 1


def perform(link: DebugLink, request: Message) -> Message:
    """The answer: how many were done, why not all of them, and the words that these read. Errors:
    Malformed before anything is done."""
    out, done, at = words(request.data), 0, 0
    transfers = [Transfer(item) for item in items(request.fields, "do", BATCH_MAX)]
    if sum(t.reads for t in transfers) > BLOCK_WORDS:
        raise Malformed("more words to read than an answer holds")
    if sum(t.writes for t in transfers) != len(out):
        raise Malformed("not as many words as there are to write")
    read: list[int] = []
    failure: dict[str, object] = {}
    try:
        for step in transfers:
            read += step.perform(link, out[at : at + step.writes])
            at += step.writes
            done += 1
    except CARRIED as error:
        failure = {"failure": to_fields(error)}
    return Message({"done": done, **failure}, struct.pack(f"<{len(read)}I", *read))


class Transfer:
    """One element of a batch, as it came: `[kind, ...]`. reads, writes: words of data. Errors:
    Malformed."""

    def __init__(self, item: object) -> None:
        if not isinstance(item, list) or not item or item[0] not in ARGUMENTS:
            raise Malformed("a transfer of an unknown kind")
        self.kind = str(item[0])
        limits = ARGUMENTS[self.kind]
        if len(item) != 1 + len(limits):
            raise Malformed(f"{self.kind} has {len(limits)} arguments")
        named = {str(n): value for n, value in enumerate(item[1:])}
        self.arguments = [integer(named, str(n), 0, most) for n, most in enumerate(limits)]
        self.reads = self.arguments[1] if self.kind == "ap?*" else int(self.kind in ("dp?", "ap?"))
        self.writes = self.arguments[1] if self.kind == "ap!*" else int(self.kind in ("dp!", "ap!"))
        if self.kind.endswith("*") and not self.arguments[1]:
            raise Malformed("a block of no words")

    def perform(self, link: DebugLink, out: list[int]) -> list[int]:
        first = self.arguments[0]
        match self.kind:
            case "dp?":
                return [link.read_dp(first)()]
            case "dp!":
                link.write_dp(first, out[0])
            case "ap?":
                return [link.read_ap(first)()]
            case "ap!":
                link.write_ap(first, out[0])
            case "ap?*":
                return list(link.read_ap_block(first, self.arguments[1])())
            case "ap!*":
                link.write_ap_block(first, out)
            case "drive":
                link.drive(first, self.arguments[1])
            case "reset":
                link.hold_in_reset(bool(first))
        return []


# What follows the kind of a transfer, each from 0 to the number given. Addresses of ADIv6 have 64 bits.
ARGUMENTS: Mapping[str, tuple[int, ...]] = {
    "dp?": (0xF,),
    "dp!": (0xF,),
    "ap?": (U64,),
    "ap!": (U64,),
    "ap?*": (U64, BLOCK_WORDS),
    "ap!*": (U64, BLOCK_WORDS),
    "drive": (DRIVE_BITS, (1 << DRIVE_BITS) - 1),
    "reset": (1,),
}
