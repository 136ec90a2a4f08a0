# SPDX-License-Identifier: Apache-2.0
"""Every struct that the firmware and the harness share; the numbers are in `constants.py`.

`header.py` turns both into `ripbench_schema.h`; nothing of it is written twice. Sizes are in bytes,
offsets count from the start of what holds them, CRCs are CRC-32 as zlib computes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from harness.schema.record import (
    I32,
    U8,
    U16,
    U32,
    U64,
    Bytes8,
    I32x2,
    Record,
    Text32,
    U16x4,
    U32x8,
)


@dataclass(frozen=True)
class FaultRecord(Record):
    """An exception nobody expected: what the core stacked, the rest of the registers, what was running.

    `kind` is the exception number (0: no fault). When the core could not stack, pc is PC_NOT_SAVED
    and lr the newest return address on the stack. cfsr, hfsr and fault_address (MMFAR or BFAR, 0: not
    valid) are ARMv8-M's, and 0 on ARMv6-M. case_index and op_index are 0xFFFF outside a case.
    """

    c_name: ClassVar[str] = "fault_record"
    kind: U32
    r0: U32
    r1: U32
    r2: U32
    r3: U32
    r12: U32
    lr: U32
    pc: U32
    xpsr: U32
    r4_r11: U32x8
    sp: U32
    exc_return: U32
    cfsr: U32
    hfsr: U32
    fault_address: U32
    case_index: U16
    op_index: U16


@dataclass(frozen=True)
class MailboxRequest(Record):
    """First part of the mailbox: written over SWD while the core is halted after reset."""

    c_name: ClassVar[str] = "mailbox_request"
    magic: U32
    version: U32
    nonce: U32
    pack_address: U32
    board: Text32


@dataclass(frozen=True)
class MailboxReport(Record):
    """Second part of the mailbox: written by the firmware, read over SWD."""

    c_name: ClassVar[str] = "mailbox_report"
    stage: U32
    clk_sys_hz: U32
    unique_id: Bytes8
    fault: FaultRecord


@dataclass(frozen=True)
class ImageInfo(Record):
    """At IMAGE_INFO_OFFSET in every runner image. `image_bytes` and `build_id` are filled in after
    linking; the id is the first 8 bytes of the image's SHA-256 with the id itself taken as zeros."""

    c_name: ClassVar[str] = "image_info"
    magic: U32
    version: U16
    chip: U16
    image_bytes: U32
    reserved: U32
    build_id: Bytes8


@dataclass(frozen=True)
class FrameHeader(Record):
    """Before the payload; a CRC-32 of header and payload follows it."""

    c_name: ClassVar[str] = "frame_header"
    type: U8
    reserved: U8
    sequence: U16
    nonce: U32


@dataclass(frozen=True)
class Hello(Record):
    """Who is speaking. clk_sys_hz is measured: the cycle counter against the 1 MHz timer."""

    c_name: ClassVar[str] = "hello"
    protocol: U16
    chip: U16
    clk_sys_hz: U32
    unique_id: Bytes8
    board: Text32
    build_id: Bytes8
    image_bytes: U32
    image_crc: U32
    ram_code_crc: U32
    pack_address: U32
    pack_bytes: U32
    pack_header_crc: U32
    pool_address: U32
    pool_bytes: U32
    stack_bytes: U32
    reset_reason: U32


@dataclass(frozen=True)
class RunRequest(Record):
    """Run a case `repeats` times. paint 0: pattern P, 1: its complement. keep_interrupts: leave the
    USB interrupt on inside the window, because it is longer than a host would wait. ops: only so many of
    the first ops, a segment being one, the last one's output being the case's then; 0: all."""

    c_name: ClassVar[str] = "run_request"
    case_index: U32
    seed: U32
    repeats: U16
    paint: U8
    keep_interrupts: U8
    ops: U16
    reserved: U16


@dataclass(frozen=True)
class CaseVerified(Record):
    """What will be executed and read, as found in memory just now: CRCs computed for this run."""

    c_name: ClassVar[str] = "case_verified"
    case_index: U32
    seed: U32
    image_crc: U32
    ram_code_crc: U32
    pack_header_crc: U32
    entry_crc: U32
    ops_crc: U32
    tensors_crc: U32
    quants_crc: U32
    weights_crc: U32


@dataclass(frozen=True)
class OpResult(Record):
    """One op, or one segment, of one repeat; op_index counts these. cycles has the empty bracket and
    counted interrupts taken off. kernel: which ran it, its index in the runner's table. breaches: Breach
    bits, what it did not leave as it was."""

    c_name: ClassVar[str] = "op_result"
    cycles: U64
    interrupt_cycles: U64
    xip_accesses: U32
    xip_hits: U32
    repeat: U16
    op_index: U16
    kernel: U16
    breaches: U16


@dataclass(frozen=True)
class RunResult(Record):
    """One repeat. Waters are byte offsets from the arena's base: the lowest touched byte and one past
    the highest; outside_count counts bytes of the pool that changed outside arena and scratch, and
    outside_first is the offset of the first of them from the arena's base (may be negative)."""

    c_name: ClassVar[str] = "run_result"
    cycles: U64
    microseconds: U64
    interrupt_cycles: U64
    input_crc: U32
    output_crc: U32
    low_water: I32
    high_water: I32
    outside_count: U32
    outside_first: I32
    scratch_used: U32
    stack_peak: U32
    interrupts: U32
    repeat: U16
    interrupts_on: U16


@dataclass(frozen=True)
class ReadRequest(Record):
    """Ask for bytes of the arena after a run: `offset` from the arena's base."""

    c_name: ClassVar[str] = "read_request"
    offset: U32
    length: U32


@dataclass(frozen=True)
class DataHeader(Record):
    """Before the bytes of a DATA frame."""

    c_name: ClassVar[str] = "data_header"
    offset: U32
    length: U32


@dataclass(frozen=True)
class Refused(Record):
    c_name: ClassVar[str] = "refused"
    reason: U16
    request: U8
    reserved: U8
    detail: U32
    expected: U32
    seen: U32


@dataclass(frozen=True)
class PackHeader(Record):
    """First bytes of a pack. Section offsets count from the start of the pack. pack_id: first 8 bytes
    of the SHA-256 of all that follows the header. header_crc covers the header before it."""

    c_name: ClassVar[str] = "pack_header"
    magic: U32
    version: U16
    case_count: U16
    pack_bytes: U32
    directory_offset: U32
    ops_offset: U32
    tensors_offset: U32
    quants_offset: U32
    weights_offset: U32
    pack_id: Bytes8
    header_crc: U32


@dataclass(frozen=True)
class Slice(Record):
    """A part of a section: offset in bytes from the section's start, length in bytes, CRC."""

    c_name: ClassVar[str] = "slice"
    offset: U32
    bytes: U32
    crc: U32


@dataclass(frozen=True)
class CaseEntry(Record):
    """A case: its slices, and how much memory it may use. name_crc: CRC-32 of the case's id. inputs:
    the tensors that are filled before a run, input_count of them. outputs: whose CRC is the run's, one
    after the other. given_bytes: as many at the end of the weights slice are the inputs, as stored and
    one after the other; 0: they are drawn from the run's seed. entry_crc: of the rest of the entry.
    """

    c_name: ClassVar[str] = "case_entry"
    name_crc: U32
    arena_bytes: U32
    scratch_bytes: U32
    inputs: U16x4
    input_count: U16
    output_count: U16
    outputs: U16x4
    ops: Slice
    tensors: Slice
    quants: Slice
    weights: Slice
    given_bytes: U32
    entry_crc: U32


@dataclass(frozen=True)
class TensorRecord(Record):
    """int8, H x W x C as stored, at `offset` bytes from the arena's base.

    stored_by: a StoredBy. The outermost pad_* rows and columns are padding that is stored with the
    tensor, all `fill`. StoredBy.ORDER: pixel (y, x) is the positions[y * w + x]-th in memory, with the
    table, 16 bits an entry, at positions_offset of the case's weights slice.

    Of a tensor inside a segment h, w and c are those of the whole tensor, and `rows` slots of it exist,
    row y in slot y mod rows; bytes are those of the ring. A parked one says where the ring is that it
    lies in.
    """

    c_name: ClassVar[str] = "tensor_record"
    offset: U32
    bytes: U32
    h: U16
    w: U16
    c: U16
    stored_by: U16
    pad_top: U16
    pad_left: U16
    pad_bottom: U16
    pad_right: U16
    fill: I32
    positions_offset: U32
    rows: U32


@dataclass(frozen=True)
class QuantRecord(Record):
    """bias, and the multiplier m * 2^(shift - 31), shift as TFLite has it. Of an output channel
    (convolutions, fully connected), or of an operand, the last one of the output (docs/wire.md)."""

    c_name: ClassVar[str] = "quant_record"
    bias: I32
    multiplier: I32
    shift: I32


@dataclass(frozen=True)
class OpRecord(Record):
    """One op. inputs: input_count tensors. Windows have k, s, d and pad; upsample has its factors in
    s, pad its border in pad. weights: constants at weights_offset of the case's slice: convolution
    [c_out, k_h, k_w, c_in], depthwise [k_h, k_w, c_out], fully connected [c_out, c_in], table [256].
    quants: quant_count from index quant_first of the case's slice. kernel: that runs it, its index in
    the runner's table; step_pixels: B, the output pixels that it makes a step. It may want its weights
    packed (harness.kernels.packers). Its scratch lies at scratch_offset from the arena's base, if not
    SCRATCH_APART.

    A segment's `stages` following records are its ops, in order, each as if it ran alone; it reads its
    own inputs, the first stage's first, and makes the last stage's output. Its weights and quants are
    those of all stages."""

    c_name: ClassVar[str] = "op_record"
    kind: U16
    rounding: U16
    layout: U16
    tap_order: U16
    traversal: U16
    input_count: U16
    inputs: U16x4
    output: U16
    k_h: U16
    k_w: U16
    s_h: U16
    s_w: U16
    d_h: U16
    d_w: U16
    pad_top: U16
    pad_left: U16
    pad_bottom: U16
    pad_right: U16
    kernel: U16
    input_zero_points: I32x2
    output_zero_point: I32
    activation_min: I32
    activation_max: I32
    weights_offset: U32
    weights_bytes: U32
    quant_first: U32
    quant_count: U32
    step_pixels: U32
    scratch_offset: U32
    scratch_bytes: U32
    stages: U32


RECORDS: tuple[type[Record], ...] = (
    FaultRecord,
    MailboxRequest,
    MailboxReport,
    ImageInfo,
    FrameHeader,
    Hello,
    RunRequest,
    CaseVerified,
    OpResult,
    RunResult,
    ReadRequest,
    DataHeader,
    Refused,
    PackHeader,
    Slice,
    CaseEntry,
    TensorRecord,
    QuantRecord,
    OpRecord,
)
