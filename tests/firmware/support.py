# SPDX-License-Identifier: Apache-2.0
"""The runner compiled for the host, and packs built field by field, apart from harness.case."""

from __future__ import annotations

import ctypes
import random
import struct
import subprocess
import zlib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cobs import cobs

from harness.geometry import Execution
from harness.kernels import find_kernels, table_source, table_sources
from harness.kernels.declared import Situation
from harness.schema import records
from harness.schema.constants import (
    PACK_MAGIC,
    PACK_VERSION,
    SCRATCH_APART,
    FrameType,
    Layout,
    OpKind,
    Rounding,
    StoredBy,
    TapOrder,
    Traversal,
)
from harness.schema.header import header

HERE = Path(__file__).parent
FIRMWARE = HERE.parents[1] / "firmware"
WARNINGS = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-Wconversion"]
_PLAIN = find_kernels("plain")


def compile_host(compiler: str, output: Path, extra: list[str], sources: list[str]) -> None:
    """Compile runner and plain kernels with the host port and `sources` of this folder."""
    include = output.parent / "include"
    include.mkdir(exist_ok=True)
    (include / "ripbench_schema.h").write_text(header())
    table = include / "kernel_table.c"
    table.write_text(table_source(_PLAIN.all()))
    files = [str(path) for path in sorted((FIRMWARE / "runner").rglob("*.c"))]
    files += [str(table), *(str(path) for path in table_sources(_PLAIN.all()))]
    files += [str(HERE / name) for name in ["host_port.c", *sources]]
    command = [compiler, *WARNINGS, *extra, f"-I{include}", f"-I{FIRMWARE}", *files]
    done = subprocess.run(
        [*command, "-o", str(output)], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr


@dataclass(frozen=True)
class Frame:
    type: FrameType
    sequence: int
    nonce: int
    payload: bytes


def parse(stream: bytes) -> list[Frame]:
    """Frames by the cobs package and zlib; everything must be whole. Zeros may stand between them."""
    assert not stream or stream.endswith(b"\0")
    frames = []
    for encoded in filter(None, stream.split(b"\0")):
        decoded = cobs.decode(encoded)
        (crc,) = struct.unpack("<I", decoded[-4:])
        assert zlib.crc32(decoded[:-4]) == crc
        head = records.FrameHeader.unpack(decoded[:8])
        frames.append(Frame(FrameType(head.type), head.sequence, head.nonce, decoded[8:-4]))
    return frames


def frame(kind: int, sequence: int, nonce: int, payload: bytes) -> bytes:
    head = records.FrameHeader(type=kind, reserved=0, sequence=sequence, nonce=nonce).pack()
    body = head + payload
    return bytes(cobs.encode(body + struct.pack("<I", zlib.crc32(body)))) + b"\0"


class HostRunner:
    """The shared library. One runner: its state lives on between calls."""

    def __init__(self, path: Path) -> None:
        self.c = ctypes.CDLL(str(path))
        for name in ("host_pool", "host_image", "host_ram_code"):
            getattr(self.c, name).restype = ctypes.c_void_p
        self.c.crc32.restype = ctypes.c_uint32
        self.c.host_extend_cycles.restype = ctypes.c_uint64
        self.c.host_extend_cycles.argtypes = [
            ctypes.c_uint32,
            ctypes.c_uint32,
            ctypes.c_uint64,
            ctypes.c_uint32,
        ]

    def flash(self, pack: bytes) -> None:
        self.c.host_flash(pack, len(pack))

    def mailbox(self, request: bytes) -> None:
        self.c.host_mailbox(request)

    def raw(self, stream: bytes) -> bytes:
        answer = ctypes.POINTER(ctypes.c_uint8)()
        count = self.c.host_take(stream, len(stream), ctypes.byref(answer))
        return ctypes.string_at(answer, count)

    def take(self, stream: bytes) -> list[Frame]:
        return parse(self.raw(stream))

    def fault(self, record: bytes) -> list[Frame]:
        """What the fault handler sends: an end for the frame before, then its own."""
        answer = ctypes.POINTER(ctypes.c_uint8)()
        count = self.c.host_fault(record, ctypes.byref(answer))
        stream = ctypes.string_at(answer, count)
        assert stream.startswith(b"\0")
        return parse(stream)

    def ask(self, kind: int, payload: bytes = b"", nonce: int = 0) -> list[Frame]:
        return self.take(frame(kind, 0, nonce, payload))

    def hello(self) -> records.Hello:
        (answer,) = self.ask(FrameType.ASK_HELLO)
        assert answer.type is FrameType.HELLO
        return records.Hello.unpack(answer.payload)

    def run(
        self, index: int, seed: int, repeats: int = 1, paint: int = 0, ops: int = 0
    ) -> list[Frame]:
        self.hello()
        request = records.RunRequest(index, seed, repeats, paint, 0, ops, 0)
        return self.ask(FrameType.RUN, request.pack())

    def read(self, offset: int, length: int) -> bytes:
        data = b""
        for answer in self.ask(FrameType.READ, records.ReadRequest(offset, length).pack()):
            assert answer.type is FrameType.DATA
            head = records.DataHeader.unpack(answer.payload[:8])
            assert head.offset == offset + len(data)
            assert head.length == len(answer.payload) - 8 <= 1024
            data += answer.payload[8:]
        return data


def refusal(frames: list[Frame]) -> records.Refused:
    assert [f.type for f in frames] == [FrameType.REFUSED]
    return records.Refused.unpack(frames[0].payload)


# ---- a case and its pack, every field at hand ----


@dataclass
class Conv:
    """A convolution with everything drawn from `seed`; the records are made from the fields."""

    h_in: int
    w_in: int
    c_in: int
    c_out: int
    k: tuple[int, int] = (1, 1)
    s: tuple[int, int] = (1, 1)
    d: tuple[int, int] = (1, 1)
    pad: tuple[int, int, int, int] = (0, 0, 0, 0)
    order: TapOrder = TapOrder.GATHER
    seed: int = 1
    shifts: tuple[int, int] = (-12, 1)
    input_offset: int = 0
    output_offset: int | None = None
    rounding: Rounding = Rounding.DOUBLE
    weights: list[int] = field(default_factory=list)
    quants: list[records.QuantRecord] = field(default_factory=list)

    def __post_init__(self) -> None:
        rng = random.Random(self.seed)
        top, left, bottom, right = self.pad
        self.h_out = (self.h_in + top + bottom - self.d[0] * (self.k[0] - 1) - 1) // self.s[0] + 1
        self.w_out = (self.w_in + left + right - self.d[1] * (self.k[1] - 1) - 1) // self.s[1] + 1
        self.n_in = self.h_in * self.w_in * self.c_in
        self.n_out = self.h_out * self.w_out * self.c_out
        self.field = self.k[0] * self.k[1] * self.c_in
        if self.output_offset is None:
            self.output_offset = self.input_offset + self.n_in
        self.arena = max(self.input_offset + self.n_in, self.output_offset + self.n_out)
        self.zero_in, self.zero_out = rng.randint(-128, 127), rng.randint(-128, 127)
        self.low, self.high = sorted((rng.randint(-128, 0), rng.randint(1, 127)))
        self.weights = [rng.randint(-128, 127) for _ in range(self.c_out * self.field)]
        self.quants = [
            records.QuantRecord(
                bias=rng.randint(-20000, 20000),
                multiplier=rng.randint(2**30, 2**31 - 1),
                shift=rng.randint(*self.shifts),
            )
            for _ in range(self.c_out)
        ]

    def record(self) -> records.OpRecord:
        return records.OpRecord(
            kind=OpKind.CONV,
            rounding=self.rounding,
            layout=Layout.DENSE,
            tap_order=self.order,
            traversal=Traversal.ROW,
            input_count=1,
            inputs=(0, 0, 0, 0),
            output=1,
            k_h=self.k[0],
            k_w=self.k[1],
            s_h=self.s[0],
            s_w=self.s[1],
            d_h=self.d[0],
            d_w=self.d[1],
            pad_top=self.pad[0],
            pad_left=self.pad[1],
            pad_bottom=self.pad[2],
            pad_right=self.pad[3],
            kernel=0,
            input_zero_points=(self.zero_in, 0),
            output_zero_point=self.zero_out,
            activation_min=self.low,
            activation_max=self.high,
            weights_offset=0,
            weights_bytes=len(self.weights),
            quant_first=0,
            quant_count=len(self.quants),
            step_pixels=1,
            scratch_offset=SCRATCH_APART,
            scratch_bytes=0,
            stages=0,
        )

    def tensors(self) -> list[records.TensorRecord]:
        assert self.output_offset is not None
        return [
            tensor(self.input_offset, self.h_in, self.w_in, self.c_in),
            tensor(self.output_offset, self.h_out, self.w_out, self.c_out),
        ]


def tensor(offset: int, h: int, w: int, c: int, **changes: Any) -> records.TensorRecord:
    """Stored by rows, without padding, but for `changes`."""
    fields: dict[str, Any] = {
        "stored_by": StoredBy.ROW,
        **dict.fromkeys(("pad_top", "pad_left", "pad_bottom", "pad_right"), 0),
        "fill": 0,
        "positions_offset": 0,
        "rows": 0,
    }
    return records.TensorRecord(
        offset=offset, bytes=h * w * c, h=h, w=w, c=c, **{**fields, **changes}
    )


@dataclass
class CaseParts:
    """What becomes the slices of one case."""

    ops: list[records.OpRecord]
    tensors: list[records.TensorRecord]
    quants: list[records.QuantRecord]
    weights: bytes
    arena: int
    scratch: int
    inputs: tuple[int, ...] = (0,)
    outputs: tuple[int, ...] = (1,)
    given_bytes: int = 0


def parts(conv: Conv) -> CaseParts:
    scratch = conv.field if conv.order is TapOrder.GATHER else 0
    weights = struct.pack(f"{len(conv.weights)}b", *conv.weights)
    return CaseParts([conv.record()], conv.tensors(), conv.quants, weights, conv.arena, scratch)


def _round_up(value: int, to: int) -> int:
    return -(-value // to) * to


def build(cases: list[CaseParts], **changes: Any) -> bytes:
    """A valid pack, but for header fields in `changes`; the header's CRC is right for them."""
    sections = [b"", b"", b"", b""]
    entries = []
    for case in cases:
        slices = []
        kinds: list[bytes] = [
            b"".join(with_kernel(record, case.tensors).pack() for record in case.ops),
            b"".join(record.pack() for record in case.tensors),
            b"".join(record.pack() for record in case.quants),
            case.weights,
        ]
        for number, data in enumerate(kinds):
            sections[number] += b"\0" * (-len(sections[number]) % 8)
            slices.append(records.Slice(len(sections[number]), len(data), zlib.crc32(data)))
            sections[number] += data
        entries.append(
            sealed(
                records.CaseEntry(
                    name_crc=0,
                    arena_bytes=case.arena,
                    scratch_bytes=case.scratch,
                    inputs=(*case.inputs, 0, 0, 0, 0)[:4],
                    input_count=len(case.inputs),
                    output_count=len(case.outputs),
                    outputs=(*case.outputs, 0, 0, 0, 0)[:4],
                    ops=slices[0],
                    tensors=slices[1],
                    quants=slices[2],
                    weights=slices[3],
                    given_bytes=case.given_bytes,
                    entry_crc=0,
                )
            )
        )
    return assemble(entries, sections, **changes)


def with_kernel(op: records.OpRecord, tensors: list[records.TensorRecord]) -> records.OpRecord:
    """The record with the number of the plain kernel that takes it, where one does and it has none."""
    try:
        execution = Execution(Layout(op.layout), TapOrder(op.tap_order), Traversal(op.traversal))
        rounding, kind = Rounding(op.rounding), OpKind(op.kind)
        first, output = tensors[op.inputs[0]], tensors[op.output]
    except (ValueError, IndexError):
        return op
    if kind is OpKind.SEGMENT:
        return op
    names = {"h_in": first.h, "w_in": first.w, "c_in": first.c, "operands": op.input_count}
    names |= {"h_out": output.h, "w_out": output.w, "c_out": output.c, "broadcast": 0}
    for name in ("k_h", "k_w", "s_h", "s_w", "d_h", "d_w"):
        names[name] = getattr(op, name)
    asked = Situation(kind, execution, rounding, names)
    taking = [n for n, kernel in enumerate(_PLAIN.kernels) if kernel.takes(asked)]
    return replace(op, kernel=taking[0]) if taking and not op.kernel else op


def sealed(entry: records.CaseEntry) -> records.CaseEntry:
    """With the CRC that its other fields have."""
    return replace(entry, entry_crc=zlib.crc32(entry.pack()[:-4]))


def assemble(entries: list[records.CaseEntry], sections: list[bytes], **changes: Any) -> bytes:
    directory = b"".join(entry.pack() for entry in entries)
    offsets, at = [], 4096 + _round_up(len(directory), 4096)
    for section in sections:
        offsets.append(at)
        at += _round_up(max(1, len(section)), 4096)
    head = records.PackHeader(
        magic=PACK_MAGIC,
        version=PACK_VERSION,
        case_count=len(entries),
        pack_bytes=at,
        directory_offset=4096,
        ops_offset=offsets[0],
        tensors_offset=offsets[1],
        quants_offset=offsets[2],
        weights_offset=offsets[3],
        pack_id=bytes(8),
        header_crc=0,
    )
    head = replace(head, **changes)
    if "header_crc" not in changes:
        head = replace(head, header_crc=zlib.crc32(head.pack()[:-4]))
    image = bytearray(b"\xff" * at)
    image[: len(head.pack())] = head.pack()
    image[4096 : 4096 + len(directory)] = directory
    for offset, section in zip(offsets, sections, strict=True):
        image[offset : offset + len(section)] = section
    return bytes(image)


# ---- what must come out ----


def requantize(x: int, multiplier: int, shift: int, rounding: Rounding = Rounding.DOUBLE) -> int:
    """TFLite's functions on Python integers, kept to 32 bits where int32_t keeps them."""
    if rounding is Rounding.SINGLE:
        half_up = (x * multiplier + (1 << (30 - shift))) >> (31 - shift)
        return ((half_up + 2**31) & 0xFFFFFFFF) - 2**31
    left, right = max(shift, 0), max(-shift, 0)
    x = (((x << left) + 2**31) & 0xFFFFFFFF) - 2**31
    product = x * multiplier
    nudge = 2**30 if product >= 0 else 1 - 2**30
    total = product + nudge
    high = abs(total) // 2**31 * (1 if total >= 0 else -1)  # C's division truncates
    mask = (1 << right) - 1
    threshold = (mask >> 1) + (1 if high < 0 else 0)
    return (high >> right) + (1 if (high & mask) > threshold else 0)


def paint(offset: int, complement: int) -> int:
    """The paint of one byte of the pool."""
    word = ((offset >> 2) * 0x9E3779B1 + 0x7F4A7C15) & 0xFFFFFFFF
    return (word >> 8 * (offset & 3) & 0xFF) ^ (0xFF if complement else 0)


def input_byte(seed: int, index: int) -> int:
    h = seed ^ ((index >> 2) * 0x9E3779B1 & 0xFFFFFFFF)
    h ^= h >> 16
    h = h * 0x85EBCA6B & 0xFFFFFFFF
    h ^= h >> 13
    h = h * 0xC2B2AE35 & 0xFFFFFFFF
    h ^= h >> 16
    return h >> 8 * (index & 3) & 0xFF


def signed(byte: int) -> int:
    return byte - 256 if byte > 127 else byte


def run_by_definition(conv: Conv, seed: int, complement: int = 0) -> bytes:
    """The arena after the convolution: paint, input, and the output written byte by byte in the
    plain kernel's order into the same memory."""
    arena = bytearray(paint(1024 + at, complement) for at in range(conv.arena))
    for index in range(conv.n_in):
        arena[conv.input_offset + index] = input_byte(seed, index)
    convolve(conv, arena)
    return bytes(arena)


def convolve(conv: Conv, arena: bytearray) -> None:
    """In the plain kernel's order, in one memory."""
    assert conv.output_offset is not None
    at = conv.output_offset
    for row in range(conv.h_out):
        for column in range(conv.w_out):
            gathered = _field(conv, arena, row, column)
            for channel in range(conv.c_out):
                if conv.order is TapOrder.DIRECT:
                    gathered = _field(conv, arena, row, column)
                arena[at] = output_value(conv, gathered, channel) & 0xFF
                at += 1


def _field(conv: Conv, arena: bytearray, row: int, column: int) -> list[int]:
    taps = []
    for k_y in range(conv.k[0]):
        for k_x in range(conv.k[1]):
            y = row * conv.s[0] - conv.pad[0] + k_y * conv.d[0]
            x = column * conv.s[1] - conv.pad[1] + k_x * conv.d[1]
            for channel in range(conv.c_in):
                if 0 <= y < conv.h_in and 0 <= x < conv.w_in:
                    index = (y * conv.w_in + x) * conv.c_in + channel
                    taps.append(signed(arena[conv.input_offset + index]))
                else:
                    taps.append(conv.zero_in)
    return taps


def output_value(conv: Conv, taps: list[int], channel: int) -> int:
    weights = conv.weights[channel * conv.field : (channel + 1) * conv.field]
    quant = conv.quants[channel]
    total = quant.bias + sum((x - conv.zero_in) * w for x, w in zip(taps, weights, strict=True))
    total = ((total + 2**31) & 0xFFFFFFFF) - 2**31
    scaled = requantize(total, quant.multiplier, quant.shift, conv.rounding)
    return min(max(scaled + conv.zero_out, conv.low), conv.high)
