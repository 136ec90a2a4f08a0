# SPDX-License-Identifier: Apache-2.0
"""Failures at the n-th step of the whole path: `make test` takes every 31st step, and every 93rd on the
second chip; some kinds have few, and each is taken."""

from __future__ import annotations

import pytest

from tests.device.nth import KINDS, walk

STEPS = {"rp2040": 31, "rp2350": 93}
DENSE = {"erase", "frame-lost", "frame-torn", "frame-twice", "cable", "reset", "brown-out"}


@pytest.mark.parametrize("what", KINDS)
def test_every_31st(chip: str, what: str) -> None:
    step = 1 if what in DENSE else 31 if what == "page" else STEPS[chip]
    seen = walk(chip, what, step // 2, step)
    assert sum(seen.values()) >= 4
