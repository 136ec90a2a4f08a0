# SPDX-License-Identifier: Apache-2.0
"""kernels.yaml: what is read, what is refused and where, and which sets there are."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import resources
from harness.errors import ConfigError
from harness.geometry import GATHER, ConvGeometry, Execution
from harness.kernels import PLAIN, KernelTraits, find_kernels, set_for, shipped_sets
from harness.kernels.cost import Limits
from harness.kernels.declared import Kernel
from harness.kernels.load import load_kernels
from harness.schema.constants import Layout, OpKind, Rounding, TapOrder, Traversal

ENTRY = "name: fast, op: conv, sources: [fast.c]"


def _folder(tmp_path: Path, *entries: str) -> Path:
    (tmp_path / "fast.c").write_text("/* nothing */\n")
    (tmp_path / "kernels.yaml").write_text(
        "kernels:\n" + "".join(f"  - {{{entry}}}\n" for entry in entries)
    )
    return tmp_path


def _one(tmp_path: Path, more: str = "") -> Kernel:
    (kernel,) = load_kernels(_folder(tmp_path, f"{ENTRY}{more and f', {more}'}"), "mine")
    return kernel


def test_what_is_usual(tmp_path: Path) -> None:
    kernel = _one(tmp_path)
    assert (kernel.name, kernel.run, kernel.set, kernel.kind) == (
        "fast",
        "fast",
        "mine",
        OpKind.CONV,
    )
    assert kernel.roundings == {Rounding.DOUBLE}
    assert kernel.layouts == {Layout.DENSE}
    assert kernel.tap_orders == {TapOrder.GATHER}
    assert kernel.traversals == {Traversal.ROW}
    assert [pixels.text for pixels in kernel.pixels] == ["1"]
    assert (kernel.channels.text, kernel.ring.text, kernel.scratch.text) == ("1", "0", "0")
    assert (kernel.alignment, kernel.weights, kernel.packed) == (1, "int8", False)
    assert kernel.runs_on("rp2040")
    assert kernel.runs_on(None)


def test_all_keys(tmp_path: Path) -> None:
    kernel = _one(
        tmp_path,
        "set: quick, run: quick_conv, chips: [rp2350], accepts: [c_in % 4 == 0, k_h == 1], "
        "rounding: any, layout: [dense, padded], tap_order: any, traversal: [row, column], "
        "pixels: [2, w_out, h_out * w_out], channels: 4, over_rows: true, "
        "scratch: b * c_in, alignment: 4, weights: int16, weights_bytes: 2 * c_in * c_out, "
        "cycles: h_out * w_out * c_out * c_in",
    )
    assert (kernel.set, kernel.run, kernel.packed, kernel.over_rows) == (
        "quick", "quick_conv", True, True,
    )  # fmt: skip
    assert kernel.runs_on("rp2350")
    assert not kernel.runs_on("rp2040")
    assert not kernel.runs_on(None)
    assert len(kernel.accepts) == 2
    assert len(kernel.pixels) == 3
    assert kernel.roundings == set(Rounding)
    assert kernel.traversals == {Traversal.ROW, Traversal.COLUMN}


def test_files_of_somebody_else(tmp_path: Path) -> None:
    (tmp_path / "theirs.c").write_text("/* nothing */\n")
    assert _one(tmp_path).library == ()
    assert _one(tmp_path, "library: [theirs.c]").library == ("theirs.c",)
    with pytest.raises(ConfigError, match="is not a file of this folder"):
        _one(tmp_path, "library: [ours.c]")


@pytest.mark.parametrize(
    ("more", "column", "says"),
    [
        ("nmae: x", 47, "unknown key 'nmae'"),
        ("op: conv", 47, "'op' is here twice"),
        ("flags: -O3", 47, "unknown key 'flags'"),
        ("accepts: c_in %% 4", 62, "'%' is not expected here"),
        ("accepts: [c_in, 1 +]", 66, "the end is not expected"),
        ("accepts: b == 2", 56, "'b' is no name"),
        ("pixels: b", 55, "'b' is no name"),
        ("pixels: [2, width]", 59, "'width' is no name of a formula"),
        ("scratch: __import__", 56, "'_' is in no formula"),
        ("channels: -1", 57, "'-' is not expected"),
        ("alignment: 3", 58, "an alignment of 3 bytes"),
        ("alignment: 16", 58, "16 is not within 1 to 8"),
        ("rounding: doubel", 57, "'doubel' is not known"),
        ("rounding: []", 57, "an empty list"),
        ("layout: {a: 1}", 55, "a list is expected"),
        ("traversal: channel", 58, "`channel` is of depthwise"),
        ("traversal: any", 58, "`channel` is of depthwise"),
        ("tap_order: direct, ring: k_h", 72, "direct order reads its taps anew"),
        ("tap_order: direct, prefetch: true", 76, "direct order reads its taps anew"),
        ("prefetch: yes", 57, "'yes' is not known"),
        ("weights: packed", 56, "'packed' is not known"),
        ("weights: int16", 5, "packed weights need weights_bytes"),
        ("weights_bytes: 4", 5, "weights_bytes is of packed weights"),
        ("chips: rp2041", 54, "'rp2041' is not known"),
        ("run: Fast", 52, "'Fast' is no name"),
        ("run: int", 52, "'int' is no name"),
        ("run: fast(), set: a", 52, "'fast()' is no name"),
        (f"run: {'a' * 61}", 52, "is no name"),
        ("set: ../x", 52, "'../x' is no name"),
    ],
)
def test_what_is_refused(tmp_path: Path, more: str, column: int, says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        _one(tmp_path, more)
    assert caught.value.message.startswith(f"{tmp_path / 'kernels.yaml'}:2:{column}: ")
    assert says in caught.value.message


@pytest.mark.parametrize(
    "source",
    [
        "gone.c", "../fast.c", "/etc/passwd", "sub/../../fast.c", "fast.h", "fast.o", "'-lm.c'",
        "link.c", "folder.c", "'fast.c -DX.c'", "'@fast.c'", "''",
    ],
)  # fmt: skip
def test_sources_are_files_of_the_folder(tmp_path: Path, source: str) -> None:
    folder = tmp_path / "mine"
    (folder / "folder.c").mkdir(parents=True)
    (tmp_path / "fast.c").write_text("")
    (folder / "link.c").symlink_to(tmp_path / "fast.c")
    _folder(folder, f"name: fast, op: conv, sources: [{source}]")
    with pytest.raises(ConfigError, match=r"kernels.yaml:2:38: .* (no source|not a file)"):
        load_kernels(folder, "mine")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("kernels: []", "no kernels"),
        ("kernels: 3", "a list is expected"),
        ("sets: []", "unknown key 'sets'"),
        ("- a", "a mapping"),
        (f"kernels: [{{{ENTRY}}}, {{{ENTRY}}}]", "the kernel 'fast' is here twice"),
        ("kernels: [{op: conv, sources: [fast.c]}]", "'name' is missing"),
        ("kernels: [{name: a, op: conv, sources: []}]", "no sources"),
        (f"kernels: [{', '.join(['{a: 1}'] * 501)}]", "more than 500 kernels"),
        ("kernels: !!python/name:os.system x", "not YAML"),
    ],
)
def test_documents_that_are_none(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "fast.c").write_text("")
    (tmp_path / "kernels.yaml").write_text(text)
    with pytest.raises(ConfigError, match=says):
        load_kernels(tmp_path, "mine")


def test_the_set_is_needed_in_the_shipped_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="'set' is missing"):
        load_kernels(_folder(tmp_path, ENTRY))


def test_plain_kernels_have_the_same_numbers_in_every_set(tmp_path: Path) -> None:
    plain = find_kernels("plain")
    mine = find_kernels(str(_folder(tmp_path, ENTRY)))
    count = len(plain.kernels)
    assert [kernel.name for kernel in mine.kernels[:count]] == [k.name for k in plain.kernels]
    assert mine.kernels[count].name == mine.preferred[0].name == "fast"
    assert mine.name_of(count) == "fast"
    assert mine.name_of(count + 1) == f"kernel {count + 1}"
    assert find_kernels("plain") is plain


def test_fast_is_the_set_of_the_chip() -> None:
    assert [set_for("fast", chip) for chip in ("rp2040", "rp2350")] == ["m0plus", "m33"]
    assert set_for("fast", "another") == "plain"
    assert set_for("m33", "rp2040") == "m33"


def test_sets_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        find_kernels("plian")
    assert "did you mean 'plain'?" in caught.value.hint
    for entry in (
        "name: plain_move, op: move, sources: [fast.c]",
        "name: mine, run: plain_move, op: move, sources: [fast.c]",
        f"{ENTRY}, set: plain",
    ):
        find_kernels.cache_clear()
        with pytest.raises(ConfigError, match="is a plain kernel's"):
            find_kernels(str(_folder(tmp_path, entry)))


def test_every_source_of_the_shipped_kernels_is_declared() -> None:
    folder = resources.firmware() / "kernels"
    sets = [find_kernels(name).kernels for name in shipped_sets()]
    declared = {
        kernel.folder / name for kernels in sets for kernel in kernels for name in kernel.sources
    }
    found = {path for path in folder.rglob("*") if path.suffix in (".c", ".S")}
    assert declared == found


def test_the_first_that_takes_an_op_runs_it(tmp_path: Path) -> None:
    """Own kernels in the order of the file, then the plain ones; rounding, chip and scratch count."""
    entries = (
        "name: narrow, op: conv, accepts: c_in <= 4, chips: rp2350, pixels: 2, "
        "scratch: 2 * k_h * k_w * c_in, sources: [fast.c]",
        f"{ENTRY}, pixels: [2, w_out], accepts: c_in % 4 == 0, scratch: b * 100",
    )
    name = str(_folder(tmp_path, *entries))
    narrow, wide, odd = (ConvGeometry(6, 6, c, 2) for c in (4, 8, 9))

    def chosen(
        g: ConvGeometry, *, chip: str = "rp2350", rounding: Rounding = Rounding.DOUBLE
    ) -> str:
        kernels = KernelTraits(name, chip, Limits(scratch_bytes=500))
        return kernels.choose(OpKind.CONV, g, GATHER, rounding).kernel.name

    assert chosen(narrow) == "narrow"
    assert chosen(narrow, chip="rp2040") == chosen(wide) == "fast"
    assert chosen(odd) == "plain_conv_gather_double"
    assert chosen(narrow, rounding=Rounding.SINGLE) == "plain_conv_gather_single"
    traits = KernelTraits(name, "rp2350", Limits(scratch_bytes=199))
    assert traits.choose(OpKind.CONV, wide, GATHER).kernel.name == "plain_conv_gather_double"
    direct = Execution(tap_order=TapOrder.DIRECT)
    assert (
        traits.choose(OpKind.CONV, wide, direct).index
        == PLAIN.choose(OpKind.CONV, wide, direct).index
    )
    with pytest.raises(ConfigError, match="no kernel of plain runs depthwise as channel"):
        PLAIN.choose(
            OpKind.DEPTHWISE, ConvGeometry(4, 4, 2, 4), Execution(traversal=Traversal.CHANNEL)
        )


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ("pixels: w_out - 6", "a step of 0 pixels"),
        ("channels: c_in - 8", "steps of 1 pixels by 0 channels"),
        ("ring: k_h - 1", "a ring of 2 rows, and the window spans 3"),
    ],
)
def test_what_a_geometry_shows(tmp_path: Path, more: str, says: str) -> None:
    name = str(_folder(tmp_path, f"{ENTRY}, {more}"))
    with pytest.raises(ConfigError, match=says):
        KernelTraits(name).bound(OpKind.CONV, ConvGeometry(8, 8, 8, 2, 3, 3), GATHER)


def test_alignment_is_the_largest_of_the_set(tmp_path: Path) -> None:
    assert PLAIN.alignment == 4
    assert KernelTraits(str(_folder(tmp_path, f"{ENTRY}, alignment: 8"))).alignment == 8
