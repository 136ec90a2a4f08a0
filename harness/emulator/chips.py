# SPDX-License-Identifier: Apache-2.0
"""What the debug probe and the board registry must know of a chip; the rest is in core/."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class ChipFacts:
    """Identification of one chip as a debugger and a boards.yaml see it.

    targetsel: values of DP TARGETSEL that select core 0 and core 1 (RP2040 data sheet 2.3.4).
    rescue_targetsel: the Rescue DP, which has no access port and is not emulated.
    flash_bytes: of the board that carries the chip.
    """

    name: str
    pyocd_target: str
    board_name: str
    flash_bytes: int
    dpidr: int
    targetsel: tuple[int, int]
    rescue_targetsel: int
    ap_idr: int
    ap_base: int


RP2040 = ChipFacts(
    name="rp2040",
    pyocd_target="rp2040",
    board_name="Raspberry Pi Pico (emulated)",
    flash_bytes=2 * 1024 * 1024,
    dpidr=0x0BC12477,
    targetsel=(0x01002927, 0x11002927),
    rescue_targetsel=0xF1002927,
    ap_idr=0x04770031,
    ap_base=0xE00FF003,
)

CHIPS: Mapping[str, ChipFacts] = MappingProxyType({RP2040.name: RP2040})

# Boards that exist without any boards.yaml, so that `pyocd list` and `emu://pico1-emu` work alone.
DEFAULT_BOARDS: Mapping[str, str] = MappingProxyType({"pico1-emu": RP2040.name})
