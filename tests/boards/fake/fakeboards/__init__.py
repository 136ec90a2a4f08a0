# SPDX-License-Identifier: Apache-2.0
"""A backend that ripbench knows only by its entry points: boards of the kind `fake`.

A fake board NAME is an emulated one that is called behind-NAME and that the bench never hears of.
"""

from __future__ import annotations

names: list[str] = []  # of the boards that were configured


def behind(name: str) -> str:
    return f"behind-{name}"
