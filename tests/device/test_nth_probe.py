# SPDX-License-Identifier: Apache-2.0
"""Every single transaction of the probe and page of flash of the whole path fails once."""

from __future__ import annotations

import pytest

from tests.device.nth import walk


@pytest.mark.extra
@pytest.mark.parametrize("what", ["transaction", "page"])
def test_every_one(chip: str, what: str) -> None:
    seen = walk(chip, what, 0, 1)
    assert sum(seen.values()) > 100
