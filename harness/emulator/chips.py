# SPDX-License-Identifier: Apache-2.0
"""What the debug probe and the board registry must know of a chip; the rest is in core/."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class MemApFacts:
    """One MEM-AP. csw_writable: bits of CSW that keep what is written; csw_ones: bits that read as
    one; csw_reset: its other bits at reset."""

    idr: int
    base: int
    cfg: int
    csw_writable: int
    csw_ones: int
    csw_reset: int


@dataclass(frozen=True)
class ChipFacts:
    """Identification of one chip as a debugger and a boards.yaml see it.

    flash_bytes: of the board that carries the chip.
    targetsel: values of DP TARGETSEL, one for each debug port on the wire; that of core 0 first, it
    is TARGETID too.
    modelled_timing: Arm publishes no cycle table of the core, so the emulator has models of it.
    rescue_targetsel: a debug port without access port, which is on the wire but not emulated.
    """

    name: str
    pyocd_target: str
    board_name: str
    flash_bytes: int
    dpidr: int
    targetsel: tuple[int, ...]
    rescue_targetsel: int | None
    ap: MemApFacts
    modelled_timing: bool

    @property
    def dp_version(self) -> int:
        """DPIDR.VERSION: 2 speaks ADIv5 to its access ports, 3 ADIv6."""
        return self.dpidr >> 12 & 0xF


# RP2040 data sheet 2.3.4: an SW-DPv2 and an AHB-AP for each core.
RP2040 = ChipFacts(
    name="rp2040",
    pyocd_target="rp2040",
    board_name="Raspberry Pi Pico (emulated)",
    modelled_timing=False,
    flash_bytes=2 * 1024 * 1024,
    dpidr=0x0BC12477,
    targetsel=(0x01002927, 0x11002927),
    rescue_targetsel=0xF1002927,
    ap=MemApFacts(
        idr=0x04770031,
        base=0xE00FF003,
        cfg=0,
        csw_writable=0x0F000037,  # HPROT[3:0], AddrInc, Size
        csw_ones=0x00000040,  # DeviceEn
        csw_reset=0x03000002,
    ),
)

# RP2350 data sheet 3.5: one SW-DP of DPv3, behind it a ROM table and an AHB5-AP for each core.
RP2350 = ChipFacts(
    name="rp2350",
    pyocd_target="rp2350",
    board_name="Raspberry Pi Pico 2 (emulated)",
    modelled_timing=True,
    flash_bytes=4 * 1024 * 1024,
    dpidr=0x4C013477,
    targetsel=(0x00040927,),
    rescue_targetsel=None,
    ap=MemApFacts(
        idr=0x34770008,
        base=0xE00FF003,
        cfg=0x00010000,  # TARINC: TAR counts within 1 KB
        csw_writable=0x5F008037,  # HNONSEC, HPROT[4:0], HPROT[6], AddrInc, Size
        csw_ones=0x00800040,  # SDeviceEn, DeviceEn
        csw_reset=0x43000002,
    ),
)

CHIPS: Mapping[str, ChipFacts] = MappingProxyType({chip.name: chip for chip in (RP2040, RP2350)})

# Boards that exist without any boards.yaml, so that `pyocd list` and `emu://pico1-emu` work alone.
# Chip, and bytes of SRAM where they are not the chip's own.
DEFAULT_BOARDS: Mapping[str, tuple[ChipFacts, int]] = MappingProxyType(
    {
        "pico1-emu": (RP2040, 0),
        "pico1-emu-xl": (RP2040, 520 * 1024),
        "pico1-emu-half": (RP2040, 136 * 1024),
        "pico2-emu": (RP2350, 0),
    }
)
