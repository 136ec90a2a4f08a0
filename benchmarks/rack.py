# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks.rack`: two emulated boards one after the other, and at once by two workers.

What a build takes is left out by a run before. Asked: 1.7 times, where there are two processors."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

from tabulate import tabulate

from harness import resources

_BOARDS = ("--board", "pico1-emu", "--board", "pico2-emu")


def seconds(*words: str) -> tuple[float, str]:
    """Of one run of pytest, and its last line. Errors: RuntimeError for a run that fails."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--history="]
    suite = [str(resources.layers() / "test_layers.py"), "-m", "not slow", "--tap-order", "gather"]
    with tempfile.TemporaryDirectory() as folder:
        started = time.monotonic()
        done = subprocess.run(
            [*command, *suite, *_BOARDS, *words], cwd=folder, capture_output=True, text=True
        )
        took = time.monotonic() - started
    if done.returncode:
        raise RuntimeError(done.stdout + done.stderr)
    return took, done.stdout.rstrip().splitlines()[-1]


def main() -> None:
    seconds()  # builds what is not built yet
    alone, said = seconds("-n", "0")
    both, _ = seconds("-n", "2")
    print(f"\nTwo emulated boards, {os.cpu_count()} processors ({said.partition(' in ')[0]})")
    rows = [
        ("one after the other", f"{alone:.1f}", ""),
        ("at once, -n 2", f"{both:.1f}", f"{alone / both:.2f}"),
    ]
    print(tabulate(rows, headers=("", "s", "gain (asked: 1.7)"), disable_numparse=True))


if __name__ == "__main__":
    main()
