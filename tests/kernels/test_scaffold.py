# SPDX-License-Identifier: Apache-2.0
"""`ripbench kernel new`: what it makes, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import ConfigError
from harness.kernels import find_kernels
from harness.kernels.scaffold import new_kernel, template_ops


def test_there_is_a_template_for_these() -> None:
    assert template_ops() == ("add", "conv", "depthwise")


@pytest.mark.parametrize("op", ["add", "conv", "depthwise"])
def test_what_is_made(op: str, tmp_path: Path) -> None:
    """It loads as a set, and no template's name is left in it."""
    written = new_kernel(tmp_path / "my_one", op, (), "pico2-emu")
    assert [path.name for path in written] == ["README.md", "kernels.yaml", "my_one.c"]
    for path in written:
        text = path.read_text()
        assert "new_kernel" not in text and "new_board" not in text
    assert "--board pico2-emu --kernels ." in written[0].read_text()
    kernel = find_kernels(str(tmp_path / "my_one")).kernels[-1]
    assert (kernel.name, kernel.kind.name.lower(), kernel.alignment) == ("my_one", op, 1)
    assert kernel.chips == frozenset()


def test_for_one_chip(tmp_path: Path) -> None:
    new_kernel(tmp_path / "my_one", "conv", ("rp2040",), "pico1-emu")
    kernel = find_kernels(str(tmp_path / "my_one")).kernels[-1]
    assert kernel.chips == {"rp2040"}


@pytest.mark.parametrize(
    "name",
    [
        *("My_conv", "2fast", "my-conv", "while", "a" * 61, "memcpy", "m33", "plain_pad", ".."),
        *("x y", "\x1b[2J"),
    ],
)
def test_names_that_no_kernel_can_have(name: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        new_kernel(tmp_path / name, "conv", (), "pico2-emu")
    assert "\x1b" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_nothing_that_is_there_is_touched(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "mine.c").write_text("/* my work */")
    (tmp_path / "file").write_text("x")
    for name in ("mine", "file"):
        with pytest.raises(ConfigError, match="is there already"):
            new_kernel(tmp_path / name, "conv", (), "pico2-emu")
    assert (tmp_path / "mine" / "mine.c").read_text() == "/* my work */"
    assert len(list((tmp_path / "mine").iterdir())) == 1


def test_a_place_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be made"):
        new_kernel(tmp_path / "nowhere" / "mine", "conv", (), "pico2-emu")
    with pytest.raises(ConfigError, match="no template for 'mean'"):
        new_kernel(tmp_path / "mine", "mean", (), "pico2-emu")


def test_a_disk_that_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the n-th file, until none fails: nothing is left behind."""
    write = Path.write_text
    for failing in range(4):
        count = 0

        def full(path: Path, text: str, failing: int = failing) -> int:
            nonlocal count
            count += 1
            if count == failing + 1:
                raise OSError(28, "No space left on device")
            return write(path, text)

        monkeypatch.setattr(Path, "write_text", full)
        if failing == 3:
            new_kernel(tmp_path / "mine", "conv", (), "pico2-emu")
        else:
            with pytest.raises(ConfigError, match="cannot be written") as caught:
                new_kernel(tmp_path / "mine", "conv", (), "pico2-emu")
            assert caught.value.cause == "No space left on device"
            assert list(tmp_path.iterdir()) == []
