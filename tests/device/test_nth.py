# SPDX-License-Identifier: Apache-2.0
"""Failures at the n-th step of the whole path: `make test` takes every 17th step, and every 51st on the
second chip; some kinds have few, and each is taken."""

from __future__ import annotations

import pytest

from tests.device.nth import KINDS, walk

STEPS = {"rp2040": 17, "rp2350": 51}
DENSE = {"erase", "frame-lost", "frame-torn", "frame-twice", "cable", "reset", "brown-out"}


@pytest.mark.parametrize("what", KINDS)
def test_every_17th(chip: str, what: str) -> None:
    step = 1 if what in DENSE else 17 if what == "page" else STEPS[chip]
    seen = walk(chip, what, step // 2, step)
    assert sum(seen.values()) >= 4
