# SPDX-License-Identifier: Apache-2.0
"""The ladder: which steps, in which order, what is kept of each attempt; and the same on boards whose
probe or port fails at the n-th call, for every n until a run sees no failure."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from harness.bench import Bench, BenchOptions
from harness.boards import Board, BoardEntry, keys_of, quarantine
from harness.boards.lock import holder_of
from harness.boards.recovery import Ladder, Rung, first_step
from harness.build import RunnerImage
from harness.cli import main
from harness.errors import (
    BoundViolation,
    BusyError,
    ConfigError,
    DeadlineError,
    EnumerationError,
    FirmwareFault,
    FlashError,
    HarnessError,
    HostTooSlow,
    Mismatch,
    ProbeError,
    ProtocolError,
    QuarantineError,
)
from harness.geometry import ConvGeometry
from harness.history import read
from harness.judge import judge
from harness.measure import PlanRuns, measure_layer
from harness.network import Layer
from harness.plan import Strategy, find_mode
from harness.report import properties, table
from harness.results import Measurement
from tests.device.support import BRANCH_TO_SELF, ODD, UNDEFINED, emulated, with_instruction
from tests.device.support import new_entry as emulated_entry

Entries = Callable[..., BoardEntry]
ONE_SEED = BenchOptions(seeds=(1,))


class _Scripted:
    """A board whose steps are written down, and an attempt that fails as told."""

    def __init__(self, *errors: HarnessError) -> None:
        self.errors = list(errors)
        self.steps: list[Rung] = []

    def recover(self, rung: Rung) -> None:
        self.steps.append(rung)

    def attempt(self) -> str:
        if self.errors:
            raise self.errors.pop(0)
        return "measured"


def _in(stage: str) -> DeadlineError:
    return DeadlineError("x", evidence={"stage": stage})


@pytest.mark.parametrize(
    ("error", "steps"),
    [
        (DeadlineError("x"), [Rung.PORT, Rung.RESET, Rung.FLASH, Rung.POWER]),
        (EnumerationError("x"), [Rung.PORT, Rung.RESET, Rung.FLASH, Rung.POWER]),
        (ProtocolError("x"), [Rung.PORT, Rung.RESET, Rung.FLASH, Rung.POWER]),
        (ProbeError("x"), [Rung.RESET, Rung.FLASH, Rung.POWER]),
        (FlashError("x"), [Rung.FLASH, Rung.POWER]),
        (_in("attach"), [Rung.RESET, Rung.FLASH, Rung.POWER]),
        (_in("reset"), [Rung.RESET, Rung.FLASH, Rung.POWER]),
        (_in("erase"), [Rung.FLASH, Rung.POWER]),
        (_in("program"), [Rung.FLASH, Rung.POWER]),
        (_in("hello"), [Rung.PORT, Rung.RESET, Rung.FLASH, Rung.POWER]),
        (
            EnumerationError("x", evidence={"stage": "boot"}),
            [Rung.RESET, Rung.FLASH, Rung.POWER],
        ),
    ],
)
def test_the_steps_by_error(error: HarnessError, steps: list[Rung]) -> None:
    for needed in range(1, len(steps) + 1):
        board = _Scripted(*[error] * needed)
        ladder = Ladder(board)
        assert ladder.climb(board.attempt) == "measured"
        assert board.steps == steps[:needed]
        assert [attempt.after for attempt in ladder.failed] == [None, *steps[: needed - 1]]
        assert not ladder.exhausted
    board = _Scripted(*[error] * (len(steps) + 1))
    ladder = Ladder(board)
    with pytest.raises(type(error)) as caught:
        ladder.climb(board.attempt)
    assert ladder.exhausted
    assert board.steps == steps
    assert [name for name in caught.value.evidence if name != "stage"] == [
        f"attempt {number + 1}" for number in range(len(steps) + 1)
    ]


@pytest.mark.parametrize(
    "kind", [Mismatch, BoundViolation, ConfigError, FirmwareFault, HostTooSlow, BusyError]
)
def test_findings_are_never_tried_again(kind: type[HarnessError]) -> None:
    board = _Scripted(kind("found"))
    ladder = Ladder(board)
    with pytest.raises(kind) as caught:
        ladder.climb(board.attempt)
    assert board.steps == [] and not ladder.exhausted
    assert first_step(kind("x")) is None
    assert not caught.value.evidence


def test_a_finding_after_a_step_keeps_the_attempts() -> None:
    board = _Scripted(ProtocolError("torn", evidence={"frame": 3}), Mismatch("wrong"))
    ladder = Ladder(board)
    with pytest.raises(Mismatch, match="wrong") as caught:
        ladder.climb(board.attempt)
    assert caught.value.evidence == {"attempt 1": "first: ProtocolError: torn [frame: 3]"}
    assert not ladder.exhausted


def test_the_first_error_is_the_one_that_is_raised() -> None:
    board = _Scripted(ProtocolError("torn", hint="cable"), *[ProbeError("gone")] * 4)
    steps: list[str] = []
    with pytest.raises(ProtocolError, match="torn") as caught:
        Ladder(board, steps.append).climb(board.attempt)
    assert board.steps == [Rung.PORT, Rung.RESET, Rung.FLASH, Rung.POWER]
    assert caught.value.hint == "cable"
    assert caught.value.evidence["attempt 2"] == "after the port opened again: ProbeError: gone"
    assert steps[0] == "attempt 2: the port opened again"


def test_a_later_error_can_skip_steps() -> None:
    board = _Scripted(ProtocolError("torn"), FlashError("stale"), ProbeError("gone"))
    assert Ladder(board).climb(board.attempt) == "measured"
    assert board.steps == [Rung.PORT, Rung.FLASH, Rung.POWER]


def _hang(stage: str, core: str) -> DeadlineError:
    return DeadlineError("no OP frame", evidence={"stage": stage, "core": core})


def test_a_kernel_that_hangs_again_after_a_reset() -> None:
    stuck = _hang("op 0 of repeat 0", "running, pc 0x20000700 in run_gather")
    board = _Scripted(stuck, DeadlineError("no HELLO", evidence={"stage": "hello"}), stuck)
    ladder = Ladder(board)
    with pytest.raises(DeadlineError):
        ladder.climb(board.attempt)
    assert board.steps == [Rung.PORT, Rung.RESET]
    assert not ladder.exhausted


@pytest.mark.parametrize(
    "again",
    [
        _hang("op 0 of repeat 0", "sleeping, pc 0x20000700 in port_wait_writable"),
        _hang("op 1 of repeat 0", "running, pc 0x20000700 in run_gather"),
        _hang("hello", "running, pc 0x20000700 in run_gather"),
    ],
)
def test_what_is_no_hanging_kernel(again: DeadlineError) -> None:
    stuck = _hang("op 0 of repeat 0", "running, pc 0x20000700 in run_gather")
    board = _Scripted(stuck, *[again] * 1)
    assert Ladder(board).climb(board.attempt) == "measured"
    board = _Scripted(stuck, ProbeError("gone"), again)
    assert Ladder(board).climb(board.attempt) == "measured"


# ---- each step on emulated boards ----


def _runs(board: Board, image: RunnerImage) -> PlanRuns:
    _, mode = find_mode(ODD, "rip")
    return measure_layer(board, image, ODD, mode=mode, seeds=(1,), repeats=2)


def _numbers(measured: Measurement | None) -> object:
    """All that does not depend on the phase of the microsecond timer at the reset, or on the nonce."""
    assert measured is not None
    return [replace(sample, microseconds=0) for sample in measured.samples]


@pytest.mark.parametrize("rung", Rung)
def test_a_measurement_after_each_step(chip: str, image: RunnerImage, rung: Rung) -> None:
    entry = emulated_entry(chip)
    stages: list[str] = []
    with Board(entry, on_stage=stages.append) as board:
        clean = _runs(board, image)
        nonce, resets = board.nonce, emulated(entry).resets
        del stages[:]
        board.recover(rung)
        again = _runs(board, image)
        assert _numbers(again.rip) == _numbers(clean.rip)
        assert _numbers(again.dual) == _numbers(clean.dual)
        assert (board.nonce == nonce) is (rung is Rung.PORT)
        assert (emulated(entry).resets == resets) is (rung is Rung.PORT)
        assert stages[0] == f"recovery: {rung.words}"
        assert ("erase" in stages) is (rung is Rung.FLASH)
        reason = emulated(entry).machine.bus_read(
            {"rp2040": 0x4005_8008, "rp2350": 0x400D_8008}[chip], 4
        )
        assert (reason != 0) is (rung is Rung.POWER)  # WATCHDOG REASON: forced


@pytest.mark.parametrize("instruction", [BRANCH_TO_SELF, UNDEFINED])
def test_a_broken_kernel_puts_no_board_in_quarantine(
    chip: str, image: RunnerImage, instruction: int
) -> None:
    # what calls the kernel: kernels of several files have the same static names
    caller = next(name for name in image.symbols if name.startswith("call_in_window"))
    broken = with_instruction(image, caller, instruction)
    with Board(emulated_entry(chip)) as board:
        ladder = Ladder(board)
        hangs = instruction == BRANCH_TO_SELF
        with pytest.raises(DeadlineError if hangs else FirmwareFault) as caught:
            ladder.climb(lambda: _runs(board, broken))
        assert not ladder.exhausted
        assert len(ladder.failed) == (3 if hangs else 0)
        assert "run_in_window" in str(caught.value)


# ---- failures at the n-th call ----


def _measure_with(bench: Bench, what: str, at: int) -> tuple[int, int]:
    """(failures that were seen, attempts) of one measurement with a failure at call `at`."""
    from fakeboards import faults

    plan = faults.set_plan(what, at)
    bench._known.clear()  # measure anew
    verdict = bench.judge(ODD)
    assert verdict is not None and verdict.ok, verdict
    assert verdict.attempts == 1 + len(verdict.recovered)
    assert plan.hit or verdict.attempts == 1
    return plan.hit, verdict.attempts


def _every(what: str, entry: BoardEntry, step: int) -> int:
    """How many calls were made to fail, one a measurement, until a measurement sees none."""
    bench = Bench(entry, ONE_SEED)
    try:
        clean = bench.run(ODD)
        at = recovered = 0
        while True:
            hit, attempts = _measure_with(bench, what, at)
            assert _numbers(bench.run(ODD)) == _numbers(clean), at
            if not hit:
                assert recovered > 0
                return at
            recovered += attempts > 1
            at += step
    finally:
        bench.close()


@pytest.mark.parametrize(("what", "step"), [("port", 23), ("probe", 11)])
def test_some_calls_that_fail(fake_entry: Entries, chip: str, what: str, step: int) -> None:
    assert _every(what, fake_entry(chip), step) > 30


@pytest.mark.extra
@pytest.mark.parametrize("what", ["port", "probe"])
def test_every_call_that_fails(fake_entry: Entries, chip: str, what: str) -> None:
    assert _every(what, fake_entry(chip), 1) > 30


def _first_use(fake_entry: Entries, chip: str, step: int) -> int:
    """As `_every`, of the probe of a board that is blank: attach, erase, program."""
    from fakeboards import faults

    at = 0
    while True:
        bench = Bench(fake_entry(chip), ONE_SEED)
        plan = faults.set_plan("probe", at)
        try:
            verdict = bench.judge(ODD)
            assert verdict is not None and verdict.ok, verdict
        finally:
            bench.close()
        assert holder_of(keys_of(bench.entry)) is None
        if not plan.hit:
            return at
        at += step


def test_some_calls_that_fail_while_a_board_is_flashed(fake_entry: Entries) -> None:
    assert _first_use(fake_entry, "rp2040", 211) > 1000


@pytest.mark.extra
def test_many_calls_that_fail_while_a_board_is_flashed(fake_entry: Entries, chip: str) -> None:
    assert _first_use(fake_entry, chip, 7) > 1000


# ---- kept, told, given up ----


def test_what_is_kept_of_a_recovered_measurement(fake_entry: Entries, tmp_path: object) -> None:
    from fakeboards import faults

    notices: list[str] = []
    history = tmp_path / "history.jsonl"  # type: ignore[operator]
    bench = Bench(fake_entry(), replace(ONE_SEED, history=history), on_notice=notices.append)
    faults.set_plan("port", 20)
    verdict = bench.judge(ODD)
    bench.close()
    assert verdict is not None and verdict.ok and verdict.attempts == 2
    (reason,) = verdict.recovered
    assert reason.startswith("first: EnumerationError: the serial port vanished (device reports")
    assert notices == [f"{bench.entry.name}: attempt 2: the port opened again"]
    (row,) = read(history)
    assert (row["attempts"], row["recovered"]) == (2, [reason])
    assert dict(properties(verdict))["ripbench.attempts"] == "2"
    assert f"odd-3x3 on {bench.entry.name}: measured anew, attempt 2; before, first: " in table(
        [verdict]
    )


def test_without_recovery_the_first_error_is_final(fake_entry: Entries) -> None:
    from fakeboards import faults

    bench = Bench(fake_entry(), replace(ONE_SEED, recovery=False))
    faults.set_plan("port", 20)
    with pytest.raises(EnumerationError, match="vanished") as caught:
        bench.run(ODD)
    bench.close()
    assert "attempt 1" not in caught.value.evidence
    assert quarantine.find(keys_of(bench.entry)) is None


def test_a_board_that_does_not_come_back(
    fake_entry: Entries, capsys: pytest.CaptureFixture[str], tmp_path: object
) -> None:
    from fakeboards import faults

    notices: list[str] = []
    entry, other = fake_entry(), fake_entry()
    bench = Bench(entry, ONE_SEED, on_notice=notices.append)
    plan = faults.set_plan("probe", 60, times=10**9)
    with pytest.raises(ProbeError) as caught:
        bench.run(ODD)
    assert [name for name in caught.value.evidence if name.startswith("attempt")] == [
        "attempt 1", "attempt 2", "attempt 3", "attempt 4",
    ]  # fmt: skip
    assert f"{entry.name} is in quarantine for 10 min more: ProbeError: " in notices[-1]
    assert holder_of(keys_of(entry)) is None  # nobody waits for it in vain

    seen = plan.seen["probe"]
    bench._known.clear()
    for again in (bench, Bench(entry, ONE_SEED)):  # the same one; and another run's
        with pytest.raises(QuarantineError, match="is in quarantine 10 min more") as refused:
            again.run(ODD)
        assert refused.value.cause.startswith("ProbeError: ")
    assert plan.seen["probe"] == seen  # at once: the board was not touched

    faults.set_plan()
    healthy = Bench(other, ONE_SEED)
    assert healthy.prove(ODD).ok
    healthy.close()

    boards = tmp_path / "boards.yaml"  # type: ignore[operator]
    boards.write_text(
        json.dumps({"boards": {entry.name: {
            "chip": entry.chip, "probe": entry.probe, "serial": entry.serial,
            "clock_hz": entry.clock_hz, "xip_miss_cycles": entry.xip_miss_cycles,
        }}})
    )  # fmt: skip
    assert main(["boards", "--boards", str(boards)]) == 0
    shown = capsys.readouterr().out
    assert f"{entry.name} is in quarantine for 10 min more: ProbeError: " in shown
    assert main(["boards", "--boards", str(boards), "--release", entry.name]) == 0
    assert capsys.readouterr().out == f"{entry.name} is released\n"
    released = Bench(entry, ONE_SEED)
    assert released.prove(ODD).ok
    released.close()


def test_a_layer_that_cannot_be_measured_puts_no_board_in_quarantine(fake_entry: Entries) -> None:
    bench = Bench(fake_entry(), ONE_SEED)
    for _ in range(2):  # the second time from memory
        with pytest.raises(ConfigError, match="does not fit"):
            bench.run(Layer("big", ConvGeometry(160, 160, 8, 16)))
    assert quarantine.find(keys_of(bench.entry)) is None
    assert bench.prove(ODD).ok
    bench.close()


def test_no_quarantine_when_it_is_not_wanted(fake_entry: Entries) -> None:
    from fakeboards import faults

    bench = Bench(fake_entry(), replace(ONE_SEED, quarantine=False))
    faults.set_plan("probe", 60, times=10**9)
    with pytest.raises(ProbeError):
        bench.run(ODD)
    assert quarantine.find(keys_of(bench.entry)) is None
    faults.set_plan()
    quarantine.impose("x", keys_of(bench.entry), "somebody else's")
    bench._known.clear()
    assert bench.prove(ODD).ok
    bench.close()


def test_boards_of_this_process_have_no_lock_and_no_note() -> None:
    assert keys_of(emulated_entry()) == ()


def test_the_judge_counts_attempts(chip: str, image: RunnerImage) -> None:
    with Board(emulated_entry(chip)) as board:
        runs = replace(_runs(board, image), failed=("first: x", "after y: z"))
    verdict = judge(runs, Strategy.RIP)
    assert verdict is not None
    assert (verdict.attempts, verdict.recovered) == (3, ("first: x", "after y: z"))
