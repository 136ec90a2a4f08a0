# SPDX-License-Identifier: Apache-2.0
"""The flash of a served board in a file: mapped, so that every byte is there the moment it changes.

Layout: the flash's bytes from offset 0, then a page that says whose they are (magic, version, chip,
unique id, name), so that the file is an image that other tools read too. Stores to a shared mapping
survive the death of the process, SIGKILL included: what was half programmed stays half programmed,
as in a chip. They do not survive the host's own power failure.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import stat
import struct
import tempfile
import zlib
from dataclasses import dataclass
from pathlib import Path

from harness.emulator import runtime
from harness.emulator.board import unique_id_of
from harness.emulator.chips import CHIPS, ChipFacts
from harness.errors import ConfigError

LABEL_BYTES = 4096
MAGIC, VERSION = b"RIPFLASH", 1
LABEL = struct.Struct("<8sI16s8s64s")  # magic, version, chip, unique id, name; then CRC-32 of these


@dataclass(frozen=True)
class Label:
    """Whose flash a file is."""

    chip: str
    unique_id: bytes
    name: str

    def pack(self) -> bytes:
        body = LABEL.pack(
            MAGIC, VERSION, self.chip.encode(), self.unique_id, self.name.encode()[:64]
        )
        return (body + struct.pack("<I", zlib.crc32(body))).ljust(LABEL_BYTES, b"\0")

    @classmethod
    def unpack(cls, raw: bytes) -> Label:
        """Errors: ValueError says what is wrong."""
        body, (crc,) = raw[: LABEL.size], struct.unpack_from("<I", raw, LABEL.size)
        magic, version, chip, unique_id, name = LABEL.unpack(body)
        if magic != MAGIC:
            raise ValueError("it has no label of an emulated flash at its end")
        if version != VERSION:
            raise ValueError(f"its layout is version {version}, not {VERSION}")
        if crc != zlib.crc32(body):
            raise ValueError("the CRC of its label is wrong")
        return cls(chip.rstrip(b"\0").decode(), unique_id, name.rstrip(b"\0").decode())


class FlashFile:
    """An open flash file; nobody else serves it meanwhile.

    A file that does not exist is made, erased. Errors: ConfigError for a file of another chip, of
    another layout, in use, or that cannot be opened.
    """

    def __init__(self, path: Path, name: str, chip: ChipFacts) -> None:
        self.path = path.absolute()
        if not self.path.exists():
            _create(self.path, Label(chip.name, unique_id_of(name), name), chip.flash_bytes)
        try:
            self._descriptor = os.open(self.path, os.O_RDWR | os.O_CLOEXEC)
        except OSError as error:
            raise ConfigError(f"{path} cannot be opened", cause=str(error)) from error
        try:
            self._lock()
            self.label = self._check(chip)
            self.memory = mmap.mmap(self._descriptor, chip.flash_bytes)
        except BaseException:
            os.close(self._descriptor)
            raise

    def sync(self) -> None:
        """Down to the disk: against a failure of the host itself."""
        self.memory.flush()

    def close(self) -> None:
        """Lets the next one have it. The mapping stays for as long as a machine looks at it."""
        self.sync()
        fcntl.flock(self._descriptor, fcntl.LOCK_UN)  # the mapping holds a duplicate of it
        os.close(self._descriptor)

    def _lock(self) -> None:
        try:
            runtime.lock_file(self._descriptor)
        except OSError as error:
            raise ConfigError(
                f"{self.path} is the flash of a board that is served now",
                hint="`ripbench emu list` shows by which process; give each board its own file",
            ) from error

    def _check(self, chip: ChipFacts) -> Label:
        status = os.fstat(self._descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size < LABEL_BYTES:
            raise self._refused("it is no regular file, or too short to be one")
        raw = os.pread(self._descriptor, LABEL_BYTES, status.st_size - LABEL_BYTES)
        try:
            label = Label.unpack(raw)
        except ValueError as error:
            raise self._refused(str(error)) from error
        if label.chip != chip.name:
            owner = CHIPS.get(label.chip)
            raise self._refused(
                f"it is the flash of an {label.chip}"
                + (f" ({owner.board_name})" if owner else "")
                + f", the board is an {chip.name}"
            )
        if status.st_size != chip.flash_bytes + LABEL_BYTES:
            raise self._refused(
                f"it has {status.st_size} bytes, not {chip.flash_bytes} and a label of {LABEL_BYTES}"
            )
        return label

    def _refused(self, cause: str) -> ConfigError:
        return ConfigError(
            f"{self.path} cannot be this board's flash",
            cause=cause,
            hint="name a file that does not exist yet and it will be made",
        )


def _create(path: Path, label: Label, flash_bytes: int) -> None:
    """Whole or not at all, whoever else is at it: written under another name and linked in place."""
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(b"\xff" * flash_bytes + label.pack())
            Path(path).hardlink_to(name)
        except FileExistsError:
            pass  # another process was faster; its file is looked at like any other
        finally:
            Path(name).unlink()
    except OSError as error:
        raise ConfigError(f"{path} cannot be made", cause=str(error)) from error
