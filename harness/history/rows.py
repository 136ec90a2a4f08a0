# SPDX-License-Identifier: Apache-2.0
"""Verdicts and samples to rows of tables, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from harness.errors import ConfigError
from harness.history.plain import from_plain, to_plain
from harness.results import Sample, Verdict

# Columns by the names of the fields; every other field is in `more`, also one that is new.
VERDICT = (
    "ok", "workspace_bound", "workspace_given", "workspace_reached", "debt", "witness", "cycles",
    "shift_cycles", "cold_cycles", "microseconds", "cycles_per_mac", "ratio", "ratio_to", "output_crc",
    "interrupts_on", "xip_misses", "stack_peak", "scratch_bytes", "kernel", "attempts",
)  # fmt: skip
SAMPLE = (
    "seed", "paint", "repeat", "cycles", "microseconds", "interrupt_cycles", "interrupts",
    "interrupts_on", "xip_accesses", "xip_hits", "input_crc", "output_crc", "low_water", "high_water",
    "outside_count", "outside_first", "scratch_used", "stack_peak",
)  # fmt: skip
_FLAGS = ("ok", "interrupts_on")
_ELSEWHERE = ("provenance", "layer", "plan", "recovered")  # in tables of their own


def verdict_values(verdict: Verdict) -> dict[str, Any]:
    """By column."""
    fields = to_plain(verdict)
    row = {name: fields.pop(name) for name in VERDICT}
    for name in _ELSEWHERE:
        fields.pop(name)
    return {**row, "more": _compact(fields)}


def verdict_fields(
    row: Mapping[str, Any], provenance: Mapping[str, Any], recovered: Sequence[str]
) -> dict[str, Any]:
    """As JSON holds a verdict. row: of `verdict` with the case's layer and plan; provenance: the row of
    board and build. Errors: ConfigError for a row that is damaged."""
    fields: dict[str, Any] = {
        "provenance": dict(provenance),
        "layer": row["layer"],
        "plan": row["plan"],
        **{name: row[name] for name in VERDICT},
        **_expand(row["more"]),
        "recovered": list(recovered),
    }
    return {**fields, **{name: bool(fields[name]) for name in _FLAGS}}


def sample_values(sample: Sample) -> tuple[Any, ...]:
    """The columns SAMPLE, and `more`. What a witness saw is judged and summed up in the verdict; it is
    not kept of each sample, which it would make ten times as large."""
    more = {
        "op_cycles": sample.op_cycles,
        "op_kernels": sample.op_kernels,
        "wrong": None if sample.wrong is None else to_plain(sample.wrong),
    }
    return (
        *(getattr(sample, name) for name in SAMPLE),
        _compact({name: value for name, value in more.items() if value}),
    )


def sample_fields(sample: Sample) -> dict[str, Any]:
    """As JSON holds it, the witness left out."""
    fields = to_plain(sample)
    del fields["witness"]
    return fields


def sample_of(row: Mapping[str, Any]) -> Sample:
    """Errors: ConfigError for a row that is damaged."""
    fields = {**{name: row[name] for name in SAMPLE}, **_expand(row["more"])}
    try:
        return from_plain(Sample, {**fields, "interrupts_on": bool(fields["interrupts_on"])})
    except ValueError as error:
        raise ConfigError("a sample of the history is damaged", cause=str(error)) from error


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))


def _expand(text: object) -> dict[str, Any]:
    try:
        found = json.loads(str(text))
    except (ValueError, RecursionError) as error:
        raise ConfigError("a row of the history is damaged", cause=str(error)[:200]) from error
    if not isinstance(found, dict):
        raise ConfigError("a row of the history is damaged")
    return found
