# SPDX-License-Identifier: Apache-2.0
"""The figures that ship, against the linker: they are a sum, to the byte, for every set of kernels."""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, reduce
from itertools import combinations
from operator import or_
from pathlib import Path

import pytest

from harness.build import build_runner, linkmap
from harness.build.command import compiler_version
from harness.build.linkmap import (
    ChipMap,
    LinkMap,
    Part,
    all_kernels,
    differences,
    from_text,
    image_bytes,
    measure_chip,
    pool_bytes,
    shipped,
    stack_bytes,
    static_bytes,
    static_of,
    to_text,
)
from harness.build.relink import Linked, Relinker, Section, read_map
from harness.errors import BuildError, ConfigError
from harness.geometry import DIRECT, GATHER, Execution
from harness.kernels import find_kernels, kernel_set
from harness.schema.constants import OpKind, Rounding, Traversal

CHIPS = ("rp2040", "rp2350")
SRAM = {"rp2040": 264 * 1024, "rp2350": 520 * 1024}  # data sheets
XL = 520 * 1024
COLUMN = Execution(traversal=Traversal.COLUMN)


@pytest.fixture(scope="module", params=CHIPS)
def chip(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def relinker(chip: str, tmp_path_factory: pytest.TempPathFactory) -> Relinker:
    return Relinker(chip, tmp_path_factory.mktemp(chip))


@pytest.fixture(scope="module")
def measured(chip: str, relinker: Relinker) -> ChipMap:
    return measure_chip(chip, relinker)


def test_the_shipped_figures_are_of_this_firmware(chip: str, measured: ChipMap) -> None:
    """Rewrite them with `python -m harness.build.linkmap --write`. Those of another compiler may differ
    by a tenth from this one's."""
    here = LinkMap(compiler_version(), {chip: measured})
    there = LinkMap(shipped().compiler, {chip: shipped().chips[chip]})
    if here.compiler != there.compiler:
        warnings.warn(
            f"figures of {there.compiler}, here is {here.compiler}: compared within "
            f"{linkmap.TOLERANCE:.0%}",
            stacklevel=1,
        )
    assert differences(there, here) == []


def check(relinker: Relinker, measured: ChipMap, kernels: frozenset[str]) -> None:
    linked = relinker.link(kernels)
    assert measured.static(kernels) == linked.symbols["__pool_start"] - 0x2000_0000, kernels
    assert measured.image(kernels) == linked.symbols["__image_end"] - 0x1000_0000, kernels
    pool = linked.symbols["__pool_end"] - linked.symbols["__pool_start"]
    assert measured.pool(kernels, measured.sram) == pool, kernels


def of_single_ops() -> Iterator[frozenset[str]]:
    for kind in OpKind:
        yield _of(kind, GATHER)
    yield _of(OpKind.CONV, COLUMN)


def _usual(kind: OpKind) -> tuple[Execution, Rounding]:
    if kind is OpKind.FULLY_CONNECTED:
        return DIRECT, Rounding.SINGLE
    return (DIRECT if kind is OpKind.AVERAGE_POOL else GATHER), Rounding.DOUBLE


def _of(kind: OpKind, way: Execution) -> frozenset[str]:
    return kernel_set(kind, way, Rounding.DOUBLE).names


def drawn(count: int, seed: int) -> Iterator[frozenset[str]]:
    numbers = random.Random(seed)
    for _ in range(count):
        share = numbers.choice((0.15, 0.3, 0.5, 0.7, 0.9))
        yield frozenset(kernel for kernel in all_kernels() if numbers.random() < share)


def test_sets_that_ship(tmp_path: Path) -> None:
    """Their kernels and the plain ones beside them are a sum, too; a set without kernels for the chip
    has no figures."""
    assert linkmap.sets_of("rp2040")[0] == "plain"
    for name in linkmap.sets_of("rp2040")[1:]:
        every = all_kernels("rp2040", name)
        assert every > all_kernels()
        folder = tmp_path / name
        folder.mkdir()
        relinker = Relinker("rp2040", folder, name)
        found = measure_chip("rp2040", relinker, every)
        assert (
            found == shipped().chips[f"rp2040 {name}"] or compiler_version() != linkmap.compiler()
        )
        numbers = random.Random(6)
        for _ in range(8):
            check(relinker, found, frozenset(k for k in sorted(every) if numbers.random() < 0.4))
    assert "m0plus" in linkmap.sets_of("rp2040")
    assert "m0plus" not in linkmap.sets_of("rp2350")
    with pytest.raises(ConfigError, match="no link map figures of the kernel set 'm0plus'"):
        pool_bytes("rp2350", None, kernel_set="m0plus")


def test_a_runner_is_the_sum_of_its_parts(relinker: Relinker, measured: ChipMap) -> None:
    for kernels in (frozenset[str](), *of_single_ops(), *drawn(30, 1)):
        check(relinker, measured, kernels)


@pytest.mark.extra
def test_many_runners_are_the_sum_of_their_parts(relinker: Relinker, measured: ChipMap) -> None:
    pairs = (frozenset(pair) for pair in combinations(sorted(all_kernels()), 2))
    for kernels in (*pairs, *drawn(200, 2)):
        check(relinker, measured, kernels)


@pytest.mark.parametrize(
    ("chip", "kinds", "sram"),
    [
        ("rp2040", None, None),
        ("rp2040", (OpKind.CONV,), None),
        ("rp2040", (OpKind.CONV, OpKind.DEPTHWISE, OpKind.ADD, OpKind.AVERAGE_POOL), XL),
        ("rp2350", (OpKind.FULLY_CONNECTED, OpKind.SOFTMAX), None),
    ],
)
def test_the_runner_that_the_bench_builds(
    chip: str, kinds: tuple[OpKind, ...] | None, sram: int | None
) -> None:
    """With the compiler whose figures these are; another's come near."""
    selection = find_kernels("plain").all()
    if kinds is not None:
        first, *others = (kernel_set(kind, *_usual(kind)) for kind in kinds)
        selection = reduce(or_, others, first)
    names = None if kinds is None else selection.names
    image = build_runner(chip, kernels=selection, sram_bytes=sram)
    pool, flash = pool_bytes(chip, names, sram), image_bytes(chip, names)
    if compiler_version() == linkmap.compiler():
        assert (pool, flash) == (image.pool_bytes, len(image.flash))
    assert pool == pytest.approx(image.pool_bytes, abs=linkmap.TOLERANCE * 32 * 1024)
    assert flash == pytest.approx(len(image.flash), rel=linkmap.TOLERANCE)


def test_sram_is_shared_out(chip: str) -> None:
    """Mailbox, runner, pool and stack are all of it; more SRAM is more pool."""
    for kernels in (None, *of_single_ops(), *drawn(20, 3)):
        taken = static_bytes(chip, kernels) + stack_bytes(chip)
        assert pool_bytes(chip, kernels) == SRAM[chip] - taken
        assert pool_bytes(chip, kernels) % 8 == 0
    assert stack_bytes(chip) == 4096
    assert pool_bytes("rp2040", None, XL) - pool_bytes("rp2040", None) == XL - SRAM["rp2040"]


def test_more_kernels_leave_less() -> None:
    for chip in CHIPS:
        for few, others in zip(drawn(50, 4), drawn(50, 5), strict=True):
            many = few | others
            assert pool_bytes(chip, many) <= pool_bytes(chip, few)
            assert image_bytes(chip, many) >= image_bytes(chip, few)
    assert pool_bytes("rp2040", None) == pool_bytes("rp2040", all_kernels())


def test_no_compiler_is_needed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    shipped.cache_clear()
    assert pool_bytes("rp2040", _of(OpKind.CONV, GATHER)) > 240 * 1024
    assert "gcc" in linkmap.compiler()
    with pytest.raises(BuildError, match="is not installed"):
        compiler_version()


def test_what_there_is_no_firmware_for() -> None:
    with pytest.raises(ConfigError, match="no firmware for the chip 'rp2354'") as caught:
        pool_bytes("rp2354", None)
    assert caught.value.hint == "known: rp2040, rp2350"
    for chip, size in (("rp2350", XL), ("rp2040", 264 * 1024), ("rp2040", XL + 4096)):
        with pytest.raises(ConfigError, match=f"no firmware for an {chip} with {size} bytes"):
            pool_bytes(chip, None, size)


# ---- the file ----


def test_the_file_is_as_it_is_written() -> None:
    text = linkmap.FILE.read_text()
    assert to_text(from_text(text)) == text
    assert max(len(line) for line in text.splitlines()) < 600


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"version": 0}', '{"version": 1, "chips": {}}',
     '{"version": 1, "compiler": "", "chips": {"rp2040": {"sram": 1}}}'],
)  # fmt: skip
def test_a_file_that_is_none(text: str) -> None:
    with pytest.raises(ConfigError, match=r"linkmap\.json has no figures"):
        from_text(text)


def test_stale_figures_are_told() -> None:
    one = shipped()
    chip = one.chips["rp2040"]
    small = replace(
        chip, parts=(replace(chip.parts[0], ram_code=chip.parts[0].ram_code + 8), *chip.parts[1:])
    )
    large = replace(chip, bss=chip.bss + 4000)
    hidden = replace(chip, parts=(*chip.parts, Part(frozenset({ONE}), 0, 0, 0)))
    for changed, same_compiler, other_compiler in (
        (chip, False, False),
        (small, True, False),
        (hidden, True, False),
        (large, True, True),
    ):
        chips = {**one.chips, "rp2040": changed}
        assert bool(differences(one, LinkMap(one.compiler, chips))) == same_compiler
        assert bool(differences(one, LinkMap("another gcc", chips))) == other_compiler
    assert differences(one, LinkMap(one.compiler, {"rp2040": chip})) != []
    told = differences(one, LinkMap(one.compiler, {**one.chips, "rp2040": small}))
    assert any(text.startswith("rp2040, kernels ['plain_") for text in told)


# ---- what is no sum is refused ----

CODE = Section(".ram_code", ".ram_code.f", "a.o")
ONE, TWO, THREE = sorted(all_kernels())[:3]
SHARED = Section(".text", ".text.g", "b.o")


class MadeUp:
    """Stands in for a Relinker: kernel ONE brings CODE, TWO and THREE bring SHARED."""

    def __init__(self, **changed: object) -> None:
        self.changed = changed

    def link(self, kernels: frozenset[str]) -> Linked:
        sections = {Section(".text", ".text.main", "main.o"): 100}
        if ONE in kernels:
            sections[CODE] = 12
        if kernels & {TWO, THREE}:
            sections[SHARED] = 24
        if "pair" in self.changed and {ONE, TWO} <= kernels:
            sections[Section(".text", ".text.pair", "c.o")] = 16
        if "growing" in self.changed and ONE in kernels:
            sections[Section(".text", ".text.main", "main.o")] = 104
        if "data" in self.changed and ONE in kernels:
            sections[Section(".data", ".data.x", "a.o")] = 4
        ram, flash = (
            -(-sum(n for s, n in sections.items() if s.output == output) // 8) * 8
            for output in (".ram_code", ".text")
        )
        at = {
            "__stack_top": 0x2000_2000, "__stack_bottom": 0x2000_1000,
            "__ram_code_start": 0x2000_0100, "__data_start": 0, "__data_end": 8,
            "__bss_start": 0, "__bss_end": 16, "__pool_start": 0x2000_0100 + ram + 24,
            "__image_end": 0x1000_0200 + flash + ram + 8,
        }  # fmt: skip
        return Linked(sections, at, {".text": 0x1000_0200})


@cache
def made_up() -> ChipMap:
    return measure_chip("made up", MadeUp())  # type: ignore[arg-type]


def test_parts_by_who_needs_them() -> None:
    found = made_up()
    assert found.first == Part(frozenset(), 0, 100, 0)
    assert set(found.parts) == {
        Part(frozenset({ONE}), 12, 0, 0),
        Part(frozenset({TWO, THREE}), 0, 24, 0),
    }
    assert (found.sram, found.mailbox, found.stack) == (0x2000, 256, 4096)
    assert (found.data, found.bss, found.header) == (8, 16, 512)
    # 256 + 16 + 8 + 16; 512 + 104 + 8; one part for both of its kernels
    assert found.static(frozenset({ONE})) == static_of(MadeUp().link(frozenset({ONE}))) == 296
    assert found.static(frozenset({TWO})) == 280
    assert found.image(frozenset()) == 624
    assert found.image(frozenset({TWO})) == found.image(frozenset({TWO, THREE})) == 648


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("pair", "flash: "),
        ("growing", r"\.text\.main of main\.o has two sizes"),
    ],
)
def test_what_is_no_sum(how: str, message: str) -> None:
    with pytest.raises(BuildError, match="not the sum of its parts") as caught:
        measure_chip("made up", MadeUp(**{how: True}))  # type: ignore[arg-type]
    assert caught.value.cause is not None
    assert message.replace("\\", "") in caught.value.cause


def test_a_kernel_with_data() -> None:
    with pytest.raises(BuildError, match=r"\.data\.x of a\.o is of a kernel, and no code"):
        measure_chip("made up", MadeUp(data=True))  # type: ignore[arg-type]


MAP = """
Discarded input sections
 .text.gone     0x00000000       0x40 a.o

Linker script and memory map

.text           0x10000200      0x130
 *(.text .text.*)
 .text.short    0x10000200       0x10 a.o
                0x10000200                short
 .text.a_name_that_is_long
                0x10000210       0x20 a.o
 .text.empty    0x10000230        0x0 a.o
 *fill*         0x10000230        0x4
 .text.a_name_that_is_long.__stub
                0x10000234       0x18 linker stubs
 .text          0x10000250       0x0c /usr/lib/libgcc.a(_clzsi2.o)

.debug_info     0x00000000      0x999
 .debug_info    0x00000000      0x999 a.o
.bss            0x20000100       0x10
                0x20000110                __bss_end = .
"""


def test_a_map_file() -> None:
    found = read_map(MAP)
    assert found.sections == {
        Section(".text", ".text.short", "a.o"): 16,
        Section(".text", ".text.a_name_that_is_long", "a.o"): 32,
        Section(".text", "", "linker stubs"): 24,
        Section(".text", ".text", "libgcc.a(_clzsi2.o)"): 12,
    }
    assert found.symbols == {"__bss_end": 0x2000_0110}
    assert found.starts == {".text": 0x1000_0200}
    with pytest.raises(BuildError, match="no memory map"):
        read_map("nothing")
