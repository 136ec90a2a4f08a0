# SPDX-License-Identifier: Apache-2.0
"""A folder of pages: written whole, kept free of pages of another day, never written through a link."""

from __future__ import annotations

import json
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from harness.errors import ConfigError

MANIFEST = "ripbench-site.json"
VERSION = 1


class Folder:
    """Pages below `path`. A file appears whole or not at all, and `finish` removes those that an earlier
    call wrote and this one did not. Errors: ConfigError for a folder that holds anything else, that is
    a link, or that cannot be written."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.bytes = 0
        self._written: set[str] = set()
        try:
            self._before = self._known()
        except OSError as error:
            raise self._cannot(error) from error
        self._note()  # first of all: a call that is killed leaves a folder that the next one takes

    def write(self, name: str, text: str) -> None:
        """name: relative, with `/`; of this package's making, never a reader's."""
        data = text.encode("utf-8", "replace")
        target = self.path / name
        try:
            target.parent.mkdir(exist_ok=True)
            if target.parent.is_symlink():
                raise OSError(f"{target.parent} is a link")
            handle, draft = tempfile.mkstemp(dir=target.parent, prefix=".draft-")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(data)
                Path(draft).chmod(0o644)
                Path(draft).replace(target)  # a link of that name is replaced, not followed
            except BaseException:
                Path(draft).unlink(missing_ok=True)
                raise
        except OSError as error:
            raise self._cannot(error) from error
        self._written.add(name)
        self.bytes += len(data)

    def finish(self) -> None:
        """After the last page."""
        for name in sorted(self._before - self._written):
            if not (self.path / name).parent.is_symlink():
                (self.path / name).unlink(missing_ok=True)
        self._before = set()
        self._note()

    def _note(self) -> None:
        files = sorted(self._written | self._before)
        self.write(MANIFEST, json.dumps({"version": VERSION, "files": files}, indent=0) + "\n")

    def _known(self) -> set[str]:
        """What an earlier call wrote."""
        self.path.mkdir(parents=True, exist_ok=True)
        if not stat.S_ISDIR(self.path.lstat().st_mode):
            raise ConfigError(f"{self.path} is no folder of its own", hint="give the folder itself")
        if not any(self.path.iterdir()):
            return set()
        try:
            listed = json.loads((self.path / MANIFEST).read_bytes())["files"]
            return set(self._inside(listed))
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise ConfigError(
                f"{self.path} holds other files than pages of ripbench",
                cause=str(error)[:200],
                hint="give a folder that is new or empty",
            ) from error

    def _inside(self, listed: list[str]) -> Iterator[str]:
        """A manifest that somebody else wrote must not have us remove files elsewhere."""
        for name in listed:
            parts = Path(name).parts
            if Path(name).is_absolute() or ".." in parts or len(parts) > 2:
                raise ValueError(f"{MANIFEST} lists {name!r}")
            yield name

    def _cannot(self, error: OSError) -> ConfigError:
        return ConfigError(f"{self.path} cannot be written", cause=str(error))
