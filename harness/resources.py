# SPDX-License-Identifier: Apache-2.0
"""Where the files are that are not Python: in a checkout beside the package, in a wheel inside it."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_SHIPPED = _PACKAGE / "shipped"


def root() -> Path:
    """The folder that holds `firmware/`, `layers/`, `boards.yaml` and of `docs/` what is shown."""
    return _SHIPPED if _SHIPPED.is_dir() else _PACKAGE.parent


def firmware() -> Path:
    return root() / "firmware"


def layers() -> Path:
    return root() / "layers"


def errata() -> Path:
    """Statements of the paper that do not hold, as Markdown."""
    return root() / "docs" / "errata.md"


def boards_file() -> Path:
    """The boards that everybody has: the emulated ones."""
    return root() / "boards.yaml"
