# SPDX-License-Identifier: Apache-2.0
"""Folders and files that somebody else could have put there: not used, not followed, not written to."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from harness import history
from harness.build import build_runner, cache
from harness.emulator import build as core
from harness.errors import BuildError, ConfigError
from harness.results import Provenance, Verdict


def _firmware() -> Path:
    return cache.folder("firmware")


FOLDERS: dict[str, Callable[[], Path]] = {"firmware": _firmware, "core": core.cache_folder}


@pytest.fixture(params=FOLDERS.values(), ids=FOLDERS)
def folder(request: pytest.FixtureRequest) -> Callable[[], Path]:
    made: Callable[[], Path] = request.param
    return made


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "cache"
    monkeypatch.setenv("RIPBENCH_CACHE", str(path))
    return path


def test_caches_are_private_whatever_the_umask(base: Path, folder: Callable[[], Path]) -> None:
    before = os.umask(0)
    try:
        made = folder()
    finally:
        os.umask(before)
    for path in {base, made}:
        assert stat.S_IMODE(path.lstat().st_mode) == 0o700


def test_a_cache_that_is_a_link(base: Path, folder: Callable[[], Path], tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    base.symlink_to(elsewhere)
    with pytest.raises(BuildError):
        folder()
    assert list(elsewhere.iterdir()) == []


def test_a_cache_that_is_a_file(base: Path, folder: Callable[[], Path]) -> None:
    base.write_text("")
    with pytest.raises((BuildError, FileExistsError)):
        folder()


def _be_somebody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only root can give a file away; to anybody else the system says another user id."""
    other = os.getuid() + 1
    monkeypatch.setattr(os, "getuid", lambda: other)


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o770, 0o702, 0o720])
def test_a_cache_that_others_may_write(base: Path, folder: Callable[[], Path], mode: int) -> None:
    base.mkdir()
    base.chmod(mode)
    with pytest.raises(BuildError):
        folder()
    assert stat.S_IMODE(base.lstat().st_mode) == mode  # what was put there meanwhile stays suspect


def test_a_cache_of_another_user(
    base: Path, folder: Callable[[], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    base.mkdir(mode=0o700)
    if os.getuid() == 0:
        os.chown(base, 12345, 12345)
    else:  # the folder is ours: be another
        other = os.getuid() + 1
        monkeypatch.setattr(os, "getuid", lambda: other)
    with pytest.raises(BuildError):
        folder()


@pytest.mark.parametrize("how", ["link", "mode", "owner"])
def test_the_folder_inside_the_cache(
    base: Path, tmp_path: Path, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    base.mkdir(mode=0o700)
    inside = base / "firmware"
    if how == "link":
        inside.symlink_to(tmp_path)
    else:
        inside.mkdir(mode=0o700)
        if how == "mode":
            inside.chmod(0o777)
        elif os.getuid() == 0:
            os.chown(inside, 12345, 12345)
        else:
            _be_somebody_else(monkeypatch)
    with pytest.raises(BuildError, match="not a folder of this user alone"):
        build_runner("rp2040")


@pytest.mark.parametrize("how", ["link", "mode", "owner"])
def test_the_compiled_core_is_loaded_from_there_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """The library itself, planted under its right name in a folder that is right."""
    compiled = core.library()
    assert stat.S_IMODE(compiled.lstat().st_mode) == 0o700
    base = tmp_path / "cache"
    base.mkdir(mode=0o700)
    monkeypatch.setenv("RIPBENCH_CACHE", str(base))
    right = base / compiled.name
    right.write_bytes(compiled.read_bytes())
    right.chmod(0o700)
    assert core.library() == right
    says = "not yours alone"
    if how == "link":
        right.rename(tmp_path / "planted.so")
        right.symlink_to(tmp_path / "planted.so")
    elif how == "mode":
        right.chmod(0o722)
    elif os.getuid() == 0:
        os.chown(right, 12345, 12345)
    else:
        _be_somebody_else(monkeypatch)
        says = "not a folder of yours alone"  # the folder is looked at first
    with pytest.raises(BuildError, match=says):
        core.library()


# ---- history ----

_PROVENANCE = Provenance(
    board="desk", kind="board", chip="rp2040", unique_id="00", clk_sys_hz=1, elf_hash="0",
    build_id="0", pack_id="0", nonce="0", compiler="cc",
)  # fmt: skip


def _verdict() -> Verdict:
    """Any one: only where it goes matters."""
    values: dict[str, object] = {}
    for name, kind in Verdict.__annotations__.items():
        plain = str(kind)
        values[name] = () if plain.startswith("tuple") else 0 if plain == "int" else ""
    return Verdict(**{**values, "provenance": _PROVENANCE})  # type: ignore[arg-type]


def test_history_appends_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "reports" / "history.jsonl"
    for _ in range(3):
        history.append(path, _verdict())
    assert [row["provenance"]["board"] for row in history.read(path)] == ["desk"] * 3


def test_history_is_not_written_through_a_link(tmp_path: Path) -> None:
    """A checkout could point reports/history.jsonl at a file that a shell reads."""
    target, link = tmp_path / "profile", tmp_path / "history.jsonl"
    target.write_text("# mine\n")
    link.symlink_to(target)
    with pytest.raises(ConfigError, match="cannot be written"):
        history.append(link, _verdict())
    assert target.read_text() == "# mine\n"
    link.unlink()
    link.symlink_to(tmp_path / "made")
    with pytest.raises(ConfigError):
        history.append(link, _verdict())
    assert not (tmp_path / "made").exists()


def test_history_does_not_wait_for_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "history.jsonl"
    os.mkfifo(pipe)
    with pytest.raises(ConfigError):
        history.append(pipe, _verdict())
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with pytest.raises(ConfigError):
            history.append(pipe, _verdict())
        assert os.read(reader, 10) == b""
    finally:
        os.close(reader)


@pytest.mark.parametrize(
    "line",
    [
        b"", b"[]", b"3", b"null", b"{}", b'{"version": "1"}', b'{"version": null}', b"\xff\xfe",
        b"[" * 200_000, b'{"version": ' + b"9" * 5000 + b"}", b'{"version": 1', b"\0", b"NaN",
        b'{"version": 2}', b'{"version": [1]}',
    ],
)  # fmt: skip
def test_rows_that_are_none(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "history.jsonl"
    path.write_bytes(b'{"version": 1}\n' + line + b"\n")
    with pytest.raises(ConfigError, match=r"history\.jsonl:2 ") as caught:
        list(history.read(path))
    assert len(str(caught.value)) < 1000


def test_no_history(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        list(history.read(tmp_path / "none.jsonl"))
