# SPDX-License-Identifier: Apache-2.0
"""Thousands of small cases on one board: packs of them, each run once and held against the host."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence

from harness.boards import Board
from harness.build import RunnerImage
from harness.case import Case, Pack, build_pack
from harness.network import Layer
from harness.schema.records import RunResult

A_PACK = 1000
_MOST_BYTES = 600 << 10  # of records and constants in a pack, so that it fits where it has to
_RECORDS = 300  # of a case: its entry, op and tensors


def packs(cases: Sequence[Case]) -> Iterator[Pack]:
    """All cases, in their order."""
    part: list[Case] = []
    size = 0
    for case in cases:
        weight = _bytes(case.plan.layer)
        if part and (len(part) == A_PACK or size + weight > _MOST_BYTES):
            yield build_pack(part)
            part, size = [], 0
        part.append(case)
        size += weight
    if part:
        yield build_pack(part)


def _bytes(layer: Layer) -> int:
    """Of a case in a pack, about and at most: weights, 12 bytes of quantisation a channel, tables."""
    return _RECORDS + layer.macs // layer.output.pixels + 12 * layer.output.c + 1024


def run_all(
    board: Board, image: RunnerImage, cases: Sequence[Case], seeds: Sequence[int]
) -> Iterator[tuple[Case, int, RunResult]]:
    """Each case once, with its seed."""
    number = 0
    for pack in packs(cases):
        board.start(image, pack)
        for index, case in enumerate(pack.cases):
            (result,) = board.run(index, seed=seeds[number]).results
            yield case, seeds[number], result
            number += 1


def problem(case: Case, seed: int, result: RunResult, expected_crc: int) -> str | None:
    """What is wrong with a run, in words."""
    plan = case.plan
    name = f"{case.id}, seed {seed}"
    if result.input_crc != case.input_crc(seed):
        return f"{name}: another input"
    if result.output_crc != expected_crc:
        return f"{name}: output {result.output_crc:08x} instead of {expected_crc:08x}"
    if result.outside_count or result.low_water < 0 or result.high_water > plan.arena_bytes:
        return f"{name}: touched bytes outside its arena of {plan.arena_bytes}"
    if result.scratch_used > plan.scratch_bytes:
        return f"{name}: used {result.scratch_used} of {plan.scratch_bytes} scratch"
    return None


def clean_crc(case: Case, seed: int) -> int:
    return zlib.crc32(case.expected(seed).tobytes())


def predicted_crc(case: Case, seed: int) -> int:
    return zlib.crc32(case.predicted(seed).tobytes())
