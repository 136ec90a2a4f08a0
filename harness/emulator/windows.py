# SPDX-License-Identifier: Apache-2.0
"""Windows of a witness as they come from a served board: `dataclasses.asdict` of `witness.Window`."""

from __future__ import annotations

from collections.abc import Mapping

from harness.emulator.channel import Malformed, integer
from harness.emulator.witness import Access, Extent, Range, Window, Zone

U64 = (1 << 64) - 1


def window_of(fields: object) -> Window:
    """Errors: Malformed."""
    window = _object(fields)
    return Window(
        opened=integer(window, "opened", 0, U64),
        closed=integer(window, "closed", 0, U64),
        zones={name: _zone(zone) for name, zone in _object(window.get("zones")).items()},
        collisions=integer(window, "collisions", 0, U64),
        overwritten=_access(window.get("overwritten")),
        last_read=_access(window.get("last_read")),
        lowest_sp=integer(window, "lowest_sp", 0, U64),
    )


def _zone(fields: object) -> Zone:
    zone = _object(fields)
    return Zone(
        written=_extent(zone.get("written")),
        changed=_extent(zone.get("changed")),
        unwritten=_extent(zone.get("unwritten")),
        first_store=_access(zone.get("first_store")),
        first_unwritten=_access(zone.get("first_unwritten")),
        unexplained=integer(zone, "unexplained", 0, U64),
    )


def _extent(fields: object) -> Extent:
    extent = _object(fields)
    return Extent(*(integer(extent, name, 0, U64) for name in ("count", "first", "end")))


def _access(fields: object) -> Access | None:
    if fields is None:
        return None
    access = _object(fields)
    return Access(
        *(integer(access, name, 0, U64) for name in ("address", "pc", "cycle", "progress"))
    )


def _object(fields: object) -> Mapping[str, object]:
    if not isinstance(fields, dict):
        raise Malformed("a window of a witness that is none")
    return fields


__all__ = ["Range", "Window", "window_of"]
