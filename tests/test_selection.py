# SPDX-License-Identifier: Apache-2.0
"""Words of a command line."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from pathlib import Path

import pytest

from harness.boards import find_board, load_boards
from harness.errors import ConfigError
from harness.geometry import ConvGeometry
from harness.measure.fit import bytes_needed
from harness.network import Layer
from harness.plan import (
    Strategy,
    find_mode,
    in_place,
    modes,
    plan_at_distance,
    plan_layer,
    proof_distances,
)
from harness.selection import Fitting, Wanted, bench_options, choose_layers, choose_plans, what_fits


def test_layers() -> None:
    assert len(choose_layers("first")) == 7
    assert [layer.id for layer in choose_layers("first#odd-3x3,first#mcunet-in0.0")] == [
        "odd-3x3",
        "mcunet-in0.0",
    ]
    with pytest.raises(ConfigError, match="did you mean 'odd-3x3'"):
        choose_layers("first#odd-3x4")


def _wanted(**said: str) -> Wanted:
    words = ("strategy", "tap_order", "layout", "traversal", "input")
    return choose_plans(Namespace(**{**dict.fromkeys(words), **said}))


def test_plans() -> None:
    (stem,) = choose_layers("first#mcunet-in0.0")
    assert _wanted().plans(stem) == ["dual", "rip", "dual-direct", "rip-direct"]
    assert _wanted(strategy="rip", tap_order="gather").plans(stem) == ["rip"]
    assert _wanted(strategy="rip", input="copy,placed").plans(stem) == [
        "rip", "rip-copy", "rip-direct", "rip-direct-copy",
    ]  # fmt: skip
    assert _wanted(strategy="rip", layout="padded", traversal="column,herringbone").plans(stem) == [
        "rip-padded-column", "rip-padded-column-direct", "rip-padded-herringbone-direct",
    ]  # fmt: skip
    assert len(_wanted(strategy="rip", layout="all", traversal="all").plans(stem)) == 14
    with pytest.raises(ConfigError, match="--strategy 'rop' is not known"):
        _wanted(strategy="rop")
    with pytest.raises(ConfigError, match="did you mean 'column'"):
        _wanted(traversal="colum")


def test_plans_of_other_ops() -> None:
    ops = {layer.id: layer for layer in choose_layers("ops")}
    upsample, add = ops["upsample-3x4x5-f2x2"], ops["add-4x5x5"]
    depthwise, connected = ops["depthwise-5x6x5-5-k3x3-p1.1.1.1"], ops["fully_connected-20-5"]
    assert _wanted().plans(upsample) == ["dual", "rip"]
    assert _wanted(traversal="all").plans(upsample) == ["dual", "rip", "dual-row", "rip-row"]
    assert _wanted(strategy="rip", traversal="row").plans(add) == ["rip", "rip-onto1"]
    assert _wanted(strategy="rip", traversal="all").plans(depthwise) == [
        "rip",
        "rip-row",
        "rip-direct",
    ]
    assert _wanted().plans(connected) == ["dual"]


def _words(**changed: object) -> Namespace:
    words: dict[str, object] = {
        "seeds": 3,
        "seed": 7,
        "repeat": 2,
        "history": "",
        "nonce": "1f",
        "reflash": False,
        "no_witness": False,
        "kernels": "plain",
        "wait": "10m",
        "no_recovery": True,
        "no_quarantine": False,
    }
    return Namespace(**{**words, **changed})


def test_options() -> None:
    options = bench_options(_words())
    assert (options.seeds, options.nonce, options.history) == ((7, 8, 9), 0x1F, None)
    assert (options.wait, options.recovery, options.quarantine) == (600.0, False, True)


@pytest.mark.parametrize(
    "changed", [{"seeds": 0}, {"seed": -1}, {"repeat": 1000}, {"nonce": "xyz"}, {"wait": "soon"}]
)
def test_wrong_numbers(changed: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        bench_options(_words(**changed))


def test_every_wanted_plan_is_one_of_the_layer() -> None:
    """Of one layer of each operator; `all` are all modes, each with and without a copy."""
    layers = {layer.kind: layer for layer in choose_layers("ops")}
    everything = _wanted(layout="all", traversal="all", tap_order="all", input="placed,copy")
    for layer in layers.values():
        plans = everything.plans(layer)
        assert len(set(plans)) == len(plans)
        found = [find_mode(layer, plan) for plan in plans]
        rip = {mode for strategy, mode in found if strategy is Strategy.RIP}
        wanted = {replace(mode, copied=copied) for mode in modes(layer) for copied in (False, True)}
        assert rip == (wanted if in_place(layer) else set())
        dual = [mode for strategy, mode in found if strategy is Strategy.DUAL]
        assert dual == [mode for mode in modes(layer) if mode.onto == 0]


def test_two_buffers_do_not_ask_which_operand_is_shared() -> None:
    ops = {layer.id: layer for layer in choose_layers("ops")}
    concat, pool = ops["concat-3x4-2.7"], ops["max_pool-5x6x4-4-k3x3-p1.1.1.1"]
    assert _wanted(traversal="row").plans(concat) == ["dual", "rip", "rip-onto1"]
    assert _wanted(traversal="row", input="copy").plans(concat) == [
        "dual", "rip-copy", "rip-onto1-copy",
    ]  # fmt: skip
    assert _wanted(traversal="row", tap_order="gather").plans(pool) == []
    assert _wanted(traversal="row", tap_order="direct").plans(pool) == ["dual", "rip"]


def test_one_name_for_two_layers(tmp_path: Path) -> None:
    other = tmp_path / "other.yaml"
    other.write_text("layers: [{id: odd-3x3, op: mean, h_in: 4, w_in: 5, c_in: 6}]")
    with pytest.raises(ConfigError, match="two different layers are called 'odd-3x3'"):
        choose_layers(f"first,{other}")
    assert len(choose_layers("first,first")) == 7


def _with_room(pool_bytes: int, layer: str, **said: str) -> Fitting:
    """Of a board whose runner leaves so much."""
    board = find_board("pico2-emu", load_boards())
    image = Namespace(pool_bytes=pool_bytes)
    layers = choose_layers(layer)
    return what_fits(layers, _wanted(**said), board, build=lambda *_, **__: image)


def test_what_fits_by_a_byte() -> None:
    layer = choose_layers("paper84#mcunet-in1-block2.expand")[0]
    needed = {plan: bytes_needed(plan_layer(layer, Strategy(plan))) for plan in ("dual", "rip")}
    # 24 x 24, 16 to 48 channels, pointwise: in place the output alone
    assert needed["dual"] - needed["rip"] == 24 * 24 * 16

    def found(pool_bytes: int) -> Fitting:
        return _with_room(pool_bytes, f"paper84#{layer.id}", tap_order="gather")

    both, one = found(needed["dual"]), found(needed["dual"] - 1)
    assert [plan for _, plan in both.chosen] == ["dual", "rip"]
    assert both.words == (
        "1 of 1 layers fit under dual, 0 do not; 1 of 1 layers fit under rip, 0 do not"
    )
    assert one.chosen == ((layer, "rip"),)
    assert one.words == (
        "0 of 1 layers fit under dual, 1 do not; 1 of 1 layers fit under rip, 0 do not"
    )
    assert found(needed["rip"]).chosen == ((layer, "rip"),)
    assert found(needed["rip"] - 1).chosen == ()


def test_a_debt_that_has_no_room_does_not_fit() -> None:
    """This one is proved with its input 4 below its output, which then ends beyond its own arena."""
    layer = Layer("two-pixels", ConvGeometry(1, 2, 8, 7))
    plan = plan_layer(layer, Strategy.RIP)
    distances = proof_distances(plan)
    assert distances is not None
    proof = max(
        bytes_needed(plan_at_distance(layer, distance, plan.mode, plan.kernel, plan.bound))
        for distance in distances
    )
    assert proof > bytes_needed(plan)
    board = find_board("pico2-emu", load_boards())
    for more, words in (
        (0, "1 of 1 layers fit under rip, 0"),
        (-1, "0 of 1 layers fit under rip, 1"),
    ):
        fitting = what_fits(
            [layer],
            _wanted(strategy="rip", tap_order="gather"),
            board,
            build=lambda *_, room=proof + more, **__: Namespace(pool_bytes=room),
        )
        assert fitting.words == f"{words} do not"
    copied = _wanted(strategy="rip", tap_order="gather", input="copy")
    image = Namespace(pool_bytes=proof - 1)
    assert what_fits([layer], copied, board, build=lambda *_, **__: image).chosen, "no debt there"


def test_nothing_to_fit() -> None:
    assert _with_room(0, "ops#fully_connected-20-5", strategy="rip").words == "no plan is asked for"
