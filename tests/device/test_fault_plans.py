# SPDX-License-Identifier: Apache-2.0
"""Every cause of a failure, one test each: the right class, the cause named, a hint, in bounded time,
and never a wrong number."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from pyocd.core.target import Target
from pyocd.probe.aggregator import DebugProbeAggregator

from harness import errors
from harness.boards import Board, load_boards
from harness.boards.backend import backend_for
from harness.boards.config import with_faults
from harness.emulator import registry
from harness.emulator.faultplan import KINDS, Trigger, parse_faults
from harness.errors import ConfigError, HarnessError, ProbeError
from tests.device.fault_bed import (
    NONCE,
    Cause,
    TooLong,
    attempt,
    clean,
    is_counted,
    new_bed,
    wall_limit,
)
from tests.device.fault_causes import CAUSES
from tests.device.support import emulated, new_entry, small_pack
from tests.emulator.debugger import session

EMULATED_SECONDS_OF_A_LADDER = 60.0  # five attempts


@pytest.mark.parametrize("cause", CAUSES, ids=lambda cause: cause.id)
def test_a_cause(cause: Cause, chip: str) -> None:
    outcome = attempt(cause, chip)
    assert outcome.emulated_s < cause.emulated_s
    if is_counted(cause):
        assert outcome.injected, "the fault did not happen"
    if cause.error is None:
        assert outcome.error is None
        assert outcome.numbers == clean(chip)
        return
    error = outcome.error
    assert error is not None, "numbers came"
    assert outcome.numbers is None
    if cause.error is HarnessError:  # of a kind that chance decides
        assert type(error).__module__ == errors.__name__
    else:
        assert type(error) is cause.error
    assert cause.says in str(error).removesuffix(error.hint)
    assert error.hint


@pytest.mark.parametrize(
    "cause", [cause for cause in CAUSES if cause.act is None], ids=lambda cause: cause.id
)
def test_a_cause_under_the_ladder(cause: Cause) -> None:
    """Right numbers or the first attempt's error; what was right at once stays so."""
    outcome = attempt(cause, "rp2040", recovery=True)
    assert outcome.emulated_s < EMULATED_SECONDS_OF_A_LADDER
    if outcome.error is None:
        assert outcome.numbers == clean("rp2040")
        return
    assert outcome.numbers is None
    assert cause.error is not None
    assert isinstance(outcome.error, cause.error)
    assert cause.says in str(outcome.error).removesuffix(outcome.error.hint)


def test_most_causes_that_happen_once_are_recovered_from() -> None:
    names = ("probe-nak-once", "page-dropped", "hang-in-kernel", "byte-lost", "timer-stopped")
    causes = {cause.id: cause for cause in CAUSES}
    for name in names:
        assert attempt(causes[name], "rp2040").error is not None
        assert attempt(causes[name], "rp2040", recovery=True).numbers == clean("rp2040")


def test_the_same_plan_fails_alike(chip: str) -> None:
    causes = {cause.id: cause for cause in CAUSES}
    for name in ("probe-nak-at-random", "bytes-at-random", "brown-out"):
        first, second = (attempt(causes[name], chip) for _ in range(2))
        assert str(first.error) == str(second.error)
        assert (first.emulated_s, first.injected) == (second.emulated_s, second.injected)


def test_a_watchdog_ends_what_never_returns() -> None:
    with pytest.raises(TooLong), wall_limit(0.05):
        while True:
            pass


# ---- what a plan says ----


def _write(folder: Path, faults: str) -> Path:
    path = folder / "boards.yaml"
    path.write_text(
        "boards:\n"
        "  bad-emu:\n"
        "    chip: rp2040\n"
        "    probe: emu:bad-emu\n"
        "    serial: emu://bad-emu\n"
        "    clock_hz: 125000000\n"
        f"    faults: {faults}\n"
    )
    return path


def test_a_plan_in_boards_yaml(tmp_path: Path) -> None:
    path = _write(tmp_path, "[{kind: probe-nak, at: 0x10}, {kind: serial-flip, p: 0.25, seed: 7}]")
    entry = load_boards(path)["bad-emu"]
    backend_for(entry)
    try:
        nak, flip = registry.board("bad-emu").faults.faults
    finally:
        registry.remove("bad-emu")
    assert (nak.kind, nak["at"], nak["count"]) == ("probe-nak", 16, 1)
    assert (flip["p"], flip["seed"], flip["count"], flip["bits"]) == (0.25, 7, 0, 0x10)


@pytest.mark.parametrize(
    ("faults", "message", "hint"),
    [
        ("[{kind: probe-nack}]", "unknown fault 'probe-nack'", "did you mean 'probe-nak'?"),
        ("[{kind: probe-nak, att: 3}]", "probe-nak has no setting 'att'", "did you mean 'at'?"),
        ("[{kind: probe-nak, at: soon}]", "at of probe-nak is 'soon', not a number", ""),
        ("[{kind: probe-nak, at: -1}]", "not a whole number of at least 0", ""),
        ("[{kind: probe-nak, p: 1.5}]", "not a probability from 0 to 1", ""),
        ("[{kind: usb-deaf, at: 3}]", "usb-deaf has no setting 'at'", ""),
        ("[{at: 3}]", "'kind' is missing", ""),
        ("probe-nak", "a list is expected here", ""),
    ],
)
def test_a_mistake_in_a_plan(tmp_path: Path, faults: str, message: str, hint: str) -> None:
    path = _write(tmp_path, faults)
    with pytest.raises(ConfigError, match=re.escape(message)) as caught:
        backend_for(load_boards(path)["bad-emu"])
    assert f"{path}:7:" in str(caught.value)
    assert hint in caught.value.hint


def test_a_real_board_has_no_plan() -> None:
    entry = replace(with_faults(new_entry(), "probe-nak"), probe="cmsisdap:E661")
    with pytest.raises(ConfigError, match="real boards take no plan of faults"):
        backend_for(entry)


def test_a_plan_of_the_option() -> None:
    entry = with_faults(new_entry(), "probe-nak, at=3 ;serial-flip,p=0.5")
    assert [dict(fault)["kind"] for fault in entry.faults] == ["probe-nak", "serial-flip"]
    with pytest.raises(ConfigError, match="--faults, fault 2: 'p' is not KEY=VALUE"):
        with_faults(entry, "probe-nak;serial-flip,p")
    with pytest.raises(ConfigError, match="--faults, fault 1: unknown fault 'usb-deef'"):
        backend_for(with_faults(new_entry(), "usb-deef"))


def test_a_running_board_keeps_its_plan(chip: str) -> None:
    bed = new_bed(chip)
    registry_entry = with_faults(bed.entry, "usb-deaf")
    with Board(bed.entry, nonce=NONCE), pytest.raises(ConfigError, match="already powered"):
        backend_for(registry_entry)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, [0]),
        ({"at": 3}, [3]),
        ({"at": 3, "count": 2}, [3, 4]),
        ({"at": 18, "count": 0}, [18, 19]),
        ({"at": 1, "every": 6}, [1, 7, 13, 19]),
        ({"at": 1, "every": 6, "count": 2}, [1, 7]),
        ({"p": 0.0}, []),
        ({"at": 17, "p": 1.0}, [17, 18, 19]),
        ({"p": 0.2, "seed": 4}, [1, 3, 4, 12, 13, 19]),
    ],
)
def test_when_a_fault_happens(settings: dict[str, object], expected: list[int]) -> None:
    (fault,) = parse_faults([{"kind": "probe-nak", **settings}])
    trigger = Trigger(fault)
    assert [number for number in range(20) if trigger.fires()] == expected


def test_every_kind_has_a_cause() -> None:
    """No kind of fault that nothing tries."""
    tried = {part.split(",")[0] for cause in CAUSES for part in cause.faults.split(";")}
    assert KINDS.keys() - tried == {"probe-twice", "unique-id"}  # see below; and `with_twin`


def test_two_probes_of_one_id_are_refused() -> None:
    entry = with_faults(new_entry(), "probe-twice")
    backend_for(entry)
    try:
        probes = DebugProbeAggregator.get_all_connected_probes("emu:")
        with pytest.raises(ProbeError, match=f"^2 probes have the id {entry.name}"), Board(entry):
            pass
    finally:
        registry.remove(entry.name)
    assert [probe.unique_id for probe in probes].count(entry.name) == 2


def test_a_debugger_halts_the_old_program_on_core_1() -> None:
    bed = new_bed("rp2040", faults="core1-running,address=0x20010000,every_us=50")
    backend_for(bed.entry)
    board = emulated(bed.entry)

    def stores() -> int:
        before = board.faults.injected(board.machine)
        board.advance(ns=1_000_000)
        return board.faults.injected(board.machine) - before

    stores()  # also leaves the power-on sequence behind
    assert stores() >= 19
    with session(board, "rp2040_core1", connect_mode="attach") as opened:
        core = opened.target
        assert core.get_state() == Target.State.RUNNING
        core.halt()
        assert core.get_state() == Target.State.HALTED
        assert stores() == 0
        core.resume()
        assert stores() >= 19


def test_a_board_without_a_plan_has_no_faults(chip: str) -> None:
    bed = new_bed(chip)
    with Board(bed.entry) as board:
        board.start(bed.image, small_pack())
    plan = emulated(bed.entry).faults
    assert plan.faults == ()
    assert plan.injected(emulated(bed.entry).machine) == 0
