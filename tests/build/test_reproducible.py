# SPDX-License-Identifier: Apache-2.0
"""The same sources give the same ELF, wherever the checkout and the cache are."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from harness import resources
from harness.build import RunnerImage


def test_another_folder_another_cache(tmp_path: Path, runner_image: RunnerImage) -> None:
    for name in ("firmware", "harness", "boards.yaml"):
        source = resources.root() / name
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, tmp_path / name)
    code = "from harness.build import build_runner; print(build_runner('rp2040').elf_hash)"
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
    assert done.stdout.strip() == runner_image.elf_hash
    assert (tmp_path / "cache" / "firmware").is_dir()
