# SPDX-License-Identifier: Apache-2.0
"""`ripbench compare`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from harness.cli import main
from harness.kernels import find_kernels

TWO_PIXELS = Path(__file__).parent / "device" / "firmware" / "two_pixels"
BOARD = ["--board", "pico2-emu"]


def _answer(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, object]:
    assert main(["compare", *words, "--json"]) == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def test_layers(capsys: pytest.CaptureFixture[str]) -> None:
    """One that the set takes, and one that it leaves to a plain kernel, which takes the same then."""
    layers = ["--layers", "first#odd-3x3,ops#average_pool-3x6x6-6-k2x2"]
    found = _answer(capsys, "plain", "m33", *BOARD, *layers)
    assert (found["version"], found["board"], found["sets"]) == (1, "pico2-emu", ["plain", "m33"])
    conv, pool = found["rows"]  # type: ignore[misc]
    assert [conv["name"], conv["macs"]] == ["odd-3x3", 5 * 7 * 13 * 6 * 9]
    plain, fast = conv["sides"]
    assert (plain["kernel"], fast["kernel"]) == ("plain", "m33_conv")
    assert plain["output_crc"] == fast["output_crc"]
    assert conv["right"] and not plain["failures"] and not fast["failures"]
    assert conv["ratio"] == fast["cycles"][1] / plain["cycles"][1] < 0.6
    assert fast["cycles_per_mac"] == [cycles / conv["macs"] for cycles in fast["cycles"]]
    assert fast["cycles"][0] < fast["cycles"][1]
    assert [side["kernel"] for side in pool["sides"]] == ["plain", "plain"]
    assert 0.95 < pool["ratio"] < 1.05


def test_layers_under_a_plan(capsys: pytest.CaptureFixture[str]) -> None:
    """Both sets leave direct order to the plain kernels."""
    found = _answer(
        capsys, "plain", "m33", *BOARD, "--layers", "first#odd-3x3", "--plan", "rip-direct"
    )
    (row,) = found["rows"]  # type: ignore[misc]
    assert {(side["kernel"], side["plan"]) for side in row["sides"]} == {("plain", "rip-direct")}
    assert row["right"]


def test_a_network(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["compare", "plain", "m33", *BOARD, "--model", "mcunet-vww0"]
    assert main(words) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    (row,) = (line for line in lines if line[:1] == ["mcunet-vww0"])
    assert row[-1] == "right"
    numbers = [(line[0], [word.replace(",", "") for word in line[1:]]) for line in lines if line]
    kinds = {kind: [*map(int, two)] for kind, two in numbers if all(map(str.isdigit, two))}
    assert kinds["conv"][1] < 0.4 * kinds["conv"][0]
    assert set(kinds) == {"conv", "depthwise", "add", "average_pool"}


def test_a_wrong_kernel_is_no_number(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    shutil.copytree(TWO_PIXELS, tmp_path, dirs_exist_ok=True)
    source = tmp_path / "two_pixels.c"
    assert "- call->input_zero_point" in source.read_text()
    source.write_text(source.read_text().replace("- call->input_zero_point", "+ 1", 1))
    find_kernels.cache_clear()
    words = ["compare", str(TWO_PIXELS), str(tmp_path), *BOARD, "--layers", "first#odd-3x3"]
    assert main(words) == 1
    out = capsys.readouterr().out
    assert "WRONG" in out
    assert "the output's CRC is" in out


def test_what_does_not_fit(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    boards = tmp_path / "boards.yaml"
    boards.write_text(
        "boards:\n  small: {chip: rp2040, probe: 'emu:small', serial: 'emu://small', "
        "clock_hz: 125000000, xip_miss_cycles: 56}\n"
    )
    words = ["plain", "plain", "--board", "small", "--boards", str(boards), "--json"]
    assert main(["compare", *words, "--model", "mcunet-in4"]) == 1
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert (row["sides"], row["ratio"]) == ([None, None], None)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["plain", "m34"], "did you mean 'm33'?"),
        (["plain", "m33", "--board", "pico3"], "pico"),
        (["plain", "m33", "--layers", "frist"], "did you mean 'first'?"),
        (["plain", "m33", "--plan", "rip-dirct"], "did you mean 'rip-direct'?"),
        (["plain", "m33", "--plan", "rip", "--model", "mcunet-in0"], "--plan is of layers"),
        (["plain", "m33", "--model", "mcunet-in9"], "mcunet-in"),
    ],
)
def test_words_that_name_nothing(
    words: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", *words]) == 2
    assert says in capsys.readouterr().err
