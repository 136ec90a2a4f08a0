# SPDX-License-Identifier: Apache-2.0
"""The pytest plugin: its options and the fixture `bench`. Its other parts are modules of this package.

In a project that does not use them it only adds options; everything heavier is imported when a board
is first used.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from harness.plugin.common import BENCHES, DEFAULT_BOARD, FITTING, boards_file, checked

if TYPE_CHECKING:
    from harness.bench import Bench
    from harness.plan import Strategy

pytest_plugins = (
    "harness.plugin.collect",
    "harness.plugin.terminal",
    "harness.plugin.history",
    "harness.plugin.report",
    "harness.plugin.kernels",
    "harness.plugin.rack",
    "harness.plugin.heartbeat",
    "harness.plugin.done",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("ripbench", "RiP convolution on Pico boards")
    group.addoption(
        "--board",
        action="append",
        metavar="NAME",
        help=f"a board of boards.yaml; may be given several times (default {DEFAULT_BOARD})",
    )
    group.addoption("--boards", metavar="FILE", help="boards of your own, beside the shipped ones")
    group.addoption(
        "--layers", metavar="SET|FILE", help="a layer set, or set#id,set#id of it (default first)"
    )
    group.addoption(
        "--models",
        metavar="LIST",
        help="whole networks by name or file: .yaml, .tflite (default the eleven of layers/models)",
    )
    group.addoption(
        "--strategy",
        metavar="LIST",
        help="layers: of dual,rip (default both); models: of dual,baseline,rip,extended (default the "
        "last three)",
    )
    group.addoption("--tap-order", metavar="LIST", help="of gather,direct (default both)")
    group.addoption("--layout", metavar="LIST", help="of dense,padded, or all (default dense)")
    group.addoption(
        "--traversal",
        metavar="LIST",
        help="of row,column,reverse,herringbone,channel, or all (default each op's usual one)",
    )
    group.addoption(
        "--input",
        metavar="LIST",
        help="of placed,copy: at its gap, or shifted there by memmove (default placed)",
    )
    group.addoption(
        "--kernels",
        default="plain",
        metavar="SET|DIR",
        help="which kernels run the layers: a set, `fast` for the one made for each board's chip, or a "
        "folder with kernels.yaml and sources of your own, which are compiled and run (default plain)",
    )
    group.addoption("--seeds", type=int, default=3, metavar="N", help="inputs a proof (default 3)")
    group.addoption(
        "--seed", type=int, default=1, metavar="S", help="the first of them (default 1)"
    )
    group.addoption(
        "--repeat", type=int, default=2, metavar="N", help="runs of the first input (default 2)"
    )
    group.addoption(
        "--reflash", action="store_true", help="write flash even where its header is right already"
    )
    group.addoption(
        "--no-witness",
        action="store_true",
        help="do not compare painting with the witness that an emulated board has",
    )
    group.addoption(
        "--wait",
        metavar="TIME",
        help="wait so long for a board that is in use: 30s, 10m, 2h (default not at all)",
    )
    group.addoption(
        "--no-recovery",
        action="store_true",
        help="fail at the first error of port or probe: try nothing against it",
    )
    group.addoption(
        "--no-quarantine",
        action="store_true",
        help="use a board although it is in quarantine, and put none there",
    )
    group.addoption("--faults", metavar="SPEC", help="what goes wrong by plan (docs/faults.md)")
    group.addoption("--nonce", metavar="HEX", help="replay with this nonce instead of a random one")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: takes seconds on an emulated board")
    config.addinivalue_line(
        "markers",
        "layer_set(name, that_fit=False, tap_order=None): give the test each layer and plan of a "
        "set, as `layer`, `plan`; that_fit: only those that the board has room for, and slow ones only "
        "where -m names the set; tap_order: where --tap-order does not say",
    )
    config.addinivalue_line("markers", "paper84: layers of the paper's Table 6 that fit the board")
    config.addinivalue_line("markers", "models: a whole network on a board")
    config.addinivalue_line(
        "markers",
        "model_set(quick=(...)): give the test each model of --models, by default of layers/models, as "
        "`model`; those that are not quick are slow",
    )
    config.stash[BENCHES] = {}
    config.stash[FITTING] = []
    if config.getoption("--board"):
        checked(lambda: _check_attached(config))
    if config.getoption("--kernels") != "plain":
        checked(lambda: _check_kernels(config.getoption("--kernels")))
    if config.getoption("--wait"):
        checked(lambda: _check_wait(config.getoption("--wait")))


def pytest_report_header(config: pytest.Config) -> str | None:
    names = config.getoption("--board")
    if names:
        return f"ripbench: {', '.join(names)}"
    if (config.rootpath / "boards.yaml").is_file():
        return f"ripbench: no --board given: {DEFAULT_BOARD}, an emulated one"
    return None


def _check_attached(config: pytest.Config) -> None:
    """A board that is not there is a usage error, never a skip and never another board."""
    from harness.boards import find_board, load_boards, require_attached

    boards = load_boards(boards_file(config))
    for name in config.getoption("--board"):
        require_attached(find_board(name, boards))


def _check_kernels(name: str) -> None:
    """A mistake in a declaration is a usage error, too."""
    from harness.kernels import FAST, find_kernels

    if name != FAST:
        find_kernels(name)


def _check_wait(words: str) -> None:
    from harness.boards.lock import duration

    duration(words)


@pytest.fixture(scope="session")
def strategies(pytestconfig: pytest.Config) -> tuple[Strategy, ...]:
    """Those of a whole network that `--strategy` asks for."""
    from harness.selection import choose_strategies

    found: tuple[Strategy, ...] = checked(lambda: choose_strategies(pytestconfig.option))
    return found


@pytest.fixture(scope="session")
def ripbench_board(request: pytest.FixtureRequest) -> str:
    """The name of the board that this test runs on: each that `--board` gives, in turn."""
    name: str = request.param
    return name


@pytest.fixture(scope="session")
def bench(ripbench_board: str, pytestconfig: pytest.Config) -> Iterator[Bench]:
    """The bench of a board: `bench.run(layer, plan=...)`, `bench.prove(layer, plan=...)`."""
    from harness.bench import Bench
    from harness.boards import find_board, load_boards
    from harness.boards.config import with_faults
    from harness.plugin.history import recorder_of
    from harness.plugin.terminal import notice
    from harness.selection import bench_options

    benches = pytestconfig.stash[BENCHES]

    def say(text: str) -> None:
        notice(pytestconfig, text)

    if ripbench_board not in benches:
        entry = find_board(ripbench_board, load_boards(boards_file(pytestconfig)))
        faults = pytestconfig.getoption("--faults")
        if faults:
            entry = with_faults(entry, faults)
        benches[ripbench_board] = Bench(
            entry,
            bench_options(pytestconfig.option),
            on_notice=say,
            recorder=recorder_of(pytestconfig, say),
        )
    yield benches[ripbench_board]
    benches[ripbench_board].close()
