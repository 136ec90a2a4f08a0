# SPDX-License-Identifier: Apache-2.0
"""The C header of the shared records: `python -m harness.schema.header > ripbench_schema.h`."""

from __future__ import annotations

import re
import sys
from enum import IntEnum

from harness.schema import constants, records
from harness.schema.record import Array, Member, Raw, Record, Scalar, Text

_CONSTANTS = (
    "PROTOCOL_VERSION",
    "PACK_VERSION",
    "MAILBOX_ADDRESS",
    "MAILBOX_BYTES",
    "MAILBOX_MAGIC",
    "IMAGE_MAGIC",
    "PACK_MAGIC",
    "IMAGE_INFO_OFFSET",
    "SECTION_ALIGNMENT",
    "SLICE_ALIGNMENT",
    "ARENA_LEAD",
    "GUARD_BYTES",
    "OPERANDS_MAX",
    "STAGES_MAX",
    "SCRATCH_APART",
    "FRAME_MAX",
    "DATA_MAX",
    "LOG_MAX",
    "PC_NOT_SAVED",
)


def _declare(member: Member) -> str:
    kind = member.kind
    if isinstance(kind, Scalar):
        return f"{kind.c} {member.name};"
    if isinstance(kind, Array):
        return f"{kind.of.c} {member.name}[{kind.length}];"
    if isinstance(kind, Raw):
        return f"uint8_t {member.name}[{kind.length}];"
    if isinstance(kind, Text):
        return f"char {member.name}[{kind.length}];"
    return f"struct {kind.c_name} {member.name};"


def _structure(record: type[Record]) -> str:
    body = "\n".join(f"    {_declare(member)}" for member in record.members())
    checks = "\n".join(
        f"_Static_assert(offsetof(struct {record.c_name}, {member.name}) == {member.offset},"
        f' "{record.c_name}.{member.name}");'
        for member in record.members()
    )
    return (
        f"struct {record.c_name} {{\n{body}\n}};\n{checks}\n"
        f'_Static_assert(sizeof(struct {record.c_name}) == {record.size()}, "{record.c_name}");\n'
    )


def _prefix(enum: type[IntEnum]) -> str:
    """TapOrder -> TAP_ORDER."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", enum.__name__).upper()


def _enumeration(enum: type[IntEnum]) -> str:
    names = ",\n".join(f"    {_prefix(enum)}_{item.name} = {item.value}" for item in enum)
    return f"enum {_prefix(enum).lower()} {{\n{names}\n}};\n"


def header() -> str:
    """The whole text of ripbench_schema.h."""
    defines = "\n".join(f"#define {name} {getattr(constants, name):#x}u" for name in _CONSTANTS)
    return "\n".join(
        [
            "/* Generated from harness/schema/records.py. Do not edit. */",
            "#ifndef RIPBENCH_SCHEMA_H",
            "#define RIPBENCH_SCHEMA_H",
            "#include <stddef.h>",
            "#include <stdint.h>",
            "",
            defines,
            "",
            *(_enumeration(enum) for enum in constants.ENUMS),
            *(_structure(record) for record in records.RECORDS),
            "#endif",
            "",
        ]
    )


if __name__ == "__main__":
    sys.stdout.write(header())
