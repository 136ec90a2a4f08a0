# SPDX-License-Identifier: Apache-2.0
"""The commit of a run, and that asking for it runs nothing of the checkout."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from harness.history import commit
from harness.history.commit import Commit, commit_of

_CI = ("GITHUB_SHA", "CI_COMMIT_SHA", "GIT_COMMIT")


@pytest.fixture(autouse=True)
def no_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in _CI:
        monkeypatch.delenv(name, raising=False)


def _git(folder: Path, *words: str) -> str:
    names = ("-c", "user.name=n", "-c", "user.email=e@example.com")
    done = subprocess.run(
        ["git", *names, *words], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "checkout"
    folder.mkdir()
    _git(folder, "init", "-q")
    for name in ("a.c", "b.c"):
        (folder / name).write_text("int a;\n")
    _git(folder, "add", "a.c", "b.c")
    _git(folder, "commit", "-q", "-m", "first")
    return folder


def test_clean_and_dirty(checkout: Path) -> None:
    head = _git(checkout, "rev-parse", "HEAD")
    assert commit_of(checkout) == Commit(head, False)
    (checkout / "reports").mkdir()
    (checkout / "reports" / "history.sqlite").touch()  # ours, which no commit has
    assert commit_of(checkout / "reports") == Commit(head, False)
    (checkout / "a.c").write_text("int b;\n")
    assert commit_of(checkout) == Commit(head, True)


def test_no_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert commit_of(tmp_path) == Commit("", False)
    monkeypatch.setenv("CI_COMMIT_SHA", "=cmd()")
    assert commit_of(tmp_path) == Commit("", False)
    monkeypatch.setenv("CI_COMMIT_SHA", "AB" * 20)
    assert commit_of(tmp_path) == Commit("ab" * 20, False)


def test_a_repository_without_a_commit(tmp_path: Path) -> None:
    _git(tmp_path, "init", "-q")
    assert commit_of(tmp_path) == Commit()


def test_no_git(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(checkout))
    assert commit_of(checkout) == Commit()


def test_a_git_that_hangs(checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "git"
    tool.write_text("#!/bin/sh\nexec sleep 60\n")
    tool.chmod(0o755)
    monkeypatch.setattr(commit, "_SECONDS", 0.2)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert commit_of(checkout) == Commit()


@pytest.mark.parametrize(
    "settings",
    [
        {"core.fsmonitor": "{run}"},
        {"filter.x.clean": "{run}"},
        {"filter.x.process": "{run}"},
        {"filter.x.clean": "{run}", "filter.x.required": "true"},
        {"filter.a=b.clean": "{run}"},
        {"core.hooksPath": "{folder}"},
    ],
    ids=lambda settings: next(iter(settings)),
)
def test_nothing_of_the_checkout_is_run(checkout: Path, settings: dict[str, str]) -> None:
    run, ran = checkout / "post-index-change", checkout / "ran"
    run.write_text(f"#!/bin/sh\ntouch {ran}\ncat\n")
    run.chmod(0o755)
    for name, value in settings.items():
        _git(checkout, "config", name, value.format(run=run, folder=checkout))
    name = "a=b" if "filter.a=b.clean" in settings else "x"
    (checkout / ".gitattributes").write_text(f"* filter={name}\n")
    (checkout / "a.c").write_text("int b;\n")
    os.utime(checkout / "b.c", (1, 1))  # so that git writes its index anew, if it may
    found = commit_of(checkout)
    assert found.dirty and len(found.hash) == 40
    assert not ran.exists()
    if "=" not in name:
        _git(checkout, "status")  # of who trusts it: so the trap was one
        assert ran.exists()
