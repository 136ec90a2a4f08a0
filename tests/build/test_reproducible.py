# SPDX-License-Identifier: Apache-2.0
"""The same sources give the same ELF, wherever the checkout and the cache are, assembly included."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness import resources
from harness.build import build_runner
from harness.kernels import find_kernels, set_for


@pytest.mark.parametrize("chip", ["rp2040", "rp2350"])
def test_another_folder_another_cache(tmp_path: Path, chip: str) -> None:
    for name in ("firmware", "harness", "boards.yaml"):
        source = resources.root() / name
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, tmp_path / name)
    code = (
        "from harness.build import build_runner; from harness.kernels import find_kernels, set_for\n"
        f"every = find_kernels(set_for('fast', {chip!r})).all()\n"
        f"print(build_runner({chip!r}).elf_hash, build_runner({chip!r}, kernels=every).elf_hash)"
    )
    environment = {
        **os.environ,
        "PYTHONPATH": str(tmp_path),
        "RIPBENCH_CACHE": str(tmp_path / "cache"),
    }
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    every = find_kernels(set_for("fast", chip)).all()
    hashes = [build_runner(chip).elf_hash, build_runner(chip, kernels=every).elf_hash]
    assert done.stdout.split() == hashes
    assert (tmp_path / "cache" / "firmware").is_dir()
