# SPDX-License-Identifier: Apache-2.0
"""`ripbench run`: a case once, tensors from and to files, and where its cycles go."""

from __future__ import annotations

import io
import json
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.case import Case, make_case
from harness.cli import main
from harness.geometry import ConvGeometry
from harness.network import Layer, find_set, load_set
from harness.plan import find_mode, plan_layer
from harness.reference import compute
from harness.schema.constants import OpKind
from tests.device.support import ODD

BOARDS = ["pico1-emu", "pico2-emu"]
ODD_MACS = 5 * 7 * 13 * 6 * 9
DENSE_BLOCK = str(Path(__file__).parent / "device" / "networks" / "dense-block.yaml")
TWO_PIXELS = Path(__file__).parent / "device" / "firmware" / "two_pixels"


def _answer(capsys: pytest.CaptureFixture[str], *words: str, status: int = 0) -> dict[str, Any]:
    assert main(["run", *words, "--json"]) == status
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def _case(plan: str = "rip", layer: Layer = ODD) -> Case:
    strategy, mode = find_mode(layer, plan)
    return make_case(plan_layer(layer, strategy, mode))


def test_a_layer(capsys: pytest.CaptureFixture[str]) -> None:
    found = _answer(capsys, "first#odd-3x3")
    assert (found["version"], found["board"], found["kind"]) == (1, "pico1-emu", "emulated")
    assert (found["right"], found["failures"], found["timing_model"]) == (True, [], None)
    assert found["arena_bytes"] == found["high_water"] == _case().arena_bytes
    assert found["output_crc"] == f"{zlib.crc32(_case().expected(1).tobytes()):08x}"
    (op,) = found["ops"]
    assert (op["kind"], op["kernel"], op["macs"]) == ("conv", "plain_conv_gather_double", ODD_MACS)
    assert op["cycles"] == found["cycles"] == op["cycles_per_mac"] * ODD_MACS
    assert 10 * ODD_MACS < op["cycles"] < 13 * ODD_MACS
    assert 0 < op["xip_misses"] < op["xip_accesses"]


def test_as_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "first#odd-3x3", "--board", "pico2-emu", "--strategy", "dual"]) == 0
    out = capsys.readouterr().out
    (row,) = (line.split() for line in out.splitlines() if " conv " in line)
    assert row[:4] == ["0", "conv", "plain_conv_gather_double", f"{ODD_MACS:,}"]
    assert "odd-3x3/dual" in out
    assert "conservative timing model" in out
    assert "right: the outputs' CRC is the host's" in out


def test_a_network(capsys: pytest.CaptureFixture[str]) -> None:
    """Op by op, its shifts among them; the sum is the whole."""
    found = _answer(capsys, DENSE_BLOCK, "--strategy", "extended", "--seed", "7")
    assert (found["right"], found["seed"]) == (True, 7)
    assert sum(op["cycles"] for op in found["ops"]) == found["cycles"]
    assert {op["kind"] for op in found["ops"]} >= {"conv", "concat"}


@pytest.mark.parametrize(
    "plan",
    [
        "rip-column",
        "rip-padded",
        *(
            pytest.param(plan, marks=pytest.mark.extra)
            for plan in ("rip", "rip-copy", "rip-reverse", "rip-herringbone-direct")
        ),
    ],
)
def test_tensors_from_and_to_files(
    plan: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Row-major, however a plan stores them; the seed does not matter then."""
    x = np.arange(5 * 7 * 13, dtype=np.uint8).reshape(5, 7, 13).view(np.int8)
    np.save(tmp_path / "x.npy", x)
    files = ["--input", str(tmp_path / "x.npy"), "--output", str(tmp_path / "y.npy")]
    case = replace(_case(plan), given=(x,))
    found = _answer(capsys, "first#odd-3x3", "--strategy", plan, *files, "--seed", "9")
    assert found["right"]
    assert found["input_crc"] == f"{case.input_crc(0):08x}"
    y = np.load(tmp_path / "y.npy")
    assert y.dtype == np.int8
    assert isinstance(ODD.geometry, ConvGeometry)
    assert np.array_equal(y, compute(ODD.kind, ODD.geometry, case.parameters, x))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.npy", "y.npy"]


def test_two_inputs(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    layer = next(
        x for x in load_set(find_set("ops")) if x.kind is OpKind.ADD and len(x.inputs) == 2
    )
    shape = layer.inputs[0]
    words, data = [], b""
    for name, value in (("a", 3), ("b", -4)):
        values = np.full((shape.h, shape.w, shape.c), value, np.int8)
        np.save(tmp_path / f"{name}.npy", values)
        words += ["--input", str(tmp_path / f"{name}.npy")]
        data += values.tobytes()
    found = _answer(capsys, f"ops#{layer.id}", *words)
    assert found["right"]
    assert found["input_crc"] == f"{zlib.crc32(data):08x}"


RIGHT = np.zeros((5, 7, 13), np.int8)


def _saved(path: Path, values: Any) -> None:
    np.save(path, values, allow_pickle=True)


def _whole() -> bytes:
    file = io.BytesIO()
    np.save(file, RIGHT)
    return file.getvalue()


@pytest.mark.parametrize(
    ("write", "says"),
    [
        (lambda path: _saved(path, RIGHT.astype(np.float32)), "holds: float32 [5, 7, 13]"),
        (lambda path: _saved(path, RIGHT.astype(np.uint8)), "holds: uint8 [5, 7, 13]"),
        (lambda path: _saved(path, RIGHT.transpose(1, 0, 2)), "holds: int8 [7, 5, 13]"),
        (lambda path: _saved(path, RIGHT[None]), "holds: int8 [1, 5, 7, 13]"),
        (lambda path: _saved(path, np.array([{}])), "allow_pickle=False"),
        (lambda path: _saved(path, np.zeros((99, 7, 13), np.float64)), "too large for the input"),
        (lambda path: np.savez(path.open("wb"), RIGHT), "is no .npy file"),
        (lambda path: path.write_bytes(_whole()[:20]), "cannot be read"),
        (lambda path: path.write_bytes(_whole()[:-1]), "cannot be read"),
        (
            lambda path: path.write_bytes(_whole().replace(b"7, 13)", b"7, 99999999)", 1)),
            "cannot be read",
        ),
        (lambda _: None, "No such file"),
        (lambda path: path.mkdir(), "Is a directory"),
    ],
)
def test_a_wrong_input(
    write: Callable[[Path], object],
    says: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    """It costs no run, and nothing in it is executed."""
    write(tmp_path / "x.npy")
    assert main(["run", "first#odd-3x3", "--input", str(tmp_path / "x.npy")]) == 2
    assert says in capsys.readouterr().err


def test_wrong_numbers_of_files(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    _saved(tmp_path / "x.npy", RIGHT)
    for words, says in (
        (["--input", str(tmp_path / "x.npy")] * 2, "2 inputs are given, and the case has 1"),
        (["--output", str(tmp_path / "y.npy")] * 2, "2 files are named for 1 outputs"),
        (["--output", str(tmp_path / "no" / "y.npy")], "cannot be written"),
        (["--output", str(tmp_path)], "cannot be written"),
    ):
        assert main(["run", "first#odd-3x3", *words]) == 2
        assert says in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["frist#odd-3x3"], "did you mean 'first'?"),
        (["first#odd-3x4"], "odd-3x3"),
        (["first#odd-3x3,first#resnet56-3x3"], "are 2 layers"),
        (["mcunet-vww9"], "mcunet-vww"),
        (["first#odd-3x3", "--strategy", "ripp"], "rip"),
        (["mcunet-vww0", "--strategy", "rip-direct"], "rip"),
        (["first#odd-3x3", "--kernels", "m34"], "m33"),
        (["first#odd-3x3", "--board", "pico3"], "pico"),
        (["first#odd-3x3", "--seed", "-1"], "--seed -1"),
        (["first#odd-3x3", "--op", "0"], "--op is of --profile"),
        (["first#odd-3x3", "--gdb", "--gdb-port", "70000"], "--gdb-port 70000"),
    ],
)
def test_words_that_name_nothing(
    words: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", *words]) == 2
    assert says in capsys.readouterr().err


# ---- where the cycles go ----


@pytest.mark.parametrize("board", BOARDS)
def test_a_profile_is_what_the_firmware_counted(
    board: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """By line and by function it comes to the op's cycles and the empty bracket; the misses are the
    chip's own count."""
    found = _answer(capsys, "first#odd-3x3", "--board", board, "--profile")
    profile, (op,) = found["profile"], found["ops"]
    assert (profile["windows"], profile["reported"]) == (1, op["cycles"])
    assert 0 < profile["bracket"] < 20
    total = op["cycles"] + profile["bracket"]
    for entries in (profile["lines"], profile["functions"]):
        assert sum(entry["cycles"] for entry in entries) == profile["cycles"] == total
        assert sum(entry["misses"] for entry in entries) == op["xip_misses"]
        assert [e["cycles"] for e in entries] == sorted(
            (e["cycles"] for e in entries), reverse=True
        )
    miss = {"pico1-emu": 56, "pico2-emu": 84}[board]
    assert profile["stalls"] == miss * op["xip_misses"]
    hottest = profile["lines"][0]
    name, _, number = hottest["where"].rpartition(":")
    source = (Path(__file__).parents[1] / name).read_text().splitlines()[int(number) - 1]
    assert hottest["text"] == source.strip()
    assert {e["where"] for e in profile["functions"]} >= {hottest["function"]}
    plain = _answer(capsys, "first#odd-3x3", "--board", board)
    assert plain["ops"] == found["ops"], "it costs no cycle"


@pytest.mark.extra
def test_a_profile_of_assembly_and_of_one_op(capsys: pytest.CaptureFixture[str]) -> None:
    words = [DENSE_BLOCK, "--kernels", "m0plus", "--profile"]
    found = _answer(capsys, *words)
    profile = found["profile"]
    assert profile["windows"] == len(found["ops"]) > 1
    assert profile["cycles"] == found["cycles"] + profile["windows"] * profile["bracket"]
    wheres = [line["where"] for line in profile["lines"]]
    assert any(where.startswith("firmware/kernels/m0plus/conv_sweep.S:") for where in wheres)
    one = _answer(capsys, *words, "--op", "1")["profile"]
    assert (one["windows"], one["reported"]) == (1, found["ops"][1]["cycles"])
    assert one["cycles"] < profile["cycles"]
    assert main(["run", *words, "--op", "99"]) == 1
    assert "there is no op 99" in capsys.readouterr().err


def test_a_profile_of_ones_own_kernel_as_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["first#odd-3x3", "--kernels", str(TWO_PIXELS), "--profile", "--top", "3"]
    assert main(["run", *words]) == 0
    out = capsys.readouterr().out
    rows = [line for line in out.splitlines() if "  kernels/two_pixels.c:" in line]
    assert 1 <= len(rows) <= 3
    assert "sum += (uint32_t)((x[tap] - call->input_zero_point)" in "".join(rows)
    assert "more" in out
    assert "that the firmware counted" in out
