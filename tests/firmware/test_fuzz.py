# SPDX-License-Identifier: Apache-2.0
"""The firmware's receiver and runner under damaged and hostile requests, with both sanitizers.

fuzz_wire_main.c draws streams, works out by definition what must be delivered and answered, and ends
with an error at the first difference; the counts say that all of it was reached.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.schema.constants import Refusal
from tests.firmware.support import Conv, build, compile_host, parts

SANITIZERS = ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
_SECONDS = 240


def host_compiler() -> str:
    found = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    assert found is not None, "these tests need a C compiler for the host"
    return found


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    built = tmp_path_factory.mktemp("fuzz") / "fuzz_wire_main"
    compile_host(host_compiler(), built, SANITIZERS, ["fuzz_wire_main.c"])
    return built


def _pack() -> bytes:
    """Two cases; the arena of the second takes more than one DATA frame."""
    small, large = parts(Conv(4, 5, 2, 3, (3, 3), seed=5)), parts(Conv(3, 3, 2, 2, seed=6))
    return build([small, replace(large, arena=3000)])


def fuzz(program: Path, seed: int, frames: int) -> dict[str, Any]:
    done = subprocess.run(
        [str(program), str(seed), str(frames)], input=_pack(), capture_output=True, timeout=_SECONDS
    )
    assert done.returncode == 0, done.stderr.decode(errors="replace")[-4000:]
    counts: dict[str, Any] = json.loads(done.stdout)
    return counts


def _check(counts: dict[str, Any], frames: int) -> None:
    """Everything happened, and nothing that was changed was taken for whole."""
    assert counts["frames"] >= frames
    assert counts["damaged"] > frames * 0.7
    assert counts["delivered"] == counts["intact"] > frames * 0.2
    assert counts["collisions"] == 0
    assert counts["dropped"] > frames * 0.5
    assert counts["runs"] > frames / 250
    assert counts["results"] > counts["runs"]
    assert counts["data"] > frames / 200
    refused = {Refusal(int(reason)) for reason, count in counts["refused"].items() if count}
    assert refused == {Refusal.BAD_REQUEST, Refusal.CASE_INDEX, Refusal.READ_RANGE} | (
        refused & {Refusal.IMAGE_CRC}  # a RUN before the first HELLO: seldom, and right
    )


def test_damaged_and_hostile_requests(program: Path) -> None:
    _check(fuzz(program, seed=1, frames=30_000), 30_000)


@pytest.mark.extra
def test_a_million_requests(program: Path) -> None:
    counts = fuzz(program, seed=2, frames=1_000_000)
    print(counts)
    _check(counts, 1_000_000)
