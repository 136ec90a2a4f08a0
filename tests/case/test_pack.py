# SPDX-License-Identifier: Apache-2.0
"""Packs hold what they say, share what is equal, and carry no answer."""

from __future__ import annotations

import zlib
from dataclasses import replace

import numpy as np
import pytest

from harness.case import Case, build_pack, draw_parameters, generate_input, make_case
from harness.errors import ConfigError
from harness.network import find_set, load_set
from harness.plan import LAYER_STRATEGIES, Strategy, plan_layer
from harness.schema.constants import SECTION_ALIGNMENT, SLICE_ALIGNMENT, Rounding
from harness.schema.records import CaseEntry, OpRecord, PackHeader, TensorRecord

LAYERS = {layer.id: layer for layer in load_set(find_set("first"))}


def _cases() -> list[Case]:
    layer = LAYERS["odd-3x3"]
    plans = [plan_layer(layer, s) for s in LAYER_STRATEGIES]
    return [make_case(plan) for plan in plans]


def test_input_generator_literals() -> None:
    """As runner/input.c gives them (tests/firmware compares the two on the host)."""
    assert generate_input(1, 8).tolist() == [
        int(np.int8(np.uint8(b))) for b in _murmur(1, 0) + _murmur(1, 1)
    ]
    assert generate_input(5, 7).tolist() == generate_input(5, 100)[:7].tolist()
    assert generate_input(5, 64).tolist() != generate_input(6, 64).tolist()


def _murmur(seed: int, word: int) -> list[int]:
    h = (seed ^ word * 0x9E3779B1) & 0xFFFFFFFF
    h = (h ^ h >> 16) * 0x85EBCA6B & 0xFFFFFFFF
    h = (h ^ h >> 13) * 0xC2B2AE35 & 0xFFFFFFFF
    h ^= h >> 16
    return list(h.to_bytes(4, "little"))


def test_directory_and_slices() -> None:
    pack = build_pack(_cases())
    header = PackHeader.unpack(pack.data[: PackHeader.size()])
    assert header == pack.header
    assert header.header_crc == zlib.crc32(pack.data[: PackHeader.size() - 4])
    assert header.pack_bytes == len(pack.data)
    assert len(pack.data) % SECTION_ALIGNMENT == 0
    for number, case in enumerate(pack.cases):
        at = header.directory_offset + number * CaseEntry.size()
        entry = CaseEntry.unpack(pack.data[at : at + CaseEntry.size()])
        assert entry == pack.entries[number]
        assert entry.arena_bytes == case.plan.arena_bytes
        sections = (
            (header.ops_offset, entry.ops),
            (header.tensors_offset, entry.tensors),
            (header.quants_offset, entry.quants),
            (header.weights_offset, entry.weights),
        )
        for section, part in sections:
            assert section % SECTION_ALIGNMENT == 0
            assert part.offset % SLICE_ALIGNMENT == 0
            data = pack.data[section + part.offset : section + part.offset + part.bytes]
            assert zlib.crc32(data) == part.crc
        start = header.tensors_offset + entry.tensors.offset
        table = pack.data[start : start + entry.tensors.bytes]
        source = TensorRecord.unpack(table[: TensorRecord.size()])
        assert (source.offset, source.bytes) == (case.plan.inputs[0].offset, 5 * 7 * 13)


def test_weights_are_stored_once() -> None:
    pack = build_pack(_cases())
    assert pack.entries[0].weights == pack.entries[1].weights
    assert pack.entries[0].tensors != pack.entries[1].tensors


def test_a_pack_carries_no_answer() -> None:
    cases = _cases()
    data = build_pack(cases).data
    for seed in (1, 2, 3):
        expected = cases[0].expected(seed).tobytes()
        assert zlib.crc32(expected).to_bytes(4, "little") not in data
        assert expected[:16] not in data


def test_op_record() -> None:
    pack = build_pack(_cases()[:1])
    at = pack.header.ops_offset
    record = OpRecord.unpack(pack.data[at : at + OpRecord.size()])
    assert (record.k_h, record.k_w, record.pad_top, record.pad_right) == (3, 3, 1, 1)
    assert record.weights_bytes == 6 * 3 * 3 * 13


@pytest.mark.parametrize(("rounding", "number"), [("DOUBLE", 0), ("SINGLE", 1), ("TRUNCATE", 2)])
def test_op_record_carries_the_rounding(rounding: str, number: int) -> None:
    (case, _) = _cases()
    parameters = replace(case.parameters, rounding=Rounding[rounding])
    pack = build_pack([make_case(case.plan, parameters)])
    at = pack.header.ops_offset + pack.entries[0].ops.offset
    assert OpRecord.unpack(pack.data[at : at + OpRecord.size()]).rounding == number


def test_refusals() -> None:
    with pytest.raises(ConfigError, match="not 0"):
        build_pack([])
    with pytest.raises(ConfigError, match="same id"):
        build_pack([_cases()[0], _cases()[0]])


@pytest.mark.parametrize("layer", LAYERS.values(), ids=LAYERS)
def test_outputs_are_not_saturated(layer) -> None:  # type: ignore[no-untyped-def]
    case = make_case(plan_layer(layer, Strategy.DUAL))
    for seed in (1, 2, 3):
        output = case.expected(seed).astype(int)
        assert (np.abs(output + 0.5) < 127).mean() >= 0.9
        assert len(np.unique(output)) > min(100, output.size // 2)


def test_weights_do_not_depend_on_the_run() -> None:
    layer = LAYERS["mcunet-in0.0"]
    first, second = draw_parameters(layer), draw_parameters(layer)
    assert np.array_equal(first.weights, second.weights)
    assert int(np.abs(first.weights).max()) == 127
