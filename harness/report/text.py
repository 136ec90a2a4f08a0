# SPDX-License-Identifier: Apache-2.0
"""Text from boards and files, made safe to show."""

from __future__ import annotations


def printable(text: object) -> str:
    """Control characters, also those that a terminal obeys, become `?`."""
    return "".join(c if c.isprintable() else "?" for c in str(text))
