# SPDX-License-Identifier: Apache-2.0
"""The frame of every page: templates that escape, and a policy under which nothing is requested.

A page is either one file (styles and scripts inside, allowed by their hashes) or one of a folder that
shares them (`'self'`). Either way no host is allowed, and no script that came with the data can run.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from harness import __version__
from harness.report.html.embed import script_json, shown

ASSETS = Path(__file__).parents[1] / "assets"
TEMPLATES = Path(__file__).with_name("templates")
STYLES = ("site.css",)
SCRIPTS = ("theme.js",)


@dataclass(frozen=True)
class Assets:
    """Styles and scripts of a page, by file name. folder: where they are, as the page says it; None to
    have them inside the page."""

    styles: tuple[str, ...] = STYLES
    scripts: tuple[str, ...] = SCRIPTS
    folder: str | None = None

    @property
    def policy(self) -> str:
        """Of `Content-Security-Policy`."""
        scripts, styles = "'self'", "'self'"
        if self.folder is None:
            scripts, styles = _hashes(self.scripts), _hashes(self.styles)
        return (
            f"default-src 'none'; script-src {scripts}; style-src {styles}; base-uri 'none'; "
            "form-action 'none'"
        )

    def text(self, name: str) -> Markup:
        return Markup(asset(name))  # a file of this package, not of a reader


@cache
def asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")


def _hashes(names: Sequence[str]) -> str:
    found = []
    for name in names:
        digest = base64.b64encode(hashlib.sha256(asset(name).encode()).digest()).decode()
        found.append(f"'sha256-{digest}'")
    return " ".join(found) or "'none'"


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"shown": shown, "number": number, "script_json": script_json}
    return made


def render(template: str, assets: Assets, **context: object) -> str:
    """A page as text: the same context gives the same bytes. Whatever is in it is escaped, but for what
    is `Markup` already."""
    page = _environment().get_template(template)
    return page.render(assets=assets, version=__version__, **context)


def number(value: int | float | None) -> str:
    """With thin spaces between thousands; a dash where there is none."""
    if value is None:
        return "–"
    return f"{value:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")
