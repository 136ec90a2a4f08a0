# SPDX-License-Identifier: Apache-2.0
"""The folder of a site: ours or refused, without links, without what an earlier call left."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.errors import ConfigError
from harness.report.html.write import MANIFEST, Folder


def _write(path: Path, *names: str) -> None:
    folder = Folder(path)
    for name in names:
        folder.write(name, f"of {name}")
    folder.finish()


def _files(path: Path) -> set[str]:
    return {str(p.relative_to(path)) for p in path.rglob("*") if p.is_file()} - {MANIFEST}


def test_what_an_earlier_call_left_is_removed(tmp_path: Path) -> None:
    _write(tmp_path, "index.html", "cases/a.html", "cases/b.html")
    (tmp_path / "cases" / "mine.txt").write_text("mine")
    _write(tmp_path, "index.html", "cases/b.html", "cases/c.html")
    assert _files(tmp_path) == {"index.html", "cases/b.html", "cases/c.html", "cases/mine.txt"}


def test_after_a_call_that_was_killed(tmp_path: Path) -> None:
    """The folder is still ours, and what the call before left is still known."""
    _write(tmp_path, "index.html", "cases/a.html")
    Folder(tmp_path).write("cases/b.html", "")
    _write(tmp_path, "index.html")
    assert "cases/a.html" not in _files(tmp_path)
    new = tmp_path / "new"
    Folder(new)
    _write(new, "index.html")


def test_bytes_are_counted(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "site")
    folder.write("a.html", "\u00e4" * 10)
    folder.finish()
    assert folder.bytes >= sum(p.stat().st_size for p in (tmp_path / "site").iterdir())
    assert (tmp_path / "site" / "a.html").read_bytes() == b"\xc3\xa4" * 10


def test_a_folder_of_something_else(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(ConfigError, match="holds other files"):
        Folder(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize("name", ["../victim", "/victim", "a/../../victim", "a/b/c"])
def test_a_manifest_that_somebody_else_wrote(tmp_path: Path, name: str) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (tmp_path / "victim").write_text("mine")
    names = [name.replace("/victim", f"{tmp_path}/victim") if name == "/victim" else name]
    (out / MANIFEST).write_text(json.dumps({"version": 1, "files": names}))
    with pytest.raises(ConfigError):
        Folder(out)
    assert (tmp_path / "victim").read_text() == "mine"


@pytest.mark.parametrize("text", ["", "[]", '{"files": 3}', '{"files": [3]}', "[" * 100_000])
def test_a_manifest_that_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / MANIFEST).write_text(text)
    with pytest.raises(ConfigError):
        Folder(tmp_path)


def test_links_are_not_followed(tmp_path: Path) -> None:
    victim, out = tmp_path / "victim", tmp_path / "out"
    victim.mkdir()
    (victim / "profile").write_text("mine")
    link = tmp_path / "link"
    link.symlink_to(victim)
    with pytest.raises(ConfigError):
        Folder(link)
    _write(out, "index.html", "cases/a.html")
    (out / "index.html").unlink()
    (out / "index.html").symlink_to(victim / "profile")
    _write(out, "index.html", "cases/a.html")
    assert (victim / "profile").read_text() == "mine"
    assert not (out / "index.html").is_symlink()
    (out / "cases" / "a.html").unlink()
    (out / "cases").rmdir()
    (out / "cases").symlink_to(victim)
    with pytest.raises(ConfigError, match="is a link"):
        _write(out, "cases/a.html")
    assert [path.name for path in victim.iterdir()] == ["profile"]


def test_a_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be written"):
        Folder(tmp_path / "file")
