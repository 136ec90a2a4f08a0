# SPDX-License-Identifier: Apache-2.0
"""The store that leaves an output byte wrong, and the core halted ahead of it."""

from __future__ import annotations

from dataclasses import dataclass

from harness.boards import Watchpoint
from harness.errors import ProtocolError
from harness.measure.once import OnceSession, WrongByte
from harness.measure.profile import BEGIN, END
from harness.schema.constants import ARENA_LEAD


@dataclass(frozen=True)
class WrongStore:
    """number: of the op's stores to the byte the last, from 1. pc: of its instruction, at which the core
    is halted. address: of the byte."""

    byte: WrongByte
    number: int
    pc: int
    address: int


def halt_at_wrong_store(
    session: OnceSession, watchpoint: Watchpoint, byte: WrongByte
) -> WrongStore | None:
    """Two more runs, up to the op that leaves the byte wrong: one to number its stores there, one that
    the watchpoint stops ahead of the last. The watchpoint stays, and is the caller's to stop. None where
    the op stores nothing there: the byte is what lay there before.

    Errors: ProtocolError where the two runs differ; else as of the session.
    """
    symbols = session.image.symbols
    begin, end = symbols[BEGIN], symbols[END]
    address = symbols["__pool_start"] + ARENA_LEAD + byte.offset
    watchpoint.watch(begin=begin, end=end, address=address)
    session.board.run(0, session.seed, keep_interrupts=session.keep_interrupts, ops=byte.op_records)
    number, pc = watchpoint.stores(), watchpoint.last_store()
    if not number or pc is None:
        return None
    watchpoint.watch(
        begin=begin, end=end, address=address, window=byte.op_records - 1, store=number
    )
    halted = session.board.run_to_halt(
        0, session.seed, keep_interrupts=session.keep_interrupts, ops=byte.op_records
    )
    if halted != pc:
        raise ProtocolError(
            "the core halted elsewhere than at the store that was found",
            evidence={"store": f"{pc:#010x}", "pc": f"{halted:#010x}"},
        )
    return WrongStore(byte, number, pc, address)
