# SPDX-License-Identifier: Apache-2.0
"""The segments on which a segment's kernel is tried, and how tightly they lie."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import pytest

from harness.bounds import round_up
from harness.bounds.fused import segment_bound
from harness.case.segment_layout import (
    Order,
    Tightness,
    fused_whole,
    gap_of,
    lay_out,
    rings_of,
)
from harness.case.segment_trials import trial_segments, usual_segments
from harness.errors import ConfigError
from harness.kernels import PLAIN, Kernel, KernelTraits
from harness.kernels.formula import STAGE_NAMES, parse
from harness.network import Network
from harness.schema.constants import OpKind, Rounding

M33 = KernelTraits("m33", "rp2350")


def _kernel(traits: KernelTraits) -> Kernel:
    (kernel,) = (
        one for one in traits.kernels.kernels if one.name == f"{traits.kernels.name}_segment"
    )
    return kernel


@pytest.fixture(scope="module")
def drawn() -> tuple[Network, ...]:
    return trial_segments(_kernel(M33), M33, 120, 1)


def test_they_are_different_and_the_kernel_takes_them(drawn: tuple[Network, ...]) -> None:
    assert len({network.name for network in drawn}) == len(drawn) == 120
    for network in drawn:
        assert lay_out(network, M33).step_choices[0].kernel is _kernel(M33)


def test_they_are_the_same_for_a_seed(drawn: tuple[Network, ...]) -> None:
    """The first systematic ones however many are wanted."""
    twenty = trial_segments(_kernel(M33), M33, 20, 1)
    assert trial_segments(_kernel(M33), M33, 20, 1) == twenty
    assert twenty[:10] == drawn[:10]
    assert trial_segments(_kernel(M33), M33, 20, 2) != twenty


def test_what_they_bring(drawn: tuple[Network, ...]) -> None:
    """Gaps above 0 and of just 0, adds of X, of others and of stages, stems, odd channels, all windows,
    strides and paddings."""
    segments = [fused_whole(network).segment for network in drawn]
    debts = [segment_bound(segment, 0).debt for segment in segments]
    assert sum(debt is not None and debt > 0 for debt in debts) > 10
    assert sum(debt == 0 for debt in debts) > 5
    others = [s.other for one in segments for s in one.stages if s.other is not None]
    for some in ([n == 0 for n in others], [n < 0 for n in others], [n > 0 for n in others]):
        assert sum(some) > 3
    depthwise = [s.window for one in segments for s in one.stages if s.kind is OpKind.DEPTHWISE]
    assert {(g.k_h, g.s_h) for g in depthwise} >= set(itertools.product((3, 5, 7), (1, 2)))
    assert {0} < {g.pad.left for g in depthwise} and {0} < {g.pad.top for g in depthwise}
    assert any(g.pad.left != g.pad.right for g in depthwise)
    assert sum(segment.stages[0].window.k_h > 1 for segment in segments) > 10
    assert {segment.shape(1).c % 2 for segment in segments} == {0, 1}
    assert any(
        node.inputs[0] > node.inputs[1] for n in drawn for node in n.nodes if node.inputs[1:]
    )


def test_all_roundings_alone_and_together() -> None:
    kernel = _kernel(PLAIN)
    roundings = [
        {node.layer.rounding for node in network.nodes}
        for network in trial_segments(kernel, PLAIN, 40, 1)
    ]
    for wanted in ({Rounding.DOUBLE}, {Rounding.SINGLE}, {Rounding.DOUBLE, Rounding.SINGLE}):
        assert wanted in roundings


def test_a_kernel_that_takes_nothing() -> None:
    """Its declaration is in the error."""
    kernel = replace(_kernel(M33), accepts=(parse("stage > 12", STAGE_NAMES),))
    with pytest.raises(ConfigError, match="none of 8000 small segments") as caught:
        trial_segments(kernel, M33, 4, 1)
    assert "stage > 12" in str(caught.value)


def test_usual_ones() -> None:
    assert len(usual_segments(_kernel(M33), M33)) == 3  # the fourth begins with a depthwise stage
    assert len(usual_segments(_kernel(PLAIN), PLAIN)) == 4


def _aligned(folder: Path, alignment: int) -> KernelTraits:
    """A set with a kernel of a segment of this alignment, which nobody will build."""
    (folder / "a.c").write_text("")
    (folder / "kernels.yaml").write_text(
        "kernels:\n  - {name: mine, op: segment, scratch: depthwise * k_h * w_in, "
        f"alignment: {alignment}, sources: [a.c]}}\n"
    )
    return KernelTraits(str(folder), "rp2350")


@pytest.mark.parametrize("order", Order)
@pytest.mark.parametrize("alignment", [1, 4])
def test_everything_has_its_bytes_and_no_more(
    order: Order, alignment: int, drawn: tuple[Network, ...], tmp_path: Path
) -> None:
    """Y on its operand, the other tensors, rings and scratch are apart, within base and peak, with no
    more between them than their alignment takes."""
    traits = _aligned(tmp_path, alignment)
    base = 3 * alignment
    for network in drawn[:40]:
        found = fused_whole(network)
        operands = found.segment.operands
        y = found.tensors[found.segment.last]
        for onto in (None, *operands):
            plan = lay_out(network, traits, Tightness(onto, spare=7, base=base, order=order))
            assert plan.step_choices[0].kernel.name == "mine"
            spans = {
                tensor: (plan.offsets[tensor], plan.offsets[tensor] + network.tensors[tensor].size)
                for tensor in (*(found.tensors[operand] for operand in operands), y)
            }
            assert all(first % alignment == 0 for first, _ in spans.values())
            if onto is not None:
                over, own = spans.pop(found.tensors[onto]), spans[y]
                assert over[0] - own[0] == round_up(gap_of(found.segment, onto), alignment)
                spans[y] = min(over[0], own[0]), max(over[1], own[1])
            *rings, scratch = plan.steps[0].buffers
            assert all(ring.offset % alignment == 0 for ring in rings)
            assert scratch.size == plan.step_choices[0].scratch_bytes + 7
            assert scratch.offset % 4 == 0
            spared = [(buffer.offset, buffer.end) for buffer in (*rings, scratch)]
            taken = sorted([*spans.values(), *spared])
            assert max(end for _, end in taken) == plan.peak
            ends = [base, *(end for _, end in taken)]
            holes = [first - end for (first, _), end in zip(taken, ends, strict=False)]
            assert all(0 <= hole < 4 for hole in holes)
            assert alignment > 1 or sum(hole > 0 for hole in holes) <= 1  # below the scratch


def test_nearer_and_fewer(drawn: tuple[Network, ...]) -> None:
    """So many bytes of the gap less, above the operand where it is 0; a row of one ring less."""
    for network in drawn[:40]:
        found = fused_whole(network)
        x, y = found.tensors[0], found.tensors[found.segment.last]
        usual, nearer = lay_out(network, M33), lay_out(network, M33, Tightness(nearer=5))
        distances = [plan.offsets[x] - plan.offsets[y] for plan in (usual, nearer)]
        assert distances[0] - distances[1] == 5
        rings = rings_of(network, M33)
        made = lay_out(network, M33, Tightness(rows=(-1,))).steps[0].buffers[: len(rings)]
        rows = [buffer.ring.rows for buffer in made if buffer.ring is not None]
        assert rows == [rings[0].rows - 1, *(ring.rows for ring in rings[1:])]
