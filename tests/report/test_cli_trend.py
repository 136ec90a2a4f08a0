# SPDX-License-Identifier: Apache-2.0
"""`ripbench trend`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.cli import main
from harness.cli.trend import Suites
from harness.cli.trend_history import changes
from harness.history import writing
from harness.history.lines import import_lines
from harness.paper.cost import RECORD
from harness.report.site import Change
from tests.report.made import key_of, point_of


@pytest.fixture
def history(tmp_path: Path) -> str:
    path = tmp_path / "history.sqlite"
    with writing(path) as db:
        import_lines(db, RECORD, "plain")
    return str(path)


def test_a_site_from_a_history(
    tmp_path: Path, history: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "site"
    assert main(["trend", "--out", str(out), "--history", history, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["cases"], answer["series"], answer["points"]) == (48, 48, 48)
    assert len(list((out / "cases").iterdir())) == 48
    text = (out / "index.html").read_text()
    assert '<td data-label="board"><bdi>pico2-emu</bdi></td>' in text
    assert 'data-suite="paper84"' in text
    assert main(["trend", "--out", str(out), "--history", history]) == 0
    assert "48 cases, 48 series, 48 results" in capsys.readouterr().out


@pytest.mark.parametrize("url", ["https://host/x", "javascript:{commit}", ""])
def test_wrong_words(
    tmp_path: Path, url: str, history: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["trend", "--out", str(tmp_path / "x"), "--history", history, "--commit-url", url]
    with pytest.raises(SystemExit) as caught:
        main(words)
    assert caught.value.code == 2
    assert "such as https://host/project/commit/{commit}" in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


def test_no_history(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["trend", "--out", str(tmp_path / "x"), "--history", str(tmp_path / "none")]
    assert main(words) == 1
    assert "ConfigError: " in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


def test_a_folder_of_somebody_elses(
    tmp_path: Path, history: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["trend", "--out", str(tmp_path), "--history", history]) == 1
    assert "holds other files than pages of ripbench" in capsys.readouterr().err


def test_suites() -> None:
    suites = Suites()
    assert suites.of("mcunet-in3") == "models"
    assert suites.of("mcunet-in0.3") == "first"
    assert suites.of("resnet50-layer1.0.conv1") == "paper84"


@pytest.mark.extra
def test_what_is_in_no_small_set() -> None:
    """Tens of thousands of layers are read for it."""
    suites = Suites()
    assert suites.of("conv-5x6x1-4-k3x3-p1.1.1.1") == "ops"
    assert suites.of("<script>") == "others"


def test_changes_are_the_judges() -> None:
    """Of an emulated board each new number is a level; the ratio is between the levels' medians."""
    points = [point_of(n, cycles) for n, cycles in enumerate([100, 100, 110, 110, 99])]
    assert changes(key_of(), points) == [
        Change(2, 1.1, points[2].commit),
        Change(4, 0.9, points[4].commit),
    ]
    assert changes(key_of(), points[:2]) == []
