# SPDX-License-Identifier: Apache-2.0
"""Which of the 84 layers the boards can run."""

from __future__ import annotations

import json

import pytest

from harness.build import RunnerImage
from harness.cli import main
from harness.paper.fits import board_fits
from harness.plan import Strategy
from harness.selection import choose_layers


def test_counts(runner_image: RunnerImage) -> None:
    """In place never fits less. The paper times 48 layers on a Pico 2: those whose tensors are together
    at most 512 KiB; the largest of them, 512,000 bytes, need nearly all that a runner leaves."""
    assert runner_image.pool_bytes > 0
    counts = {(fit.chip, fit.strategy): fit.count for fit in board_fits()}
    assert 44 <= counts["rp2350", Strategy.DUAL] <= 48
    for chip in ("rp2040", "rp2350"):
        assert counts[chip, Strategy.DUAL] < counts[chip, Strategy.RIP] < 84
    assert counts["rp2040", Strategy.RIP] < counts["rp2350", Strategy.RIP]


def test_all_layers_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["paper", "fits"]) == 0
    lines = capsys.readouterr().out.splitlines()
    row = next(line for line in lines if line.startswith("vgg16-conv1-1 "))
    assert row.count("does not fit") == 4
    assert len([line for line in lines if "-" in line and line[0].isalpha()]) == 84


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["paper", "fits", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["version"] == 1
    for board in answer["boards"]:
        assert board["count"] == sum(layer["fits"] for layer in board["layers"])
        for layer in board["layers"]:
            assert layer["fits"] == (layer["needed"] <= board["pool_bytes"])


def test_selection_for_pytest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["paper", "fits", "--select", "rp2350:dual"]) == 0
    words = capsys.readouterr().out.strip().split(",")
    assert 44 <= len(words) <= 48
    assert len(choose_layers(",".join(words[:3]))) == 3
    assert main(["paper", "fits", "--select", "rp2350:dul"]) == 1
    assert "did you mean 'rp2350:dual'" in capsys.readouterr().err
