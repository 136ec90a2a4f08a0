# SPDX-License-Identifier: Apache-2.0
"""The page of one run: made from runs by hand, and by pytest on an emulated board."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from harness import resources
from harness.errors import ConfigError
from harness.plan import Strategy
from harness.report.html.entry import Bar, Box, Entry, entry, entry_of
from harness.report.html.run import Failed, Run, ordered, page, write_run
from tests.report.made import HOSTILE
from tests.report.runs import layer_runs, layer_verdicts, network_verdict

PIXEL = "5 bytes, the first in pixel 17 (row 0, column 17), channel 2: -3 instead of 4"
FOLDER = Path(__file__).parents[1] / "device" / "firmware" / "two_pixels"


def _entries(**more: bool) -> list[Entry]:
    return [entry(*judged) for judged in layer_verdicts(layer_runs(**more))]  # type: ignore[arg-type]


def _page(*entries: Entry, **more: object) -> str:
    return page(Run("now", "plain", "c0ffee", entries, **more))  # type: ignore[arg-type]


def _words(text: str) -> str:
    return re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", text.split("<main")[1]))


def test_what_is_kept_of_a_layer() -> None:
    dual, rip = _entries()
    assert rip.bars == (Bar("conv", "plain_conv_gather_double", 900),)
    assert dual.bars == (Bar("conv", "plain_conv_gather_double", 950),)
    assert rip.boxes == (
        Box("input", "input", 0, 1, 7188, 14_100),
        Box("output", "output", 0, 1, 0, 13_824),
    )
    assert {box.name: (box.low, box.high) for box in dual.boxes} == {
        "input": (13_824, 20_736),
        "output": (0, 13_824),
    }
    assert rip.wrong == dual.wrong == ""


def test_what_is_kept_of_a_shift() -> None:
    _, rip = _entries(copied=True)
    assert [bar.name for bar in rip.bars] == ["memmove", "conv"]
    assert [bar.cycles for bar in rip.bars] == [100, 800]
    assert Box("where it arrives", "moved", 0, 1, 0, 6912) in rip.boxes


def test_what_is_kept_of_a_network() -> None:
    verdict, runs = network_verdict()
    found = entry(verdict, runs)
    network = runs.plans[Strategy.RIP].network
    for step in range(51):
        alive = {f"tensor {t}" for t in network.inputs if step <= network.last_readers[t]}
        for number, node in enumerate(network.nodes[: step + 1]):
            last = max(number, network.last_readers[node.output])
            alive |= {f"tensor {node.output}"} if step <= last else set()
        assert {box.name for box in found.boxes if box.first <= step < box.last} == alive
    assert (found.steps, len(found.bars)) == (51, 51)
    assert found.bars[0] == Bar("0 conv", "kernel_0", 10)
    assert found.bars[1].name == "1 depthwise"
    assert max(box.high for box in found.boxes) == 49_152
    assert found.wrong == f"after op 7 (depthwise) tensor 3 is wrong in {PIXEL}"


def test_the_first_wrong_pixel_is_of_its_own_plan() -> None:
    dual, rip = _entries(wrong=True)
    assert (dual.wrong, rip.wrong) == ("", PIXEL)
    assert (dual.verdict.ok, rip.verdict.ok) == (True, False)


def test_an_entry_goes_through_plain_values() -> None:
    for found in (*_entries(wrong=True), entry(*network_verdict())):
        assert entry_of(asdict(found)) == found


def test_the_page_has_all_of_it() -> None:
    text = _page(
        *_entries(wrong=True),
        failed=(Failed("test_x[a]", "ProbeError: gone\n  cause: the cable"),),
        unfit=("big on pico1-emu: dual does not fit, 5 bytes too large",),
    )
    words = _words(text)
    for found in (
        "verdicts passed: 1", "verdicts failed: 1", "tests failed: 1", "plans that did not fit: 1",
        f"First wrong pixel : {PIXEL}", "ProbeError: gone cause: the cable", "5 bytes too large",
        "clk_sys 125 MHz", "ELF " + "e1f" * 21 + "e", "compiler gcc 12", "kernel set plain",
        "commit c0ffee", "board pico1-emu", "kind emulated", "chip rp2040, E661",
        "Cycles of each op, warm, emulated", "stem, rip on pico1-emu",
    ):  # fmt: skip
        assert found in words
    assert text.count('<svg class="picture"') == 2
    assert '<rect width="100.0" height="10">' in text


def test_the_open_details_are_those_that_failed() -> None:
    entries = [*_entries(), *_entries(wrong=True)]
    assert _page(*entries).count("<details open>") == 1


def test_kinds_share_no_table() -> None:
    text = _page(*_entries(), *_entries(board="pico1"))  # type: ignore[arg-type]
    assert len(re.findall("Cycles are warm, emulated;", text)) == 1
    assert len(re.findall("Cycles are warm, board;", text)) == 1
    assert text.count("<dt>board</dt>") == 2


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names(name: str) -> None:
    (_, rip) = _entries(wrong=True)
    where = replace(rip.verdict.provenance, board=name, compiler=name, chip=name, kind=name)
    verdict = replace(
        rip.verdict, provenance=where, layer=name, plan=name, kernel=name, failures=(name,),
        recovered=(name,), debt=name, witness=name, output_crc=name, ratio_to=name,
    )  # fmt: skip
    boxes = tuple(replace(box, name=name) for box in rip.boxes)
    bars = (Bar(name, name, 5),)
    hostile = replace(rip, verdict=verdict, boxes=boxes, bars=bars, wrong=name)
    run = Run(name, name, name, (hostile,), (Failed(name, name),), (name,))
    text = page(run)
    assert len(re.findall("<script", text)) == 2  # theme.js and filter.js
    assert "<img" not in text
    assert not re.search(r"[\x00-\x09\x0b-\x1f\u202e\u2066\u2028]", text)


def test_a_run_without_verdicts() -> None:
    assert "No verdict was reached." in _words(_page())


def test_the_order_is_that_of_names() -> None:
    entries = _entries()
    assert ordered(entries) == ordered(entries[::-1])


def test_folders_of_runs(tmp_path: Path) -> None:
    folder = tmp_path / "reports"
    paths = [write_run(folder, "now", str(n)) for n in range(3)]
    assert [path.parent.name for path in paths] == ["now", "now-2", "now-3"]
    assert [path.read_text() for path in paths] == ["0", "1", "2"]
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="is no folder"):
        write_run(tmp_path / "file", "now", "")


# ---- pytest on an emulated board ----

OWN = """
import pytest
from harness.geometry import ConvGeometry, Pad
from harness.network import Layer

WIDE = Layer("wide", ConvGeometry(5, 8, 4, 8, 3, 3, pad=Pad.same(1, 1)))

def test_wide(bench):
    bench.prove(WIDE)

@pytest.mark.parametrize("name", ["</script><script>alert(1)</script>"])
def test_other(name):
    assert not name
"""


def _pytest(folder: Path, *words: str) -> tuple[str, str]:
    """What it says, and the page."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--seeds", "1", *words]
    done = subprocess.run([*command, "--report", "out"], cwd=folder, capture_output=True, text=True)
    (path,) = (folder / "out").glob("*/index.html")
    assert f"report: {folder / 'out'}" in done.stdout
    return done.stdout, path.read_text()


@pytest.mark.extra
def test_a_wrong_kernel(tmp_path: Path) -> None:
    """It leaves out a tap: the page has the verdict, its first wrong pixel, and
    the test that failed for another reason."""
    kernels = tmp_path / "kernels"
    shutil.copytree(FOLDER, kernels)
    source = kernels / "two_pixels.c"
    source.write_text(source.read_text().replace("int32_t tap = 0;", "int32_t tap = 1;"))
    (tmp_path / "test_own.py").write_text(OWN)
    _, text = _pytest(tmp_path, "--kernels", str(kernels))
    words = _words(text)
    assert "verdicts failed: 1" in words
    assert "tests failed: 2" in words
    assert re.search(r"First wrong pixel : \d+ bytes, the first in pixel \d+ \(row", words)
    assert "<script>alert" not in text
    assert "kernel set" in words


@pytest.mark.extra
def test_workers_hand_over_what_they_saw(tmp_path: Path) -> None:
    suite = str(resources.layers() / "test_layers.py")
    words = ["--layers", "first#odd-3x3", "--tap-order", "gather", "--board", "pico1-emu"]
    more = ["--board", "pico2-emu", "-n", "2", "--dist", "loadfile"]
    _, text = _pytest(tmp_path, suite, *words, *more)
    assert "verdicts passed: 4" in _words(text)
    assert text.count('data-board="pico1-emu"') == text.count('data-board="pico2-emu"') == 2


def test_a_report_that_cannot_be_written(tmp_path: Path) -> None:
    """All else is as without it."""
    (tmp_path / "test_own.py").write_text("def test_own():\n    pass\n")
    (tmp_path / "out").write_text("")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--report", "out"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0
    assert "no report: " in done.stdout
    assert "out is no folder" in done.stdout
