# SPDX-License-Identifier: Apache-2.0
"""A folder with a kernel to begin with: templates are kernels themselves, under another name."""

from __future__ import annotations

import re
from pathlib import Path

from harness.errors import ConfigError
from harness.kernels.kernelset import PLAIN_SET, find_kernels, shipped_sets
from harness.kernels.load import FILE, is_kernel_name
from harness.strictyaml import quoted

_TEMPLATES = Path(__file__).parent / "templates"
_NAME = "new_kernel"  # what they are called
_BOARD = "new_board"
_README = "README.md"


def template_ops() -> tuple[str, ...]:
    """The operators that there is a template for."""
    return tuple(sorted(path.parent.name for path in _TEMPLATES.glob(f"*/{FILE}")))


def new_kernel(folder: Path, op: str, chips: tuple[str, ...], board: str) -> tuple[Path, ...]:
    """Makes `folder`, called as the kernel will be, with its C file, kernels.yaml and README. chips: it
    is for; empty for all. board: in the README's commands. Returns what was written.

    Errors: ConfigError for a name that no kernel can have, an operator without a template, a folder
    that is there, or that cannot be made; nothing is left of it then."""
    name = folder.name
    _check_name(name)
    if op not in template_ops():
        raise ConfigError(
            f"there is no template for {quoted(op)}",
            hint=f"there are: {', '.join(template_ops())}",
        )
    files = {
        path.name.replace(_NAME, name): _named(path.read_text(), name, board)
        for path in (*sorted((_TEMPLATES / op).iterdir()), _TEMPLATES / _README)
        if path.is_file()
    }
    files[FILE] = _for_chips(files[FILE], op, chips)
    _write(folder, files)
    return tuple(folder / file for file in sorted(files))


def _check_name(name: str) -> None:
    if not is_kernel_name(name):
        raise ConfigError(
            f"{quoted(name)} is no name of a kernel",
            hint="lower-case letters, digits and _, up to 60, a letter first, no word of C: it is a "
            "C function's",
        )
    known = {one for kernel in find_kernels(PLAIN_SET).kernels for one in (kernel.name, kernel.run)}
    if name in known or name in shipped_sets():
        raise ConfigError(
            f"the bench has a kernel or a set called {name!r}", hint="take another name"
        )


def _named(text: str, name: str, board: str) -> str:
    return re.sub(rf"\b{_NAME}\b", name, text).replace(_BOARD, board)


def _for_chips(text: str, op: str, chips: tuple[str, ...]) -> str:
    if not chips:
        return text
    line = f"    op: {op}\n"
    return text.replace(line, f"{line}    chips: [{', '.join(chips)}]\n")


def _write(folder: Path, files: dict[str, str]) -> None:
    """All of them, or nothing."""
    try:
        folder.mkdir()
    except FileExistsError:
        raise ConfigError(
            f"{folder} is there already", hint="take another name, or remove it first"
        ) from None
    except OSError as error:
        raise ConfigError(f"{folder} cannot be made", cause=error.strerror or str(error)) from error
    written: list[Path] = []
    try:
        for name, text in files.items():
            written.append(folder / name)
            written[-1].write_text(text)
    except OSError as error:
        for path in written:
            path.unlink(missing_ok=True)
        folder.rmdir()
        raise ConfigError(
            f"{written[-1]} cannot be written", cause=error.strerror or str(error)
        ) from error
