# SPDX-License-Identifier: Apache-2.0
"""Words of boards and files are shown, never obeyed: not by a terminal, not by a reader of JUnit XML."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import pytest

from harness.cli import main
from harness.errors import ConfigError
from harness.history import reading
from harness.history.export import export
from harness.report import identities, printable, properties, table
from harness.results import Provenance, Verdict

ROOT = Path(__file__).parents[1]
HOSTILE = {
    "escape": "\x1b[2J\x1b]0;owned\x07",
    "C1": "\x9b31m\x85",
    "XML": "]]><!--<script>alert(1)</script>&quot;'\"",
    "XML controls": "\x00\x0b\x1f\ufffe\uffff",
    "direction": "\u202egnp.exe\u2066\u200f",
    "invisible": "a\u200b\u00ad\ufeffb",
    "lines": "a\nPASSED\r\n  try: rm -rf /\u2028b",
    "surrogate": "\udc80\ud800",
    "path": "../../etc/passwd",
    "format": "%s%n{0}{evidence}",
}
_PROVENANCE = Provenance(
    board="desk", kind="board", chip="rp2040", unique_id="00", clk_sys_hz=1, elf_hash="0",
    build_id="0", pack_id="0", nonce="0", compiler="cc",
)  # fmt: skip


def _obeyed(text: str) -> list[str]:
    """Characters that something might obey."""
    return [c for c in text if not c.isprintable() and c != "\n"]


def _verdict(text: str) -> Verdict:
    """With this in every field that is a text."""
    values: dict[str, object] = {}
    for name, kind in Verdict.__annotations__.items():
        plain = str(kind)
        values[name] = () if plain.startswith("tuple") else text if plain == "str" else 1
    provenance = replace(_PROVENANCE, board=text, compiler=text)
    return Verdict(**{**values, "failures": (text,), "ok": False, "provenance": provenance})  # type: ignore[arg-type]


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_reports(text: str) -> None:
    verdict = replace(_verdict(text), plan="rip", output_crc="0", debt="", witness="")
    lines = table([verdict]).splitlines()
    assert len(lines) == len(
        table([replace(verdict, layer="a", provenance=_PROVENANCE)]).splitlines()
    )
    for shown in (*lines, *identities([verdict]).splitlines()):
        assert _obeyed(shown) == []
    assert len(identities([verdict]).splitlines()) == 2
    for name, value in properties(verdict):
        assert printable(value) == value, name


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_errors(text: str) -> None:
    """Each part of one, as it is shown; what it holds stays as it came."""
    error = ConfigError(text, cause=text, evidence={text: text, "n": [text]}, hint=text)
    assert _obeyed(str(error)) == []
    assert error.message == text
    own = [line for line in str(error).split("\n") if not line.startswith("    ")]
    assert len(own) == 5  # a line break of theirs begins no line of ours
    assert str(error).encode()  # and every terminal can be sent it


def test_a_compilers_output_keeps_its_lines() -> None:
    error = ConfigError("no", evidence={"output": "a.c:1: error\n    x = 1;\n    ^"})
    assert str(error).split("\n") == ["no", "  output: a.c:1: error", "        x = 1;", "        ^"]


def test_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file whose very name is hostile, and what is in it."""
    monkeypatch.chdir(tmp_path)
    path = Path("\x1b[2J\u202e.yaml")
    path.write_text('boards: {"\\e[2J\\u202e": 1}')
    assert main(["boards", "--boards", str(path)]) == 1
    assert main(["doctor", "--boards", str(path)]) == 1
    path.write_text(
        'boards: {a: {chip: rp2040, probe: "none:a", serial: "\\e[2J\\u202e", clock_hz: 1000000}}'
    )
    assert main(["boards", "--boards", str(path)]) == 0
    assert main(["doctor", "--boards", str(path), "--board", "a"]) == 1
    capsys_out = capsys.readouterr()
    assert _obeyed(capsys_out.out + capsys_out.err) == []
    assert main(["boards", "--json", "--boards", str(path)]) == 0
    out = capsys.readouterr().out
    assert out.isascii()
    assert _obeyed(out) == []
    assert json.loads(out)["boards"][-1]["serial"] == "\x1b[2J\u202e"


# ---- a board that says such things, through pytest and JUnit ----

PORT = '''
"""`loud://NAME`: an emulated board whose firmware logs hostile lines and loses its results."""
import serial
from cobs import cobs
from harness.schema.constants import FrameType
from harness.wire import Decoder, Frame, encode
TEXTS = TEXTS_HERE

class Serial:
    def __init__(self, *arguments, **options):
        inner = serial.serial_for_url("emu://loud", do_not_open=True)
        self.__dict__.update(_inner=inner, _decoder=Decoder(), _ready=b"", _sequence=0, _mute=False)
    def __getattr__(self, name):
        return getattr(self._inner, name)
    def __setattr__(self, name, value):
        if name != "port":
            setattr(self._inner, name, value)
    @property
    def in_waiting(self):
        return len(self._ready)
    def _say(self, kind, nonce, payload):
        frame = Frame(kind, self._sequence, nonce, payload)
        self.__dict__.update(_ready=self._ready + encode(frame), _sequence=self._sequence + 1)
    def read(self, count=1):
        if not self._ready:
            data = self._inner.read(1)
            data += self._inner.read(self._inner.in_waiting) if data else b""
            for frame in self._decoder.feed(data):
                if frame.type == FrameType.HELLO:
                    self.__dict__.update(_sequence=frame.sequence, _mute=False)
                if frame.type == FrameType.RESULT:
                    for text in TEXTS:
                        self._say(FrameType.LOG, frame.nonce, text)
                    self.__dict__["_mute"] = True
                elif not self._mute:
                    self._say(frame.type, frame.nonce, frame.payload)
        data = self._ready[:count]
        self.__dict__["_ready"] = self._ready[count:]
        return data
'''
OWN_TEST = """
import pytest, serial
serial.protocol_handler_packages.append("loud")
from harness.errors import ProbeError
from harness.geometry import ConvGeometry
from harness.network import Layer
TEXTS = TEXTS_HERE

@pytest.mark.parametrize("text", TEXTS)
def test_names_of_parameters(text):
    raise ProbeError(text, cause=text, evidence={text: text})

@pytest.mark.parametrize("text", TEXTS)
def test_layers(bench, text):
    assert bench.prove(Layer(text, ConvGeometry(4, 4, 2, 2))).ok

def test_log(loud):
    loud.prove(Layer("quiet", ConvGeometry(4, 4, 2, 2)))

@pytest.fixture
def loud(pytestconfig):
    from harness.bench import Bench
    from harness.boards import find_board, load_boards
    made = Bench(find_board("loud", load_boards()))
    yield made
    made.close()
"""
LOUD = '{chip: rp2040, probe: "emu:loud", serial: "loud://loud", clock_hz: 125000000}'
BOARDS = f"boards: {{loud: {LOUD}}}\n"


def test_junit_and_terminal(tmp_path: Path) -> None:
    texts = [text for name, text in HOSTILE.items() if name != "surrogate"]
    handlers = tmp_path / "loud"
    handlers.mkdir()
    (handlers / "__init__.py").write_text("")
    logged = [text.encode() for text in texts] + [b"\xff\xfe\x1b[31m"]
    (handlers / "protocol_loud.py").write_text(PORT.replace("TEXTS_HERE", repr(logged)))
    (tmp_path / "test_own.py").write_text(OWN_TEST.replace("TEXTS_HERE", ascii(texts)))
    (tmp_path / "boards.yaml").write_text(BOARDS)
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}", "NO_COLOR": "1"}
    words = ["--seeds", "1", "--tap-order", "gather", "-v", "-rA", "--junitxml=junit.xml"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:benchmark", *words],
        cwd=tmp_path, env=environment, capture_output=True, timeout=300,
    )  # fmt: skip
    out = (done.stdout + done.stderr).decode()
    assert done.returncode == 1, out
    assert _obeyed(out.replace("\r\n", "\n")) == []
    assert f"{len(texts) + 1} failed, {len(texts)} passed" in out
    assert "DeadlineError" in out  # of the board that logs, with its last lines

    root = ElementTree.parse(tmp_path / "junit.xml").getroot()
    for element in root.iter():
        for text in (element.text or "", element.tail or "", *element.attrib.values()):
            assert _obeyed(text.replace("\t", " ")) == [], text
    assert {element.tag for element in root.iter()} <= {
        "testsuites", "testsuite", "testcase", "properties", "property", "failure",
    }  # fmt: skip
    log = next(c for c in root.iter("testcase") if c.get("name") == "test_log").find("failure")
    assert log is not None
    assert "?[31m" in "".join(log.itertext())

    written = {path.name for path in tmp_path.rglob("*") if "__pycache__" not in path.parts}
    expected = {
        "loud",
        "__init__.py",
        "protocol_loud.py",
        "test_own.py",
        "boards.yaml",
        "junit.xml",
    }
    kept = tmp_path / "reports" / "history.blobs"
    blobs = {path.name for path in (kept, *kept.rglob("*"))}
    assert written - blobs == expected | {"reports", "history.sqlite"}
    with reading(tmp_path / "reports" / "history.sqlite") as db:
        lines = "".join(export(db, "jsonl"))
    assert lines.count("\n") == len(texts) and lines.isascii()
    assert _obeyed(lines) == []
