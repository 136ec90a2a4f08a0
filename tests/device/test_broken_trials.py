# SPDX-License-Identifier: Apache-2.0
"""The bench's own templates, each with one mistake that kernels are known for: the trials of a kernel of
one's own find it, and the verdict says what it is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.device.own_kernel import Change, judged, own_folder
from tests.device.support import new_entry

IN_PLACE = "with two buffers it is right: in place it overwrites input that it still reads"
WRITE_PIXEL = "            for (int32_t pixel = 0; pixel < pixels; pixel++) {\n                for"
GATHERED = "gather(call, row, column + pixel, fields + pixel * taps);\n"
AFTER_A_PIXEL = "fields + pixel * taps);\n                }\n"
OUTPUT = "output_of(call, channel, fields + pixel * taps)"
BODY = 'RAM_CODE("mine")\nvoid mine(const struct op_call *call)\n{\n'
NAKED = """void body(const struct op_call *call);
RAM_CODE("mine")
__attribute__((naked)) void mine(const struct op_call *call)
{
    (void)call;
    __asm volatile("push {r4, lr}\\n bl body\\n mov r8, r0\\n pop {r4, pc}");
}

RAM_CODE("body")
void body(const struct op_call *call)
{
"""


@dataclass(frozen=True)
class Mistake:
    """says: parts of what the verdict says of it, each in a failure or a reason. trials: how many it
    takes to find it."""

    name: str
    changes: tuple[Change, ...]
    says: tuple[str, ...]
    op: str = "conv"
    chip: str = "rp2040"
    trials: int = 64
    quick: bool = False


def _at_the_start(line: str) -> tuple[Change, ...]:
    return ((BODY, f"{BODY}    {line}\n"),)


MISTAKES = (
    Mistake(
        "gap-declared-short",  # by the c_out bytes of the third pixel
        (("pixels: 2", "pixels: 3"), ("call->step_pixels", "2")),
        (IN_PLACE,),
    ),
    Mistake(
        "steps-smaller-than-declared",  # in rows of one pixel, where a step runs on to the next one
        (("    accepts: w_out >= 2\n", ""),),
        (IN_PLACE, "wrong only where the output has one column"),
        chip="rp2350",
        trials=240,
    ),
    Mistake(
        "channels-written-before-the-gather-ends",
        (
            (
                GATHERED,
                f"{GATHERED}                for (int32_t early = 0; early < 2 && early < call->c_out; "
                "early++) {\n output[early] = output_of(call, early, fields);\n }\n",
            ),
        ),
        (IN_PLACE,),
        chip="rp2350",
    ),
    Mistake(
        "one-scalar-past-the-pixel",
        ((AFTER_A_PIXEL, f"{AFTER_A_PIXEL}                *output = 0;\n"),),
        ("it wrote 1 bytes outside the arena", IN_PLACE),
    ),
    Mistake(
        "word-store-past-the-row-tail",
        (
            (
                AFTER_A_PIXEL,
                f"{AFTER_A_PIXEL}                for (int32_t n = 0; n < 4 && "
                "column + pixel + 1 == call->w_out; n++) {\n output[n] = 0;\n }\n",
            ),
        ),
        ("it wrote 4 bytes outside the arena", IN_PLACE),
        chip="rp2350",
    ),
    Mistake(
        "uninitialised-scratch",
        (
            (
                "*to++ = real ? from[channel] : (int8_t)call->input_zero_point;",
                "if (real) {\n *to = from[channel];\n }\n to++;",
            ),
        ),
        ("its output depends on what memory held before", "wrong only where there is padding"),
        quick=True,
    ),
    Mistake(
        "even-channels-only",
        (("tap < taps;", "tap < taps - (call->c_in & 1);"),),
        ("wrong only where the input has an odd number of channels",),
        chip="rp2350",
    ),
    Mistake(
        "more-than-one-column-only",
        (("row * call->s_h * plane.w;", "row * call->s_h * plane.w + (call->w_out == 1);"),),
        ("wrong only where the output has one column",),
        op="depthwise",
        trials=120,
    ),
    Mistake(
        "pads-with-zero",
        (("from[channel] : (int8_t)call->input_zero_point", "from[channel] : (int8_t)0"),),
        ("padding of 0 instead of the input's zero point", "wrong only where there is padding"),
        chip="rp2350",
    ),
    Mistake(
        "single-rounding",
        (("requantize_double", "requantize_single"),),
        ("single rounding instead of double",),
        trials=240,
    ),
    Mistake(
        "clamps-before-the-zero-point",
        ((" - zero_point", ""),),
        ("clamped before its zero point is added",),
        chip="rp2350",
    ),
    Mistake(
        "keeps-state",
        (
            *_at_the_start("static uint32_t runs;\n    runs++;"),
            (f"*output++ = {OUTPUT};", f"*output++ = (int8_t)({OUTPUT} ^ (runs > 1));"),
        ),
        ("right after a reset and wrong when it runs again: it keeps something between runs",),
    ),
    Mistake(
        "restarts-the-cycle-counter",
        _at_the_start("*(volatile uint32_t *)0xe000e018u = 0;"),
        ("the cycle counter disagrees with the timer",),
        quick=True,
    ),
    Mistake(
        "restarts-the-cycle-counter-of-the-m33",
        _at_the_start("*(volatile uint32_t *)0xe0001004u = 0;"),
        ("the cycle counter disagrees with the timer",),
        chip="rp2350",
    ),
    Mistake(
        "leaves-interrupts-masked",
        _at_the_start('__asm volatile("cpsid i");'),
        ("it leaves interrupts masked", "wrong only where interrupts stay on"),
        quick=True,
    ),
    Mistake(
        "leaves-interrupts-masked-on-the-m33",
        _at_the_start('__asm volatile("cpsid i");'),
        ("it leaves interrupts masked",),
        chip="rp2350",
    ),
    Mistake("clobbers-r8", ((BODY, NAKED),), ("it does not keep r8,",), quick=True),
    Mistake("clobbers-r8-on-the-m33", ((BODY, NAKED),), ("it does not keep r8,",), chip="rp2350"),
    Mistake(
        "scratch-larger-than-declared",
        (("b * k_h * k_w * c_in", "(b * k_h * k_w - 1) * c_in"),),
        ("bytes behind its scratch of",),
        chip="rp2350",
    ),
    Mistake(
        "unaligned-access",
        (
            (
                "uint32_t sum = (uint32_t)quant->bias;",
                "uint32_t sum = (uint32_t)quant->bias +\n"
                "        (*(const volatile uint32_t *)(const void *)call->input & 0);",
            ),
        ),
        ("the firmware faulted in mine", "HardFault"),
    ),
)


@pytest.mark.extra
@pytest.mark.parametrize("chip", ["rp2040", "rp2350"])
@pytest.mark.parametrize("op", ["conv", "depthwise", "add"])
def test_a_template_has_none(op: str, chip: str, tmp_path: Path) -> None:
    verdict = judged(new_entry(chip), own_folder(tmp_path, op), 120)
    assert (verdict.failures, verdict.reasons) == ((), ())
    assert (verdict.tried, verdict.right) == (120, 120)
    assert verdict.in_place == 96  # four of five
    assert verdict.bases == (0, 1, 2, 3)


@pytest.mark.parametrize(
    "mistake",
    [
        pytest.param(one, id=one.name, marks=[] if one.quick else [pytest.mark.extra])
        for one in MISTAKES
    ],
)
def test_the_verdict_says_what_is_wrong(mistake: Mistake, tmp_path: Path) -> None:
    folder = own_folder(tmp_path, mistake.op, *mistake.changes)
    verdict = judged(new_entry(mistake.chip), folder, mistake.trials)
    said = "\n".join((*verdict.failures, *verdict.reasons))
    assert not verdict.ok
    for words in mistake.says:
        assert words in said
