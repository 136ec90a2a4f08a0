# SPDX-License-Identifier: Apache-2.0
"""The part of the pytest plugin that gives tests their boards, layers, plans and models."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from harness.plugin.common import (
    DEFAULT_BOARD,
    FITTING,
    NOTHING,
    boards_file,
    checked,
    parameters,
)

if TYPE_CHECKING:
    from harness.layersets import Asked

_LAYER_SET = "layer_set"


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "ripbench_board" not in metafunc.fixturenames:
        return
    config = metafunc.config
    boards = config.getoption("--board") or [DEFAULT_BOARD]
    if "model" in metafunc.fixturenames:
        _parametrize_models(metafunc, boards)
        return
    marker = metafunc.definition.get_closest_marker(_LAYER_SET)
    if marker is None or not {"layer", "plan"} <= set(metafunc.fixturenames):
        metafunc.parametrize("ripbench_board", boards, indirect=True, scope="session")
        return
    asked: Asked = checked(lambda: _asked(config, marker, boards))
    config.stash[FITTING] += asked.words
    metafunc.parametrize(
        ("ripbench_board", "layer", "plan"),
        [
            pytest.param(
                board,
                layer,
                plan,
                id=f"{board}-{layer.id}-{plan}",
                marks=[pytest.mark.slow] if layer.slow else [],
            )
            for board, layer, plan in asked.chosen
        ]
        or [pytest.param(boards[0], NOTHING, "", id="nothing")],
        indirect=["ripbench_board"],
    )


def _asked(config: pytest.Config, marker: pytest.Mark, boards: list[str]) -> Asked:
    from harness.boards import load_boards
    from harness.layersets import Asked, all_layers, layers_that_fit
    from harness.plugin.kernels import wants

    name, tap_order = marker.args[0], marker.kwargs.get("tap_order")
    if not wants(config, "--layers", "--models", name):
        return Asked(())
    if not marker.kwargs.get("that_fit"):
        return all_layers(config.option, name, tap_order, boards)
    known = load_boards(boards_file(config))
    return layers_that_fit(config.option, name, tap_order, boards, known)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A test of a set, or of models, of which nothing is wanted is no test, and no skipped one."""
    nothing = [item for item in items if NOTHING in parameters(item).values()]
    if nothing:
        config.hook.pytest_deselected(items=nothing)
        items[:] = [item for item in items if item not in nothing]


def pytest_report_collectionfinish(config: pytest.Config) -> list[str]:
    return [f"ripbench: {line}" for line in config.stash[FITTING]]


def _parametrize_models(metafunc: pytest.Metafunc, boards: list[str]) -> None:
    from harness.plugin.kernels import wants
    from harness.selection import choose_models

    if not wants(metafunc.config, "--models", "--layers", "models"):
        metafunc.parametrize(
            ("ripbench_board", "model"), [(boards[0], NOTHING)], indirect=["ripbench_board"]
        )
        return
    marker = metafunc.definition.get_closest_marker("model_set")
    quick = marker.kwargs.get("quick", ()) if marker else ()
    models = checked(lambda: choose_models(metafunc.config.getoption("--models")))
    metafunc.parametrize(
        ("ripbench_board", "model"),
        [
            pytest.param(
                board,
                model,
                id=f"{board}-{model.name}",
                marks=[] if model.name in quick else [pytest.mark.slow],
            )
            for board in boards
            for model in models
        ],
        indirect=["ripbench_board"],
    )
