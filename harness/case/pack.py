# SPDX-License-Identifier: Apache-2.0
"""Packs: cases as one flash image, without expected outputs, output CRCs or cycle counts.

    header | directory | pad | op records | pad | tensor tables | pad | quants | pad | weights | pad

Sections start on flash sectors, so that a change to one re-flashes only that one. A case is a slice of
each section; equal slices of several cases are stored once.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from harness.bounds import round_up
from harness.case.case import Case
from harness.errors import ConfigError
from harness.geometry import ConvGeometry
from harness.reference import ConvParameters
from harness.schema.constants import (
    PACK_MAGIC,
    PACK_VERSION,
    SECTION_ALIGNMENT,
    SLICE_ALIGNMENT,
    Layout,
    OpKind,
    Traversal,
)
from harness.schema.records import (
    CaseEntry,
    ConvRecord,
    PackHeader,
    QuantRecord,
    Slice,
    TensorRecord,
)

_ERASED = b"\xff"
_INPUT, _OUTPUT = 0, 1  # tensor numbers of a network of one op
MAX_CASES = 0xFFFF


@dataclass(frozen=True)
class Pack:
    """A flash image of cases. entries[i] is the directory entry of cases[i]."""

    cases: tuple[Case, ...]
    entries: tuple[CaseEntry, ...]
    header: PackHeader
    data: bytes

    @property
    def id(self) -> str:
        """First 16 hex digits of the SHA-256 of all that follows the header."""
        return self.header.pack_id.hex()

    def index(self, case: Case) -> int:
        return self.cases.index(case)

    def op_count(self, index: int) -> int:
        """Ops of case `index`."""
        return self.entries[index].ops.bytes // ConvRecord.size()


def build_pack(cases: Sequence[Case]) -> Pack:
    """Errors: ConfigError for no case, too many, or two of one id."""
    if not 0 < len(cases) <= MAX_CASES:
        raise ConfigError(f"a pack holds 1 to {MAX_CASES} cases, not {len(cases)}")
    if len({case.id for case in cases}) != len(cases):
        raise ConfigError("two cases of a pack have the same id")
    ops, tensors, quants, weights = _Section(), _Section(), _Section(), _Section()
    entries = tuple(_entry(case, ops, tensors, quants, weights) for case in cases)
    directory = b"".join(entry.pack() for entry in entries)
    directory_offset = round_up(PackHeader.size(), SLICE_ALIGNMENT)
    head = b"\0" * (directory_offset - PackHeader.size()) + directory
    body = _pad_to_sector(_ERASED * PackHeader.size() + head)[PackHeader.size() :]
    offsets = []
    for section in (ops, tensors, quants, weights):
        offsets.append(PackHeader.size() + len(body))
        body += _pad_to_sector(section.data)
    header = PackHeader(
        magic=PACK_MAGIC,
        version=PACK_VERSION,
        case_count=len(cases),
        pack_bytes=PackHeader.size() + len(body),
        directory_offset=directory_offset,
        ops_offset=offsets[0],
        tensors_offset=offsets[1],
        quants_offset=offsets[2],
        weights_offset=offsets[3],
        directory_crc=zlib.crc32(directory),
        pack_id=hashlib.sha256(body).digest()[:8],
        header_crc=0,
    )
    header = replace(header, header_crc=zlib.crc32(header.pack()[:-4]))
    return Pack(tuple(cases), entries, header, header.pack() + body)


class _Section:
    """Bytes of one kind for the whole pack; a slice that is there already is used again."""

    def __init__(self) -> None:
        self.data = b""
        self._known: dict[bytes, Slice] = {}

    def add(self, data: bytes) -> Slice:
        if data not in self._known:
            self.data += _ERASED * (round_up(len(self.data), SLICE_ALIGNMENT) - len(self.data))
            self._known[data] = Slice(len(self.data), len(data), zlib.crc32(data))
            self.data += data
        return self._known[data]


def _pad_to_sector(data: bytes) -> bytes:
    return data + _ERASED * (round_up(max(len(data), 1), SECTION_ALIGNMENT) - len(data))


def _entry(
    case: Case, ops: _Section, tensors: _Section, quants: _Section, weights: _Section
) -> CaseEntry:
    plan, g = case.plan, case.plan.layer.geometry
    table = [
        _tensor(plan.input_offset, g.h_in, g.w_in, g.c_in),
        _tensor(plan.output_offset, g.h_out, g.w_out, g.c_out),
    ]
    return CaseEntry(
        name_crc=case.name_crc,
        arena_bytes=plan.arena_bytes,
        scratch_bytes=plan.scratch_bytes,
        input_tensor=_INPUT,
        output_tensor=_OUTPUT,
        ops=ops.add(_conv(g, case.parameters, int(plan.tap_order)).pack()),
        tensors=tensors.add(b"".join(record.pack() for record in table)),
        quants=quants.add(b"".join(record.pack() for record in _quants(case.parameters))),
        weights=weights.add(np.ascontiguousarray(case.parameters.weights).tobytes()),
    )


def _tensor(offset: int, h: int, w: int, c: int) -> TensorRecord:
    return TensorRecord(offset=offset, bytes=h * w * c, h=h, w=w, c=c, reserved=0)


def _quants(p: ConvParameters) -> Iterable[QuantRecord]:
    for bias, multiplier, shift in zip(p.bias, p.multiplier, p.shift, strict=True):
        yield QuantRecord(int(bias), int(multiplier), int(shift))


def _conv(g: ConvGeometry, p: ConvParameters, tap_order: int) -> ConvRecord:
    return ConvRecord(
        kind=OpKind.CONV,
        rounding=p.rounding,
        layout=Layout.DENSE,
        tap_order=tap_order,
        traversal=Traversal.ROW,
        input=_INPUT,
        output=_OUTPUT,
        k_h=g.k_h,
        k_w=g.k_w,
        s_h=g.s_h,
        s_w=g.s_w,
        d_h=g.d_h,
        d_w=g.d_w,
        pad_top=g.pad.top,
        pad_left=g.pad.left,
        pad_bottom=g.pad.bottom,
        pad_right=g.pad.right,
        reserved=0,
        input_zero_point=p.input_zero_point,
        output_zero_point=p.output_zero_point,
        activation_min=p.activation_min,
        activation_max=p.activation_max,
        weights_offset=0,
        weights_bytes=p.weights.size,
        quant_first=0,
    )
