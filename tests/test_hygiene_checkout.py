# SPDX-License-Identifier: Apache-2.0
"""A working directory that nobody has read: nothing in it is executed or obeyed.

The commands run as a console script does, without the working directory on Python's path (-P).
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RIPBENCH = "import sys; from harness.cli import main; sys.exit(main())"
# pyOCD would execute the first two and obey the others
PYOCD = {
    "pyocd_user.py": "open('executed', 'w')\n",
    ".pyocd_user.py": "open('executed', 'w')\n",
    "pyocd.yaml": "user_script: pyocd_user.py\ntarget_override: nrf52\nlogging: {version: 1, "
    "formatters: {f: {(): os.mkdir, path: executed}}}\n",
    "pyocd.yml": "user_script: pyocd_user.py\n",
    ".pyocd.yaml": "user_script: pyocd_user.py\n",
}
# pytest and Python would
PYTHON = {
    "conftest.py": "open('executed', 'w')\n",
    "pytest.ini": "[pytest]\naddopts = --collect-only\npython_files = *.py\n",
    "tox.ini": "[pytest]\naddopts = --collect-only\n",
    "setup.cfg": "[tool:pytest]\naddopts = --collect-only\n",
    "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '--collect-only'\n",
    "sitecustomize.py": "open('executed', 'w')\n",
    "usercustomize.py": "open('executed', 'w')\n",
    "serial.py": "open('executed', 'w')\n",
    "yaml.py": "open('executed', 'w')\n",
    "cobs.py": "open('executed', 'w')\n",
    "harness.py": "open('executed', 'w')\n",
    "arm-none-eabi-gcc": "#!/bin/sh\ntouch executed\n",
    "cc": "#!/bin/sh\ntouch executed\n",
}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Everything above, in the folder itself and in its parent."""
    here = tmp_path / "parent" / "checkout"
    here.mkdir(parents=True)
    for folder in (here, here.parent):
        for name, text in (PYOCD | PYTHON).items():
            (folder / name).write_text(text)
            (folder / name).chmod(0o755)
    return here


def _planted(checkout: Path) -> bool:
    names = {path.name for folder in (checkout, checkout.parent) for path in folder.iterdir()}
    return names - {"checkout", "reports", "__pycache__"} == set(PYOCD | PYTHON)


def _ripbench(checkout: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **more}
    return subprocess.run(
        [sys.executable, "-P", "-c", RIPBENCH, *words],
        cwd=checkout,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.mark.parametrize("words", ["boards", "build", "doctor --board pico1-emu"])
def test_commands(checkout: Path, words: str) -> None:
    done = _ripbench(checkout, *words.split(), PYOCD_PROJECT_DIR=str(checkout))
    assert done.returncode == 0, done.stdout + done.stderr
    assert _planted(checkout)


def test_selftest(checkout: Path) -> None:
    """The suite runs as it is shipped, and really runs."""
    words = ["--board", "pico1-emu", "--layers", "first#odd-3x3", "--tap-order", "gather"]
    done = _ripbench(checkout, "selftest", *words, "--strategy", "rip", "--seeds", "1", "-q")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout
    assert _planted(checkout)


def test_what_was_planted_would_be_executed_otherwise(checkout: Path) -> None:
    """By a pyOCD that is told nothing, so that the tests above can fail."""
    session = "from pyocd.core.session import Session; Session(None)"
    script = (
        "from pyocd.core import session as s, options_manager\n"
        "class Probe:\n"
        "    unique_id = 'x'; session = None; associated_board_info = None\n"
        "    def create_associated_board(self): return None\n"
        "try: s.Session(Probe(), auto_open=False)\n"
        "except Exception: pass\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    for code in (session, script):
        subprocess.run(
            [sys.executable, "-P", "-c", code],
            cwd=checkout,
            env=environment,
            timeout=60,
            check=True,
        )
    assert not _planted(checkout)
