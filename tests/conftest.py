# SPDX-License-Identifier: Apache-2.0
"""Fixtures that several rooms' tests share, and `--no-skips`: a skipped proof is no proof."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from harness.build import RunnerImage, build_runner

# Other people's models and sources, which nobody may be asked to have
_FILES = ("RIPBENCH_TFLITE_DIR", "RIPBENCH_CMSIS_NN_DIR", "RIPBENCH_TINYENGINE_DIR")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--no-skips",
        action="store_true",
        help="count a skipped test as failed, but for the lack of other people's files",
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    allowed = any(name in str(report.longrepr) for name in _FILES)
    if report.skipped and item.config.getoption("--no-skips") and not allowed:
        report.outcome = "failed"
        report.longrepr = f"skipped, which --no-skips does not allow: {report.longrepr}"
    return report


@pytest.fixture(scope="session", autouse=True)
def no_served_boards(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Boards that the user serves now are not these tests' boards."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RIPBENCH_RUNTIME", str(tmp_path_factory.getbasetemp() / "nothing-served"))
        yield


@pytest.fixture(scope="session")
def runner_image() -> RunnerImage:
    """The runner for Pico 1, built from this checkout."""
    return build_runner("rp2040")


@pytest.fixture(scope="session")
def runner_elf(runner_image: RunnerImage) -> Path:
    return runner_image.elf
