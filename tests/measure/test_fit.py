# SPDX-License-Identifier: Apache-2.0
"""What a plan takes of a runner's pool, one operand or several."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.build import RunnerImage
from harness.errors import ConfigError
from harness.geometry import ConcatGeometry, ConvGeometry, ElementwiseGeometry, MeanGeometry
from harness.measure.fit import bytes_needed, check_fit, fits, scratch_offset
from harness.network import Layer
from harness.plan import Mode, Plan, Strategy, plan_layer
from harness.schema.constants import OpKind

LEAD, GUARD, V = 1024, 64, 4


def _image(pool: int) -> RunnerImage:
    symbols = {"__pool_start": 0x2000_0000, "__pool_end": 0x2000_0000 + pool}
    return RunnerImage(Path("x.elf"), b"", symbols, (), ())


@dataclass(frozen=True)
class _Fit:
    plan: Plan
    arena: int
    scratch: int


CONV = Layer("conv", ConvGeometry(5, 7, 13, 6, 3, 3))
ADD = Layer("add", ElementwiseGeometry(3, 3, 3, 2), OpKind.ADD)
MUL = Layer("mul", ElementwiseGeometry(3, 3, 3, 2, True), OpKind.MUL)
CONCAT = Layer("concat", ConcatGeometry(1, 3, (1, 2, 3)), OpKind.CONCAT)
MEAN = Layer("mean", MeanGeometry(3, 3, 3), OpKind.MEAN)
ALL = [
    _Fit(plan_layer(CONV, Strategy.DUAL), 92 + 455, 117),  # 3 x 5 pixels of 6 are 90
    _Fit(plan_layer(ADD, Strategy.DUAL), 28 + 28 + 27, 0),
    _Fit(plan_layer(ADD, Strategy.RIP), 28 + 27, 0),
    _Fit(plan_layer(ADD, Strategy.RIP, Mode(onto=1)), 28 + 27, 0),
    _Fit(plan_layer(MUL, Strategy.RIP), 28 + 3, 0),
    _Fit(plan_layer(CONCAT, Strategy.DUAL), 20 + 4 + 8 + 9, 6),
    # 9 scalars of operand 2 at a gap of 9, rounded up, then 3 and 6 others
    _Fit(plan_layer(CONCAT, Strategy.RIP, Mode(onto=2)), 24 + 4 + 6, 6),
    _Fit(plan_layer(MEAN, Strategy.RIP), 27, 12),
]  # fmt: skip


@pytest.mark.parametrize("fit", ALL, ids=lambda fit: f"{fit.plan.layer.id}-{fit.plan.label}")
def test_bytes_of_the_pool(fit: _Fit) -> None:
    plan = fit.plan
    assert (plan.arena_bytes, plan.scratch_bytes) == (fit.arena, fit.scratch)
    offset = -(-(LEAD + fit.arena + GUARD) // 8) * 8
    assert scratch_offset(plan) == offset
    assert bytes_needed(plan) == offset + fit.scratch + GUARD


@pytest.mark.parametrize("fit", ALL, ids=lambda fit: f"{fit.plan.layer.id}-{fit.plan.label}")
def test_to_the_byte(fit: _Fit) -> None:
    plan = fit.plan
    needed = bytes_needed(plan)
    assert fits(plan, _image(needed))
    check_fit(plan, _image(needed))
    assert not fits(plan, _image(needed - 1))
    with pytest.raises(ConfigError) as caught:
        check_fit(plan, _image(needed - 3))
    assert caught.value.message == (
        f"{plan.layer.id} does not fit under {plan.label}: 3 bytes too large"
    )
    assert caught.value.evidence["arena"] == fit.arena
    assert caught.value.evidence["SRAM pool of the runner"] == needed - 3
