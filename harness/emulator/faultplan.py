# SPDX-License-Identifier: Apache-2.0
"""What may go wrong on an emulated board, as data: kinds of faults, their settings, when they happen.

A plan is a list of faults, `faults:` of an emulated board in boards.yaml or the option `--faults`. What
carries them out is `faultplan_live.py`: in the emulated hardware, below the debug probe's transfers and
below the serial port, never in the bench. The same plan and seed give the same faults at the same
cycles.

A fault of a kind that counts something (`Kind.counts`) happens at the `at`-th of it (from 0):

    {kind: probe-nak, at: 100}               the transaction 100, once
    {kind: probe-nak, at: 100, count: 3}     three from there on; count 0: all from there on
    {kind: probe-nak, every: 50}             each 50th
    {kind: probe-nak, p: 0.01, seed: 7}      each with a probability, from `at` on
"""

from __future__ import annotations

import difflib
import random
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from harness.errors import ConfigError

Setting = int | float | str
_WHEN: Mapping[str, Setting] = MappingProxyType(
    {"at": 0, "count": 1, "every": 0, "p": 1.0, "seed": 0}
)
_WHERE = "where"


@dataclass(frozen=True)
class Kind:
    """One kind of fault. counts: what `at` counts, "" when the fault is there all the time. settings:
    its own, with their defaults; the type of a default is the type of the setting."""

    says: str
    counts: str = ""
    settings: Mapping[str, Setting] = field(default_factory=dict)

    @property
    def known(self) -> dict[str, Setting]:
        """Every setting that such a fault may have."""
        return {**(_WHEN if self.counts else {}), **self.settings}


_TRANSACTION, _BYTE, _FRAME = "SWD transaction", "byte from the device", "frame from the device"
_PAGE, _ERASE, _ATTACH, _RESET = "page programmed", "erase", "attach to the bus", "system reset"
_LATER: Mapping[str, Setting] = MappingProxyType({"after_us": 0})

KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        # below pyOCD's probe
        "probe-nak": Kind("the target does not acknowledge", _TRANSACTION),
        "probe-wait": Kind("the target answers WAIT until the probe gives up", _TRANSACTION),
        "probe-fault": Kind("the target answers FAULT", _TRANSACTION),
        "probe-parity": Kind("data arrives with wrong parity", _TRANSACTION),
        "probe-corrupt": Kind("two bits of a word are wrong, so parity holds", _TRANSACTION),
        "probe-vanish": Kind("the probe is unplugged, for good", _TRANSACTION),
        "probe-dpidr": Kind("the debug port says another id", settings={"value": 0}),
        "probe-absent": Kind("the probe is not on the host's bus"),
        "probe-twice": Kind("two probes have this id"),
        "core1-running": Kind(
            "core 1 runs an old program, which stores to SRAM until a reset",
            settings={"address": 0x2001_0000, "every_us": 50},
        ),
        # on the USB cable
        "usb-absent": Kind("the host sees no device", _ATTACH),
        "usb-slow": Kind("the host takes so long to notice a device", settings={"ms": 1000}),
        "usb-gone": Kind(
            "the cable is pulled; back_ms later it is back", _FRAME, {**_LATER, "back_ms": 0}
        ),
        "usb-deaf": Kind("the device takes no byte from the host"),
        "port-renamed": Kind("from this attach on the port has another name", _ATTACH),
        "port-swapped": Kind("the cable goes to another board", settings={"board": ""}),
        "unique-id": Kind("the flash says another unique id", settings={"id": ""}),
        # between the device and whoever reads the port
        "serial-drop": Kind("a byte is lost", _BYTE),
        "serial-double": Kind("a byte comes twice", _BYTE),
        "serial-flip": Kind("bits of a byte are flipped", _BYTE, {"bits": 0x10}),
        "serial-stall": Kind("nothing comes for a while", _BYTE, {"ms": 100}),
        "serial-garbage": Kind("so many random bytes come first", _FRAME, {"bytes": 100}),
        "serial-text": Kind("text of a printf comes first", _FRAME, {"lines": 20}),
        "serial-echo": Kind("the port sends back what it is sent: another firmware"),
        "host-late": Kind("the host reads a packet only each so many ms", settings={"ms": 20}),
        "frame-cut": Kind("only the first bytes of a frame come", _FRAME, {"keep": 10}),
        "frame-repeat": Kind("a frame comes twice", _FRAME),
        "frame-lost": Kind("a frame is lost", _FRAME),
        "frame-log": Kind("so many LOG frames of the firmware come first", _FRAME, {"lines": 200}),
        "hello-nonce": Kind("HELLO states another nonce", settings={"value": 0}),
        "hello-protocol": Kind("HELLO states another protocol version", settings={"value": 99}),
        # flash
        "flash-skip-page": Kind("a page of 256 bytes is not programmed", _PAGE),
        "flash-skip-erase": Kind("an erase does nothing", _ERASE),
        "flash-protected": Kind("the flash is write-protected"),
        "flash-stuck": Kind(
            "bits of a byte keep their value", settings={"offset": 0x1_0000, "bits": 1, "value": 0}
        ),
        "flash-changed": Kind(
            "somebody else overwrites flash before this reset",
            _RESET,
            {"offset": 0x1_0000, "bytes": 256},
        ),
        "old-image": Kind("an old program is in flash, and its watchdog resets the chip for ever"),
        # the chip
        "brown-out": Kind(
            "the supply drops out: SRAM is lost, the chip starts anew", _FRAME, _LATER
        ),
        "reset": Kind("somebody resets the chip", _FRAME, _LATER),
        "hang": Kind("the core loops with interrupts off", _FRAME, _LATER),
        "boot-hang": Kind("the core loops before its program starts", _RESET, {"after_us": 500}),
        "ram-flip": Kind(
            "a bit of SRAM flips", _FRAME, {**_LATER, "address": 0x2000_0000, "bit": 0}
        ),
        "timer-stopped": Kind("the 1 MHz timer stands still", _FRAME, _LATER),
        "crystal": Kind("the crystal is off", settings={"ppm": 10_000}),
        "pll": Kind("clk_sys is off against the timer", settings={"ppm": 10_000}),
    }
)
_POSITIVE = ("at", "count", "every", "seed", "ms", "bytes", "lines", "keep", "after_us", "back_ms")


@dataclass(frozen=True)
class Fault:
    """One fault of a plan. settings: all that its kind has, defaults filled in."""

    kind: str
    settings: tuple[tuple[str, Setting], ...]

    def __getitem__(self, name: str) -> Setting:
        return dict(self.settings)[name]

    def number(self, name: str) -> int:
        value = self[name]
        assert isinstance(value, int), "parse_faults() checked it"
        return value

    def text(self, name: str) -> str:
        return str(self[name])


class Trigger:
    """When a fault happens. `fires` is asked once for each thing that its kind counts, in order."""

    def __init__(self, fault: Fault) -> None:
        self.fault = fault
        self.happened = 0
        self._seen = 0
        self._chances = random.Random(fault.number("seed"))

    def fires(self) -> bool:
        number, fault = self._seen, self.fault
        self._seen += 1
        at, every, count = (fault.number(name) for name in ("at", "every", "count"))
        if number < at or (count and self.happened >= count):
            return False
        p = fault["p"]
        assert isinstance(p, float)
        due = (every == 0 or (number - at) % every == 0) and (
            p >= 1.0 or self._chances.random() < p
        )
        self.happened += due
        return due


def parse_faults(entries: Iterable[Mapping[str, object]]) -> tuple[Fault, ...]:
    """A plan. entries: as boards.yaml has them; the key `where` is file and line, for messages. Errors:
    ConfigError names an unknown kind or setting and the nearest known one."""
    return tuple(_parse(dict(entry)) for entry in entries)


def spec(faults: Iterable[Fault]) -> str:
    """A plan as the option `--faults` has it, "" for none: the same text for the same plan."""
    parts = []
    for fault in faults:
        known = KINDS[fault.kind].known
        settings = [f"{key}={value}" for key, value in fault.settings if value != known[key]]
        parts.append(",".join([fault.kind, *settings]))
    return ";".join(parts)


def _parse(entry: dict[str, object]) -> Fault:
    where = str(entry.pop(_WHERE, "a fault"))
    name = entry.pop("kind", None)
    if name is None:
        raise ConfigError(f"{where}: a fault needs a kind", hint=_nearest("", KINDS))
    if not isinstance(name, str) or name not in KINDS:
        raise ConfigError(f"{where}: unknown fault {name!r}", hint=_nearest(str(name), KINDS))
    known = KINDS[name].known
    if known.keys() & {"every", "p"} and entry.keys() & {"every", "p"}:
        entry.setdefault("count", 0)
    settings = dict(known)
    for key, value in entry.items():
        if key not in known:
            raise ConfigError(f"{where}: {name} has no setting {key!r}", hint=_nearest(key, known))
        settings[key] = _setting(f"{where}: {key} of {name}", key, value, known[key])
    return Fault(name, tuple(settings.items()))


def _setting(what: str, key: str, value: object, default: Setting) -> Setting:
    if isinstance(default, str):
        if not isinstance(value, str | int) or isinstance(value, bool):
            raise ConfigError(f"{what} is {value!r}, not a text")
        return str(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ConfigError(f"{what} is {value!r}, not a number")
    if isinstance(default, float):
        if not 0.0 <= value <= 1.0:
            raise ConfigError(f"{what} is {value!r}, not a probability from 0 to 1")
        return float(value)
    if not isinstance(value, int) or (key in _POSITIVE and value < 0):
        raise ConfigError(f"{what} is {value!r}, not a whole number of at least 0")
    return value


def _nearest(name: str, known: Collection[str]) -> str:
    close = difflib.get_close_matches(name, list(known), n=1)
    return f"did you mean {close[0]!r}?" if close else "known: " + ", ".join(sorted(known))
