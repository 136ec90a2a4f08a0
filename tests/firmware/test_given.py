# SPDX-License-Identifier: Apache-2.0
"""Inputs whose values the pack gives, at the end of the case's constants."""

from __future__ import annotations

import zlib
from dataclasses import replace

import pytest

from harness.schema import records
from harness.schema.constants import FrameType, Refusal, TapOrder
from tests.firmware.support import Conv, HostRunner, build, parts, refusal

_BAD_GIVEN = 20  # runner/pack.h
_CONV = Conv(4, 4, 3, 2, (3, 3), (1, 1), (1, 1), (1, 1, 1, 1), TapOrder.GATHER, seed=1)
_VALUES = bytes(range(100, 100 + 4 * 4 * 3))


def _pack(values: bytes, given_bytes: int | None = None) -> bytes:
    case = parts(_CONV)
    given = len(values) if given_bytes is None else given_bytes
    return build([replace(case, weights=case.weights + values, given_bytes=given)])


def _result(host: HostRunner, seed: int) -> records.RunResult:
    return records.RunResult.unpack(host.run(0, seed)[-1].payload)


def test_the_values_are_the_packs_whatever_the_seed(host: HostRunner) -> None:
    host.flash(_pack(_VALUES))
    one, two = _result(host, 1), _result(host, 2)
    assert one.input_crc == two.input_crc == zlib.crc32(_VALUES)
    assert one.output_crc == two.output_crc
    host.flash(_pack(b""))
    assert _result(host, 1).input_crc != _result(host, 2).input_crc != zlib.crc32(_VALUES)


@pytest.mark.parametrize("given", [1, len(_VALUES) - 1, len(_VALUES) + 1, 0xFFFF_FFFF])
def test_another_size_than_the_tensors_is_refused(given: int, host: HostRunner) -> None:
    host.flash(_pack(_VALUES + bytes(8), given))
    (answer,) = host.run(0, 1)
    assert answer.type is FrameType.REFUSED
    refused = refusal(host.run(0, 1))
    assert (refused.reason, refused.detail) == (Refusal.BAD_RECORD, _BAD_GIVEN)
    assert (refused.expected, refused.seen) == (len(_VALUES), given)


def test_more_than_all_constants_is_refused(host: HostRunner) -> None:
    """Of a case with fewer constants than its input has bytes."""
    conv = Conv(8, 8, 3, 2, (1, 1), (1, 1), (1, 1), (0, 0, 0, 0), TapOrder.GATHER, seed=1)
    host.flash(build([replace(parts(conv), given_bytes=8 * 8 * 3)]))
    refused = refusal(host.run(0, 1))
    assert (refused.reason, refused.detail) == (Refusal.BAD_RECORD, _BAD_GIVEN)
