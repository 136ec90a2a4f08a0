# SPDX-License-Identifier: Apache-2.0
"""The pytest plugin: options, the fixture `bench`, ids, the table and the JUnit properties.

In a project that does not use them it only adds options; everything heavier is imported when a board
is first used.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from harness import historyplugin, reportplugin

if TYPE_CHECKING:
    from harness.bench import Bench
    from harness.layersets import Asked
    from harness.plan import Strategy
    from harness.results import Verdict

pytest_plugins = (
    "harness.rack",
    "harness.heartbeat",
    "harness.nightly.done",
    "harness.plugin_kernels",
)
DEFAULT_BOARD = "pico1-emu"
_LAYER_SET = "layer_set"
_NOTHING: Any = object()  # in the place of a layer where none is wanted
_STOPPED = pytest.StashKey[str]()
_FITTING = pytest.StashKey[list[str]]()
_BENCHES = pytest.StashKey[dict[str, "Bench"]]()


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
    historyplugin.add_options(group)
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
    reportplugin.add_options(group)
    group.addoption("--faults", metavar="SPEC", help="what goes wrong by plan (docs/faults.md)")
    group.addoption("--nonce", metavar="HEX", help="replay with this nonce instead of a random one")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: takes seconds on an emulated board")
    config.addinivalue_line(
        "markers",
        f"{_LAYER_SET}(name, that_fit=False, tap_order=None): give the test each layer and plan of a "
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
    config.pluginmanager.register(historyplugin, historyplugin.__name__)
    config.stash[_BENCHES] = {}
    config.stash[_FITTING] = []
    reportplugin.begin(config, config.stash[_BENCHES].values)
    if config.getoption("--board"):
        _checked(lambda: _check_attached(config))
    if config.getoption("--kernels") != "plain":
        _checked(lambda: _check_kernels(config.getoption("--kernels")))
    if config.getoption("--wait"):
        _checked(lambda: _check_wait(config.getoption("--wait")))


def pytest_report_header(config: pytest.Config) -> str | None:
    names = config.getoption("--board")
    if names:
        return f"ripbench: {', '.join(names)}"
    if (config.rootpath / "boards.yaml").is_file():
        return f"ripbench: no --board given: {DEFAULT_BOARD}, an emulated one"
    return None


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
    asked: Asked = _checked(lambda: _asked(config, marker, boards))
    config.stash[_FITTING] += asked.words
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
        or [pytest.param(boards[0], _NOTHING, "", id="nothing")],
        indirect=["ripbench_board"],
    )


def _asked(config: pytest.Config, marker: pytest.Mark, boards: list[str]) -> Asked:
    from harness.boards import load_boards
    from harness.layersets import Asked, all_layers, layers_that_fit
    from harness.plugin_kernels import wants

    name, tap_order = marker.args[0], marker.kwargs.get("tap_order")
    if not wants(config, "--layers", "--models", name):
        return Asked(())
    if not marker.kwargs.get("that_fit"):
        return all_layers(config.option, name, tap_order, boards)
    known = load_boards(_boards_file(config))
    return layers_that_fit(config.option, name, tap_order, boards, known)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A test of a set, or of models, of which nothing is wanted is no test, and no skipped one."""
    nothing = [item for item in items if _NOTHING in _parameters(item).values()]
    if nothing:
        config.hook.pytest_deselected(items=nothing)
        items[:] = [item for item in items if item not in nothing]


def pytest_report_collectionfinish(config: pytest.Config) -> list[str]:
    return [f"ripbench: {line}" for line in config.stash[_FITTING]]


def _parametrize_models(metafunc: pytest.Metafunc, boards: list[str]) -> None:
    from harness.plugin_kernels import wants
    from harness.selection import choose_models

    if not wants(metafunc.config, "--models", "--layers", "models"):
        metafunc.parametrize(
            ("ripbench_board", "model"), [(boards[0], _NOTHING)], indirect=["ripbench_board"]
        )
        return
    marker = metafunc.definition.get_closest_marker("model_set")
    quick = marker.kwargs.get("quick", ()) if marker else ()
    models = _checked(lambda: choose_models(metafunc.config.getoption("--models")))
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


@pytest.fixture(scope="session")
def strategies(pytestconfig: pytest.Config) -> tuple[Strategy, ...]:
    """Those of a whole network that `--strategy` asks for."""
    from harness.selection import choose_strategies

    found: tuple[Strategy, ...] = _checked(lambda: choose_strategies(pytestconfig.option))
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
    from harness.selection import bench_options

    benches = pytestconfig.stash[_BENCHES]

    def notice(text: str) -> None:
        _notice(pytestconfig, text)

    if ripbench_board not in benches:
        entry = find_board(ripbench_board, load_boards(_boards_file(pytestconfig)))
        faults = pytestconfig.getoption("--faults")
        if faults:
            entry = with_faults(entry, faults)
        benches[ripbench_board] = Bench(
            entry,
            bench_options(pytestconfig.option),
            on_notice=notice,
            recorder=historyplugin.recorder_of(pytestconfig, notice),
        )
    yield benches[ripbench_board]
    benches[ripbench_board].close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Each verdict that a test reaches becomes properties of its test case."""
    found: Bench | None = getattr(item, "funcargs", {}).get("bench")
    before = len(found.verdicts) if _is_bench(found) and found else 0
    if _is_bench(found) and found:
        found.say(item.nodeid)
    try:
        return (yield)
    finally:
        if _is_bench(found) and found:
            from harness.report import properties

            for verdict in found.verdicts[before:]:
                item.user_properties.extend(properties(verdict))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Keeps what ran when Ctrl-C came; the fixture lets go of the board."""
    try:
        return (yield)
    except KeyboardInterrupt:
        # pytest has taken the fixtures off the item by now
        found = item.config.stash[_BENCHES].get(_parameters(item).get("ripbench_board", ""))
        if found is not None:
            item.config.stash[_STOPPED] = (
                f"{found.entry.name} in stage {found.stage!r}: {item.nodeid}"
            )
        raise


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,  # noqa: ARG001 - pytest checks the names
    call: pytest.CallInfo[None],
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """An error that explains itself is shown without the traceback of the bench."""
    report = yield
    if call.excinfo is not None and type(call.excinfo.value).__module__ == "harness.errors":
        report.longrepr = f"{call.excinfo.typename}: {call.excinfo.value}"
    return report


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if _STOPPED in config.stash:
        terminalreporter.section("ripbench")
        terminalreporter.write_line(f"stopped on {config.stash[_STOPPED]}")
    verdicts, lines = _found(config)
    if not verdicts and not lines:
        return
    from harness.report import identities, printable, table

    if _STOPPED not in config.stash:
        terminalreporter.section("ripbench")
    if verdicts:
        terminalreporter.write_line(table(verdicts))
        terminalreporter.write_line("")
        terminalreporter.write_line(identities(verdicts))
    for line in lines:
        terminalreporter.write_line(printable(line))


def pytest_sessionfinish(session: pytest.Session) -> None:
    from harness.rack import to_controller

    to_controller(session.config, *_found(session.config))


def _found(config: pytest.Config) -> tuple[list[Verdict], list[str]]:
    """In this process and, in a controller, by its workers: verdicts, and lines on what does not fit."""
    from harness.rack import FROM_WORKERS

    benches = config.stash[_BENCHES].values()
    verdicts = [verdict for bench in benches for verdict in bench.verdicts]
    lines = [*config.stash[_FITTING], *(str(plan) for bench in benches for plan in bench.unfit)]
    more, other = config.stash.get(FROM_WORKERS, ([], []))
    return [*verdicts, *more], list(dict.fromkeys([*lines, *other]))


def _notice(config: pytest.Config, text: str) -> None:
    """A line at once, although output is captured."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    capture = config.pluginmanager.get_plugin("capturemanager")
    if reporter is None or capture is None:  # a worker of pytest-xdist has no terminal
        return
    from harness.report import printable

    with capture.global_and_fixture_disabled():
        reporter.ensure_newline()
        reporter.write_line(f"ripbench: {printable(text)}")
        reporter.flush()  # a pipe would keep it until the end


def _parameters(item: pytest.Item) -> dict[str, Any]:
    found: dict[str, Any] = getattr(getattr(item, "callspec", None), "params", {})
    return found


def _is_bench(found: object) -> bool:
    return type(found).__module__ == "harness.bench"


def _boards_file(config: pytest.Config) -> Any:
    from pathlib import Path

    named = config.getoption("--boards")
    return Path(named) if named else None


def _check_attached(config: pytest.Config) -> None:
    """A board that is not there is a usage error, never a skip and never another board."""
    from harness.boards import find_board, load_boards, require_attached

    boards = load_boards(_boards_file(config))
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


def _checked(action: Any) -> Any:
    from harness.errors import HarnessError

    try:
        return action()
    except HarnessError as error:
        raise pytest.UsageError(f"{type(error).__name__}: {error}") from error
