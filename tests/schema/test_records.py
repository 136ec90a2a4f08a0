# SPDX-License-Identifier: Apache-2.0
"""Records: codec round trips, layout rules, and the C compiler's view of the generated header."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.schema.header import header
from harness.schema.record import U8, U32, LayoutError, Record
from harness.schema.records import FrameHeader, Hello, MailboxReport, MailboxRequest, Slice


def test_bytes_are_little_endian_in_order() -> None:
    assert FrameHeader(type=1, reserved=0, sequence=0x0203, nonce=0x04050607).pack() == bytes(
        [1, 0, 3, 2, 7, 6, 5, 4]
    )
    assert Slice.unpack(bytes(range(12))) == Slice(0x03020100, 0x07060504, 0x0B0A0908)


def test_nested_records_and_text() -> None:
    request = MailboxRequest(magic=1, version=2, nonce=3, pack_address=4, board="pico1-emu")
    assert MailboxRequest.unpack(request.pack()) == request
    assert MailboxReport.unpack(bytes(MailboxReport.size())).fault.r4_r11 == (0,) * 8
    assert MailboxRequest.size() + MailboxReport.size() <= 256


def test_wrong_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match="Hello is"):
        Hello.unpack(bytes(3))
    with pytest.raises(ValueError, match="31 bytes of text"):
        MailboxRequest(1, 1, 1, 1, "x" * 32).pack()


def test_padding_is_a_mistake() -> None:
    @dataclass(frozen=True)
    class Holey(Record):
        first: U8
        second: U32

    with pytest.raises(LayoutError, match="second at byte 1 is not aligned"):
        Holey.size()


def test_the_header_compiles_with_all_its_assertions(tmp_path: Path) -> None:
    source = tmp_path / "schema.c"
    size = Hello.size()
    main = f"int main(void) {{ return (int)sizeof(struct hello) != {size}; }}"
    source.write_text(header() + main)
    binary = tmp_path / "schema"
    subprocess.run(["cc", "-std=c11", "-Wall", "-Werror", "-o", binary, source], check=True)
    assert subprocess.run([binary]).returncode == 0
