# SPDX-License-Identifier: Apache-2.0
"""Compiling the core: strict warnings, the cache and who may put what there, and no compiler at all."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from harness.emulator import build
from harness.emulator.machine import Machine
from harness.errors import BuildError, ConfigError

STRICT = ("-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-fsyntax-only")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RIPBENCH_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def small_core(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A core that compiles in no time."""
    folder = tmp_path / "core"
    folder.mkdir()
    (folder / "answer.c").write_text("int answer(void) { return 42; }\n")
    monkeypatch.setattr(build, "CORE", folder)
    return folder


def test_no_warnings_from_the_default_compiler() -> None:
    sources = [str(path) for path in build.CORE.glob("*.c")]
    compiler = next(name for name in build.NAMES if shutil.which(name))
    done = subprocess.run([compiler, *STRICT, *sources], capture_output=True, text=True)
    assert done.stderr == ""


@pytest.mark.extra
def test_no_warnings_from_clang() -> None:
    if not shutil.which("clang"):
        pytest.skip("needs clang")
    sources = [str(path) for path in build.CORE.glob("*.c")]
    done = subprocess.run(["clang", *STRICT, *sources], capture_output=True, text=True)
    assert done.stderr == ""


@pytest.mark.usefixtures("small_core")
def test_a_library_is_compiled_once(cache: Path) -> None:
    path = build.library()
    assert path.parent == cache
    assert cache.stat().st_mode & 0o777 == 0o700
    first = path.stat()
    assert build.library() == path
    assert path.stat().st_mtime_ns == first.st_mtime_ns
    assert [entry.name for entry in cache.iterdir()] == [path.name], "nothing half-made is left"


@pytest.mark.usefixtures("cache")
def test_a_change_makes_another_library(small_core: Path) -> None:
    before = build.library()
    (small_core / "answer.h").write_text("/* new */\n")
    after = build.library()
    assert before != after
    assert before.exists()


@pytest.mark.usefixtures("cache", "small_core")
def test_an_argument_in_cc_makes_another_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """CC="gcc -fsanitize=undefined" must not be answered with the library of plain gcc."""
    compiler = next(name for name in build.NAMES if shutil.which(name))
    monkeypatch.setenv("CC", f"{compiler} -DOTHER")
    assert build.library() != build.library(compiler)


@pytest.mark.usefixtures("cache", "small_core")
def test_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("CC", raising=False)
    with pytest.raises(BuildError) as caught:
        build.library()
    assert "needs a C compiler" in caught.value.message
    assert "install" in caught.value.hint


@pytest.mark.usefixtures("small_core")
def test_cc_that_does_not_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(BuildError) as caught:
        build.library()
    assert caught.value.evidence["looked for"] == "no-such-compiler"


def test_source_that_does_not_compile(cache: Path, small_core: Path) -> None:
    (small_core / "answer.c").write_text("int answer(void) { return forty_two; }\n")
    with pytest.raises(BuildError) as caught:
        build.library()
    assert "forty_two" in caught.value.cause
    assert list(cache.iterdir()) == []


@pytest.mark.usefixtures("small_core")
def test_a_cache_that_others_may_write(cache: Path) -> None:
    cache.mkdir()
    cache.chmod(0o777)
    with pytest.raises(BuildError, match="folder of yours alone"):
        build.library()


@pytest.mark.usefixtures("small_core")
def test_a_cache_that_is_a_link(cache: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    cache.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BuildError, match="folder of yours alone"):
        build.library()


@pytest.mark.usefixtures("cache", "small_core")
def test_a_library_that_is_a_link_or_open_to_others(tmp_path: Path) -> None:
    path = build.library()
    path.chmod(0o777)
    with pytest.raises(BuildError, match="not yours alone"):
        build.library()
    path.rename(tmp_path / "moved.so")
    path.symlink_to(tmp_path / "moved.so")
    with pytest.raises(BuildError, match="not yours alone"):
        build.library()


@pytest.mark.parametrize(
    ("chip", "flash"), [("rp2345", 1 << 21), ("rp2040", 3 << 20), ("rp2040", 0)]
)
def test_machines_that_do_not_exist(chip: str, flash: int) -> None:
    with pytest.raises(ConfigError):
        Machine(chip, flash)


def test_views_outlive_the_machine() -> None:
    machine = Machine("rp2040", 1 << 21)
    view = machine.flash()
    del machine
    assert view[:4].tobytes() == b"\xff" * 4
