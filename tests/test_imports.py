# SPDX-License-Identifier: Apache-2.0
"""The import rule: a module imports only from rooms to its left, and nobody imports the emulator."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import harness

CHAIN = [
    {"geometry", "errors", "results", "schema", "strictyaml", "resources"},
    {"bounds", "liveness"},
    {"network", "kernels"},
    {"plan", "reference"},
    {"case"},
    {"wire", "build"},
    {"boards"},
    {"measure"},
    {"judge"},
    {"history"},
    {"paper"},
    {"report"},
    {"keeper", "bench", "benchoptions", "devicetime", "selection", "layersets", "validation"}
    | {"nightly", "plugin", "cli"},
]
ROOT = Path(harness.__file__).parent


def _level(room: str) -> int:
    return next(n for n, rooms in enumerate(CHAIN) if room in rooms)


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names = [
                f"{node.module}.{alias.name}" if node.module == "harness" else node.module or ""
                for alias in node.names
            ]
        yield from (name.split(".")[1] for name in names if name.startswith("harness."))


def _modules() -> list[Path]:
    return [path for path in sorted(ROOT.rglob("*.py")) if "shipped" not in path.parts]


@pytest.mark.parametrize("path", _modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_go_to_the_left(path: Path) -> None:
    room = path.relative_to(ROOT).parts[0].removesuffix(".py")
    if room == "__init__":
        assert not list(_imports(path))
        return
    for imported in _imports(path):
        if imported == "__version__" or imported == room:
            continue
        if room == "emulator":
            assert imported == "errors", f"emulator may know only the errors, not {imported}"
        else:
            assert imported != "emulator", "the emulator is reached through entry points only"
            assert _level(imported) <= _level(room), f"{room} may not import {imported}"


def test_liveness_knows_no_formula() -> None:
    for path in (ROOT / "liveness").glob("*.py"):
        assert "bounds" not in set(_imports(path))


def test_every_room_is_in_the_chain() -> None:
    rooms = {path.relative_to(ROOT).parts[0].removesuffix(".py") for path in _modules()}
    assert rooms - {"__init__", "emulator"} <= set().union(*CHAIN)


def test_modules_stay_short() -> None:
    long = {
        str(path.relative_to(ROOT)): n
        for path in _modules()
        if (n := len(path.read_text().splitlines())) > 420
    }
    assert not long
