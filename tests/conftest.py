# SPDX-License-Identifier: Apache-2.0
"""Fixtures that several rooms' tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.build import RunnerImage, build_runner


@pytest.fixture(scope="session")
def runner_image() -> RunnerImage:
    """The runner for Pico 1, built from this checkout."""
    return build_runner("rp2040")


@pytest.fixture(scope="session")
def runner_elf(runner_image: RunnerImage) -> Path:
    return runner_image.elf
