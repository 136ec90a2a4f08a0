# SPDX-License-Identifier: Apache-2.0
"""Segments on the host: exact under the sanitizers' eyes, and every record of one that is not sound is
refused (runner/segments.c)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from harness.case.network_records import network_records
from harness.geometry.segment import Segment
from harness.schema.constants import FrameType, OpKind, Refusal, StoredBy
from harness.schema.records import RunResult
from tests.device.forced_segments import forced_case, forced_plan
from tests.device.test_segments import NAMED, SKIP, STEM
from tests.firmware.support import CaseParts, HostRunner, build, refusal

SIZE, RANGE, INDEX, KIND, SHAPE, WEIGHTS, QUANTS = 3, 4, 5, 6, 8, 9, 10
RING, STAGE, SCRATCH = 21, 22, 23


def _parts(segment: Segment) -> CaseParts:
    case = forced_case(forced_plan(segment, "segment"))
    made = network_records(case)
    return CaseParts(
        made.ops,
        made.tensors,
        list(made.quants),
        made.weights,
        case.arena_bytes,
        case.scratch_bytes,
        made.inputs,
        made.outputs,
    )


@pytest.mark.parametrize("name", NAMED)
def test_a_segment_is_one_op(host: HostRunner, name: str) -> None:
    case = forced_case(forced_plan(NAMED[name], "segment"))
    host.flash(build([_parts(NAMED[name])]))
    frames = host.run(0, 1)
    assert [f.type for f in frames] == [FrameType.CASE, FrameType.OP, FrameType.RESULT]
    result = RunResult.unpack(frames[-1].payload)
    assert result.output_crc == case.output_crc(case.tensors(1))
    assert (result.outside_count, result.scratch_used) == (0, 0)


def _changed(segment: Segment, op: int, tensor: int | None, changes: dict[str, Any]) -> CaseParts:
    """Of op record `op`, 0 the segment's own, or of the tensor that it makes."""
    made = _parts(segment)
    if tensor is None:
        made.ops[op] = replace(made.ops[op], **changes)
    else:
        number = made.ops[op].output
        made.tensors[number] = replace(made.tensors[number], **changes)
    return made


@pytest.mark.parametrize(
    ("op", "changes", "what"),
    [
        (0, {"stages": 0}, STAGE),
        (0, {"stages": 6}, STAGE),
        (0, {"stages": 13}, STAGE),
        (0, {"stages": 0xFFFF_FFFF}, STAGE),
        (0, {"stages": 4}, STAGE),  # its last one does not make the output
        (0, {"inputs": (99, 0, 0, 0)}, INDEX),
        (0, {"output": 99}, INDEX),
        (0, {"scratch_offset": 2}, SCRATCH),
        (0, {"scratch_offset": 0x7FFF_FFFC}, SCRATCH),
        (0, {"weights_bytes": 0x7FFF_FFFF}, WEIGHTS),
        (0, {"weights_offset": 0x7FFF_FFFF}, WEIGHTS),
        (0, {"quant_first": 0xFFFF_FFFF}, QUANTS),
        (0, {"quant_count": 0xFFFF_FFFF}, QUANTS),
        (1, {"kind": OpKind.SEGMENT}, KIND),
        (1, {"inputs": (99, 0, 0, 0)}, INDEX),
        (3, {"inputs": (1, 0, 0, 0)}, STAGE),  # of the right shape, and not its source
        (3, {"inputs": (0, 0, 0, 0)}, SHAPE),
        (2, {"weights_bytes": 1}, WEIGHTS),
        (4, {"layout": 1}, STAGE),
    ],
)
def test_bad_ops(host: HostRunner, op: int, changes: dict[str, Any], what: int) -> None:
    host.flash(build([_changed(STEM, op, None, changes)]))
    answer = refusal(host.run(0, 1))
    assert (answer.reason, answer.detail & 0xFFFF) == (Refusal.BAD_RECORD, what)


@pytest.mark.parametrize(
    ("op", "changes", "what"),
    [
        (1, {"rows": 0}, RING),
        (1, {"rows": 4}, RING),
        (1, {"rows": 0xFFFF_FFFF}, RING),
        (1, {"bytes": 1}, RING),
        (1, {"offset": 0x7FFF_FFFF}, RANGE),
        (1, {"stored_by": StoredBy.RING}, RING),  # without the padding, smaller
        (1, {"stored_by": StoredBy.PARKED}, RING),  # of a convolution
        (1, {"stored_by": StoredBy.ROW}, SIZE),
        (2, {"offset": 0}, RING),  # parked elsewhere
        (2, {"rows": 9}, RING),
        (2, {"w": 7}, SHAPE),
        (2, {"stored_by": StoredBy.PLANES}, RING),  # and no depthwise stage reads it
        (5, {"stored_by": StoredBy.RING}, RING),  # the output of the case
    ],
)
def test_bad_rings(host: HostRunner, op: int, changes: dict[str, Any], what: int) -> None:
    host.flash(build([_changed(STEM, op, 0, changes)]))
    answer = refusal(host.run(0, 1))
    assert (answer.reason, answer.detail & 0xFFFF) == (Refusal.BAD_RECORD, what)


def test_a_stage_adds_only_what_there_is(host: HostRunner) -> None:
    """Neither a later stage's rows nor a tensor that the segment does not read."""
    made = _parts(SKIP)
    later = replace(made.ops[5], inputs=(made.ops[4].output, made.ops[5].output, 0, 0))
    made.ops[5] = later
    host.flash(build([made]))
    assert refusal(host.run(0, 1)).detail & 0xFFFF == STAGE
    made = _parts(SKIP)
    made.ops[0] = replace(made.ops[0], input_count=1)
    host.flash(build([made]))
    assert refusal(host.run(0, 1)).detail & 0xFFFF == STAGE


def test_scratch_in_the_arena_must_suffice(host: HostRunner) -> None:
    made = _parts(STEM)
    made.ops[0] = replace(made.ops[0], scratch_bytes=made.ops[0].scratch_bytes - 1)
    host.flash(build([made]))
    answer = refusal(host.run(0, 1))
    assert (answer.reason, answer.detail) == (Refusal.ARENA_TOO_SMALL, 1)


def test_outputs_of_a_case_are_whole(host: HostRunner) -> None:
    made = _parts(STEM)
    made.outputs = (made.ops[1].output,)
    host.flash(build([made]))
    assert refusal(host.run(0, 1)).detail & 0xFFFF == RING
