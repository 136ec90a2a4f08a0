# SPDX-License-Identifier: Apache-2.0
"""Each stage has a deadline in the board's own time, and says which one it was."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.boards import Board, BoardEntry, budgets
from harness.boards.deadline import Deadline
from harness.boards.stages import Stages
from harness.build import RunnerImage
from harness.errors import DeadlineError, HarnessError
from tests.device.support import BRANCH_TO_SELF, emulated, small_pack, with_instruction
from tests.device.support import new_entry as emulated_entry

PACK = small_pack()
MS = 1_000_000
Entries = Callable[..., BoardEntry]


class _Clock:
    time = 0.0

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.time += seconds


def test_a_part_ends_with_the_whole() -> None:
    clock = _Clock()
    whole = Deadline(clock, 3.0, "total")
    part = whole.part(2.0, "case")
    assert part.remaining() == pytest.approx(2.0)
    clock.sleep(2.0)
    assert part.over and part.passed is part
    second = whole.part(2.0, "op 0 of repeat 0")
    assert second.remaining() == pytest.approx(1.0)
    clock.sleep(1.5)
    assert second.over and second.passed is whole


def test_a_transfer_after_the_end_is_refused_once() -> None:
    clock = _Clock()
    stages = Stages(clock, lambda _: None)
    stages.check()
    stages.begin("erase", 2.0)
    clock.sleep(1.9)
    stages.check()
    clock.sleep(0.2)
    with pytest.raises(DeadlineError, match="erase took more than 2 s of the board's time") as late:
        stages.check()
    assert late.value.evidence == {"stage": "erase"}
    assert "worn out" in late.value.hint
    stages.check()  # closing the probe is not to fail by it


@pytest.mark.parametrize(
    ("stage", "message", "slow"),
    [
        ("attach", "attach took more than 10 s", 500 * MS),
        ("erase", "erase took more than", 100 * MS),
        ("program", "program took more than", 400 * MS),
        ("reset", "reset took more than 5 s", 2000 * MS),
    ],
)
def test_a_slow_probe(
    fake_entry: Entries, chip: str, image: RunnerImage, stage: str, message: str, slow: int
) -> None:
    """Each transfer takes long from this stage on, so this one is not done in time."""
    from fakeboards import faults

    def begin(name: str) -> None:
        if name == stage:
            faults.plan.slow_ns = slow

    with pytest.raises(DeadlineError, match=f"^{message}") as late:  # noqa: SIM117
        with Board(fake_entry(chip), on_stage=begin) as board:
            board.start(image, PACK)
    assert late.value.evidence["stage"] == stage
    assert late.value.hint == budgets.HINTS[stage]


@pytest.mark.parametrize(
    ("function", "message", "stage", "late_in"),
    [
        ("clocks_start", "the firmware did not start within 2 s", "boot", "boot"),
        ("usb_start", "did not appear within 6 s", "enumerate", "enumerate"),
        ("runner_take", "no HELLO frame within 3 s", "hello", "hello"),
        ("case_prepare", "no CASE frame within 2", "run", "case"),
        ("case_execute", "no OP frame within 2", "run", "op 0 of repeat 0"),
    ],
)
def test_firmware_that_stops_in_a_stage(
    chip: str, image: RunnerImage, function: str, message: str, stage: str, late_in: str
) -> None:
    entry = emulated_entry(chip)
    name = next(n for n in image.symbols if n.split(".")[0] == function)
    start = 0
    with Board(entry) as board, pytest.raises(HarnessError, match=message) as late:
        board.start(image, PACK)  # not the reset's time, but the stage's, is looked at
        start = emulated(entry).now_ns
        board.start(with_instruction(image, name, BRANCH_TO_SELF), PACK)
        board.run(0, seed=1)
    assert board.stage == stage
    assert late.value.evidence["stage"] == late_in
    assert late.value.hint
    assert emulated(entry).now_ns - start < 15 * 1000 * MS


def test_budgets_grow_with_what_is_done() -> None:
    assert budgets.erase(1) == budgets.erase(4096) < budgets.erase(4097)
    assert budgets.program(1) == budgets.program(256) < budgets.program(257)
    known = {"n_out": 10, "pool_bytes": 1000, "flash_bytes": 5000, "clock_hz": 125_000_000}
    small = budgets.run(macs=1000, repeats=1, **known)
    large = budgets.run(macs=10_000_000, repeats=1, **known)
    assert large.op - small.op == pytest.approx(9_999_000 * 100 / 125e6)
    assert large.case == small.case
    twice = budgets.run(macs=10_000_000, repeats=2, **known)
    assert twice.total - large.total == pytest.approx(large.op - budgets.FRAME)
    # the whole has the slack of one frame: many frames that are each a little late are too late
    assert twice.total < twice.case + 2 * twice.op


def test_the_table_of_the_documentation() -> None:
    text = (Path(__file__).parents[2] / "docs" / "recovery.md").read_text()
    rows = dict(re.findall(r"^\| (\w+) \| ([^|]+?) \|", text, re.MULTILINE))
    seconds = {
        name: float(match[1])
        for name, words in rows.items()
        if (match := re.match(r"([\d.]+) s\b", words))
    }
    assert seconds == {
        "attach": budgets.ATTACH,
        "erase": budgets.FLASH_BASE_SECONDS,
        "program": budgets.FLASH_BASE_SECONDS,
        "reset": budgets.RESET,
        "boot": budgets.BOOT,
        "enumerate": budgets.ENUMERATE,
        "hello": budgets.HELLO,
        "case": budgets.FRAME,
        "op": budgets.FRAME,
        "total": budgets.FRAME,
        "read": budgets.FRAME,
    }
