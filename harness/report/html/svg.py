# SPDX-License-Identifier: Apache-2.0
"""Elements of a picture, escaped; colours are classes, so that light and dark have their own."""

from __future__ import annotations

from collections.abc import Iterable

from markupsafe import Markup

_PICTURE = Markup(
    '<svg class="picture" viewBox="0 0 {w:g} {h:g}" width="{w:g}" height="{h:g}" role="img" '
    'aria-label="{title}">\n{body}\n</svg>'
)
_BOX = Markup(
    '<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}">{title}</rect>'
)
_TEXT = Markup('<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{words}</text>')
_LINE = Markup(
    '<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"></line>'
)
_PATH = Markup('<polyline class="{kind}" points="{points}"></polyline>')
_TITLE = Markup("<title>{}</title>")


def picture(width: float, height: float, title: str, parts: Iterable[Markup]) -> Markup:
    """title: what a reader who does not see it is told."""
    return _PICTURE.format(w=width, h=height, title=title, body=Markup("\n").join(parts))


def box(kind: str, x: float, y: float, w: float, h: float, title: str = "") -> Markup:
    tip = _TITLE.format(title) if title else ""
    return _BOX.format(kind=kind, x=x, y=y, w=max(w, 0.0), h=max(h, 0.0), title=tip)


def text(x: float, y: float, words: str, kind: str = "words", anchor: str = "start") -> Markup:
    return _TEXT.format(kind=kind, x=x, y=y, anchor=anchor, words=words)


def line(kind: str, x1: float, y1: float, x2: float, y2: float) -> Markup:
    return _LINE.format(kind=kind, x1=x1, y1=y1, x2=x2, y2=y2)


def path(kind: str, points: Iterable[tuple[float, float]]) -> Markup:
    return _PATH.format(kind=kind, points=" ".join(f"{x:.1f},{y:.1f}" for x, y in points))
