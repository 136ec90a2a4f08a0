# SPDX-License-Identifier: Apache-2.0
"""Every operator of layers/sets/ops.yaml, systematic and random: the kernels on an emulated board of
each chip, and compiled for the host, give what NumPy gives, in every mode, from both sides of the debt.

`make test` takes a fortieth of the layers, `make test-all` all of them."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Sequence

import pytest

from harness.boards import Board, BoardEntry
from harness.build import RunnerImage
from harness.case import Case, build_pack, make_case
from harness.errors import ConfigError
from harness.network import Layer, find_set, load_set
from harness.plan import (
    Mode,
    Strategy,
    in_place,
    mode_name,
    modes,
    plan_at_distance,
    plan_layer,
    proof_distances,
)
from harness.schema.constants import FrameType
from harness.schema.records import RunResult
from tests.device.bulk import clean_crc, packs, predicted_crc, problem, run_all
from tests.firmware.support import HostRunner, compile_host

OPERATORS = (
    "add", "average_pool", "clamp", "concat", "conv", "depthwise", "fully_connected", "hard_swish",
    "logistic", "max_pool", "mean", "mul", "pad", "relu", "softmax", "upsample",
)  # fmt: skip
PROOFS = 200  # random geometries for each mode of an operator
_SEEDS = 5  # tried until one shows a corruption
_SHARE = [pytest.param(40, id="some"), pytest.param(1, id="all", marks=pytest.mark.extra)]


@functools.cache
def layers() -> dict[str, list[Layer]]:
    """By operator, in the order of the file: systematic ones first."""
    found: dict[str, list[Layer]] = {}
    for layer in load_set(find_set("ops")):
        found.setdefault(layer.function or layer.kind.name.lower(), []).append(layer)
    return found


def _plannable(layer: Layer, mode: Mode) -> bool:
    try:
        plan_layer(layer, Strategy.RIP, mode)
    except ConfigError:  # channel by channel, the output would overtake the input
        return False
    return True


def _cases(chosen: Sequence[Layer]) -> list[Case]:
    """Each layer in one of its modes, in turn; in place where the operator can."""
    cases = []
    for number, layer in enumerate(chosen):
        known = modes(layer)
        mode = known[number % len(known)]
        strategy = Strategy.RIP if in_place(layer) and _plannable(layer, mode) else Strategy.DUAL
        cases.append(make_case(plan_layer(layer, strategy, mode)))
    return cases


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> HostRunner:
    """The same runner and kernels, compiled for this machine."""
    library = tmp_path_factory.mktemp("host") / "runner.so"
    compile_host("cc", library, ["-O2", "-shared", "-fPIC"], [])
    return HostRunner(library)


def _on_host(host: HostRunner, cases: Sequence[Case]) -> Iterator[tuple[Case, int, RunResult]]:
    for pack in packs(cases):
        host.flash(pack.data)
        for index, case in enumerate(pack.cases):
            frames = host.run(index, seed=index)
            (result,) = (f for f in frames if f.type == FrameType.RESULT)
            yield case, index, RunResult.unpack(result.payload)


def test_the_set_has_every_operator() -> None:
    assert set(OPERATORS) | {"relu6"} == set(layers())
    assert all(len(layers()[operator]) >= 2000 for operator in OPERATORS)


@pytest.mark.parametrize("share", _SHARE)
@pytest.mark.parametrize("operator", OPERATORS)
def test_host_and_numpy(operator: str, share: int, host: HostRunner) -> None:
    cases = _cases(layers()[operator][::share])
    wrong = [
        said
        for case, seed, result in _on_host(host, cases)
        if (said := problem(case, seed, result, clean_crc(case, seed)))
    ]
    assert not wrong, f"{len(wrong)} of {len(cases)}: {wrong[0]}"


@pytest.mark.parametrize("share", _SHARE)
@pytest.mark.parametrize("operator", OPERATORS)
def test_board_and_numpy(operator: str, share: int, entry: BoardEntry, image: RunnerImage) -> None:
    cases = _cases(layers()[operator][::share])
    with Board(entry) as board:
        wrong = [
            said
            for case, seed, result in run_all(board, image, cases, list(range(len(cases))))
            if (said := problem(case, seed, result, clean_crc(case, seed)))
        ]
    assert not wrong, f"{len(wrong)} of {len(cases)}: {wrong[0]}"


def _both_sides(layer: Layer, mode: Mode) -> tuple[Case, Case, int] | None:
    """At the debt, V on the other side of it, and a seed by which that shows; None without a debt or
    such a seed."""
    if not _plannable(layer, mode):
        return None
    plan = plan_layer(layer, Strategy.RIP, mode)
    distances = proof_distances(plan)
    if distances is None:
        return None
    at, below = (
        make_case(plan_at_distance(layer, distance, mode, bound=plan.bound))
        for distance in distances
    )
    for seed in range(_SEEDS):
        if predicted_crc(below, seed) != clean_crc(below, seed):
            return at, below, seed
    return None


def _proofs(operator: str, name: str, count: int) -> list[tuple[Case, Case, int]]:
    """Of random layers, from the end of the set."""
    found: list[tuple[Case, Case, int]] = []
    for layer in reversed(layers()[operator]):
        for mode in modes(layer):
            if mode_name(layer, mode) == name and (sides := _both_sides(layer, mode)):
                found.append(sides)
        if len(found) >= count:
            break
    return found


def _mode_names(operator: str) -> list[str]:
    """Of all its layers that share memory, the ones there are."""
    some = itertools.islice(reversed(layers()[operator]), 200)
    return sorted(
        {mode_name(layer, mode) for layer in some if in_place(layer) for mode in modes(layer)}
    )


@pytest.mark.parametrize("share", _SHARE)
@pytest.mark.parametrize("operator", [o for o in OPERATORS if o not in ("fully_connected", "mean")])
def test_both_sides_of_the_debt(
    operator: str, share: int, entry: BoardEntry, image: RunnerImage
) -> None:
    """Right at the debt; V below it, the very bytes that the host predicts."""
    for name in _mode_names(operator):
        proofs = _proofs(operator, name, PROOFS // share)
        assert len(proofs) == PROOFS // share, f"{operator}{name}: only {len(proofs)} can show it"
        cases = [case for at, below, _ in proofs for case in (at, below)]
        seeds = [seed for _, _, seed in proofs for _ in range(2)]
        with Board(entry) as board:
            for number, (case, seed, result) in enumerate(run_all(board, image, cases, seeds)):
                expected = (predicted_crc if number % 2 else clean_crc)(case, seed)
                said = problem(case, seed, result, expected)
                assert said is None, f"{'below' if number % 2 else 'at'} the debt: {said}"


def test_no_write_of_a_mean_meets_a_live_scalar() -> None:
    layer = layers()["mean"][0]
    assert proof_distances(plan_layer(layer, Strategy.RIP)) is None
    assert build_pack([make_case(plan_layer(layer, Strategy.RIP))]).op_count(0) == 1
