# SPDX-License-Identifier: Apache-2.0
"""Is this the board, the image and the pack that we mean? Pure comparisons of what was stated."""

from __future__ import annotations

import zlib

from harness.boards.config import BoardEntry
from harness.build import RunnerImage
from harness.case import Pack
from harness.errors import ConfigError, EnumerationError, FlashError, ProtocolError
from harness.schema.constants import PROTOCOL_VERSION
from harness.schema.records import CaseVerified, Hello

_CLOCK_TOLERANCE = 1e-3  # ten times the error of the crystal and of the measurement over 1 ms
_STALE = "another program flashed the board, or its flash is failing; run again with --reflash"


def check_hello(
    hello: Hello, entry: BoardEntry, image: RunnerImage, pack: Pack, unique_id: bytes
) -> None:
    """Errors: ProtocolError (version), EnumerationError (another board), ConfigError (clock),
    FlashError (the flash does not hold what was written)."""
    if hello.protocol != PROTOCOL_VERSION:
        raise ProtocolError(
            f"the firmware speaks protocol {hello.protocol}, the harness {PROTOCOL_VERSION}",
            cause="the program on the board is of another version of ripbench",
            hint=_STALE,
        )
    check_board(hello, entry, unique_id)
    if abs(hello.clk_sys_hz - entry.clock_hz) > entry.clock_hz * _CLOCK_TOLERANCE:
        raise ConfigError(
            f"{entry.name} runs at {hello.clk_sys_hz} Hz, boards.yaml says {entry.clock_hz}",
            evidence={"boards.yaml": entry.where},
            hint="correct clock_hz; a crystal that is off by more than 0.1 % is broken",
        )
    _same("build id", image.info.build_id.hex(), hello.build_id.hex())
    _same("image CRC", image.crc, hello.image_crc)
    _same("RAM code CRC", image.ram_code_crc, hello.ram_code_crc)
    _same("pack header CRC", pack.header.header_crc, hello.pack_header_crc)
    _same("pool bytes", image.pool_bytes, hello.pool_bytes)


def check_board(hello: Hello, entry: BoardEntry, unique_id: bytes) -> None:
    """unique_id: as the firmware left it in the mailbox, read by the probe. Errors: EnumerationError
    when probe and port lead to two boards."""
    if hello.board == entry.name and hello.unique_id == unique_id:
        return
    raise EnumerationError(
        f"this port is not the board {entry.name} that the probe reset",
        cause="swapped cables, or a serial line in boards.yaml that belongs to another board",
        evidence={
            "board by the port": f"{hello.board!r} {hello.unique_id.hex()}",
            "board by the probe": f"{entry.name!r} {unique_id.hex()}",
        },
        hint="check which cable goes where, and `probe` and `serial` in boards.yaml",
    )


def check_case(
    verified: CaseVerified, image: RunnerImage, pack: Pack, index: int, seed: int
) -> None:
    """What a RUN is about to execute and read, computed by the firmware just now. Errors: FlashError,
    and ProtocolError when it speaks of another case."""
    if (verified.case_index, verified.seed) != (index, seed):
        raise ProtocolError(
            "the board runs another case than it was asked to",
            evidence={
                "asked": f"case {index}, seed {seed}",
                "answered": f"case {verified.case_index}, seed {verified.seed}",
            },
            hint="two programs talk to this board; run `ripbench doctor`",
        )
    entry = pack.entries[index]
    _same("image CRC", image.crc, verified.image_crc)
    _same("RAM code CRC", image.ram_code_crc, verified.ram_code_crc)
    _same("pack header CRC", pack.header.header_crc, verified.pack_header_crc)
    _same("directory entry CRC", zlib.crc32(entry.pack()), verified.entry_crc)
    _same("op records CRC", entry.ops.crc, verified.ops_crc)
    _same("tensor table CRC", entry.tensors.crc, verified.tensors_crc)
    _same("quantisation CRC", entry.quants.crc, verified.quants_crc)
    _same("weights CRC", entry.weights.crc, verified.weights_crc)


def _same(what: str, written: int | str, found: int | str) -> None:
    if written != found:
        raise FlashError(
            f"the firmware found another {what} than was written",
            evidence={"written": _shown(written), "found": _shown(found)},
            hint=_STALE,
        )


def _shown(value: int | str) -> str:
    return f"{value:08x}" if isinstance(value, int) else value
