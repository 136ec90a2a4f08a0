# SPDX-License-Identifier: Apache-2.0
"""Inputs from a seed, by a counter-based generator that the firmware has too (runner/input.c)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_STEP = np.uint32(0x9E37_79B1)
_MIX_1 = np.uint32(0x85EB_CA6B)
_MIX_2 = np.uint32(0xC2B2_AE35)


def generate_input(seed: int, length: int) -> NDArray[np.int8]:
    """`length` uniform int8 values: MurmurHash3's finaliser over seed ^ (word index * step).

    seed: 0 to 2^32 - 1. Any byte can be had without those before it.
    """
    words = np.arange((length + 3) // 4, dtype=np.uint32)
    h = np.uint32(seed) ^ (words * _STEP)
    h ^= h >> np.uint32(16)
    h *= _MIX_1
    h ^= h >> np.uint32(13)
    h *= _MIX_2
    h ^= h >> np.uint32(16)
    return h.astype("<u4").view(np.int8)[:length]
