# SPDX-License-Identifier: Apache-2.0
"""The Arm cross compiler as a process."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from harness.errors import BuildError

COMPILER = "arm-none-eabi-gcc"
_SECONDS = 120  # a compiler that takes longer hangs


def find_compiler() -> str:
    """Path of the cross compiler. Errors: BuildError says how to install it."""
    path = shutil.which(COMPILER)
    if path is None:
        raise BuildError(
            f"{COMPILER} is not installed",
            hint="sudo apt-get install --no-install-recommends gcc-arm-none-eabi  |  "
            "brew install --cask gcc-arm-embedded  |  pacman -S arm-none-eabi-gcc",
        )
    return path


def compiler_version() -> str:
    """First line of `arm-none-eabi-gcc --version`."""
    return run_compiler([find_compiler(), "--version"]).splitlines()[0]


def run_compiler(command: list[str], cwd: Path | None = None) -> str:
    """What it prints. Errors: BuildError with what it complains about."""
    try:
        done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BuildError(f"{command[0]} could not be run", cause=str(error)) from error
    if done.returncode:
        raise BuildError(
            "the firmware does not compile",
            evidence={"command": " ".join(command[:1]) + " ...", "output": done.stderr[-4000:]},
        )
    return done.stdout
