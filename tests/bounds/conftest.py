# SPDX-License-Identifier: Apache-2.0
"""The bulk simulator, compiled once a session."""

from __future__ import annotations

import pytest

from tests.bounds.judge import Judge


@pytest.fixture(scope="session")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Judge:
    return Judge(tmp_path_factory.mktemp("judge"))
