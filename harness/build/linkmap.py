# SPDX-License-Identifier: Apache-2.0
"""How many bytes a runner takes, and leaves, without building it: figures of its link map.

Every function or constant of the firmware is a section of its own, of a multiple of 4 bytes, and the
linker keeps those that the wanted kernels reach. So the bytes of a set of kernels are a sum: what every
runner has, and for each part the bytes that any one of certain kernels brings in. The rest is what the
link scripts align. `linkmap.json` has these figures of one compiler, for each kernel set that ships;
another version's differ.

`python -m harness.build.linkmap --write` rewrites the file, and needs the cross compiler.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from harness.build.command import compiler_version
from harness.build.image import FLASH_BASE
from harness.build.relink import VENEER, Linked, Relinker, Section
from harness.build.runner import check_sram
from harness.errors import BuildError, ConfigError
from harness.kernels import PLAIN_SET, find_kernels, shipped_sets

VERSION = 1
FILE = Path(__file__).with_name("linkmap.json")
TOLERANCE = 0.1  # of the figures of another compiler
_INNERMOST = re.compile(r"\{[^{}]*\}")
_SRAM_BASE = 0x2000_0000
_WORD, _ALIGNMENT = 4, 8  # of every section, and of an output section's end


@dataclass(frozen=True)
class Part:
    """What is in an image that has any of `kernels`, in bytes: code in SRAM (which lies in flash too),
    code and constants in flash."""

    kernels: frozenset[str]
    ram_code: int
    text: int
    rodata: int


@dataclass(frozen=True)
class ChipMap:
    """The runners of a chip, in bytes. first: part of every runner. data, bss: of every runner, for no
    kernel has any. header: what lies in flash below the code. ram_veneers, text_veneers: of calls from
    SRAM to flash and back."""

    sram: int
    mailbox: int
    stack: int
    data: int
    bss: int
    header: int
    ram_veneers: int
    text_veneers: int
    first: Part
    parts: tuple[Part, ...]

    def static(self, kernels: frozenset[str]) -> int:
        """Mailbox, RAM code, data and bss, to where the pool begins."""
        return self.mailbox + self._ram_code(kernels) + self.data + self.bss

    def pool(self, kernels: frozenset[str], sram: int) -> int:
        return sram - self.stack - self.static(kernels)

    def image(self, kernels: frozenset[str]) -> int:
        """Of flash."""
        has = self._of(kernels)
        text = _aligned(sum(part.text for part in has)) + self.text_veneers
        rodata = _aligned(sum(part.rodata for part in has))
        return self.header + text + rodata + self._ram_code(kernels) + self.data

    def _ram_code(self, kernels: frozenset[str]) -> int:
        code = sum(part.ram_code for part in self._of(kernels))
        return _aligned(code) + self.ram_veneers

    def _of(self, kernels: frozenset[str]) -> list[Part]:
        return [self.first, *(part for part in self.parts if part.kernels & kernels)]


@dataclass(frozen=True)
class LinkMap:
    """compiler: first line of its --version. chips: by name; a set other than the plain one, whose table
    is longer, has an entry of its own, `rp2040 m0plus`."""

    compiler: str
    chips: Mapping[str, ChipMap]


def all_kernels(chip: str | None = None, kernel_set: str = PLAIN_SET) -> frozenset[str]:
    """Those of a set that run on the chip. Errors: ConfigError for a set that is none."""
    chosen = find_kernels(kernel_set).all().kernels(chip)
    return frozenset(kernel.name for kernel in chosen if kernel is not None)


def pool_bytes(
    chip: str,
    kernels: frozenset[str] | None,
    sram_bytes: int | None = None,
    kernel_set: str = PLAIN_SET,
) -> int:
    """SRAM for arena, scratch and guards, as `RunnerImage.pool_bytes` of `build_runner` with the same
    arguments. kernels: names of the set's, None for all. sram_bytes: of a chip that does not
    exist. Errors: ConfigError for a chip without firmware, a set without figures, or an SRAM that no
    link script has."""
    known = _map_of(chip, kernel_set)
    check_sram(chip, sram_bytes)
    pool = known.sram if sram_bytes is None else sram_bytes
    return known.pool(_kernels(chip, kernels, kernel_set), pool)


def static_bytes(chip: str, kernels: frozenset[str] | None, kernel_set: str = PLAIN_SET) -> int:
    """SRAM that the runner itself takes, without the stack. Errors: as `pool_bytes`."""
    return _map_of(chip, kernel_set).static(_kernels(chip, kernels, kernel_set))


def stack_bytes(chip: str) -> int:
    """Errors: as `pool_bytes`."""
    return _map_of(chip, PLAIN_SET).stack


def image_bytes(chip: str, kernels: frozenset[str] | None, kernel_set: str = PLAIN_SET) -> int:
    """Flash that the runner takes. Errors: as `pool_bytes`."""
    return _map_of(chip, kernel_set).image(_kernels(chip, kernels, kernel_set))


def compiler() -> str:
    """Whose figures these are."""
    return shipped().compiler


@cache
def shipped() -> LinkMap:
    """The figures that ship with the package. Errors: ConfigError for a file that is none."""
    return from_text(FILE.read_text())


def _kernels(chip: str, wanted: frozenset[str] | None, kernel_set: str) -> frozenset[str]:
    known = all_kernels(chip, kernel_set)
    if wanted is not None and wanted - known:
        raise ConfigError(
            f"there are no link map figures of the kernel {min(wanted - known)!r}",
            hint="they are of the kernels that ship; `build_runner` measures any other",
        )
    return known if wanted is None else wanted


def _map_of(chip: str, kernel_set: str) -> ChipMap:
    chips = shipped().chips
    if chip not in chips:
        known = ", ".join(name for name in chips if " " not in name)
        raise ConfigError(f"there is no firmware for the chip {chip!r}", hint=f"known: {known}")
    if _key(chip, kernel_set) not in chips:
        raise ConfigError(
            f"there are no link map figures of the kernel set {kernel_set!r} on the {chip}",
            hint="they are of the sets that ship; `build_runner` measures any other",
        )
    return chips[_key(chip, kernel_set)]


def _key(chip: str, kernel_set: str) -> str:
    return chip if kernel_set == PLAIN_SET else f"{chip} {kernel_set}"


def _aligned(count: int, to: int = _ALIGNMENT) -> int:
    return -(-count // to) * to


# ---- the file ----


def to_text(found: LinkMap) -> str:
    """JSON, one line a part."""
    chips = {
        name: {**asdict(chip), "first": _row(chip.first), "parts": [_row(p) for p in chip.parts]}
        for name, chip in found.chips.items()
    }
    made = {"version": VERSION, "compiler": found.compiler, "chips": chips}
    return _INNERMOST.sub(_on_one_line, json.dumps(made, indent=1)) + "\n"


def _on_one_line(part: re.Match[str]) -> str:
    return json.dumps(json.loads(part[0]))


def from_text(text: str) -> LinkMap:
    """Errors: ConfigError."""
    try:
        found = json.loads(text)
        if found["version"] != VERSION:
            raise ValueError(f"version {found['version']}, not {VERSION}")
        chips = {
            name: ChipMap(
                **{
                    **chip,
                    "first": _part(chip["first"]),
                    "parts": tuple(_part(row) for row in chip["parts"]),
                }
            )
            for name, chip in found["chips"].items()
        }
        return LinkMap(found["compiler"], chips)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ConfigError(
            f"{FILE.name} has no figures of a link map",
            cause=str(error),
            hint="python -m harness.build.linkmap --write",
        ) from error


def _row(part: Part) -> dict[str, object]:
    return {**asdict(part), "kernels": sorted(part.kernels)}


def _part(row: Mapping[str, Any]) -> Part:
    return Part(**{**row, "kernels": frozenset(row["kernels"])})


# ---- from the compiler at hand ----


def measure(chips: Sequence[str] = ("rp2040", "rp2350")) -> LinkMap:
    """The figures of this firmware and this compiler, for each set that has kernels for the chip: one
    link without kernels, one with each, and one with all, which must come out as the sum. Errors:
    BuildError when it does not; as `build_runner`."""
    found = {}
    for chip in chips:
        for name in sets_of(chip):
            every = all_kernels(chip, name)
            with tempfile.TemporaryDirectory() as folder:
                found[_key(chip, name)] = measure_chip(
                    chip, Relinker(chip, Path(folder), name), every
                )
    return LinkMap(compiler_version(), found)


def sets_of(chip: str) -> tuple[str, ...]:
    """The shipped sets with kernels of their own that run on the chip, the plain one first."""
    plain = all_kernels(chip)
    others = (name for name in shipped_sets() if all_kernels(chip, name) - plain)
    return (PLAIN_SET, *others)


def measure_chip(chip: str, relinker: Relinker, kernels: frozenset[str] | None = None) -> ChipMap:
    """kernels: all of the relinker's set, the plain ones by default. Errors: BuildError."""
    every = all_kernels() if kernels is None else kernels
    bare = relinker.link(frozenset())
    needed: dict[Section, set[str]] = defaultdict(set)
    sizes: dict[Section, int] = {}
    for kernel in sorted(every):
        with_one = relinker.link(frozenset({kernel})).sections
        for section, count in with_one.items():
            if sizes.setdefault(section, bare.sections.get(section, count)) != count:
                raise _no_sum(chip, f"{section.name} of {section.file} has two sizes")
            if section not in bare.sections:
                needed[section].add(kernel)
    groups: dict[frozenset[str], list[Section]] = defaultdict(list)
    for section, users in needed.items():
        groups[frozenset(users)].append(section)
    parts = [
        _part_of(users, {section: sizes[section] for section in sections})
        for users, sections in groups.items()
    ]
    made = _chip_map(bare, sorted(parts, key=lambda part: sorted(part.kernels)))
    whole = relinker.link(every)
    for what, sum_of_parts, linked in (
        ("SRAM", made.static(every), static_of(whole)),
        ("flash", made.image(every), image_of(whole)),
    ):
        if sum_of_parts != linked:
            raise _no_sum(chip, f"{what}: {sum_of_parts} bytes by the parts, {linked} linked")
    return made


def differences(one: LinkMap, other: LinkMap) -> list[str]:
    """What of `one` is not so in `other`: anything, if they are of one compiler; else what a runner with
    one kernel, or with all, takes, where that differs by more than TOLERANCE."""
    if set(one.chips) != set(other.chips):
        return [f"chips: {', '.join(one.chips)}; {', '.join(other.chips)}"]
    exact = one.compiler == other.compiler
    found = []
    for name, chip in one.chips.items():
        every = frozenset[str]().union(*(part.kernels for part in chip.parts))
        if exact and chip != other.chips[name]:
            found.append(f"{name}: other parts")
        for kernels in (*(frozenset({kernel}) for kernel in sorted(every)), every):
            for what, count, there in (
                ("SRAM", chip.static(kernels), other.chips[name].static(kernels)),
                ("flash", chip.image(kernels), other.chips[name].image(kernels)),
            ):
                if abs(count - there) > (0 if exact else TOLERANCE * there):
                    words = f"{name}, kernels {sorted(kernels)}: {count} bytes of {what}"
                    found.append(f"{words}, {there} in the other")
    return found


def static_of(linked: Linked) -> int:
    return linked.symbols["__pool_start"] - _SRAM_BASE


def image_of(linked: Linked) -> int:
    return linked.symbols["__image_end"] - FLASH_BASE


def _chip_map(bare: Linked, parts: Sequence[Part]) -> ChipMap:
    at = bare.symbols
    veneers = {
        section.output: count for section, count in bare.sections.items() if section.file == VENEER
    }
    own = {s: count for s, count in bare.sections.items() if s.file != VENEER}
    return ChipMap(
        sram=at["__stack_top"] - _SRAM_BASE,
        mailbox=at["__ram_code_start"] - _SRAM_BASE,
        stack=at["__stack_top"] - at["__stack_bottom"],
        data=at["__data_end"] - at["__data_start"],
        bss=at["__bss_end"] - at["__bss_start"],
        header=bare.starts[".text"] - FLASH_BASE,
        ram_veneers=veneers.get(".ram_code", 0),
        text_veneers=veneers.get(".text", 0),
        first=_part_of(frozenset(), own),
        parts=tuple(parts),
    )


def _part_of(kernels: frozenset[str], sections: Mapping[Section, int]) -> Part:
    """Errors: BuildError for a kernel with data of its own, or a veneer."""
    counts = {"ram_code": 0, "text": 0, "rodata": 0}
    for section, count in sections.items():
        constants = section.output == ".text" and section.name.startswith(".rodata")
        kind = "rodata" if constants else section.output[1:]
        if kind in counts and section.file != VENEER:
            counts[kind] += _aligned(count, _WORD)
        elif kernels:
            raise BuildError(f"{section.name} of {section.file} is of a kernel, and no code")
    return Part(kernels, **counts)


def _no_sum(chip: str, what: str) -> BuildError:
    return BuildError(
        f"the bytes of the runner for the {chip} are not the sum of its parts",
        cause=what,
        hint="a section is no multiple of 4 bytes, or only two kernels together need it",
    )


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m harness.build.linkmap")
    parser.add_argument(
        "--write", action="store_true", help=f"rewrite {FILE.name}; else say what of it is stale"
    )
    options = parser.parse_args(words)
    measured = measure()
    if options.write:
        FILE.write_text(to_text(measured))
        return 0
    stale = differences(shipped(), measured)
    print("\n".join(stale) or f"{FILE.name} is of this firmware")
    return 1 if stale else 0


if __name__ == "__main__":
    raise SystemExit(main())
