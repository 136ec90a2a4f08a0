# SPDX-License-Identifier: Apache-2.0
"""Errors that cross from a served board to its client, by name: only those listed here exist there."""

from __future__ import annotations

from collections.abc import Mapping

from serial import serialutil

from harness import errors
from harness.emulator.channel import Malformed
from harness.emulator.debuglink import InUse, Silent
from harness.emulator.faultplan_wire import Answer, NoAnswer
from harness.emulator.memap import Fault

LONGEST = 4000  # characters of a text, EVIDENCE_MAX names
EVIDENCE_MAX = 32

EXPLAINED: Mapping[str, type[errors.HarnessError]] = {
    kind.__name__: kind
    for kind in (
        errors.ConfigError,
        errors.ProbeError,
        errors.EnumerationError,
        errors.FirmwareFault,
        InUse,
    )
}
PLAIN: Mapping[str, type[Exception]] = {
    kind.__name__: kind
    for kind in (
        Fault,
        Silent,
        ValueError,
        serialutil.SerialException,
        serialutil.SerialTimeoutException,
        serialutil.PortNotOpenError,
    )
}
ANSWERS: Mapping[object, Answer] = {answer.value: answer for answer in Answer}
CARRIED: tuple[type[Exception], ...] = (*EXPLAINED.values(), *PLAIN.values(), NoAnswer)


def to_fields(error: Exception) -> dict[str, object]:
    """error: of one of CARRIED's classes itself."""
    fields: dict[str, object] = {"type": type(error).__name__, "message": str(error)[:LONGEST]}
    if isinstance(error, errors.HarnessError):
        fields["message"] = error.message[:LONGEST]
        fields["cause"], fields["hint"] = error.cause[:LONGEST], error.hint[:LONGEST]
        shown = list(error.evidence.items())[:EVIDENCE_MAX]
        fields["evidence"] = [[name[:LONGEST], str(value)[:LONGEST]] for name, value in shown]
    return fields


def from_fields(fields: object) -> Exception:
    """Errors: Malformed for what is no such error."""
    if not isinstance(fields, dict):
        raise Malformed("an error that is none")
    name, message = fields.get("type"), fields.get("message")
    if name == serialutil.PortNotOpenError.__name__:
        return serialutil.PortNotOpenError()
    if name == NoAnswer.__name__ and message in ANSWERS:
        return NoAnswer(ANSWERS[message])
    if isinstance(name, str) and isinstance(message, str):
        if name in PLAIN:
            return PLAIN[name](message)
        if name in EXPLAINED:
            cause, hint, evidence = (fields.get(key) for key in ("cause", "hint", "evidence"))
            if isinstance(cause, str) and isinstance(hint, str) and isinstance(evidence, list):
                return EXPLAINED[name](message, cause=cause, evidence=_pairs(evidence), hint=hint)
    raise Malformed(f"an error of the unknown kind {name!r}")


def _pairs(evidence: list[object]) -> dict[str, object]:
    pairs: dict[str, object] = {}
    for pair in evidence:
        if not (
            isinstance(pair, list) and len(pair) == 2 and all(isinstance(s, str) for s in pair)
        ):
            raise Malformed("evidence that is no pair of texts")
        pairs[pair[0]] = pair[1]
    return pairs
