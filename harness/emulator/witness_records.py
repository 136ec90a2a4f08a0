# SPDX-License-Identifier: Apache-2.0
"""The structures of the witness as core/emu.h lays them out."""

from __future__ import annotations

from ctypes import POINTER, Structure, c_uint32, c_uint64

ZONES = 8
INPUT, OUTPUT = 1, 2  # enum emu_witness_role
READ, WRITTEN, OVERWRITTEN = 1 << 5, 1 << 6, 1 << 7  # of the shadow, core/witness.h


class AccessRecord(Structure):
    """struct emu_witness_access"""

    _fields_ = (
        ("cycle", c_uint64),
        ("progress", c_uint64),
        ("address", c_uint32),
        ("pc", c_uint32),
    )


class WriterRecord(Structure):
    """struct emu_witness_writer"""

    _fields_ = (("cycle", c_uint64), ("pc", c_uint32))


class ExtentRecord(Structure):
    """struct emu_witness_extent"""

    _fields_ = (("count", c_uint32), ("first", c_uint32), ("end", c_uint32))


class ZoneRecord(Structure):
    """struct emu_witness_zone"""

    _fields_ = (
        ("written", ExtentRecord),
        ("changed", ExtentRecord),
        ("unwritten", ExtentRecord),
        ("first_store", AccessRecord),
        ("first_unwritten", AccessRecord),
        ("unexplained", c_uint32),
    )


class WindowRecord(Structure):
    """struct emu_witness_window"""

    _fields_ = (
        ("opened", c_uint64),
        ("closed", c_uint64),
        ("zones", ZoneRecord * ZONES),
        ("collisions", c_uint32),
        ("overwritten", AccessRecord),
        ("last_read", AccessRecord),
        ("lowest_sp", c_uint32),
    )


WINDOW, WRITER = POINTER(WindowRecord), POINTER(WriterRecord)
