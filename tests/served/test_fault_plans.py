# SPDX-License-Identifier: Apache-2.0
"""Plans of faults on served boards: what a board of this process does wrong, a served one does wrong at
the same transfer, page, byte and cycle, and the bench says the same of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from pyocd.probe.aggregator import DebugProbeAggregator

from harness.boards import Board, BoardEntry
from harness.boards.backend import backend_for
from harness.boards.config import with_faults
from harness.boards.probe import is_attached
from harness.emulator import backend, registry
from harness.emulator.board import unique_id_of
from harness.emulator.faultplan import KINDS, Fault, Trigger, parse_faults, spec
from harness.errors import ConfigError, EnumerationError, HarnessError, ProbeError, ProtocolError
from tests.device.fault_bed import (
    NONCE,
    WALL_SECONDS,
    Bed,
    Cause,
    attempt,
    clean,
    measure,
    measure_by_ladder,
    new_bed,
    places,
    wall_limit,
)
from tests.device.fault_causes import CAUSES
from tests.device.support import small_pack
from tests.served.support import Server, ripbench

NAME, OTHER = "faulty", "neighbour"
PLANNED = [cause for cause in CAUSES if cause.act is None]
SOME = {
    *("probe-absent", "probe-nak-once", "swd-corrupt", "page-dropped", "flash-bit-stuck"),
    *("no-enumeration", "port-renamed", "usb-pulled", "byte-lost", "frame-twice", "brown-out"),
    *("stalled-too-long",),
}


@contextmanager
def served(folder: Path, name: str, chip: str, faults: str = "") -> Iterator[Server]:
    """A new blank board in a process of its own."""
    registry.remove(name)
    words = [name, "--chip", chip, "--flash", str(folder / f"{name}.bin")]
    server = Server([*words, *(["--faults", faults] if faults else [])])
    try:
        yield server
    finally:
        registry.remove(name)
        status = server.stop()
        assert (status, server.complaints) == (0, "")


def bed_of(name: str, chip: str) -> Bed:
    """A client that knows nothing of a plan."""
    return new_bed(chip, name)


def some_and_all() -> list[object]:
    return [
        pytest.param(cause, marks=[] if cause.id in SOME else [pytest.mark.extra], id=cause.id)
        for cause in PLANNED
    ]


def told(error: HarnessError | None) -> str:
    """Without the address that pyOCD adds where a transfer fails: of a served board, as of a probe on
    USB, a refused write is told of with the next read."""
    return re.sub(r" @ 0x[0-9a-f]+-0x[0-9a-f]+", "", str(error))


@pytest.mark.parametrize("cause", some_and_all())
def test_a_cause_on_a_served_board(cause: Cause, chip: str, tmp_path: Path) -> None:
    """The same error, to the last word of evidence but for a refused write's address, or the same
    numbers, at the same emulated time."""
    here = attempt(cause, chip)
    there: HarnessError | None = None
    with served(tmp_path, NAME, chip, cause.faults.format(**places(chip))):
        bed = bed_of(NAME, chip)
        numbers = None
        try:
            with wall_limit(WALL_SECONDS):
                numbers = measure(bed)
        except HarnessError as error:
            there = error
        passed = backend.clock(NAME).now()
    assert (type(there), told(there)) == (type(here.error), told(here.error))
    assert numbers == here.numbers
    assert numbers is None or numbers == clean(chip)
    assert passed == here.emulated_s


@pytest.mark.parametrize("name", ["byte-lost", "probe-nak-once", "hang-in-kernel"])
def test_a_served_board_is_recovered(name: str, tmp_path: Path) -> None:
    cause = next(cause for cause in PLANNED if cause.id == name)
    with served(tmp_path, NAME, "rp2040", cause.faults.format(**places("rp2040"))):
        assert measure_by_ladder(bed_of(NAME, "rp2040")) == clean("rp2040")


# ---- cables ----


def start(name: str, chip: str) -> None:
    """The board runs the runner, and nobody talks to it."""
    bed = bed_of(name, chip)
    with Board(bed.entry, nonce=NONCE) as board:
        board.start(bed.image, small_pack())


def port_of(entry: BoardEntry, other: str) -> BoardEntry:
    return replace(entry, serial=f"emu://{other}")


def refused(entry: BoardEntry, bed: Bed, nonce: int | None) -> HarnessError:
    with pytest.raises(HarnessError) as caught, Board(entry, nonce=nonce) as board:
        board.start(bed.image, small_pack())
    return caught.value


@pytest.mark.parametrize("nonce", [None, NONCE], ids=["fresh nonce", "the same nonce"])
def test_swapped_cables_of_two_boards(chip: str, tmp_path: Path, nonce: int | None) -> None:
    """Each probe with the port of the other: refused with both names, whichever is asked first, though
    the other board runs the same firmware."""
    with served(tmp_path, NAME, chip), served(tmp_path, OTHER, chip):
        beds = {name: bed_of(name, chip) for name in (NAME, OTHER)}
        for name in beds:
            start(name, chip)
        for mine, other in ((NAME, OTHER), (OTHER, NAME)):
            error = refused(port_of(beds[mine].entry, other), beds[mine], nonce)
            assert type(error) is EnumerationError
            assert error.message == f"this port is not the board {mine} that the probe reset"
            assert error.cause.startswith("swapped cables")
            ids = {name: unique_id_of(name).hex() for name in beds}
            assert error.evidence["board by the port"] == f"{other!r} {ids[other]}"
            assert error.evidence["board by the probe"] == f"{mine!r} {ids[mine]}"
        for name, bed in beds.items():  # the right way round again
            with Board(bed.entry) as board:
                assert board.start(bed.image, small_pack()).board == name


def test_a_cable_that_goes_to_another_served_board(chip: str, tmp_path: Path) -> None:
    """The same by plan, `port-swapped`: one hop, not a circle."""
    swapped = f"port-swapped,board={OTHER}"
    back = f"port-swapped,board={NAME}"
    with served(tmp_path, NAME, chip, swapped), served(tmp_path, OTHER, chip):
        start(OTHER, chip)
        bed = bed_of(NAME, chip)
        error = refused(bed.entry, bed, None)
        assert type(error) is EnumerationError
        assert error.cause.startswith("swapped cables")
    blank = tmp_path / "blank"
    blank.mkdir()
    with served(blank, NAME, chip, swapped), served(blank, OTHER, chip, back):
        bed = bed_of(NAME, chip)
        error = refused(bed.entry, bed, None)  # the neighbour is blank
        assert type(error) is EnumerationError
        assert "did not appear within 6 s" in error.message
    with served(tmp_path, NAME, chip, swapped):
        bed = bed_of(NAME, chip)
        error = refused(bed.entry, bed, None)
        assert "its cable goes to neighbour, which is not served" in error.cause


def test_another_nonce_of_the_same_board_is_no_swapped_cable(tmp_path: Path) -> None:
    with served(tmp_path, NAME, "rp2040", "hello-nonce,value=7"):
        bed = bed_of(NAME, "rp2040")
        error = refused(bed.entry, bed, NONCE)
    assert type(error) is ProtocolError
    assert error.message == "the board answers with another nonce"


# ---- what a plan says, and who may say it ----


@pytest.mark.parametrize(("faults", "probes"), [("probe-absent", 0), ("", 1), ("probe-twice", 2)])
def test_how_many_probes_there_are(tmp_path: Path, faults: str, probes: int) -> None:
    with served(tmp_path, NAME, "rp2040", faults):
        bed = bed_of(NAME, "rp2040")
        assert is_attached(bed.entry) == (probes == 1)
        listed = DebugProbeAggregator.get_all_connected_probes("emu:")
        assert [probe.unique_id for probe in listed].count(NAME) == probes
        if probes == 2:
            with pytest.raises(ProbeError, match=f"^2 probes have the id {NAME}"), Board(bed.entry):
                pass


def test_a_user_may_repeat_the_plan_and_not_change_it(tmp_path: Path) -> None:
    with served(tmp_path, NAME, "rp2040", "probe-nak, every=0x32 ; usb-deaf"):
        bed = bed_of(NAME, "rp2040")
        backend_for(with_faults(bed.entry, "probe-nak,every=50;usb-deaf"))
        backend_for(with_faults(bed.entry, "probe-nak,every=50"))  # as boards.yaml may have it
        for other in ("usb-deaf", "probe-nak,every=5", "usb-deaf;probe-nak,every=50"):
            with pytest.raises(ConfigError, match="its server has another plan") as caught:
                backend_for(with_faults(bed.entry, other))
            assert caught.value.evidence["served with"] == "probe-nak,count=0,every=50;usb-deaf"
    with served(tmp_path, NAME, "rp2040"):
        with pytest.raises(ConfigError, match="its server has another plan") as caught:
            backend_for(with_faults(bed_of(NAME, "rp2040").entry, "usb-deaf"))
        assert caught.value.evidence["served with"] == "none"


def test_boards_yaml_has_the_plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For the server and for its clients alike; the option adds to it."""
    own = tmp_path / "boards.yaml"
    own.write_text(
        f'boards: {{{NAME}: {{chip: rp2040, probe: "emu:{NAME}", serial: "emu://{NAME}", '
        "clock_hz: 125000000, faults: [{kind: usb-slow, ms: 5}]}}\n"
    )
    monkeypatch.setenv("RIPBENCH_BOARDS", str(own))
    with served(tmp_path, NAME, "rp2040", "usb-deaf"):
        (board,) = json.loads(ripbench("emu", "list", "--json").stdout)["boards"]
        assert board["faults"] == "usb-slow,ms=5;usb-deaf"
        assert "usb-slow,ms=5;usb-deaf" in ripbench("emu", "list").stdout
        assert ", with faults" in ripbench("boards").stdout
    flash = str(tmp_path / "other.bin")
    done = ripbench("emu", "serve", NAME, "--flash", flash, "--faults", "usb-deef")
    assert done.returncode == 1
    assert "unknown fault 'usb-deef'" in done.stderr
    assert not Path(flash).exists()


def test_a_power_cycle_begins_the_plan_anew(tmp_path: Path) -> None:
    with served(tmp_path, NAME, "rp2040", "serial-drop,at=300"):
        bed = bed_of(NAME, "rp2040")
        assert type(refusal(bed)) is ProtocolError
        assert measure(bed) == clean("rp2040")  # it happened already
        backend.power(NAME)
        assert type(refusal(bed)) is ProtocolError


def refusal(bed: Bed) -> HarnessError:
    with pytest.raises(HarnessError) as caught:
        measure(bed)
    return caught.value


def test_the_text_of_a_plan_is_the_plan() -> None:
    """Of every kind with its defaults, and of each setting alone."""
    plans: list[tuple[Fault, ...]] = [parse_faults([{"kind": kind}]) for kind in KINDS]
    for kind, what in KINDS.items():
        for key, usual in what.known.items():
            value: object = f"{usual}x" if isinstance(usual, str) else 0.25 if key == "p" else 3
            plans.append(parse_faults([{"kind": kind, key: value}]))
    plans.append(tuple(fault for plan in plans for fault in plan))
    assert len({spec(plan) for plan in plans}) >= len(plans) - 2
    entry = BoardEntry("any", "rp2040", "emu:any", "emu://any", 125_000_000, None, "test")
    for plan in plans:
        again = parse_faults(dict(fault) for fault in with_faults(entry, spec(plan)).faults)
        assert again == plan
    assert spec(()) == ""
    (every,) = parse_faults([{"kind": "probe-nak", "every": 7}])
    trigger = Trigger(every)
    assert [n for n in range(15) if trigger.fires()] == [0, 7, 14]
