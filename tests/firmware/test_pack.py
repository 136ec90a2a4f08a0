# SPDX-License-Identifier: Apache-2.0
"""Packs that lie: every one is refused, or runs inside its arena; none makes the runner misbehave.

The same packs go through a build with address and undefined-behaviour sanitizers.
"""

from __future__ import annotations

import random
import struct
import zlib
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from harness.schema import records
from harness.schema.constants import FrameType, Refusal, TapOrder
from tests.firmware.hostile import run_sanitized, with_extremes
from tests.firmware.support import (
    CaseParts,
    Conv,
    HostRunner,
    build,
    parts,
    refusal,
    sealed,
)

# the lower half of a BAD_RECORD's detail (runner/pack.h)
LAYOUT, LENGTH, SIZE, RANGE, INDEX, KIND, GEOMETRY, SHAPE = 1, 2, 3, 4, 5, 6, 7, 8
WEIGHTS, QUANTS, ZERO, ACTIVATION, SHIFT, MULTIPLIER, COUNT = 9, 10, 11, 12, 13, 14, 15
RING, STAGE, SCRATCH = 21, 22, 23
OPERANDS, POSITIONS = 16, 17
_HEAD, _ENTRY = records.PackHeader.size(), records.CaseEntry.size()
_SLICES = next(m.offset for m in records.CaseEntry.members() if m.name == "ops")
_OP, _TENSOR = records.OpRecord.size(), records.TensorRecord.size()


def _conv(order: TapOrder = TapOrder.GATHER) -> Conv:
    return Conv(4, 5, 3, 2, (3, 3), (1, 1), (1, 1), (1, 1, 1, 1), order, seed=8)


def _case(**changes: Any) -> CaseParts:
    """A good case, but for fields of its op, or with a prefix of its tensors or entry."""
    case = parts(_conv())
    for name, value in changes.items():
        kind, _, rest = name.partition("__")
        if kind == "op":
            case.ops[0] = replace(case.ops[0], **{rest: value})
        elif kind in ("input", "output"):
            number = 0 if kind == "input" else 1
            case.tensors[number] = replace(case.tensors[number], **{rest: value})
        elif kind == "quant":
            case.quants = [case.quants[0], replace(case.quants[1], **{rest: value})]
        else:
            setattr(case, name, value)
    return case


def _refused(host: HostRunner, pack: bytes, index: int = 0) -> records.Refused:
    host.flash(pack)
    answer = refusal(host.run(index, 1))
    assert answer.request == FrameType.RUN
    return answer


def test_the_good_case_runs(host: HostRunner) -> None:
    host.flash(build([_case()]))
    assert [f.type for f in host.run(0, 1)] == [FrameType.CASE, FrameType.OP, FrameType.RESULT]


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"input__h": 0, "input__bytes": 0}, SIZE),
        ({"input__bytes": 61}, SIZE),
        ({"input__c": 0xFFFF, "input__h": 0xFFFF, "input__w": 0xFFFF}, SIZE),
        ({"input__offset": 41}, RANGE),
        ({"input__offset": 0xFFFF_FFFF}, RANGE),
        ({"output__offset": 61}, RANGE),
        ({"arena": 99}, RANGE),
        ({"op__inputs": (2, 0, 0, 0)}, INDEX),
        ({"op__output": 0xFFFF}, INDEX),
        ({"inputs": (2,)}, INDEX),
        ({"inputs": ()}, OPERANDS),
        ({"op__input_count": 0}, OPERANDS),
        ({"op__input_count": 2}, OPERANDS),
        ({"op__input_count": 5}, OPERANDS),
        ({"outputs": (1, 2)}, INDEX),
        ({"outputs": ()}, OPERANDS),
        ({"outputs": (1,) * 5}, OPERANDS),
        ({"op__kind": 0}, KIND),
        ({"op__kind": 17}, KIND),
        ({"op__kind": 16}, STAGE),
        ({"op__layout": 1}, GEOMETRY),
        ({"op__layout": 2}, GEOMETRY),
        ({"input__pad_top": 1}, GEOMETRY),
        ({"input__pad_top": 3, "input__pad_bottom": 1}, SIZE),
        ({"input__pad_right": 5}, SIZE),
        ({"input__stored_by": 3}, RING),
        ({"output__stored_by": 3}, RING),
        ({"input__stored_by": 6}, RING),
        ({"op__scratch_offset": 2}, SCRATCH),
        ({"op__scratch_offset": 101, "op__scratch_bytes": 0}, SCRATCH),
        ({"op__scratch_offset": 96, "op__scratch_bytes": 5}, SCRATCH),
        ({"op__scratch_offset": 96, "op__scratch_bytes": 0xFFFF_FFFF}, SCRATCH),
        ({"input__stored_by": 2}, POSITIONS),
        ({"input__stored_by": 2, "input__positions_offset": 15}, POSITIONS),
        ({"input__stored_by": 2, "input__positions_offset": 16}, POSITIONS),
        ({"op__k_h": 0}, GEOMETRY),
        ({"op__k_w": 0}, GEOMETRY),
        ({"op__s_h": 0}, GEOMETRY),
        ({"op__s_w": 0}, GEOMETRY),
        ({"op__d_h": 0}, GEOMETRY),
        ({"op__d_w": 0}, GEOMETRY),
        ({"op__k_h": 9}, SHAPE),
        ({"op__d_h": 0xFFFF}, SHAPE),
        ({"op__s_w": 2}, SHAPE),
        ({"op__pad_left": 2}, SHAPE),
        ({"op__pad_top": 0xFFFF}, SHAPE),
        ({"op__weights_bytes": 53}, WEIGHTS),
        ({"op__weights_offset": 1}, WEIGHTS),
        ({"op__weights_offset": 0xFFFF_FFFF}, WEIGHTS),
        ({"weights": b""}, WEIGHTS),
        ({"op__quant_first": 1}, QUANTS),
        ({"op__quant_first": 0xFFFF_FFFF}, QUANTS),
        ({"op__quant_count": 1}, QUANTS),
        ({"op__quant_count": 0xFFFF_FFFF}, QUANTS),
        ({"quants": []}, QUANTS),
        ({"op__input_zero_points": (128, 0)}, ZERO),
        ({"op__input_zero_points": (0, -129)}, ZERO),
        ({"op__output_zero_point": 2**31 - 1}, ZERO),
        ({"op__activation_min": -129}, ACTIVATION),
        ({"op__activation_max": 128}, ACTIVATION),
        ({"op__activation_min": 5, "op__activation_max": 4}, ACTIVATION),
        ({"quant__shift": 31}, SHIFT),
        ({"quant__shift": -32}, SHIFT),
        ({"quant__multiplier": -(2**31)}, MULTIPLIER),
        ({"ops": []}, COUNT),
        ({"ops": [_conv().record()] * 129}, COUNT),
    ],
)
def test_bad_records(host: HostRunner, changes: dict[str, Any], what: int) -> None:
    answer = _refused(host, build([_case(**changes)]))
    assert (answer.reason, answer.detail & 0xFFFF) == (Refusal.BAD_RECORD, what)


@pytest.mark.parametrize(
    "changes", [{"op__rounding": 3}, {"op__traversal": 5}, {"op__tap_order": 2}]
)
def test_what_the_plain_kernel_does_not_do(host: HostRunner, changes: dict[str, Any]) -> None:
    assert _refused(host, build([_case(**changes)])).reason == Refusal.NO_KERNEL


def test_arena_and_scratch_must_fit_the_pool(host: HostRunner) -> None:
    most = (1 << 16) - 1024 - 2 * 64 - 32  # of the host port's pool; scratch is 27, rounded to 32
    host.flash(build([_case(arena=most)]))
    assert len(host.run(0, 1)) == 3
    for changes in ({"arena": most + 8}, {"arena": 0xFFFF_FFFF}, {"scratch": 0xFFFF_FFFF}):
        answer = _refused(host, build([_case(**changes)]))
        assert (answer.reason, answer.detail) == (Refusal.ARENA_TOO_SMALL, 0)


def _far_padding(c_in: int) -> bytes:
    """Three output rows, two of them 65,535 rows of padding away from the input."""
    far = (65535, 0, 65535, 0)
    conv = Conv(4, 10, c_in, 1, (1, 10), (65535, 1), (65535, 1), far, TapOrder.DIRECT)
    return build([parts(conv)])


def test_offsets_in_padding_must_fit_32_bits(host: HostRunner, sanitized: Path) -> None:
    """(4 + 3 * 65,535 rows) * 12 + 11 columns, times c_in: 910 channels are the last that fit."""
    assert run_sanitized(sanitized, [_far_padding(910)])[1][0] is FrameType.CASE
    answer = _refused(host, _far_padding(911))
    assert (answer.reason, answer.detail & 0xFFFF) == (Refusal.BAD_RECORD, GEOMETRY)


def test_scratch_must_fit_the_kernel(host: HostRunner) -> None:
    answer = _refused(host, build([_case(scratch=26)]))
    assert (answer.reason, answer.detail) == (Refusal.ARENA_TOO_SMALL, 1)
    assert (answer.expected, answer.seen) == (27, 26)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"magic": 0x4B50_4953}, Refusal.PACK_MAGIC),
        ({"version": 1}, Refusal.PACK_MAGIC),
        ({"header_crc": 1}, Refusal.PACK_HEADER_CRC),
        ({"case_count": 0}, Refusal.CASE_INDEX),
        ({"pack_bytes": 0xFFFF_FFFF}, Refusal.PACK_MAGIC),
        ({"pack_bytes": 4096}, Refusal.BAD_RECORD),
        ({"directory_offset": 0xFFFF_FFF8}, Refusal.BAD_RECORD),
        ({"directory_offset": 4097}, Refusal.BAD_RECORD),
        ({"ops_offset": 0xFFFF_FFF8}, Refusal.BAD_RECORD),
        ({"tensors_offset": 12292}, Refusal.BAD_RECORD),
        ({"quants_offset": 0xFFFF_F000}, Refusal.BAD_RECORD),
        ({"weights_offset": 0x8000_0000}, Refusal.BAD_RECORD),
    ],
)
def test_bad_headers(host: HostRunner, changes: dict[str, int], reason: Refusal) -> None:
    assert _refused(host, build([_case()], **changes)).reason == reason


def test_an_empty_flash_has_no_pack(host: HostRunner) -> None:
    host.flash(b"")
    assert host.hello().pack_bytes == 0
    answer = refusal(host.run(0, 1))
    assert (answer.reason, answer.detail, answer.seen) == (Refusal.PACK_MAGIC, 1, 0xFFFF_FFFF)


def test_the_case_must_exist(host: HostRunner) -> None:
    answer = _refused(host, build([_case(), _case()]), index=2)
    assert (answer.reason, answer.expected, answer.seen) == (Refusal.CASE_INDEX, 2, 2)
    host.flash(build([_case(), _case()]))
    assert refusal(host.run(0xFFFF_FFFF, 1)).reason == Refusal.CASE_INDEX


@pytest.mark.parametrize("number", range(4))
def test_a_slice_that_changed(host: HostRunner, number: int) -> None:
    pack = bytearray(build([_case()]))
    head = records.PackHeader.unpack(bytes(pack[:_HEAD]))
    sections = (head.ops_offset, head.tensors_offset, head.quants_offset, head.weights_offset)
    pack[sections[number]] ^= 1
    answer = _refused(host, bytes(pack))
    assert (answer.reason, answer.detail) == (Refusal.SLICE_CRC, number)
    assert answer.expected != answer.seen


def _replace_op(record: records.OpRecord) -> CaseParts:
    case = parts(_conv(TapOrder.DIRECT))
    case.ops = [record]
    return case


def _replace_tensor(number: int) -> Callable[[records.TensorRecord], CaseParts]:
    def with_tensor(record: records.TensorRecord) -> CaseParts:
        case = parts(_conv(TapOrder.DIRECT))
        case.tensors[number] = record
        return case

    return with_tensor


def _hostile_packs() -> list[bytes]:
    """Every field of every record at its extremes, header and entries too, CRCs made right."""
    conv = _conv(TapOrder.DIRECT)
    packs = []
    sources: list[tuple[Any, Callable[[Any], CaseParts]]] = [
        (conv.record(), _replace_op),
        (conv.tensors()[0], _replace_tensor(0)),
        (conv.tensors()[1], _replace_tensor(1)),
    ]
    for record, into in sources:
        packs += [build([into(changed)]) for changed in with_extremes(record)]
    good = build([_case()])
    head = records.PackHeader.unpack(good[:_HEAD])
    for changed in with_extremes(head):
        names = [f.name for f in fields(head) if getattr(changed, f.name) != getattr(head, f.name)]
        packs.append(build([_case()], **{name: getattr(changed, name) for name in names}))
    for at in range(0, _ENTRY - 4, 4):
        for hostile in (0, 1, 7, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFF8, 0xFFFF_FFFF):
            packs.append(_patched_entry(good, at, hostile))
    return packs


def _patched_entry(pack: bytes, at: int, value: int) -> bytes:
    """The pack with a word of its directory entry replaced and the entry's CRC made right."""
    image = bytearray(pack)
    struct.pack_into("<I", image, 4096 + at, value)
    image[4096 : 4096 + _ENTRY] = _sealed_entry(image[4096 : 4096 + _ENTRY])
    return bytes(image)


def _sealed_entry(entry: bytes) -> bytes:
    return sealed(records.CaseEntry.unpack(bytes(entry))).pack()


def _mutated_packs(count: int) -> list[bytes]:
    """Random bytes anywhere, half of them with all CRCs made right afterwards."""
    packs = []
    rng = random.Random(1)
    good = build([parts(_conv()), parts(_conv(TapOrder.DIRECT)), _case()])
    for number in range(count):
        image = bytearray(good)
        for _ in range(rng.randint(1, 8)):
            image[rng.choice(_interesting(good))] = rng.randint(0, 255)
        packs.append(_sealed(image) if number % 2 else bytes(image))
    return packs


def _interesting(pack: bytes) -> list[int]:
    """Offsets of bytes that mean something."""
    head = records.PackHeader.unpack(pack[:_HEAD])
    places = [*range(_HEAD), *range(4096, 4096 + 3 * _ENTRY)]
    for offset, length in (
        (head.ops_offset, 3 * _OP),
        (head.tensors_offset, 6 * _TENSOR),
        (head.quants_offset, 72),
        (head.weights_offset, 162),
    ):
        places += range(offset, offset + length)
    return places


def _sealed(image: bytearray) -> bytes:
    head = records.PackHeader.unpack(bytes(image[:_HEAD]))
    sections = (head.ops_offset, head.tensors_offset, head.quants_offset, head.weights_offset)
    for entry in range(4096, 4096 + 3 * _ENTRY, _ENTRY):
        for number, section in enumerate(sections):
            at = entry + _SLICES + 12 * number
            offset, length = struct.unpack_from("<II", image, at)
            crc = zlib.crc32(image[section + offset : section + offset + length])
            struct.pack_into("<I", image, at + 8, crc)
        image[entry : entry + _ENTRY] = _sealed_entry(image[entry : entry + _ENTRY])
    image[:_HEAD] = replace(head, header_crc=zlib.crc32(head.pack()[:-4])).pack()
    return bytes(image)


def test_hostile_fields_under_sanitizers(sanitized: Path) -> None:
    packs = _hostile_packs()
    answers = run_sanitized(sanitized, packs)
    refused = sum(answer == [FrameType.REFUSED] for answer in answers)
    ran = sum(answer[0] is FrameType.CASE for answer in answers)
    assert refused + ran + len(packs) == len(answers)  # and one HELLO for each
    assert ran > 50
    assert refused > 1000


def test_mutated_packs_under_sanitizers(sanitized: Path) -> None:
    answers = run_sanitized(sanitized, _mutated_packs(600))
    ran = sum(answer[0] is FrameType.CASE for answer in answers)
    assert ran > 100  # mutations of weights, seals made right: the kernels are reached
