# SPDX-License-Identifier: Apache-2.0
"""Runner and pack in flash: where they go, whether they are there, and writing them."""

from __future__ import annotations

from harness.boards.config import FLASH_BYTES, BoardEntry
from harness.boards.probe import Probe
from harness.build import RunnerImage
from harness.case import Pack
from harness.errors import ConfigError
from harness.schema.constants import IMAGE_INFO_OFFSET
from harness.schema.records import PackHeader

FLASH_BASE = 0x1000_0000
RUNNER_BYTES = 0x1_0000  # reserved at the start of flash; the first pack slot lies behind it


def pack_room(chip: str) -> int:
    """Bytes that a pack may have in the flash of a board with this chip."""
    return FLASH_BYTES[chip] - RUNNER_BYTES


class Flasher:
    """Writes one board's flash. pack_address: of the slot that is used."""

    def __init__(self, probe: Probe, entry: BoardEntry) -> None:
        self._probe = probe
        self._entry = entry
        self.pack_address = FLASH_BASE + RUNNER_BYTES

    def write(self, image: RunnerImage, pack: Pack, *, force: bool) -> bool:
        """True if anything was written. Recognised by header only: the firmware's CRC proves the rest.

        Errors: ConfigError when it does not fit, before anything is erased; FlashError, ProbeError.
        """
        self._check_size(image, pack)
        pieces = []
        if force or not self._holds(IMAGE_INFO_OFFSET, image.info.pack()):
            pieces.append((FLASH_BASE, image.flash))
        slot = self.pack_address - FLASH_BASE
        if force or not self._holds(slot, pack.data[: PackHeader.size()]):
            pieces.append((self.pack_address, pack.data))
        if pieces:
            self._probe.program(pieces)
        return bool(pieces)

    def _holds(self, offset: int, data: bytes) -> bool:
        return self._probe.read(FLASH_BASE + offset, len(data)) == data

    def _check_size(self, image: RunnerImage, pack: Pack) -> None:
        for what, used, room in (
            ("the runner", len(image.flash), RUNNER_BYTES),
            ("the pack", len(pack.data), pack_room(self._entry.chip)),
        ):
            if used > room:
                raise ConfigError(
                    f"{what} is {used - room} bytes too large for the flash of {self._entry.name}",
                    evidence={"bytes": used, "room": room},
                    hint="split the cases over several packs",
                )
