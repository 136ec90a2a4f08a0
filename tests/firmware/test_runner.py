# SPDX-License-Identifier: Apache-2.0
"""The conversation: HELLO, RUN, READ, what is refused and what is not even answered."""

from __future__ import annotations

import ctypes
import zlib

import pytest

from harness.schema import records
from harness.schema.constants import (
    MAILBOX_MAGIC,
    PROTOCOL_VERSION,
    FrameType,
    Refusal,
    TapOrder,
)
from tests.firmware.support import (
    Conv,
    HostRunner,
    build,
    frame,
    input_byte,
    paint,
    parts,
    refusal,
)

_POOL = 1 << 16  # of the host port
_ARENA = 1024


@pytest.fixture(autouse=True)
def _clean(host: HostRunner) -> None:
    host.mailbox(bytes(48))
    host.c.host_spoil(0, 0)
    ctypes.memset(host.c.host_image(), 0, 512)
    ctypes.memset(host.c.host_ram_code(), 0, 64)
    host.flash(build([parts(_conv()), parts(_conv(seed=2))]))


def _conv(seed: int = 1, order: TapOrder = TapOrder.GATHER) -> Conv:
    return Conv(4, 4, 3, 2, (3, 3), (1, 1), (1, 1), (1, 1, 1, 1), order, seed=seed)


def _mailbox(nonce: int, magic: int = MAILBOX_MAGIC, address: int = 0x1001_0000) -> bytes:
    return records.MailboxRequest(magic, PROTOCOL_VERSION, nonce, address, "desk").pack()


def _run_request(**changes: int) -> bytes:
    usual = {"case_index": 0, "seed": 1, "repeats": 1, "paint": 0, "keep_interrupts": 0}
    return records.RunRequest(**{**usual, "ops": 0, "reserved": 0, **changes}).pack()


def test_hello_says_who_and_what(host: HostRunner) -> None:
    host.mailbox(_mailbox(0xCAFE))
    (answer,) = host.ask(FrameType.ASK_HELLO, nonce=0xCAFE)
    assert (answer.type, answer.sequence, answer.nonce) == (FrameType.HELLO, 0, 0xCAFE)
    hello = records.Hello.unpack(answer.payload)
    pack = build([parts(_conv()), parts(_conv(seed=2))])
    assert (hello.protocol, hello.chip, hello.board) == (PROTOCOL_VERSION, 2040, "desk")
    assert hello.unique_id == bytes(range(1, 9))
    assert (hello.image_bytes, hello.image_crc) == (512, zlib.crc32(bytes(512)))
    assert hello.ram_code_crc == zlib.crc32(bytes(64))
    assert (hello.pack_address, hello.pack_bytes) == (0x1001_0000, len(pack))
    assert hello.pack_header_crc == zlib.crc32(pack[: records.PackHeader.size() - 4])
    assert (hello.pool_address, hello.pool_bytes) == (0x2000_2000, _POOL)


def test_hello_begins_with_a_zero_that_ends_whatever_was_left(host: HostRunner) -> None:
    assert host.raw(frame(FrameType.ASK_HELLO, 0, 0, b"")).startswith(b"\0")


def test_without_a_mailbox_nonce_and_board_are_empty(host: HostRunner) -> None:
    host.mailbox(_mailbox(0xCAFE, magic=1))
    (answer,) = host.ask(FrameType.ASK_HELLO, nonce=5)
    assert answer.nonce == 0
    assert records.Hello.unpack(answer.payload).board == ""


def test_only_ask_hello_is_answered_under_another_nonce(host: HostRunner) -> None:
    host.mailbox(_mailbox(7))
    assert host.ask(FrameType.RUN, _run_request(), nonce=8) == []
    assert host.ask(FrameType.READ, records.ReadRequest(0, 1).pack(), nonce=8) == []
    assert len(host.ask(FrameType.ASK_HELLO, nonce=8)) == 1


def test_sequence_restarts_with_hello(host: HostRunner) -> None:
    host.hello()
    frames = host.ask(FrameType.RUN, _run_request(repeats=2))
    assert [f.sequence for f in frames] == [1, 2, 3, 4, 5]
    assert host.ask(FrameType.READ, records.ReadRequest(0, 1).pack())[0].sequence == 6
    assert host.ask(FrameType.ASK_HELLO)[0].sequence == 0


def test_broken_frames_are_dropped(host: HostRunner) -> None:
    good = frame(FrameType.ASK_HELLO, 0, 0, b"")
    assert host.take(b"\x05abcd\0" + good[:-3] + b"\0") == []
    assert len(host.take(good)) == 1


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        (0x44, b""),
        (FrameType.HELLO, b""),
        (FrameType.ASK_HELLO, b"\0"),
        (FrameType.RUN, b"\0" * 15),
        (FrameType.READ, b"\0" * 9),
        (FrameType.RUN, _run_request(repeats=0)),
        (FrameType.RUN, _run_request(repeats=101)),
        (FrameType.RUN, _run_request(paint=2)),
        (FrameType.RUN, _run_request(keep_interrupts=2)),
    ],
)
def test_bad_requests(host: HostRunner, kind: int, payload: bytes) -> None:
    host.hello()
    answer = refusal(host.ask(kind, payload))
    assert (answer.reason, answer.request) == (Refusal.BAD_REQUEST, kind)


def test_more_ops_than_the_case_has(host: HostRunner) -> None:
    answer = refusal(host.run(0, seed=1, ops=2))
    assert (answer.reason, answer.detail, answer.expected, answer.seen) == (
        Refusal.BAD_REQUEST, 2, 1, 2,
    )  # fmt: skip


def test_case_states_what_was_verified(host: HostRunner) -> None:
    pack = build([parts(_conv()), parts(_conv(seed=2))])
    head = records.PackHeader.unpack(pack[: records.PackHeader.size()])
    entry = pack[4096 + records.CaseEntry.size() : 4096 + 2 * records.CaseEntry.size()]
    verified = records.CaseVerified.unpack(host.run(1, seed=0xABCD)[0].payload)
    slices = records.CaseEntry.unpack(entry)
    assert (verified.case_index, verified.seed) == (1, 0xABCD)
    assert verified.image_crc == zlib.crc32(bytes(512))
    assert verified.pack_header_crc == head.header_crc
    assert verified.entry_crc == zlib.crc32(entry)
    assert (verified.ops_crc, verified.tensors_crc, verified.quants_crc, verified.weights_crc) == (
        slices.ops.crc,
        slices.tensors.crc,
        slices.quants.crc,
        slices.weights.crc,
    )


def test_an_image_that_changed_since_hello(host: HostRunner) -> None:
    host.hello()
    ctypes.memset(host.c.host_image() + 100, 1, 1)
    answer = refusal(host.ask(FrameType.RUN, _run_request()))
    changed = bytes(100) + b"\1" + bytes(411)
    assert answer.reason == Refusal.IMAGE_CRC
    assert (answer.expected, answer.seen) == (zlib.crc32(bytes(512)), zlib.crc32(changed))


def test_ram_code_that_is_not_what_flash_holds(host: HostRunner) -> None:
    ctypes.memset(host.c.host_ram_code() + 9, 3, 1)
    answer = refusal(host.run(0, 1))
    assert (answer.reason, answer.detail, answer.expected, answer.seen) == (
        Refusal.RAM_CODE, 9, 0, 3,
    )  # fmt: skip


def test_repeats_are_counted_and_alike(host: HostRunner) -> None:
    frames = host.run(0, seed=3, repeats=3)
    results = [records.RunResult.unpack(f.payload) for f in frames if f.type is FrameType.RESULT]
    ops = [records.OpResult.unpack(f.payload) for f in frames if f.type is FrameType.OP]
    assert [r.repeat for r in results] == [0, 1, 2]
    assert [(o.repeat, o.op_index) for o in ops] == [(0, 0), (1, 0), (2, 0)]
    assert len({r.output_crc for r in results}) == 1
    assert [r.cycles for r in results] == [1000, 1000, 1000]
    assert results[0].microseconds == 8


def test_input_and_paint_are_as_described(host: HostRunner) -> None:
    conv = _conv()
    for complement in (0, 1):
        frames = host.run(0, seed=0x1234_5678, paint=complement)
        result = records.RunResult.unpack(frames[2].payload)
        loaded = bytes(input_byte(0x1234_5678, n) for n in range(conv.n_in))
        assert host.read(0, conv.n_in) == loaded  # input and output are apart here
        assert result.input_crc == zlib.crc32(loaded)
        pool = ctypes.string_at(host.c.host_pool(), _POOL)
        untouched = [*range(_ARENA), *range(_ARENA + conv.arena + 64 + 64, _POOL)]
        assert all(pool[n] == paint(n, complement) for n in untouched)


def test_waters_bound_what_was_touched(host: HostRunner) -> None:
    conv = _conv()
    case = parts(conv)
    case.arena += 100
    host.flash(build([case]))
    for complement in (0, 1):
        result = records.RunResult.unpack(host.run(0, 5, paint=complement)[2].payload)
        assert result.low_water == 0
        assert conv.n_in <= result.high_water <= conv.n_in + conv.n_out


def test_low_water_is_the_output_where_it_lies_below_the_input(host: HostRunner) -> None:
    conv = Conv(4, 4, 3, 2, seed=4, input_offset=50, output_offset=8)
    host.flash(build([parts(conv)]))
    low, high = zip(*(_waters(host, paint) for paint in (0, 1)), strict=True)
    assert (min(low), max(high)) == (8, 50 + conv.n_in)


def _waters(host: HostRunner, complement: int) -> tuple[int, int]:
    result = records.RunResult.unpack(host.run(0, 5, paint=complement)[2].payload)
    return result.low_water, result.high_water


@pytest.mark.parametrize("complement", [0, 1])
@pytest.mark.parametrize(
    ("offset", "length"),
    [(-1024, 1), (-1, 1), (-5, 3), (0, 64), (63, 1), (128, 1), (131, 7), (_POOL - 1024 - 148, 4)],
)
def test_wild_writes_are_found(host: HostRunner, complement: int, offset: int, length: int) -> None:
    """offset: from the arena's base below it, else from its end; scratch lies 64 to 128 behind."""
    conv = _conv()
    assert (conv.arena, parts(conv).scratch) == (80, 27)
    first = offset if offset < 0 else conv.arena + offset
    host.c.host_spoil(_ARENA + first, _ARENA + first + length)
    result = records.RunResult.unpack(host.run(0, 5, paint=complement)[2].payload)
    assert (result.outside_count, result.outside_first) == (length, first)
    assert result.low_water == min(first, 0)
    assert result.high_water >= first + length


def test_scratch_counts_apart(host: HostRunner) -> None:
    host.c.host_spoil(_ARENA + 80 + 64 + 20, _ARENA + 80 + 64 + 21)
    conv = _conv(order=TapOrder.DIRECT)
    case = parts(conv)
    case.scratch = 27
    host.flash(build([case]))
    result = records.RunResult.unpack(host.run(0, 5)[2].payload)
    assert (result.scratch_used, result.outside_count) == (21, 0)


def test_read_is_confined_to_the_arena_of_the_last_case(host: HostRunner) -> None:
    arena = _conv().arena
    host.run(0, 1)
    assert len(host.read(0, arena)) == arena
    assert host.read(arena, 0) == b""
    for offset, length in [(0, arena + 1), (arena, 1), (arena + 1, 0), (1, 0xFFFF_FFFF)]:
        answer = refusal(host.ask(FrameType.READ, records.ReadRequest(offset, length).pack()))
        assert (answer.reason, answer.expected) == (Refusal.READ_RANGE, arena)


def test_nothing_to_read_after_a_refused_run(host: HostRunner) -> None:
    host.run(0, 1)
    refusal(host.run(9, 1))
    answer = refusal(host.ask(FrameType.READ, records.ReadRequest(0, 1).pack()))
    assert (answer.reason, answer.expected) == (Refusal.READ_RANGE, 0)


def test_long_reads_come_in_order(host: HostRunner) -> None:
    case = parts(_conv())
    case.arena = 5000
    host.flash(build([case]))
    host.run(0, 1)
    frames = host.ask(FrameType.READ, records.ReadRequest(3, 4000).pack())
    heads = [records.DataHeader.unpack(f.payload[:8]) for f in frames]
    assert [(h.offset, h.length) for h in heads] == [
        (3, 1024), (1027, 1024), (2051, 1024), (3075, 928),
    ]  # fmt: skip


def test_pack_address_comes_from_the_mailbox(host: HostRunner) -> None:
    pack = build([parts(_conv(seed=77))])
    host.flash(bytes(8192) + pack)
    host.mailbox(_mailbox(0, address=0x1001_2000))
    assert host.hello().pack_header_crc == zlib.crc32(pack[: records.PackHeader.size() - 4])
    assert len(host.run(0, 1)) == 3


@pytest.mark.parametrize("address", [0, 0x1000_0000, 0x1001_0004, 0x2000_0000, 0xFFFF_FFF8])
def test_pack_address_where_there_is_no_flash(host: HostRunner, address: int) -> None:
    host.mailbox(_mailbox(0, address=address))
    assert host.hello().pack_bytes == 0
    answer = refusal(host.run(0, 1))
    assert answer.reason == Refusal.PACK_MAGIC


def test_fault_ends_whatever_was_being_sent(host: HostRunner) -> None:
    record = records.FaultRecord(
        kind=3, r0=1, r1=2, r2=3, r3=4, r12=5, lr=6, pc=7, xpsr=8, r4_r11=tuple(range(8)), sp=9,
        exc_return=10, cfsr=11, hfsr=12, fault_address=13, case_index=14, op_index=15,
    )  # fmt: skip
    (answer,) = host.fault(record.pack())
    assert answer.type is FrameType.FAULT
    assert records.FaultRecord.unpack(answer.payload) == record
