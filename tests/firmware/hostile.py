# SPDX-License-Identifier: Apache-2.0
"""Records with a field that lies, and the sanitized runner that they are fed to."""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from harness.schema.constants import FrameType
from tests.firmware.support import parse

RUNS = 3  # of each pack: pack_main.c asks for the cases 0 to 2
EXTREMES = (0, 1, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 2**31 - 1, 2**32 - 1)


def with_extremes(record: Any) -> Iterator[Any]:
    """The record with one of its numbers at an extreme, or one more than it was."""
    for entry in fields(record):
        value = getattr(record, entry.name)
        if isinstance(value, int):
            changes: list[Any] = [value + 1, *EXTREMES]
        elif isinstance(value, tuple):
            changes = [
                (*value[:at], hostile, *value[at + 1 :])
                for at in range(len(value))
                for hostile in (value[at] + 1, *EXTREMES)
            ]
        else:
            continue  # bytes, which no one computes with
        for change in changes:
            changed = replace(record, **{entry.name: change})
            try:
                changed.pack()
            except struct.error:
                continue  # the field is too small for this value
            yield changed


def run_sanitized(program: Path, packs: list[bytes]) -> list[list[FrameType]]:
    """Frame types of the answers to a HELLO and RUNS runs for each pack. Fails at a report."""
    feed = b"".join(struct.pack("<I", len(pack)) + pack for pack in packs)
    done = subprocess.run([str(program)], input=feed, capture_output=True, timeout=600)
    assert done.returncode == 0, done.stderr.decode(errors="replace")[-4000:]
    at, answers = 0, []
    while at < len(done.stdout):
        (length,) = struct.unpack_from("<I", done.stdout, at)
        answers.append([f.type for f in parse(done.stdout[at + 4 : at + 4 + length])])
        at += 4 + length
    assert len(answers) == (1 + RUNS) * len(packs)
    return answers
