# SPDX-License-Identifier: Apache-2.0
"""Every single byte on the serial port of the whole path fails once."""

from __future__ import annotations

import pytest

from tests.device.nth import walk


@pytest.mark.extra
@pytest.mark.parametrize("what", ["byte-lost", "byte-flipped"])
def test_every_one(chip: str, what: str) -> None:
    seen = walk(chip, what, 0, 1)
    assert sum(seen.values()) > 100
