# SPDX-License-Identifier: Apache-2.0
"""What a kernel leaves behind, in words."""

from __future__ import annotations

import pytest

from harness.judge.breaches import breaches_in_words


@pytest.mark.parametrize(
    ("bits", "words"),
    [
        (0, []),
        (0x001, ["it does not keep r4, which belong to its caller"]),
        (0x090, ["it does not keep r8, r11, which belong to its caller"]),
        (0x100, ["it leaves interrupts masked, or unmasked, that it found otherwise"]),
        (
            0x200,
            ["the cycle counter disagrees with the timer: it restarted or stopped the counter"],
        ),
    ],
)
def test_words(bits: int, words: list[str]) -> None:
    assert list(breaches_in_words(bits)) == words


def test_all_at_once() -> None:
    assert len(list(breaches_in_words(0x3FF))) == 3
