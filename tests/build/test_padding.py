# SPDX-License-Identifier: Apache-2.0
"""A kernel's code in another place: no-operations in front of it, and nothing else changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.build import build_runner
from harness.kernels import find_kernels

FOLDER = Path(__file__).parents[1] / "device" / "firmware" / "two_pixels"
NOP = bytes.fromhex("c046")  # mov r8, r8


@pytest.mark.parametrize("padding", [2, 6])
def test_the_function_begins_so_many_bytes_later(padding: int) -> None:
    kernels = find_kernels(str(FOLDER))
    chosen = kernels.select([kernels.kernels[-1]])
    usual = build_runner("rp2040", kernels=chosen)
    moved = build_runner("rp2040", kernels=chosen, padding=padding)
    assert (usual.symbols["two_pixels"] & ~1) % 4 == 0
    entry = moved.symbols["two_pixels"] & ~1
    assert entry % 4 == padding % 4
    assert moved.code_at(entry - padding, padding) == NOP * (padding // 2)
    length = 64
    assert moved.code_at(entry, length) == usual.code_at(usual.symbols["two_pixels"] & ~1, length)
    assert build_runner("rp2040", kernels=chosen).elf == usual.elf != moved.elf
