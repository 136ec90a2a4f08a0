# SPDX-License-Identifier: Apache-2.0
"""boards.yaml: every board by name."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from harness import resources, strictyaml
from harness.errors import ConfigError
from harness.strictyaml import Node, nearest

CHIPS = ("rp2040", "rp2350")
FLASH_BYTES = {"rp2040": 2 << 20, "rp2350": 4 << 20}  # of a Pico 1 and a Pico 2
_KEYS = ("chip", "probe", "serial", "clock_hz", "xip_miss_cycles", "sram_bytes", "faults")
Setting = int | float | str
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,29}[a-z0-9])?")
_PROBE = re.compile(r"[a-z0-9_]+:[A-Za-z0-9._-]+")
_MAX_HZ = 300_000_000
_MAX_MISS_CYCLES = 10_000
_MAX_SRAM_BYTES = 1 << 29  # of ARMv6-M's address map


@dataclass(frozen=True)
class BoardEntry:
    """One board. probe: kind and id as `pyocd list` shows it, `cmsisdap:E66...`. serial: a pyserial
    URL, or None to find the port by the board's unique id. xip_miss_cycles: clk_sys cycles that a
    line of the XIP cache takes, where it is known. where: file and line, for messages. faults: what a
    board does wrong by plan, each fault as pairs of key and value, `where` among them; the backend
    knows what they mean (docs/faults.md). sram_bytes: of a chip that does not exist, which only some
    backends have; None for the SRAM that its chip has."""

    name: str
    chip: str
    probe: str
    serial: str | None
    clock_hz: int
    xip_miss_cycles: int | None
    where: str
    faults: tuple[tuple[tuple[str, Setting], ...], ...] = ()
    sram_bytes: int | None = None

    def as_mapping(self) -> Mapping[str, object]:
        """What a backend is configured with."""
        return asdict(self)


def load_boards(path: Path | None = None) -> dict[str, BoardEntry]:
    """The boards everybody has, and those of `path`, $RIPBENCH_BOARDS or ./boards.yaml, by name.

    A board of the user's file replaces a shipped one of the same name. Errors: ConfigError with file,
    line and column; two names for one probe or one serial port are refused.
    """
    entries = _load(resources.boards_file())
    own = _own_file(path)
    if own is not None and own.resolve() != resources.boards_file().resolve():
        entries.update(_load(own))
    _refuse_twins(entries, "probe", lambda entry: entry.probe.lower())
    _refuse_twins(entries, "serial port", lambda entry: entry.serial)
    return entries


def _refuse_twins(
    entries: Mapping[str, BoardEntry], what: str, of: Callable[[BoardEntry], str | None]
) -> None:
    seen: dict[str, BoardEntry] = {}
    for entry in entries.values():
        value = of(entry)
        other = entry if value is None else seen.setdefault(value, entry)
        if other is not entry:
            raise ConfigError(
                f"{entry.where}: {entry.name!r} and {other.name!r} are the same {what} {value}",
                hint="give each board one name",
            )


def load_racks(path: Path | None = None) -> dict[str, tuple[str, ...]]:
    """Names of boards by the rack that they are in, from the files of `load_boards`. Errors: as there;
    a board that is in no file is refused, with the nearest name."""
    boards = load_boards(path)
    files = [file for file in (resources.boards_file(), _own_file(path)) if file is not None]
    racks: dict[str, tuple[str, ...]] = {}
    for file in files:
        top = strictyaml.load(file).mapping(known=("boards", "racks"), needed=("boards",))
        for name, node in _named(top.get("racks")):
            members = node.sequence()
            for member in members:
                if member.text() not in boards:
                    raise member.fail(f"no board {member.text()!r}", nearest(member.text(), boards))
            if not members:
                raise node.fail("a rack without boards", "a list: [pico1, pico2]")
            racks[name] = tuple(dict.fromkeys(member.text() for member in members))
    return racks


def _named(node: Node | None) -> Iterator[tuple[str, Node]]:
    if node is not None:
        entries = node.mapping()
        yield from ((name, entries[name]) for name in entries)


def find_rack(name: str, racks: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Errors: ConfigError lists the racks there are."""
    if name not in racks:
        raise ConfigError(
            f"no rack {name!r} in boards.yaml",
            evidence={"racks": ", ".join(sorted(racks)) or "none"},
            hint=nearest(name, racks) or "racks: {nightly: [pico1, pico2]}",
        )
    return racks[name]


def find_board(name: str, boards: Mapping[str, BoardEntry]) -> BoardEntry:
    """Errors: ConfigError lists the boards there are."""
    if name not in boards:
        raise ConfigError(
            f"no board {name!r} in boards.yaml",
            evidence={"boards": ", ".join(sorted(boards))},
            hint=nearest(name, boards),
        )
    return boards[name]


def _own_file(path: Path | None) -> Path | None:
    if path is not None:
        return path
    named = os.environ.get("RIPBENCH_BOARDS")
    if named:
        return Path(named)
    here = Path("boards.yaml")
    return here if here.is_file() else None


def _load(path: Path) -> dict[str, BoardEntry]:
    top = strictyaml.load(path).mapping(known=("boards", "racks"), needed=("boards",))
    entries = {}
    boards = top["boards"].mapping()
    for name in boards:
        if not _NAME.fullmatch(name):
            raise boards[name].fail(
                f"{name!r} is not a board name",
                "lower-case letters, digits and hyphens, at most 31",
            )
        entries[name] = _entry(name, boards[name])
    return entries


def _entry(name: str, node: Node) -> BoardEntry:
    entry = node.mapping(known=_KEYS, needed=("chip", "probe", "clock_hz"))
    probe = entry["probe"].text()
    if not _PROBE.fullmatch(probe):
        raise entry["probe"].fail(
            f"{probe!r} is not a probe", "kind and id as `pyocd list` shows them, cmsisdap:E66..."
        )
    serial, miss = entry.get("serial"), entry.get("xip_miss_cycles")
    sram = entry.get("sram_bytes")
    return BoardEntry(
        name=name,
        chip=entry["chip"].choice(CHIPS),
        probe=probe,
        serial=serial.text() if serial else None,
        clock_hz=entry["clock_hz"].integer(1_000_000, _MAX_HZ),
        xip_miss_cycles=miss.integer(0, _MAX_MISS_CYCLES) if miss else None,
        where=node.where,
        faults=tuple(_fault(f) for f in entry["faults"].sequence()) if "faults" in entry else (),
        sram_bytes=sram.integer(1, _MAX_SRAM_BYTES) if sram else None,
    )


def _fault(node: Node) -> tuple[tuple[str, Setting], ...]:
    """Its keys and values as they are, and where it stands."""
    settings = node.mapping(needed=("kind",))
    if "where" in settings:
        raise settings["where"].fail("a fault has no setting 'where'")
    pairs = [(key, _scalar(settings[key].text())) for key in settings]
    return (("where", node.where), *pairs)


def with_faults(entry: BoardEntry, spec: str) -> BoardEntry:
    """The board with the faults of an option: `probe-nak,at=100;serial-flip,p=0.01,seed=7`. They come
    after those of boards.yaml. Errors: ConfigError for a spec that cannot be read."""
    faults = []
    for number, part in enumerate(spec.split(";"), 1):
        kind, *settings = (word.strip() for word in part.split(","))
        pairs: list[tuple[str, Setting]] = [("where", f"--faults, fault {number}"), ("kind", kind)]
        for setting in settings:
            key, equals, value = setting.partition("=")
            if not equals:
                raise ConfigError(
                    f"--faults, fault {number}: {setting!r} is not KEY=VALUE",
                    hint="for example probe-nak,at=100;serial-flip,p=0.01,seed=7",
                )
            pairs.append((key.strip(), _scalar(value.strip())))
        faults.append(tuple(pairs))
    return replace(entry, faults=(*entry.faults, *faults))


def _scalar(text: str) -> Setting:
    for kind in (lambda t: int(t.replace("_", ""), 0), float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
