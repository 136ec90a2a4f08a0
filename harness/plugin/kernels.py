# SPDX-License-Identifier: Apache-2.0
"""The part of the pytest plugin that validates kernels: `pytest --board NAME --kernels my_conv/`.

A folder of one's own, and nothing else asked for, is validated and no other test of the device suite
runs; `-m kernels` asks for it beside others, and for a shipped set.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from harness.bench import Bench
    from harness.judge import KernelVerdict

MARK = "kernels"
_OTHERS = ("models", "paper84")
_NO_KERNEL = ""
_VERDICTS = pytest.StashKey[list["KernelVerdict"]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("ripbench")
    group.addoption(
        "--trials",
        type=int,
        default=240,
        metavar="N",
        help="small ops on which each kernel of --kernels DIR is tried (default 240)",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", f"{MARK}: validates each kernel of --kernels; gives the test its name, `kernel`"
    )
    config.stash[_VERDICTS] = []
    if not 1 <= config.getoption("--trials") <= 100_000:
        raise pytest.UsageError(
            f"--trials {config.getoption('--trials')} is not within 1 to 100000"
        )


def validates(config: pytest.Config) -> bool:
    """Are kernels to be validated?"""
    if config.getoption("--kernels") == "plain":
        return False
    words = config.getoption("markexpr")
    if re.search(rf"\b{MARK}\b", words):
        return True
    return not any(re.search(rf"\b{mark}\b", words) for mark in _OTHERS) and _alone(config)


def wants(config: pytest.Config, own: str, other: str, mark: str) -> bool:
    """Of layers and models: who names the one alone asks for none of the other, and who names kernels
    of his own for neither; -m MARK asks for its own."""
    if re.search(rf"\b{mark}\b", config.getoption("markexpr")) is not None:
        return True
    if validates(config) and _alone(config):
        return False
    return bool(config.getoption(own)) or not config.getoption(other)


def _alone(config: pytest.Config) -> bool:
    asked = any(config.getoption(name) for name in ("--layers", "--models"))
    return not asked and (Path(config.getoption("--kernels")) / "kernels.yaml").is_file()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if metafunc.definition.get_closest_marker(MARK) is None:
        return
    names = [_NO_KERNEL]
    if validates(metafunc.config):
        from harness.kernels import KernelTraits
        from harness.validation import own_kernels

        traits = KernelTraits(metafunc.config.getoption("--kernels"))
        names = [kernel.name for kernel in own_kernels(traits)]
    metafunc.parametrize("kernel", names)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Where no kernel is to be validated there is no test of one, and no skipped one."""
    nothing = [
        item
        for item in items
        if item.get_closest_marker(MARK) is not None
        and getattr(getattr(item, "callspec", None), "params", {}).get("kernel") == _NO_KERNEL
    ]
    if nothing:
        config.hook.pytest_deselected(items=nothing)
        items[:] = [item for item in items if item not in nothing]


@pytest.fixture
def validate_kernel(
    bench: Bench, pytestconfig: pytest.Config
) -> Iterator[Callable[[str], KernelVerdict]]:
    """`validate_kernel(name)`: the verdict on a kernel of the bench's set, kept for the report."""
    from harness.selection import choose_layers
    from harness.validation import Wanted, own_kernels, validate

    named = pytestconfig.getoption("--layers")
    wanted = Wanted(
        trials=pytestconfig.getoption("--trials"),
        seed=pytestconfig.getoption("--seed"),
        layers=tuple(choose_layers(named)) if named else (),
    )

    def validated(name: str) -> KernelVerdict:
        kernel = next(one for one in own_kernels(bench.kernels) if one.name == name)
        if not kernel.runs_on(bench.entry.chip):
            pytest.skip(f"{name} is not for the {bench.entry.chip}")
        verdict = validate(bench, kernel, wanted)
        pytestconfig.stash[_VERDICTS].append(verdict)
        return verdict

    yield validated


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    verdicts = config.stash[_VERDICTS]
    if verdicts:
        from harness.report.kernels import kernel_tables

        terminalreporter.section("ripbench: kernels")
        terminalreporter.write_line(kernel_tables(verdicts))
        for words in _unchecked(verdicts):
            terminalreporter.write_line(words)


def _unchecked(verdicts: list[KernelVerdict]) -> Iterator[str]:
    for verdict in verdicts:
        for words in verdict.unchecked:
            yield f"not checked of {verdict.kernel} on {verdict.provenance.board}: {words}"
