# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks.rack`: two emulated boards one after the other, and at once by two workers.

Both are of one chip and run the same layers, so that neither waits for the other. What a build takes is
left out by a run before. Asked: 1.7 times, where there are two processors."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tabulate import tabulate

from harness import resources

_NAMES = ("left", "right")
_BOARDS = [word for name in _NAMES for word in ("--board", name)]
_LINE = "{chip: rp2040, probe: 'emu:NAME', serial: 'emu://NAME', clock_hz: 125000000}"


def seconds(*words: str) -> tuple[float, str]:
    """Of one run of pytest, and its last line. Errors: RuntimeError for a run that fails."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--history="]
    suite = [str(resources.layers() / "test_layers.py")]
    with tempfile.TemporaryDirectory() as folder:
        lines = [f"  {name}: {_LINE.replace('NAME', name)}" for name in _NAMES]
        Path(folder, "boards.yaml").write_text("\n".join(["boards:", *lines]) + "\n")
        started = time.monotonic()
        done = subprocess.run(
            [*command, *suite, *_BOARDS, *words],
            cwd=folder,
            env={k: v for k, v in os.environ.items() if k != "RIPBENCH_BOARDS"},
            capture_output=True,
            text=True,
        )
        took = time.monotonic() - started
    if done.returncode:
        raise RuntimeError(done.stdout + done.stderr)
    return took, done.stdout.rstrip().splitlines()[-1]


def main() -> None:
    seconds("-n", "2")  # builds what is not built yet
    alone, said = seconds("-n", "0")
    both, _ = seconds("-n", "2")
    print(f"\nTwo emulated Pico 1, {os.cpu_count()} processors ({said.partition(' in ')[0]})")
    rows = [
        ("one after the other", f"{alone:.1f}", ""),
        ("at once, -n 2", f"{both:.1f}", f"{alone / both:.2f}"),
    ]
    print(tabulate(rows, headers=("", "s", "gain (asked: 1.7)"), disable_numparse=True))


if __name__ == "__main__":
    main()
