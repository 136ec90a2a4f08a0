# SPDX-License-Identifier: Apache-2.0
"""A segment's kernel of one's own: the plain one passes, as docs/kernels.md shows it, and with a mistake
that such kernels are known for the verdict fails and says what it is."""

from __future__ import annotations

import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness import resources
from harness.errors import BoundViolation, Mismatch
from harness.validation import demand_kernel
from tests.device.own_segment import Change, judged_segment, own_segment, shown_commands
from tests.device.support import new_entry

ADDED = "            const int32_t b = other["
OUTPUT = "output[channel * stage->output.channel_step] = finish("
BEGUN = "void my_segment(const struct op_call *call)\n{\n"
BEGIN = "for (int32_t number = 1; number < segment->last; number++) {\n"
MEMORY = "its output depends on what memory held before: it reads what nobody wrote"


@dataclass(frozen=True)
class Mistake:
    """says: parts of what the verdict says of it, each in a failure or a reason."""

    name: str
    changes: tuple[Change, ...]
    says: tuple[str, ...]
    chip: str = "rp2040"
    quick: bool = False
    trials: int = 20


MISTAKES = (
    Mistake(
        "slots-modulo-a-row-less",
        (
            (
                BEGIN,
                f"{BEGIN}        struct rows *const rows = &segment->stages[number].output;\n"
                "        rows->slots -= rows->slots > 1;\n"
                "        if (rows->channel_step != 1) {\n"
                "            rows->channel_step = rows->slots * rows->row_step;\n"
                "        }\n",
            ),
        ),
        ("with a row more in its rings it is right: it overwrites rows that it still reads",),
        quick=True,
    ),
    Mistake(
        "padding-not-written",
        (("pad(&stage->output, stage->c_out,", "pad(&stage->output, 0 * stage->c_out,"),),
        (MEMORY, "wrong only where a ring of a depthwise stage stores padding"),
        chip="rp2350",
        quick=True,
    ),
    Mistake(
        "skip-read-after-the-store",
        (
            (
                ADDED,
                f"            output[channel * stage->output.channel_step] = (int8_t)a;\n{ADDED}",
            ),
        ),
        ("apart from its operand it is right: in place it overwrites what it still reads",),
        quick=True,
    ),
    Mistake(
        "keeps-state",
        (
            (BEGUN, f"{BEGUN}    runs++;\n"),
            ("enum { LEFT_SHIFT_FACTOR", "static uint32_t runs;\nenum { LEFT_SHIFT_FACTOR"),
            (
                "return (int8_t)output_stage(scaled, stage->output_zero_point, stage->low, "
                "stage->high);",
                "return (int8_t)(output_stage(scaled, stage->output_zero_point, stage->low, "
                "stage->high) ^ (runs > 1));",
            ),
        ),
        ("right after a reset and wrong when it runs again: it keeps something between runs",),
        chip="rp2350",
    ),
    Mistake(
        "scratch-larger-than-declared",
        (("depthwise * k_h *", "depthwise * (k_h - 1) *"),),
        ("bytes outside the arena of",),
    ),
    Mistake(
        "changes-what-it-only-reads",
        ((ADDED, f"            stage->other->first[0] = 0;\n{ADDED}"),),
        ("it changed operand 1 from outside, which it only reads",),
        chip="rp2350",
    ),
    Mistake(
        "leaves-interrupts-masked",
        ((BEGUN, f'{BEGUN}    __asm volatile("cpsid i");\n'),),
        ("it leaves interrupts masked", "wrong only where interrupts stay on"),
    ),
    Mistake(
        "parked-in-the-wrong-slot",
        (("row * stage->s_h - stage->pad_top);", "row * stage->s_h - stage->pad_top + 1);"),),
        ("its output is wrong", "wrong only where a row is parked"),
        chip="rp2350",
        trials=60,
    ),
)


@pytest.mark.parametrize(
    ("chip", "count"),
    [
        ("rp2040", 20),
        ("rp2350", 20),
        pytest.param("rp2040", 240, marks=pytest.mark.extra),
        pytest.param("rp2350", 240, marks=pytest.mark.extra),
    ],
)
def test_the_plain_one_has_none(chip: str, count: int, tmp_path: Path) -> None:
    verdict = judged_segment(new_entry(chip), own_segment(tmp_path), count)
    assert (verdict.failures, verdict.reasons, verdict.unchecked) == ((), (), ())
    assert (verdict.tried, verdict.right) == (count, count)
    assert verdict.in_place == count - count // 5
    assert verdict.bases == (0, 1, 2, 3)
    assert len(verdict.proofs) == 2 and "wrong in 0" not in "".join(verdict.proofs)
    used, given = verdict.scratch_used
    assert used == given > 0
    demand_kernel(verdict)


@pytest.mark.parametrize(
    "mistake",
    [
        pytest.param(one, id=one.name, marks=[] if one.quick else [pytest.mark.extra])
        for one in MISTAKES
    ],
)
def test_the_verdict_says_what_is_wrong(mistake: Mistake, tmp_path: Path) -> None:
    folder = own_segment(tmp_path, *mistake.changes)
    verdict = judged_segment(new_entry(mistake.chip), folder, mistake.trials)
    said = "\n".join((*verdict.failures, *verdict.reasons))
    assert not verdict.ok
    for words in mistake.says:
        assert words in said
    with pytest.raises((Mismatch, BoundViolation), match="my_segment fails"):
        demand_kernel(verdict)


@pytest.mark.extra
def test_the_commands_that_are_shown(tmp_path: Path) -> None:
    """With fewer trials; the speed is that of the plain kernel, and the verdict says what it leaves
    out."""
    own_segment(tmp_path)
    _, suite, *words = shlex.split(shown_commands()[1])
    assert suite == "layers/test_kernels.py"
    path = str(resources.layers() / "test_kernels.py")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", path, *words]
    done = subprocess.run(
        [*command, "--trials", "12"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "12 of 12" in done.stdout and "op by op" in done.stdout
    assert " m33_segment" in done.stdout and "m33_conv, m33_depthwise, m33_add" in done.stdout
    assert "not checked of my_segment on pico2-emu: " in done.stdout
