# SPDX-License-Identifier: Apache-2.0
"""Packed constants of m0plus_conv that would lead it astray are refused before the run."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable
from dataclasses import replace

import pytest

from harness.boards import Board
from harness.build import build_runner
from harness.case import Case, Pack, build_pack, make_case
from harness.case.records import records_of
from harness.errors import ProtocolError
from harness.geometry import ConvGeometry
from harness.kernels import KernelTraits
from harness.kernels.packers.guarded import RECORD
from harness.network import Layer
from harness.plan import Strategy, plan_layer
from harness.schema.records import CaseEntry, PackHeader
from tests.device.support import new_entry

M0PLUS = KernelTraits("m0plus", "rp2040")
BAD_CONSTANTS = 19  # firmware/runner/pack.h


def _stream_case() -> Case:
    layer = Layer("stream", ConvGeometry(3, 4, 24, 2))
    return make_case(plan_layer(layer, Strategy.RIP, kernel=M0PLUS))


def _with_stream(change: Callable[[bytearray, int], None]) -> Pack:
    """The case with its groups changed, all CRCs right. The change gets the first group's offset."""
    pack, case = build_pack([_stream_case()]), _stream_case()
    made = records_of(case)
    weights = bytearray(made.weights)
    change(weights, case.plan.layer.output.c * RECORD.itemsize)
    data = bytearray(pack.data)
    at = pack.header.weights_offset
    assert bytes(data[at : at + len(weights)]) == made.weights
    data[at : at + len(weights)] = weights
    entry = pack.entries[0]
    entry = replace(entry, weights=replace(entry.weights, crc=zlib.crc32(weights)), entry_crc=0)
    entry = replace(entry, entry_crc=zlib.crc32(entry.pack()[:-4]))
    start = pack.header.directory_offset
    data[start : start + CaseEntry.size()] = entry.pack()
    body = bytes(data[PackHeader.size() :])
    header = replace(pack.header, pack_id=hashlib.sha256(body).digest()[:8])
    header = replace(header, header_crc=zlib.crc32(header.pack()[:-4]))
    return Pack(pack.cases, (entry,), header, header.pack() + body)


def _groups(*sizes: int) -> Callable[[bytearray, int], None]:
    """Of the first channel; the second one's are 16 and 8."""

    def change(weights: bytearray, first: int) -> None:
        at = first
        for size in (*sizes, 0, 16, 8, 0):
            weights[at] = size
            at += 1 + size
        assert at <= len(weights)

    return change


def _never_ends(weights: bytearray, first: int) -> None:
    for at in range(first, len(weights)):
        weights[at] = 1 if (at - first) % 2 == 0 or at == len(weights) - 1 else 0


def _run_changed(change: Callable[[bytearray, int], None]) -> None:
    image = build_runner("rp2040", kernels=M0PLUS.kernels.all())
    with Board(new_entry()) as board:
        board.start(image, _with_stream(change))
        board.run(0, 1)


def test_other_groups_are_run() -> None:
    """The packer's are not the only ones."""
    _run_changed(_groups(16, 8))


@pytest.mark.parametrize(
    "change",
    [_groups(), _groups(17, 7), _groups(16, 7), _groups(16, 9), _groups(16, 8, 1), _never_ends],
    ids=["none", "a-large-group", "a-tap-less", "a-tap-more", "a-group-more", "no-end"],
)
def test_a_damaged_stream_is_refused(change: Callable[[bytearray, int], None]) -> None:
    """Before the run: the assembler would jump wherever the size of a group says."""
    with pytest.raises(ProtocolError, match="refuses to run: bad record") as caught:
        _run_changed(change)
    assert caught.value.evidence["detail"] == BAD_CONSTANTS
