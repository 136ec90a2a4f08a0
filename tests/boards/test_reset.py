# SPDX-License-Identifier: Apache-2.0
"""A reset that did not happen is told from one that did."""

from __future__ import annotations

from collections.abc import Callable

from harness.boards import BoardEntry
from harness.boards.probe import Probe
from harness.errors import ProbeError

SRAM = 0x2000_0100


def test_a_reset_that_is_lost_is_never_taken_for_one(
    fake_entry: Callable[[str], BoardEntry], chip: str
) -> None:
    """pyOCD ignores an error of the write that resets; each transfer of a reset is lost in turn."""
    from fakeboards import faults

    lost = at = 0
    with Probe(fake_entry(chip)) as probe:
        while True:
            faults.set_plan()
            probe._target.halt()
            probe._target.write_core_register("pc", SRAM)
            plan = faults.set_plan("probe", at)
            try:
                probe.reset_and_halt()
            except ProbeError as error:
                lost += "was not reset" in str(error)
            else:
                faults.set_plan()
                assert probe._target.read_core_register("pc") < SRAM
            if not plan.hit:
                break
            at += 1
    assert at > 10
    assert lost > 0
