# SPDX-License-Identifier: Apache-2.0
"""Each file of a runner is compiled once, and again when anything changes that it may depend on."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from harness import resources
from harness.build import build_runner, objects
from harness.build.command import run_compiler
from harness.errors import BuildError
from harness.kernels import find_kernels

FOLDER = Path(__file__).parents[1] / "device" / "firmware" / "two_pixels"
SOURCE_INCLUDED = re.compile(r'#\s*include\s*["<][^">]*\.[cS][">]')


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """Files that were compiled; nothing is kept from before."""
    monkeypatch.setenv("RIPBENCH_CACHE", str(tmp_path / "cache"))
    names: list[str] = []

    def run(command: list[str], cwd: Path | None = None) -> str:
        names.append(Path(command[command.index("-c") + 1]).name)
        return run_compiler(command, cwd)

    monkeypatch.setattr(objects, "run_compiler", run)
    return names


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FOLDER, tmp_path / "own"))


def test_another_choice_of_kernels_compiles_the_table_alone(
    compiled: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    plain = find_kernels("plain")
    build_runner("rp2040")
    assert len(compiled) == len(set(compiled)) > len(plain.kernels)
    del compiled[:]
    one = plain.select(plain.kernels[:1])
    linked = build_runner("rp2040", kernels=one)
    assert compiled == ["kernel_table.c"]
    monkeypatch.setenv("RIPBENCH_CACHE", str(tmp_path / "other"))
    assert build_runner("rp2040", kernels=one).elf.read_bytes() == linked.elf.read_bytes()


def test_other_sram_compiles_nothing(compiled: list[str]) -> None:
    build_runner("rp2040")
    del compiled[:]
    build_runner("rp2040", sram_bytes=520 * 1024)
    assert compiled == []


def test_a_chip_has_its_own(compiled: list[str]) -> None:
    build_runner("rp2040")
    of_one = list(compiled)
    build_runner("rp2350")
    assert set(of_one) & set(compiled[len(of_one) :])


@pytest.mark.parametrize("name", ["two_pixels.c", "new.h"])
def test_a_change_in_a_folder_compiles_what_is_in_it(
    compiled: list[str], folder: Path, name: str
) -> None:
    build_runner("rp2040", kernels=find_kernels(str(folder)).all())
    del compiled[:]
    with (folder / name).open("a") as file:
        file.write("\n/* another */\n")
    build_runner("rp2040", kernels=find_kernels(str(folder)).all())
    assert compiled == ["two_pixels.c"]


@pytest.mark.usefixtures("compiled")
def test_what_does_not_compile_is_not_kept(folder: Path) -> None:
    source = folder / "two_pixels.c"
    text = source.read_text()
    source.write_text(text + "int missing(void) { return }\n")
    for _ in range(2):
        with pytest.raises(BuildError, match="does not compile"):
            build_runner("rp2040", kernels=find_kernels(str(folder)).all())
    source.write_text(text)
    build_runner("rp2040", kernels=find_kernels(str(folder)).all())


def test_no_source_includes_another() -> None:
    firmware = resources.firmware()
    for path in firmware.rglob("*"):
        if path.suffix in (".c", ".h", ".S", ".inc"):
            assert not SOURCE_INCLUDED.search(path.read_text()), path
