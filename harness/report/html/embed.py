# SPDX-License-Identifier: Apache-2.0
"""Names and data from outside, made safe for a page."""

from __future__ import annotations

import hashlib
import json
import re

from markupsafe import Markup

from harness.report.text import printable

_IN_A_SCRIPT = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}
_SLUG = 60  # characters of a name that a file's name keeps
_HASH = 12


def script_json(value: object) -> Markup:
    """JSON for a `<script type="application/json">`: it cannot end that element or begin another.
    Errors: ValueError for a number that JSON has not."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for character, escaped in _IN_A_SCRIPT.items():
        text = text.replace(character, escaped)
    return Markup(text)  # what autoescape would do to quotes is wrong inside a script


def slug(name: str) -> str:
    """A file's name, without suffix, that no other name has: letters and digits of `name` for readers,
    its hash for the difference. It never is a path, whatever the name is."""
    words = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:_SLUG].strip("-")
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH]
    return f"{words}-{digest}" if words else digest


def shown(name: object, most: int = 120) -> str:
    """One line without characters that change what stands beside it; a longer one is cut."""
    text = printable(name)
    return text if len(text) <= most else f"{text[: most - 1]}…"
