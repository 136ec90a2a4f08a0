# SPDX-License-Identifier: Apache-2.0
"""Whatever a board states that is not what was written is refused, field by field."""

from __future__ import annotations

import zlib
from dataclasses import fields, replace

import pytest

from harness.boards.identity import check_case, check_hello
from harness.build import RunnerImage
from harness.errors import (
    ConfigError,
    EnumerationError,
    FlashError,
    HarnessError,
    ProtocolError,
)
from harness.schema.constants import PROTOCOL_VERSION
from harness.schema.records import CaseVerified, Hello
from tests.device.support import new_entry, small_pack

PACK = small_pack()
ENTRY = new_entry()
UID = bytes(range(8))


def _hello(image: RunnerImage) -> Hello:
    return Hello(
        protocol=PROTOCOL_VERSION,
        chip=2040,
        clk_sys_hz=125_000_000,
        unique_id=UID,
        board=ENTRY.name,
        build_id=image.info.build_id,
        image_bytes=len(image.flash),
        image_crc=image.crc,
        ram_code_crc=image.ram_code_crc,
        pack_address=0x1001_0000,
        pack_bytes=len(PACK.data),
        pack_header_crc=PACK.header.header_crc,
        pool_address=0x2000_3000,
        pool_bytes=image.pool_bytes,
        stack_bytes=4096,
        reset_reason=0,
    )


def _verified(image: RunnerImage) -> CaseVerified:
    entry = PACK.entries[1]
    return CaseVerified(
        case_index=1,
        seed=9,
        image_crc=image.crc,
        ram_code_crc=image.ram_code_crc,
        pack_header_crc=PACK.header.header_crc,
        entry_crc=zlib.crc32(entry.pack()),
        ops_crc=entry.ops.crc,
        tensors_crc=entry.tensors.crc,
        quants_crc=entry.quants.crc,
        weights_crc=entry.weights.crc,
    )


def test_the_right_board(runner_image: RunnerImage) -> None:
    check_hello(_hello(runner_image), ENTRY, runner_image, PACK, UID)
    check_case(_verified(runner_image), runner_image, PACK, 1, 9)


@pytest.mark.parametrize(
    ("changed", "kind"),
    [
        ({"protocol": PROTOCOL_VERSION + 1}, ProtocolError),
        ({"board": "neighbour"}, EnumerationError),
        ({"unique_id": bytes(8)}, EnumerationError),
        ({"clk_sys_hz": 126_250_000}, ConfigError),
        ({"build_id": bytes(8)}, FlashError),
        ({"image_crc": 0}, FlashError),
        ({"ram_code_crc": 0}, FlashError),
        ({"pack_header_crc": 0}, FlashError),
        ({"pool_bytes": 0}, FlashError),
    ],
)
def test_hello(
    runner_image: RunnerImage, changed: dict[str, object], kind: type[HarnessError]
) -> None:
    hello = replace(_hello(runner_image), **changed)  # type: ignore[arg-type]
    with pytest.raises(kind):
        check_hello(hello, ENTRY, runner_image, PACK, UID)


@pytest.mark.parametrize("name", [field.name for field in fields(CaseVerified)])
def test_every_field_of_a_verified_case(runner_image: RunnerImage, name: str) -> None:
    right = _verified(runner_image)
    wrong = replace(right, **{name: getattr(right, name) ^ 1})
    kind = ProtocolError if name in ("case_index", "seed") else FlashError
    with pytest.raises(kind):
        check_case(wrong, runner_image, PACK, 1, 9)
