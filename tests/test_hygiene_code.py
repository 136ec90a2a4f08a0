# SPDX-License-Identifier: Apache-2.0
"""Nothing that was read from a file or a board is executed: harness/ has no words for it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import harness
from harness.cli import COMMANDS, main

ROOT = Path(harness.__file__).parent
_EXECUTE = {"eval", "exec", "compile", "__import__"}
_MODULES = {"pickle", "cPickle", "marshal", "shelve", "dill", "runpy", "code", "codeop", "imp"}
_OF_OS = {"system", "popen", "startfile", "execv", "execvp", "execve", "spawnl", "spawnv"}
_OF_YAML = {
    "load", "load_all", "unsafe_load", "unsafe_load_all", "full_load", "full_load_all", "Loader",
    "UnsafeLoader", "FullLoader",
}  # fmt: skip
# Where code is loaded at all, and what makes it ours: names of a constant, installed entry points, a
# library that test_hygiene_files.py has checked.
_LOADS = {
    "import_module": {"cli/__init__.py", "cli/paper.py"},
    "entry_points": {"boards/backend.py", "cli/emu.py"},
    "CDLL": {"emulator/machine.py"},
}


def _modules() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(ROOT.rglob("*.py")):
        name = path.relative_to(ROOT)
        if name.parts[0] != "shipped":
            yield name.as_posix(), ast.parse(path.read_text())


MODULES = dict(_modules())


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _owner(node: ast.expr) -> str:
    return _name(node.value) if isinstance(node, ast.Attribute) else ""


def _findings(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names = [alias.name for alias in node.names]
            module = getattr(node, "module", None) or ""
            taken = {word.split(".")[0] for word in (*names, module)}
            yield from (f"import {word}" for word in taken & _MODULES)
            if module in ("os", "yaml"):
                words = set(names) & (_OF_OS if module == "os" else _OF_YAML)
                yield from (f"from {module} import {word}" for word in words)
        elif isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name) and node.func.id in _EXECUTE:
                yield f"{node.func.id}()"
            for keyword in node.keywords:
                constant = isinstance(keyword.value, ast.Constant) and not keyword.value.value
                if keyword.arg in ("shell", "allow_pickle") and not constant:
                    yield f"{keyword.arg}="
        elif isinstance(node, ast.Attribute):
            if _owner(node) == "os" and node.attr in _OF_OS:
                yield f"os.{node.attr}"
            if _owner(node) == "yaml" and node.attr in _OF_YAML:
                yield f"yaml.{node.attr}"


@pytest.mark.parametrize("name", MODULES)
def test_nothing_executes_data(name: str) -> None:
    assert list(_findings(MODULES[name])) == []


@pytest.mark.parametrize("name", MODULES)
def test_no_command_is_a_text(name: str) -> None:
    """Commands are lists of words: the first argument of subprocess.run is no text."""
    for node in ast.walk(MODULES[name]):
        if isinstance(node, ast.Call) and _owner(node.func) == "subprocess":
            (command,) = node.args
            assert not isinstance(command, (ast.Constant, ast.JoinedStr, ast.BinOp)), node.lineno


@pytest.mark.parametrize("word", _LOADS)
def test_code_is_loaded_in_one_place_each(word: str) -> None:
    found = {
        name
        for name, tree in MODULES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and _name(node.func) == word
    }
    assert found == _LOADS[word]


def test_sub_commands_are_a_fixed_list() -> None:
    """The name that is imported is a key of COMMANDS, by the parser's own choice."""
    for word in ("os", "..boards.board", "__init__", "boards.x"):
        with pytest.raises(SystemExit) as caught:
            main([word])
        assert caught.value.code == 2
    assert set(COMMANDS) <= {path.stem for path in (ROOT / "cli").glob("*.py")}


@pytest.mark.parametrize("word", ["os", "ledger.x", "..boards.board", "printed"])
def test_tables_are_a_fixed_list(word: str) -> None:
    """`ripbench paper WORD` imports a module by that word, by the parser's own choice."""
    with pytest.raises(SystemExit) as caught:
        main(["paper", word])
    assert caught.value.code == 2


SAMPLES = {
    "eval(text)": "eval()",
    "exec(open(p).read())": "exec()",
    "import pickle": "import pickle",
    "from marshal import loads": "import marshal",
    "os.system(x)": "os.system",
    "from os import popen": "from os import popen",
    "yaml.load(x, Loader=yaml.SafeLoader)": "yaml.load",
    "subprocess.run(x, shell=True)": "shell=",
    "subprocess.run(x, shell=flag)": "shell=",
    "np.load(x, allow_pickle=True)": "allow_pickle=",
}


@pytest.mark.parametrize("sample", SAMPLES)
def test_the_search_finds_what_it_is_for(sample: str) -> None:
    assert SAMPLES[sample] in list(_findings(ast.parse(sample)))


def test_the_table_of_rules_names_tests_that_exist() -> None:
    text = (ROOT.parent / "docs" / "security.md").read_text()
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", text)
    assert len(named) > 25
    for file, function in named:
        tree = ast.parse((ROOT.parent / file).read_text())
        assert function in {n.name for n in tree.body if isinstance(n, ast.FunctionDef)}, function
