# SPDX-License-Identifier: Apache-2.0
"""Packs: cases as one flash image, without expected outputs, output CRCs or cycle counts.

    header | directory | pad | op records | pad | tensor tables | pad | quants | pad | weights | pad

Sections start on flash sectors, so that a change to one re-flashes only that one. A case is a slice of
each section; equal slices of several cases are stored once.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from harness.bounds import round_up
from harness.case.case import Case
from harness.case.network import NetworkCase
from harness.case.network_records import network_records
from harness.case.records import records_of
from harness.errors import ConfigError
from harness.schema.constants import (
    OPERANDS_MAX,
    PACK_MAGIC,
    PACK_VERSION,
    SECTION_ALIGNMENT,
    SLICE_ALIGNMENT,
)
from harness.schema.records import CaseEntry, OpRecord, PackHeader, Slice

AnyCase = Case | NetworkCase
_ERASED = b"\xff"
MAX_CASES = 0xFFFF


@dataclass(frozen=True)
class Pack:
    """A flash image of cases. entries[i] is the directory entry of cases[i]."""

    cases: tuple[AnyCase, ...]
    entries: tuple[CaseEntry, ...]
    header: PackHeader
    data: bytes

    @property
    def id(self) -> str:
        """First 16 hex digits of the SHA-256 of all that follows the header."""
        return self.header.pack_id.hex()

    def index(self, case: AnyCase) -> int:
        return self.cases.index(case)

    def op_count(self, index: int) -> int:
        """Ops of case `index`, a segment being one."""
        ops = self.entries[index].ops
        start = self.header.ops_offset + ops.offset
        size = OpRecord.size()
        records = [
            OpRecord.unpack(self.data[at : at + size])
            for at in range(start, start + ops.bytes, size)
        ]
        return len(records) - sum(record.stages for record in records)


def build_pack(cases: Sequence[AnyCase]) -> Pack:
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
        body += _pad_to_sector(bytes(section.data))
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
        pack_id=hashlib.sha256(body).digest()[:8],
        header_crc=0,
    )
    header = replace(header, header_crc=zlib.crc32(header.pack()[:-4]))
    return Pack(tuple(cases), entries, header, header.pack() + body)


class _Section:
    """Bytes of one kind for the whole pack; a slice that is there already is used again."""

    def __init__(self) -> None:
        self.data = bytearray()
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
    case: AnyCase, ops: _Section, tensors: _Section, quants: _Section, weights: _Section
) -> CaseEntry:
    made = network_records(case) if isinstance(case, NetworkCase) else records_of(case)
    given = case.given_bytes
    entry = CaseEntry(
        name_crc=case.name_crc,
        arena_bytes=case.arena_bytes,
        scratch_bytes=case.scratch_bytes,
        inputs=(*made.inputs, *(0,) * OPERANDS_MAX)[:OPERANDS_MAX],
        input_count=len(made.inputs),
        output_count=len(made.outputs),
        outputs=(*made.outputs, *(0,) * OPERANDS_MAX)[:OPERANDS_MAX],
        ops=ops.add(b"".join(record.pack() for record in made.ops)),
        tensors=tensors.add(b"".join(record.pack() for record in made.tensors)),
        quants=quants.add(b"".join(record.pack() for record in made.quants)),
        weights=weights.add(made.weights + given),
        given_bytes=len(given),
        entry_crc=0,
    )
    return replace(entry, entry_crc=zlib.crc32(entry.pack()[:-4]))
