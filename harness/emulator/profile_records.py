# SPDX-License-Identifier: Apache-2.0
"""The structures of the profile as core/emu.h lays them out."""

from __future__ import annotations

from ctypes import POINTER, Structure, c_uint32, c_uint64


class CountRecord(Structure):
    """struct emu_profile_count"""

    _fields_ = (
        ("cycles", c_uint64),
        ("instructions", c_uint64),
        ("pc", c_uint32),
        ("misses", c_uint32),
    )


class ProfileRecord(Structure):
    """struct emu_profile_window"""

    _fields_ = (
        ("opened", c_uint64),
        ("closed", c_uint64),
        ("counts", POINTER(CountRecord)),
        ("count", c_uint32),
        ("miss_cycles", c_uint32),
    )


PROFILE = POINTER(ProfileRecord)
