# SPDX-License-Identifier: Apache-2.0
"""What all failed trials have in common and most of the others have not."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from harness.geometry import ConvGeometry, Pad
from harness.measure.trials import Trial, Tried
from harness.plan import Strategy

_FEWEST = 3  # failures, before they have a pattern


def _odd_in(trial: Trial) -> bool:
    return trial.plan.layer.inputs[0].c % 2 == 1


def _odd_out(trial: Trial) -> bool:
    return trial.plan.layer.output.c % 2 == 1


def _one_column(trial: Trial) -> bool:
    return trial.plan.layer.output.w == 1


def _one_row(trial: Trial) -> bool:
    return trial.plan.layer.output.h == 1


def _odd_columns(trial: Trial) -> bool:
    return trial.plan.layer.output.w % 2 == 1


def _odd_pixels(trial: Trial) -> bool:
    return trial.plan.layer.output.pixels % 2 == 1


def _padded(trial: Trial) -> bool:
    g = trial.plan.layer.geometry
    return isinstance(g, ConvGeometry) and g.pad != Pad()


def _strided(trial: Trial) -> bool:
    g = trial.plan.layer.geometry
    return isinstance(g, ConvGeometry) and (g.s_h, g.s_w) != (1, 1)


def _dilated(trial: Trial) -> bool:
    g = trial.plan.layer.geometry
    return isinstance(g, ConvGeometry) and (g.d_h, g.d_w) != (1, 1)


def _windowed(trial: Trial) -> bool:
    g = trial.plan.layer.geometry
    return isinstance(g, ConvGeometry) and (g.k_h, g.k_w) != (1, 1)


_PATTERNS: dict[str, Callable[[Trial], bool]] = {
    "the input has an odd number of channels": _odd_in,
    "the output has an odd number of channels": _odd_out,
    "the output has one column": _one_column,
    "the output has one row": _one_row,
    "the output has an odd number of columns": _odd_columns,
    "the output has an odd number of pixels": _odd_pixels,
    "there is padding": _padded,
    "a stride is over 1": _strided,
    "a dilation is over 1": _dilated,
    "the window is larger than one tap": _windowed,
    "there is an activation": lambda trial: trial.plan.layer.activation != "none",
    "it runs in place": lambda trial: trial.plan.strategy is Strategy.RIP,
    "interrupts stay on": lambda trial: trial.interrupts,
    "it runs twice": lambda trial: trial.repeats > 1,
    "the base is not a multiple of 4": lambda trial: trial.base % 4 != 0,
    "the base is odd": lambda trial: trial.base % 2 != 0,
}


def pattern_of(failed: Sequence[Tried], passed: Sequence[Tried]) -> str | None:
    """The property of all failed trials that fewest others have; None where most of the others have
    it, too, and nothing is said by it."""
    if len(failed) < _FEWEST or not passed:
        return None
    also = {
        name: sum(has(one.trial) for one in passed)
        for name, has in _PATTERNS.items()
        if all(has(one.trial) for one in failed)
    }
    if not also:
        return None
    name = min(also, key=lambda name: also[name])
    if 2 * also[name] > len(passed):
        return None
    return (
        f"wrong only where {name}: in {len(failed)} of {len(failed) + also[name]} such trials, and in "
        f"none of the {len(passed) - also[name]} others"
    )
