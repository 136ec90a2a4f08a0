# SPDX-License-Identifier: Apache-2.0
"""Every cause of a failure that an emulated board can be made to have, and what the bench must say.

Under each either every number is that of a board without the fault, or there is an error of the tree
that names the cause and says what to try. `tests/device/test_fault_plans.py` holds each to that,
`python -m benchmarks.faults` prints the table of docs/faults.md.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from harness.boards import Board
from harness.build import build_runner
from harness.case import build_pack, make_case
from harness.emulator import registry
from harness.emulator.chips import CHIPS
from harness.errors import (
    BoundViolation,
    ConfigError,
    DeadlineError,
    EnumerationError,
    FirmwareFault,
    FlashError,
    HarnessError,
    ProbeError,
    ProtocolError,
)
from harness.geometry import DIRECT, ConvGeometry
from harness.network import Layer
from harness.plan import Mode, Strategy, plan_layer
from harness.reference import ConvParameters
from tests.device.fault_bed import NONCE, Bed, Cause, Numbers, measure, new_bed, unused_at_boot
from tests.device.support import UNDEFINED, emulated, small_pack, with_instruction

PACK_OFFSET = 0x1_0000
FAULT_TABLE = Path(__file__).parent / "firmware" / "fault_table.c"


# ---- what needs more than a plan ----


def with_neighbour(bed: Bed) -> Numbers:
    """Another board, `neighbour`, runs the same firmware, and nobody talks to it."""
    other = new_bed(bed.entry.chip, "neighbour")
    with Board(other.entry) as board:
        board.start(other.image, small_pack())
        board._hang_up()
    return measure(bed)


def with_twin(bed: Bed) -> Numbers:
    """The same, and the neighbour's flash says the same unique id."""
    emulated_id = emulated_unique_id(bed.entry.name)
    other = new_bed(bed.entry.chip, "neighbour", f"unique-id,id={emulated_id}")
    with Board(other.entry) as board:
        board.start(other.image, small_pack())
        board._hang_up()
    return measure(bed)


def emulated_unique_id(name: str) -> str:
    return registry.BoardEntry(name, CHIPS["rp2040"]).unique_id.hex()


def with_other_pack(bed: Bed) -> Numbers:
    """Another program writes its own pack between our reset and HELLO."""

    def meddle(stage: str) -> None:
        if stage == "hello":
            other = small_pack(Layer("other", ConvGeometry(4, 4, 3, 2)))
            emulated(bed.entry).machine.load_flash(PACK_OFFSET, other.data)

    return measure(bed, meddle)


def with_broken_kernel(bed: Bed) -> Numbers:
    """Every function of that name begins with an undefined instruction."""
    image = bed.image
    for address in [at for at, name in image.functions if name == "plain_conv_gather_double"]:
        image = replace(image, symbols={**image.symbols, "plain_conv_gather_double": address})
        image = with_instruction(image, "plain_conv_gather_double", UNDEFINED)
    return measure(replace(bed, image=image))


def with_stale_flash(bed: Bed) -> Numbers:
    """Flash was changed since the last run, behind a header that is still right."""
    measure(bed)
    machine = emulated(bed.entry).machine
    offset = unused_at_boot(bed.image)
    machine.load_flash(offset, bytes(byte ^ 1 for byte in machine.flash()[offset : offset + 1]))
    return measure(bed)


def with_small_stack(bed: Bed) -> Numbers:
    """A kernel with an array that is larger than the stack."""
    image = build_runner(bed.entry.chip, FAULT_TABLE)
    address = np.array([image.symbols["overflow_stack"] | 1], np.int32)
    zero = np.zeros(1, np.int32)
    parameters = ConvParameters(np.ones((1, 1, 1, 1), np.int8), address, zero, zero, 0, 0)
    plan = plan_layer(Layer("fault", ConvGeometry(1, 1, 1, 1)), Strategy.DUAL, Mode(DIRECT))
    with Board(bed.entry, nonce=NONCE) as board:
        board.start(image, build_pack([make_case(plan, parameters)]))
        results = board.run(0, seed=1).results
    return tuple((result.cycles,) for result in results)


# ---- the causes ----

_STOPS = "stops at the first transfer that fails"
_REFUSES = "refuses the run: CRCs of the firmware against those of the host"
_WAITS = "waits until the stage's deadline, then asks the probe"
_TORN = "drops the run at the first frame that does not check out"
_COMPARES = "waits until the stage's deadline, then compares flash with what was written"
_NOTHING = "nothing: the result is right"

CAUSES = (
    # the probe and its wire
    Cause("probe-absent", "probe-absent", ProbeError, "is not attached", "lists what is attached"),
    Cause("probe-nak-once", "probe-nak,at=300", FlashError, "no acknowledge", _STOPS),
    Cause(
        "probe-nak-while-running",
        "probe-nak,at={last_transfers}",
        ProbeError,
        "no acknowledge",
        _STOPS,
    ),
    Cause("probe-nak-always", "probe-nak,count=0", ProbeError, "no connection", _STOPS),
    Cause("probe-nak-each-50th", "probe-nak,at=299,every=50", FlashError, "no acknowledge", _STOPS),
    Cause("probe-nak-at-random", "probe-nak,p=0.01,seed=3", FlashError, "no acknowledge", _STOPS),
    Cause("probe-wait", "probe-wait,at=300", FlashError, "WAIT", _STOPS),
    Cause("probe-fault", "probe-fault,at=300", FlashError, "FAULT", _STOPS),
    Cause("probe-vanishes", "probe-vanish,at=300", FlashError, "unplugged", _STOPS),
    Cause("swd-parity", "probe-parity,at=300", FlashError, "parity", _STOPS),
    Cause("swd-corrupt", "probe-corrupt,at=452", FlashError, "could not be flashed", _STOPS),
    Cause("other-chip", "probe-dpidr,value={other_dpidr}", ProbeError, "no connection", _STOPS),
    Cause("core1-running", "core1-running", None, "", "resets both cores before anything else"),
    # flash
    Cause(
        "page-dropped",
        "flash-skip-page,at={page_of_runner}",
        FlashError,
        "another image CRC",
        _REFUSES,
    ),
    Cause("page-of-pack-dropped", "flash-skip-page,at={pack_page}", FlashError, "pack", _REFUSES),
    Cause(
        "boot-page-dropped",
        "flash-skip-page",
        EnumerationError,
        "not what was written: ",
        _COMPARES,
    ),
    Cause(
        "erase-skipped",
        "flash-changed,offset=0,bytes=0x12000;flash-skip-erase,count=0",
        EnumerationError,
        "not what was written: ",
        _COMPARES,
    ),
    Cause(
        "flash-protected", "flash-protected", EnumerationError, "not what was written: ", _COMPARES
    ),
    Cause(
        "flash-bit-stuck",
        "flash-stuck,offset={in_runner},bits=0xff,value=0x5a",
        FlashError,
        "another image CRC",
        _REFUSES,
    ),
    Cause("flash-overwritten", "flash-changed,at=1", FlashError, "another pack header", _REFUSES),
    Cause("other-pack", "", FlashError, "another pack header", _REFUSES, with_other_pack),
    Cause("flash-stale", "", None, "", "flashes again, once, and goes on", with_stale_flash),
    Cause("old-image-resets", "old-image", None, "", "halts the core, flashes over it"),
    # the chip
    Cause("hang-in-flash-algorithm", "boot-hang", DeadlineError, "erase took more than", _WAITS),
    Cause("hang-in-boot", "boot-hang,at=1", EnumerationError, "did not start", _WAITS),
    Cause("hang-in-kernel", "hang,at=1,after_us={kernel_us}", DeadlineError, "no OP frame", _WAITS),
    Cause(
        "fault-in-kernel",
        "",
        FirmwareFault,
        "undefined instruction",
        "reads the fault record",
        with_broken_kernel,
    ),
    Cause(
        "stack-overflow",
        "",
        FirmwareFault,
        "stack",
        "compares the lowest word of the stack",
        with_small_stack,
    ),
    Cause(
        "brown-out",
        "brown-out,at=1,after_us={kernel_us}",
        EnumerationError,
        "port vanished",
        _TORN,
    ),
    Cause("reset", "reset,at=1,after_us={kernel_us}", EnumerationError, "port vanished", _TORN),
    Cause(
        "ram-flip-outside",
        "ram-flip,at=1,after_us={scan_us},address={last_of_pool}",
        BoundViolation,
        "1 bytes changed outside",
        "fails the verdict: the paint changed",
    ),
    Cause(
        "ram-flip-in-code",
        "ram-flip,at=3,address={ram_code}",
        FlashError,
        "ram code",
        "refuses the next run: SRAM is not what flash holds",
    ),
    Cause(
        "timer-stopped",
        "timer-stopped",
        ProtocolError,
        "the timer stands still",
        "drops the run: cycle counter against timer",
    ),
    Cause("clock-off", "pll,ppm=10000", ConfigError, "runs at", "drops the board at HELLO"),
    Cause("crystal-off", "crystal,ppm=10000", EnumerationError, "not 48 MHz", _WAITS),
    # USB
    Cause("no-enumeration", "usb-absent,count=0", EnumerationError, "sees nothing", _WAITS),
    Cause(
        "no-enumeration-at-random",
        "usb-absent,p=0.5,seed=1",
        EnumerationError,
        "sees nothing",
        _WAITS,
    ),
    Cause("enumeration-slow", "usb-slow,ms=4000", None, "", "waits for it"),
    Cause(
        "enumeration-too-slow",
        "usb-slow,ms=7000",
        EnumerationError,
        "still being enumerated",
        _WAITS,
    ),
    Cause("port-renamed", "port-renamed", EnumerationError, "is called", _WAITS),
    Cause(
        "ports-swapped",
        "port-swapped,board=neighbour",
        EnumerationError,
        "swapped cables",
        "drops the port: nonce, then name and unique id",
        with_neighbour,
    ),
    Cause(
        "unique-id-twice",
        "port-swapped,board=neighbour",
        EnumerationError,
        "swapped cables",
        "the same: nonce and name tell them apart",
        with_twin,
    ),
    Cause("usb-pulled", "usb-gone,at=1,after_us=3000", EnumerationError, "was pulled", _TORN),
    Cause(
        "usb-loose", "usb-gone,at=2,after_us=100,back_ms=300", EnumerationError, "was pulled", _TORN
    ),
    Cause("device-deaf", "usb-deaf", DeadlineError, "nothing came", _WAITS),
    Cause("other-firmware", "serial-echo", DeadlineError, "other things came", _WAITS),
    Cause("host-late", "host-late,ms=50", None, "", _NOTHING),
    Cause("host-too-late", "host-late,ms=2000", DeadlineError, "no HELLO frame", _WAITS),
    # bytes and frames
    Cause("byte-lost", "serial-drop,at=300", ProtocolError, "torn", _TORN),
    Cause("byte-twice", "serial-double,at=300", ProtocolError, "torn", _TORN),
    Cause("byte-flipped", "serial-flip,at=300", ProtocolError, "torn", _TORN),
    Cause("bytes-at-random", "serial-flip,p=0.002,seed=2", HarnessError, "", _TORN),
    Cause("stalled", "serial-stall,at=250,ms=300", None, "", _NOTHING),
    Cause("stalled-too-long", "serial-stall,at=230,ms=9000", DeadlineError, "did not end", _WAITS),
    Cause("garbage-before-hello", "serial-garbage", None, "", "passes over it"),
    Cause("garbage-later", "serial-garbage,at=3", ProtocolError, "torn", _TORN),
    Cause("printf-between-frames", "serial-text,at=3", ProtocolError, "torn", _TORN),
    Cause("log-flood", "frame-log,at=3,lines=3000", None, "", "keeps the last 50 lines"),
    Cause("hello-torn", "frame-cut", DeadlineError, "torn frames", _WAITS),
    Cause("hello-lost", "frame-lost", DeadlineError, "nothing came", _WAITS),
    Cause("frame-torn", "frame-cut,at=2", ProtocolError, "torn", _TORN),
    Cause("frame-twice", "frame-repeat,at=2", ProtocolError, "twice", _TORN),
    Cause("frame-lost", "frame-lost,at=2", ProtocolError, "missing", _TORN),
    Cause("hello-nonce", "hello-nonce,value=7", ProtocolError, "another nonce", _TORN),
    Cause("hello-protocol", "hello-protocol,value=9", ProtocolError, "protocol 9", _TORN),
)
assert len({cause.id for cause in CAUSES}) == len(CAUSES)
