# SPDX-License-Identifier: Apache-2.0
"""An RP2040 with 520 KB of SRAM, which does not exist: what a Pico 1 has no room for runs there, and
whatever it says is labelled hypothetical."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from harness import resources
from harness.bench import Bench, BenchOptions
from harness.boards import Board, BoardEntry, find_board, load_boards
from harness.boards.probe import Probe
from harness.build import build_runner
from harness.case import make_network_case
from harness.errors import ConfigError, ProbeError
from harness.geometry import ConvGeometry
from harness.network import Layer
from tests.device.support import ODD, new_entry, small_pack
from tests.device.test_networks import DUAL, PARAMETERS

XL_BYTES = 532_480
LARGE = Layer("mcunet-in4.3", ConvGeometry(80, 80, 16, 48))  # 307,200 bytes in place, 409,600 apart
OPTIONS = BenchOptions(seeds=(1,), repeats=1)


def new_xl() -> BoardEntry:
    return replace(new_entry("rp2040"), sram_bytes=XL_BYTES)


@pytest.fixture
def bench() -> Iterator[Bench]:
    made = Bench(new_xl(), OPTIONS)
    yield made
    made.close()


def test_the_board_that_everybody_has() -> None:
    boards = load_boards()
    xl, plain = find_board("pico1-emu-xl", boards), find_board("pico1-emu", boards)
    assert (xl.chip, xl.sram_bytes, plain.sram_bytes) == ("rp2040", 520 * 1024, None)
    assert (xl.clock_hz, xl.xip_miss_cycles) == (plain.clock_hz, plain.xip_miss_cycles)
    assert (Board(xl).kind, Board(plain).kind) == ("hypothetical", "emulated")
    assert Board(find_board("pico2-emu", boards)).kind == "emulated"


def test_a_layer_that_no_pico_1_has_room_for(bench: Bench) -> None:
    """With two buffers as in place, so that there is a ratio."""
    dual, rip = bench.prove(LARGE, "dual"), bench.prove(LARGE, "rip")
    assert (rip.workspace_reached, dual.workspace_reached) == (307_200, 409_600)
    assert rip.ratio is not None and rip.debt and rip.witness
    for verdict in (dual, rip):
        assert (verdict.provenance.kind, verdict.provenance.chip) == ("hypothetical", "rp2040")


def test_a_network_that_no_pico_1_has_room_for(bench: Bench) -> None:
    """The same plan with its last tensor far away: 300,640 bytes."""
    far = replace(DUAL, offsets=(*DUAL.offsets[:-1], 300_000), peak=300_640)
    cases = [make_network_case(far, PARAMETERS)]
    plain = Bench(new_entry("rp2040"), OPTIONS)
    try:
        assert plain.judge_network(cases) == [] and len(plain.unfit) == 1
    finally:
        plain.close()
    (verdict,) = bench.judge_network(cases)
    assert verdict.ok and bench.unfit == []
    assert (verdict.provenance.kind, verdict.workspace_given) == ("hypothetical", 300_640)


def test_a_layer_that_fits_takes_the_same_cycles(bench: Bench) -> None:
    """To the cycle: the pool begins where it did, and memory has no banks that could be in the way."""
    plain = Bench(new_entry("rp2040"), OPTIONS)
    try:
        here, there = bench.run(ODD), plain.run(ODD)
    finally:
        plain.close()
    assert [s.cycles for s in here.samples] == [s.cycles for s in there.samples]
    assert [s.op_cycles for s in here.samples] == [s.op_cycles for s in there.samples]
    assert [s.xip_hits for s in here.samples] == [s.xip_hits for s in there.samples]
    assert here.samples[0].cycles > 10_000


def test_what_it_says_of_itself() -> None:
    """The pool grows by what the SRAM grows; the stack is its last 4 KB."""
    entry, image = new_xl(), build_runner("rp2040", sram_bytes=XL_BYTES)
    plain = build_runner("rp2040")
    assert image.pool_bytes == plain.pool_bytes + XL_BYTES - 264 * 1024
    assert image.symbols["__stack_top"] == 0x2008_2000
    assert image.symbols["__stack_top"] - image.symbols["__stack_bottom"] == 4096
    with Board(entry) as board:
        hello = board.start(image, small_pack())
        assert (hello.pool_bytes, hello.chip) == (image.pool_bytes, 2040)


def test_the_probe_reaches_all_of_it_and_no_more() -> None:
    with Probe(new_xl()) as probe:
        probe.reset_and_halt()
        probe.write(0x2004_2000, b"behind the real one")
        assert probe.read(0x2004_2000, 19) == b"behind the real one"
        probe.write(0x2008_2000 - 4, b"last")
        assert probe.read(0x2008_2000 - 4, 4) == b"last"
        with pytest.raises(ProbeError):
            probe.read(0x2008_2000, 4)
    with Probe(new_entry("rp2040")) as probe, pytest.raises(ProbeError):
        probe.read(0x2004_2000, 4)


def test_its_label_in_every_report(tmp_path: Path) -> None:
    words = ["--board", "pico1-emu-xl", "--board", "pico1-emu", "--layers", "first#odd-3x3"]
    words += ["--tap-order", "gather", "--seeds", "1", "--junitxml=junit.xml"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider",
         str(resources.layers() / "test_layers.py"), *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    rows = [line.split() for line in done.stdout.splitlines() if line.startswith("odd-3x3 ")]
    kinds = {row[1]: row[2] for row in rows}
    assert kinds == {"pico1-emu-xl": "hypothetical", "pico1-emu": "emulated"}
    headers = [line for line in done.stdout.splitlines() if line.startswith("layer ")]
    assert len(headers) == 2  # no column has numbers of both kinds
    properties = [
        {p.get("name"): p.get("value") for p in case.iter("property")}
        for case in ElementTree.parse(tmp_path / "junit.xml").iter("testcase")
    ]
    said = {(p["ripbench.board"], p["ripbench.kind"]) for p in properties if "ripbench.board" in p}
    assert said == {("pico1-emu-xl", "hypothetical"), ("pico1-emu", "emulated")}


# ---- where it makes no sense ----


def _entry(folder: Path, line: str) -> BoardEntry:
    path = folder / "mine.yaml"
    path.write_text(f"boards:\n  desk: {{clock_hz: 125000000, {line}}}\n")
    return find_board("desk", load_boards(path))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("chip: rp2040, probe: 'cmsisdap:00FF', sram_bytes: 532480", "a real board has the SRAM"),
        ("chip: rp2350, probe: 'emu:desk', sram_bytes: 532480", "not for an rp2350"),
        ("chip: rp2350, probe: 'emu:desk', sram_bytes: 1048576", "not for an rp2350"),
        ("chip: rp2040, probe: 'emu:desk', sram_bytes: 270336", "no emulated rp2040 has 270336"),
        ("chip: rp2040, probe: 'emu:desk', sram_bytes: 65536", "no emulated rp2040 has 65536"),
        ("chip: rp2040, probe: 'emu:desk', sram_bytes: 536576", "no emulated rp2040 has 536576"),
        ("chip: rp2040, probe: 'emu:desk', sram_bytes: 532479", "no emulated rp2040 has 532479"),
    ],
)
def test_a_board_that_cannot_have_it(tmp_path: Path, line: str, message: str) -> None:
    entry = _entry(tmp_path, line)
    with pytest.raises(ConfigError, match=message) as caught:
        Board(entry)
    assert "mine.yaml:2:" in caught.value.message


@pytest.mark.parametrize("value", ["0", "-4096", "much", "1e6", "[532480]", "99999999999"])
def test_a_value_that_is_no_size(tmp_path: Path, value: str) -> None:
    with pytest.raises(ConfigError, match=r"mine\.yaml:2:"):
        _entry(tmp_path, f"chip: rp2040, probe: 'emu:desk', sram_bytes: {value}")


@pytest.mark.parametrize(("chip", "size"), [("rp2350", 532_480), ("rp2040", 270_336)])
def test_a_runner_that_cannot_be(chip: str, size: int) -> None:
    with pytest.raises(ConfigError, match=f"no firmware for an {chip} with {size} bytes"):
        build_runner(chip, sram_bytes=size)


@pytest.mark.parametrize("size", [72 * 1024, 136 * 1024, 300 * 1024])
def test_a_size_between(size: int) -> None:
    """Any multiple of 4 KB from 72 KB to 520 KB."""
    entry, image = replace(new_xl(), sram_bytes=size), build_runner("rp2040", sram_bytes=size)
    with Board(entry) as board:
        assert board.start(image, small_pack()).pool_bytes == image.pool_bytes
        assert image.pool_bytes == build_runner("rp2040").pool_bytes + size - 264 * 1024
