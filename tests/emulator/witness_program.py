# SPDX-License-Identifier: Apache-2.0
"""A program with a window in it, under the witness."""

from __future__ import annotations

from collections.abc import Callable

from harness.emulator.machine import Stop
from harness.emulator.witness import Extent, Range, Window, Witness
from tests.emulator.core_program import DATA, STACK_TOP, Core

STACK: Range = (STACK_TOP - 256, 256)
ARENA: Range = (DATA, 16)
NOTHING = Extent(0, 0, 0)

# r0: DATA. The window is what lies between the two calls.
AROUND = """
    ldr r0, =0x20010000
    bl begin
    {body}
    bl end
    bkpt #0
begin:
    push {{r4, lr}}
    str r4, [r0, #12]       @ not in the window: before begin returns
    pop {{r4, pc}}
end:
    str r4, [r0, #12]       @ nor behind the entry of end
    bx lr
    .pool
"""


def watched(
    body: str,
    *,
    areas: dict[str, list[Range]] | None = None,
    inputs: list[Range] | None = None,
    outputs: list[Range] | None = None,
    before: Callable[[Core], None] = lambda _: None,
    slice_cycles: int = 100_000,
    core_type: type[Core] = Core,
) -> tuple[Core, Witness, Window]:
    """The only window of `body` between the two calls, run to its end."""
    core = core_type(AROUND.format(body=body))
    witness = Witness(core.machine)
    witness.watch(
        begin=core.labels["begin"] | 1,
        end=core.labels["end"] | 1,
        areas=areas or {"arena": [ARENA], "stack": [STACK]},
        inputs=inputs or [],
        outputs=outputs or [],
    )
    before(core)
    stop = core.go(0)
    for _ in range(100_000):
        if stop == Stop.HALTED:
            break
        stop = core.machine.run(core.cycles + slice_cycles)
    assert stop == Stop.HALTED
    (window,) = witness.windows()
    return core, witness, window
