# SPDX-License-Identifier: Apache-2.0
"""What `ripbench gap` prints, and how it answers wrong words and wrong lists."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from harness.bounds import bound_of, dense
from harness.cli import main
from harness.cli.explain import as_text, explain
from harness.geometry import DIRECT, GATHER, ConvGeometry, Execution, Pad
from harness.network.draw import draw_geometry
from harness.paper.generators import draw_layers
from harness.schema.constants import Layout, OpKind, TapOrder, Traversal

GOOD = {"h_in": 8, "w_in": 9, "c_in": 3, "c_out": 5, "k": [3, 3], "s": [1, 2], "p": [1, 0]}
EXACT = ("rip_padded_gather", "rip_padded_direct", "rip_dense_gather", "rip_dense_direct")


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["gap", "--conv", "48x48x3-24", "--k", "3", "--s", "2", "--pad", "1", "--json"]) == 0
    )
    answer = json.loads(capsys.readouterr().out)
    assert answer["version"] == 1
    assert answer["rip_dense_gather"] == {"gap": 7185, "debt": 7185, "workspace": 14097}
    assert answer["rip_dense_direct"]["debt"] == 7185 + 24
    assert answer["rip_dense_direct_scalar"]["debt"] == 7185 + 23
    assert answer["dual"]["workspace"] == 6912 + 13824
    (printed,) = answer["published"]["rip_dense_gather"]
    assert printed == {"form": "Theorem 13", "gap": 7185, "workspace": 14097}


def test_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gap", "--conv", "12x12x64-16"]) == 0
    out = capsys.readouterr().out
    assert "12x12x64 -> 12x12x16, 1x1" in out
    assert "-48" in out


def test_printed_forms_beside_the_exact_ones(capsys: pytest.CaptureFixture[str]) -> None:
    """Table 2's first row, and a layer that Theorem 13 gets wrong."""
    assert main(["gap", "--conv", "14x14x1-5", "--k", "3"]) == 0
    assert "Theorem 11: 533; Eq. 1: 531, too small; Corollary 1: 533" in capsys.readouterr().out
    assert main(["gap", "--conv", "5x6x1-3", "--s", "3x2", "--pad", "0x2"]) == 0
    out = capsys.readouterr().out
    assert "Theorem 13: 4, too small" in out
    assert "Eq. 1" not in out


def test_every_way_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    g = ConvGeometry(9, 7, 2, 5, 3, 2, 1, 2, 2, 1, Pad(2, 1, 0, 1))
    words = ["--k", "3x2", "--s", "1x2", "--d", "2x1", "--pad", "2,1,0,1"]
    assert main(["gap", "--conv", "9x7x2-5", *words, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    for layout in Layout:
        for traversal in (Traversal.ROW, Traversal.COLUMN, Traversal.REVERSE):
            for order in TapOrder:
                bound = bound_of(
                    OpKind.CONV, g, Execution(layout, order, traversal), release="pixel"
                )
                turn = [] if traversal is Traversal.ROW else [traversal.name.lower()]
                key = "_".join(["rip", layout.name.lower(), *turn, order.name.lower()])
                expected = {"gap": bound.gap, "debt": bound.debt, "workspace": bound.workspace}
                assert answer[key] == expected


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--conv", "12x12"], "--conv '12x12' is not HxWxC-C"),
        (["--conv", "4x4x1-1", "--k", "a"], "--k 'a'"),
        (["--conv", "4x4x1-1", "--k", "5"], "no output"),
        (["--conv", "65535x65535x1-1", "--explain"], "too many to explain"),
    ],
)
def test_wrong_words(words: list[str], complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gap", *words]) == 1
    error = capsys.readouterr().err
    assert error.startswith("ConfigError: ")
    assert complaint in error
    assert "try: " in error


def test_explain_finds_the_debt() -> None:
    """The largest of all pixels' debts is the closed form's."""
    draws = draw_geometry(OpKind.CONV, 41)
    seen = 0
    for _ in range(300):
        g = next(draws)
        assert isinstance(g, ConvGeometry)
        for execution in (GATHER, DIRECT):
            binding = explain(g, execution).binding
            debt = dense(g, direct=execution.direct).debt
            assert (binding.debt if binding else None) == debt
            if binding is None:
                assert "no debt" in as_text(explain(g, execution))
                continue
            seen += 1
            (r, c), (i, j), (y, x) = binding.output, binding.tap, binding.stored
            assert (y, x) == (
                r * g.s_h + i * g.d_h - g.pad.top,
                c * g.s_w + j * g.d_w - g.pad.left,
            )
            assert binding.address == (y * g.w_in + x) * g.c_in
    assert seen > 300


def test_explain_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gap", "--conv", "147x147x32-64", "--k", "3", "--pad", "1", "--explain"]) == 0
    out = capsys.readouterr().out
    assert "output pixel (146, 146), number 21608 of 21609, binds by tap (0, 0)" in out
    assert "= debt 696192" in out
    assert "696192 |" in out


@pytest.mark.parametrize("conv", ["14x14x1-5", "3x2x2-2", "1x1x1-1", "200x3x4-9"])
def test_figure(conv: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Well-formed, the same bytes each time, nothing outside the page, and what binds is marked."""
    files = [tmp_path / "one.svg", tmp_path / "two.svg"]
    for file in files:
        words = ["--conv", conv, "--figure", str(file), "--tap-order", "direct"]
        assert main(["gap", *words]) == 0
    assert files[0].read_bytes() == files[1].read_bytes()
    root = ElementTree.fromstring(files[0].read_text())
    tag = "{http://www.w3.org/2000/svg}"
    assert root.tag == f"{tag}svg"
    for line in root.iter(f"{tag}polyline"):
        points = [tuple(map(float, point.split(","))) for point in line.attrib["points"].split()]
        assert all(0 <= x <= 760 and 0 <= y <= 560 for x, y in points)
    words = " ".join(text.text or "" for text in root.iter(f"{tag}text"))
    assert "herringbone order" in words
    assert f"{files[0]} written" in capsys.readouterr().err
    assert "debt " in words


def _list(tmp_path: Path, text: object, name: str = "layers.json") -> Path:
    file = tmp_path / name
    file.write_text(text if isinstance(text, str) else json.dumps(text))
    return file


def test_list_of_layers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each answer is what the layer alone gets."""
    layers = [g for _, g in draw_layers(60, 9)]
    entries = [
        {
            **{name: getattr(g, name) for name in ("h_in", "w_in", "c_in", "c_out")},
            **{name: [getattr(g, f"{name}_h"), getattr(g, f"{name}_w")] for name in "ksd"},
            "pad": [g.pad.top, g.pad.left, g.pad.bottom, g.pad.right],
        }
        for g in layers
    ]
    assert main(["gap", "--from", str(_list(tmp_path, entries)), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["version"] == 1
    assert len(answer["layers"]) == 60
    for g, found in zip(layers, answer["layers"], strict=True):
        assert main(["gap", "--json", *_words(g)]) == 0
        alone = json.loads(capsys.readouterr().out)
        for name in (*EXACT, "herringbone", "dual"):
            assert found[name] == alone[name], (str(g), name)
        for name in (*EXACT, "herringbone"):
            printed = alone["published"][name][0]
            assert found["published"][name] == {k: printed[k] for k in ("gap", "workspace")}


def _words(g: ConvGeometry) -> list[str]:
    p = g.pad
    return [
        *("--conv", f"{g.h_in}x{g.w_in}x{g.c_in}-{g.c_out}"),
        *("--k", f"{g.k_h}x{g.k_w}", "--s", f"{g.s_h}x{g.s_w}", "--d", f"{g.d_h}x{g.d_w}"),
        *("--pad", f"{p.top},{p.left},{p.bottom},{p.right}"),
    ]


def test_yaml_equals_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "- {h_in: 8, w_in: 9, c_in: 3, c_out: 5, k: [3, 3], s: [1, 2], p: [1, 0]}\n"
    block = "- h_in: 8\n  w_in: 9\n  c_in: 3\n  c_out: 5\n  k: [3, 3]\n  s:\n  - 1\n  - 2\n  p: [1, 0]\n"
    outs = []
    for file in (
        _list(tmp_path, [GOOD, GOOD]),
        _list(tmp_path, text + block, "layers.yaml"),
    ):
        assert main(["gap", "--from", str(file), "--json"]) == 0
        outs.append(capsys.readouterr().out)
    assert outs[0] == outs[1]


def test_left_out_keys(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    entry = {name: GOOD[name] for name in ("h_in", "w_in", "c_in", "c_out", "k")}
    assert main(["gap", "--from", str(_list(tmp_path, [entry])), "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["layers"]
    g = ConvGeometry(8, 9, 3, 5, 3, 3)
    assert found["rip_dense_gather"]["debt"] == dense(g, direct=False).debt
    assert main(["gap", "--from", str(_list(tmp_path, []))]) == 0


def test_text_of_a_list(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    unsafe = {"h_in": 5, "w_in": 6, "c_in": 1, "c_out": 3, "k": [1, 1], "s": [3, 2], "p": [0, 2]}
    assert main(["gap", "--from", str(_list(tmp_path, [GOOD] * 60 + [unsafe]))]) == 0
    assert "... and 11 more" in capsys.readouterr().out
    assert main(["gap", "--from", str(_list(tmp_path, [unsafe]))]) == 0
    assert "5 (printed 4)" in capsys.readouterr().out


BAD = [
    ({"s": [0, 1]}, "s", "0 is not within 1 to 65535"),
    ({"c_in": 0}, "c_in", "0 is not within"),
    ({"c_out": 0}, "c_out", "0 is not within"),
    ({"h_in": -3}, "h_in", "-3 is not within"),
    ({"p": [-1, 0]}, "p", "-1 is not within 0 to"),
    ({"d": [1, 0]}, "d", "0 is not within"),
    ({"k": [11, 1]}, "k", "the kernel spans 11 rows and the padded input has 10"),
    ({"k": [1, 5], "d": [1, 3]}, "k", "the kernel spans 13 columns"),
    ({"k": [3]}, "k", "2 whole numbers are expected"),
    ({"k": 3}, "k", "2 whole numbers are expected"),
    ({"w_in": 9.0}, "w_in", "9.0 is not a whole number"),
    ({"w_in": True}, "w_in", "True is not a whole number"),
    ({"w_in": "9"}, "w_in", "'9' is not a whole number"),
    ({"w_in": None}, "w_in", "None is not a whole number"),
    ({"w_in": 10**60}, "w_in", "a huge number"),
    ({"h_in": 60000, "w_in": 60000}, "c_in", "2^31"),
    ({"h_in": 8000, "w_in": 8000, "c_in": 1, "c_out": 70}, "c_out", "2^31"),
    ({"p": [65535, 65535], "k": [1, 1]}, "p", "the output has"),
    ({"stride": [1, 1]}, "'stride'", "unknown key"),
    ({"pad": [0, 0, 0, 0]}, "pad", "is given beside p"),
    ({"w_in": [[1]]}, "w_in", "a list is not a whole number"),
    ({"w_in": {"a": 1}}, "w_in", "a mapping is not a whole number"),
]


@pytest.mark.parametrize(("change", "field", "problem"), BAD, ids=[str(bad[0]) for bad in BAD])
def test_wrong_entries(
    change: dict[str, object],
    field: str,
    problem: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One among many: nothing on stdout, exit 2, and file, entry and field are named."""
    file = _list(tmp_path, [GOOD] * 7 + [{**GOOD, **change}, GOOD])
    for words in ([], ["--json"]):
        assert main(["gap", "--from", str(file), *words]) == 2
        said = capsys.readouterr()
        assert said.out == ""
        assert f"{file}: entry 7, {field}: " in said.err
        assert problem in said.err


def test_wrong_entries_in_yaml_have_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = "- {h_in: 8, w_in: 9, c_in: 3, c_out: 5, k: [3, 3]}\n"
    for bad, spot, field in (
        ("- {h_in: 8, w_in: 9, c_in: 3, c_out: 5, k: [3, 3], s: [0, 1]}\n", "3:52", "s"),
        ("- h_in: 8\n  w_in: 9\n  c_in: 0x3\n  c_out: 5\n  k: [3, 3]\n", "5:3", "c_in"),
        ("- {h_in: 8, w_in: '9', c_in: 3, c_out: 5, k: [3, 3]}\n", "3:13", "w_in"),
        ("- {h_in: 8, w_in: 9, c_in: 3, c_out: 5, k: [3, 3], h_in: 8}\n", "3:52", "'h_in'"),
        ("- {h_in: 8, w_in: 9, c_out: 5, k: [3, 3]}\n", "3:3", "c_in"),
    ):
        file = _list(tmp_path, good * 2 + bad, "layers.yaml")
        assert main(["gap", "--from", str(file), "--json"]) == 2
        said = capsys.readouterr()
        assert said.out == ""
        assert f"{file}:{spot}: entry 2, {field}: " in said.err
    file = _list(tmp_path, good + "- 7\n", "layers.yaml")
    assert main(["gap", "--from", str(file)]) == 2
    assert f"{file}:2:3: entry 1: a mapping" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("a.json", "[{", ":1:3: not JSON"),
        ("a.json", "{}", "is not a list"),
        ("a.json", '{"layers": []}', "is not a list"),
        ("a.json", "[" * 100_000, "not JSON"),
        ("a.json", f"[{'9' * 5000}]", "not JSON that can be read"),
        ("a.json", '[{"h_in": 8, "h_in": 8}]', "entry 0, 'h_in': is here twice"),
        ("a.json", '[["h_in", 8]]', "entry 0: a mapping"),
        ("a.json", '[{"h_\\u001b[31m": 8}]', "'h_\\x1b[31m': unknown key"),
        ("a.yaml", "- {h_in: [", "not YAML"),
        ("a.yaml", "a: 1\n", "is not a list"),
        ("a.yaml", "", "is empty"),
        ("a.yaml", "- &a {h_in: 1}\n- *a\n", "aliases are not allowed"),
        ("a.yaml", "- " + "[" * 50 + "]" * 50, "more than 20 levels"),
        ("a.yaml", "- !!python/object/apply:os.system ['true']\n", "entry 0: a mapping"),
        ("a.yaml", "- 1\n---\n- 2\n", "more than one YAML document"),
        ("a.txt", "[]", "neither .json nor .yaml"),
    ],
)
def test_wrong_files(
    name: str, text: str, complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["gap", "--from", str(_list(tmp_path, text, name)), "--json"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert complaint in said.err


def test_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gap", "--from", str(tmp_path / "none.json")]) == 2
    assert "cannot be read" in capsys.readouterr().err
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe")
    assert main(["gap", "--from", str(tmp_path / "bytes.json")]) == 2
    assert "is not UTF-8" in capsys.readouterr().err


def test_keep_going(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = _list(tmp_path, [GOOD, {**GOOD, "s": [0, 1]}, GOOD, {}])
    assert main(["gap", "--from", str(file), "--json"]) == 2
    assert "other wrong entries: 1" in capsys.readouterr().err
    assert main(["gap", "--from", str(file), "--json", "--keep-going"]) == 1
    layers = json.loads(capsys.readouterr().out)["layers"]
    assert layers[0] == layers[2]
    assert layers[0]["rip_dense_gather"]["gap"] >= 0
    assert layers[1]["error"]["where"] == f"{file}: entry 1, s"
    assert layers[1]["error"]["field"] == "s"
    assert layers[3]["error"]["message"] == "is missing"
    assert main(["gap", "--from", str(file), "--keep-going"]) == 1
    assert "entry 1, s: 0 is not within" in capsys.readouterr().out


def test_options_of_one_layer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gap", "--from", str(_list(tmp_path, [GOOD])), "--explain"]) == 2
    assert "--explain is of one layer" in capsys.readouterr().err
