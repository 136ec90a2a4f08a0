# SPDX-License-Identifier: Apache-2.0
"""Files by the hash of what is in them, in a folder beside a history: ELF files, and the frames that
the numbers of a measurement came in.

`reports/history.sqlite` has them in `reports/history.blobs/ab/abcdef...`: a folder of its own, so that
pruning one history takes nothing from another.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Iterator
from pathlib import Path

from harness.errors import ConfigError

MAX_BYTES = 16 << 20  # of one file
MAX_TOTAL = 1 << 30  # of all; more is not kept until they are pruned
_NAME = re.compile(r"[0-9a-f]{64}")


class Blobs:
    """The files beside one history. total: bytes of all of them, counted at the first `put`."""

    def __init__(self, history: Path, max_total: int = MAX_TOTAL) -> None:
        self.folder = history.with_name(f"{history.stem}.blobs")
        self._max_total = max_total
        self._total: int | None = None

    def put(self, data: bytes) -> str:
        """Its hash; whole or not at all, whenever it is stopped. Empty when it is too large to be
        kept, or all of them would be. Errors: OSError."""
        name = hashlib.sha256(data).hexdigest()
        path = self._path(name)
        if path.exists():
            return name
        if self._total is None:
            self._total = sum(size for _, _, size in self.list())
        if len(data) > MAX_BYTES or self._total + len(data) > self._max_total:
            return ""
        path.parent.mkdir(parents=True, exist_ok=True)
        half = path.with_name(f".{secrets.token_hex(8)}")
        try:
            with half.open("xb") as file:
                file.write(data)
            half.replace(path)
        except BaseException:
            half.unlink(missing_ok=True)
            raise
        self._total += len(data)
        return name

    def get(self, name: str) -> bytes:
        """Errors: ConfigError for a name that is none, a file that is not there, or a damaged one."""
        try:
            data = self._path(name).read_bytes()
        except OSError as error:
            raise ConfigError(f"{name} is not kept", cause=str(error)) from error
        if hashlib.sha256(data).hexdigest() != name:
            raise ConfigError(f"{self._path(name)} is damaged", hint="remove it")
        return data

    def list(self) -> Iterator[tuple[float, Path, int]]:
        """Time of writing, path and bytes of every file, also of those that a kill left half."""
        for path in self.folder.glob("[0-9a-f][0-9a-f]/*"):
            try:
                status = path.lstat()
            except FileNotFoundError:  # another process prunes
                continue
            yield status.st_mtime, path, status.st_size

    def _path(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise ConfigError(f"{name!r} is no hash")
        return self.folder / name[:2] / name
