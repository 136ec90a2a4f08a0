# SPDX-License-Identifier: Apache-2.0
"""Hostile YAML, as boards.yaml and as a layer set: an error that names the file, soon."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.boards import load_boards
from harness.errors import ConfigError
from harness.network import layerset, load_network, load_set
from harness.strictyaml import MAX_BYTES, MAX_DEPTH, MAX_NODES

_SECONDS = 20  # the largest documents take PyYAML 2 s
_BOARD = 'a: {chip: rp2040, probe: "emu:a", clock_hz: 125000000}'
_LAYER = "{id: a, h_in: 5, w_in: 5, c_in: 2, c_out: 2}"


def _refused(load: Callable[[Path], object], path: Path) -> str:
    start = time.monotonic()
    with pytest.raises(ConfigError) as caught:
        load(path)
    assert time.monotonic() - start < _SECONDS
    text = str(caught.value)
    assert path.name in text
    assert len(text) < 2000
    assert all(c.isprintable() or c == "\n" for c in text)
    return text


def _written(folder: Path, data: bytes) -> Path:
    path = folder / "hostile.yaml"
    path.write_bytes(data)
    return path


def _bomb() -> str:
    """Ten levels of ten aliases each."""
    levels = ["l0: &l0 [x]"]
    levels += [f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]" for n in range(1, 10)]
    return "\n".join(levels)


DOCUMENTS = {
    "python object": "boards: !!python/object/apply:os.mkdir [made]\n",
    "python name": "boards: {a: !!python/name:os.system x}\n",
    "python module": "!!python/module:os {}\n",
    "own tag": "boards: !mine {a: 1}\n",
    "tag of a key": "!!python/name:os.system boards: {}\n",
    "tag of a number": "boards: {a: !!int '5'}\n",
    "tag directive": "%TAG ! tag:yaml.org,2002:python/\n---\nboards: !name:os.system {}\n",
    "alias bomb": _bomb(),
    "alias of itself": "boards: &a {b: *a}\n",
    "merge key": "boards: {<<: {a: 1}}\n",
    "deep flow": "boards: " + "[" * 400_000,
    "deep braces": "boards: " + "{a: " * 100_000,
    "deep blocks": "\n".join(" " * n + "a:" for n in range(MAX_DEPTH + 5)),
    "many nodes": "boards: [" + "x," * (MAX_NODES + 1) + "]",
    "a key twice": "boards: {}\nboards: {}\n",
    "a mapping as key": "{a: b}: c\n",
    "a list as key": "? [a, b]\n: c\n",
    "no key": ": b\n",
    "two documents": "boards: {}\n---\nboards: {}\n",
    "a list": "- boards\n",
    "a word": "boards\n",
    "empty": "",
    "comments": "# nothing\n" * 1000,
    "control characters": "boards: {a\x1b[2J: 1}\n",
    "escaped control characters": 'boards: {"\\e[2J\\a\\u202e": 1}\nlayers: ["\\e[2J"]\n',
    "a long key": '"' + "k" * 900_000 + '": 1\n',
    "a long word": "boards: " + "w" * 900_000 + "\n",
    "tabs": "boards:\n\t- a\n",
}
BYTES = {
    "zeros": b"boards: {a\0: 1}\n",
    "not UTF-8": b"boards: {a: \xff\xfe\x80}\n",
    "UTF-16": "boards: {}\n".encode("utf-16"),
    "surrogates": b"boards: {\xed\xa0\x80: 1}\n",
    "too large": b"# " + b"x" * MAX_BYTES,
    "only zeros": bytes(1000),
    "noise": bytes(range(256)) * 4,
}
BOTH = {**{name: text.encode() for name, text in DOCUMENTS.items()}, **BYTES}


@pytest.mark.parametrize("load", [load_boards, load_set, load_network])
@pytest.mark.parametrize("data", BOTH.values(), ids=BOTH)
def test_hostile_documents(
    load: Callable[[Path], object], data: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    _refused(load, _written(tmp_path, data))
    assert [path.name for path in tmp_path.iterdir()] == ["hostile.yaml"]


NUMBERS = {
    "decimal": "9" * 200_000,
    "short of Python's limit": "9" * 4300,
    "hexadecimal": "0x" + "f" * 200_000,
    "binary": "0b" + "1" * 200_000,
    "negative": "-" + "9" * 5000,
    "underscores": "1" + "_" * 5000 + "0" * 30,
    "20 digits": "9" * 20,
    "infinity": ".inf",
    "nan": ".nan",
    "float": "1e9",
    "sexagesimal": "190:20:30",
    "octal": "0777",
    "only underscores": "0x_",
    "null": "~",
    "true": "true",
}


@pytest.mark.parametrize("number", NUMBERS.values(), ids=NUMBERS)
def test_hostile_numbers(number: str, tmp_path: Path) -> None:
    boards = f'boards: {{a: {{chip: rp2040, probe: "emu:a", clock_hz: {number}}}}}'
    assert "hostile.yaml:1:" in _refused(load_boards, _written(tmp_path, boards.encode()))
    layers = f"layers: [{{id: a, h_in: {number}, w_in: 5, c_in: 2, c_out: 2}}]"
    assert "hostile.yaml:1:" in _refused(load_set, _written(tmp_path, layers.encode()))


def test_a_byte_order_mark_is_no_mistake(tmp_path: Path) -> None:
    path = _written(tmp_path, b"\xef\xbb\xbf" + f"boards: {{{_BOARD}}}".encode())
    assert "a" in load_boards(path)


def test_as_many_nodes_as_there_may_be(tmp_path: Path) -> None:
    """One less than too many, and the same error as for a short list."""
    path = _written(tmp_path, b"layers: [" + b"x," * (MAX_NODES - 4) + b"]")
    assert "a mapping" in _refused(load_set, path)


NAMES = [
    "", ".", "..", "../a", "/etc/passwd", "a/b", "a\\b", "A", "ä", "a b", "a\nb", "a\x1b[31m",
    "<b>", "a&b", "a\u202eb", "-a", "a-", "%s", "$(id)", "a;b", "nul\x00", "con:", "~", "a" * 61,
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_names_that_could_be_more_than_names(name: str, tmp_path: Path) -> None:
    """Of boards and layers: they become file names, test ids and cells of tables."""
    quoted = '"' + "".join(f"\\U{ord(c):08x}" for c in name) + '"'
    board = _BOARD.replace("a: ", f"{quoted}: ", 1)
    assert "is not a board name" in _refused(
        load_boards, _written(tmp_path, f"boards: {{{board}}}".encode())
    )
    layer = _LAYER.replace("id: a", f"id: {quoted}")
    assert "is not an id" in _refused(load_set, _written(tmp_path, f"layers: [{layer}]".encode()))


@pytest.mark.parametrize("probe", ["emu", "emu:", ":a", "emu:a b", "e/u:a", "emu:../a", "emu:a\\n"])
def test_probes_that_are_none(probe: str, tmp_path: Path) -> None:
    board = _BOARD.replace("emu:a", probe)
    assert "is not a probe" in _refused(
        load_boards, _written(tmp_path, f"boards: {{{board}}}".encode())
    )


def test_lists_that_multiply_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of 7 KB, 10^10 layers: none of them is made."""
    monkeypatch.setattr(layerset, "name_of", lambda _: pytest.fail("a layer was made"))
    numbers = ", ".join(map(str, range(100, 420)))
    lists = ", ".join(f"{name}: [{numbers}]" for name in ("h_in", "w_in", "c_in", "c_out"))
    text = f"varied: [{{base: {{op: conv}}, vary: [{{{lists}}}]}}]"
    assert "more than 200000 layers" in _refused(load_set, _written(tmp_path, text.encode()))


def test_sets_that_add_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layerset, "_MAX_LAYERS", 25)
    drawn = "drawn: [{op: conv, count: 10, seed: 1}, {op: conv, count: COUNT, seed: 2}]"
    varied = (
        "varied: [{base: {op: conv, w_in: 5, c_in: 2, c_out: 2}, vary: [{h_in: [5, 6, 7, 8, 9]}]}]"
    )
    for count in (10, 11):
        path = _written(tmp_path, f"{varied}\n{drawn}".replace("COUNT", str(count)).encode())
        if count == 10:
            assert len(load_set(path)) == 25
        else:
            assert "more than 25 layers" in _refused(load_set, path)


@pytest.mark.parametrize("load", [load_boards, load_set, load_network])
def test_what_is_no_file(load: Callable[[Path], object], tmp_path: Path) -> None:
    """A pipe would never end, /dev/zero neither."""
    pipe, endless = tmp_path / "pipe.yaml", tmp_path / "endless.yaml"
    os.mkfifo(pipe)
    endless.symlink_to("/dev/zero")
    (tmp_path / "folder.yaml").mkdir()
    for path in (pipe, endless, tmp_path / "folder.yaml"):
        assert "is not a file" in _refused(load, path)
    _refused(load, tmp_path / "missing.yaml")
