# SPDX-License-Identifier: Apache-2.0
"""`ripbench kernel new`."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.cli import main


def test_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["kernel", "new", "my_add", "--op", "add", "--chip", "rp2040"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "my_add/README.md",
        "my_add/kernels.yaml",
        "my_add/my_add.c",
        "next: ripbench selftest --board pico1-emu --kernels my_add",
    ]
    assert main(["kernel", "new", "my_add"]) == 2
    assert "my_add is there already" in capsys.readouterr().err
    assert main(["kernel", "new", "My_add"]) == 2
    assert "'My_add' is no name of a kernel" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["new"], [], ["new", "x", "--op", "mean"], ["old", "x"]])
def test_wrong_words(words: list[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["kernel", *words])
    assert stopped.value.code == 2
