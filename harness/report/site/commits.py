# SPDX-License-Identifier: Apache-2.0
"""Links to commits, from a template that the user gives."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from harness.errors import ConfigError

_HOLE = "{commit}"
_HEX = re.compile(r"[0-9a-f]{7,64}")
_PLAIN = re.compile(r"[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]*")
_EXAMPLE = "https://host/project/commit/{commit}"


def check_template(template: str) -> str:
    """`template` as it is. Errors: ConfigError where a commit put into it would be no web address of one
    host."""
    path = template.replace(_HOLE, "0" * 40)
    try:
        parts = urlsplit(path)
        host = parts.hostname
    except ValueError:
        host = None
    if (
        template.count(_HOLE) != 1
        or not _PLAIN.fullmatch(path)
        or not host
        or parts.scheme not in ("https", "http")
        or parts.username is not None
        or "0" * 40 in parts.netloc
    ):
        raise ConfigError(
            f"{template!r} is no address with a place for a commit", hint=f"such as {_EXAMPLE}"
        )
    return template


def link(template: str, commit: str) -> str:
    """Empty without a template, and for what is no commit."""
    return template.replace(_HOLE, commit) if template and _HEX.fullmatch(commit) else ""
