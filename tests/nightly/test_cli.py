# SPDX-License-Identifier: Apache-2.0
"""`ripbench nightly` on emulated boards: a night, the next one, one that is killed and goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from harness.errors import HarnessError
from harness.nightly.night import Suite, begin_night, last_night
from harness.nightly.run import run_suite
from harness.plugin.done import read_done

MAIN = "import sys; from harness.cli import main; sys.exit(main())"
COMMAND = [sys.executable, "-c", MAIN, "nightly"]
ONE = "first#odd-3x3"
MORE = f"{ONE},first#mcunet-in0.5,first#mcunet-in0.3"


def _night(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *words], cwd=folder, capture_output=True, text=True)


def test_a_case_that_is_gone_the_next_night_is_red(tmp_path: Path) -> None:
    words = ("--board", "pico1-emu", "--suites", "layers", "--repeat", "2")
    first = _night(tmp_path, *words, "--layers", f"{ONE},first#mcunet-in0.5", "--site", "site")
    assert first.returncode == 0, first.stdout + first.stderr
    assert "all well" in first.stdout
    assert (tmp_path / "site" / "index.html").is_file()

    second = _night(tmp_path, *words, "--layers", ONE)
    assert second.returncode == 1, second.stdout
    night = last_night(tmp_path / "reports" / "nights")
    assert night is not None and night.finished
    text = (night.folder / "summary.md").read_text()
    assert "NOT WELL" in text
    assert "| **vanished** | mcunet-in0.5 | rip |" in text
    assert "odd-3x3" not in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--suites", "layrs"), "no suite 'layrs'"),
        (("--rack", "nightly"), "no rack 'nightly'"),
        (("--board", "pico3"), "no board 'pico3'"),
    ],
)
def test_words_that_name_nothing(tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    done = _night(tmp_path, *words)
    assert done.returncode == 2
    assert message in done.stderr
    assert not list(tmp_path.iterdir()), "no night was begun"


@pytest.mark.extra
def test_a_night_that_is_killed_goes_on(tmp_path: Path) -> None:
    """SIGKILL after the first test: no test that passed runs again, and the night is whole."""
    words = ("--rack", "emulated", "--suites", "layers", "--layers", MORE)
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen(
            [*COMMAND, *words], cwd=tmp_path, stdout=log, stderr=log, start_new_session=True
        )
        _wait_for_a_test(tmp_path, process)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    broken = last_night(tmp_path / "reports" / "nights")
    assert broken is not None and not broken.finished
    before = read_done(broken.done_file(broken.suites[0]))
    assert before

    again = _night(tmp_path, *words, "--resume")
    assert again.returncode == 0, again.stdout + again.stderr
    night = last_night(tmp_path / "reports" / "nights")
    assert night is not None and night.finished and night.name == broken.name
    assert night.suites[0].attempts == 2
    lines = night.done_file(night.suites[0]).read_text().splitlines()
    ran = Counter(line for line in lines if '"passed"' in line)
    assert set(ran.values()) == {1}
    assert night.counts(night.suites[0]) == {"passed": 24}


def _wait_for_a_test(folder: Path, process: subprocess.Popen[bytes]) -> None:
    while process.poll() is None:
        if any(file.stat().st_size for file in folder.glob("reports/nights/*/*.done")):
            return
        time.sleep(0.02)
    raise AssertionError(f"it ended by itself:\n{(folder / 'log').read_text()}")


def test_a_suite_that_is_killed_alone_may_go_on(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "import os, signal\ndef test_it(): os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    night = begin_night(
        tmp_path / "nights", ("a",), (Suite("own", (str(tmp_path / "test_it.py"),)),)
    )
    with pytest.raises(HarnessError, match="signal 9"):
        run_suite(night, night.suites[0], lambda _: None)
    again = last_night(tmp_path / "nights")
    assert again is not None
    assert [(suite.attempts, suite.status) for suite in again.suites] == [(1, None)]
