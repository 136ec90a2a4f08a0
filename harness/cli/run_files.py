# SPDX-License-Identifier: Apache-2.0
"""Tensors from and to .npy files."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from harness.errors import ConfigError
from harness.geometry import Shape

Int8s = NDArray[np.int8]
_MAGIC = b"\x93NUMPY"
_HEADER_MAX = 1 << 16  # bytes that an .npy file has beside its values; more is none of ours


def read_inputs(paths: Sequence[Path], shapes: Sequence[Shape]) -> tuple[Int8s, ...]:
    """int8 [h, w, c], a file an input. Nothing in a file is executed. Errors: ConfigError says what a
    file holds instead."""
    if len(paths) != len(shapes):
        raise ConfigError(
            f"{len(paths)} inputs are given, and the case has {len(shapes)}",
            hint=f"name {len(shapes)} files, each with an --input of its own: "
            + ", ".join(f"[{s.h}, {s.w}, {s.c}]" for s in shapes),
        )
    return tuple(_read(path, shape) for path, shape in zip(paths, shapes, strict=True))


def _read(path: Path, shape: Shape) -> Int8s:
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if file.read(len(_MAGIC)) != _MAGIC:
                raise ConfigError(f"{path} is no .npy file", hint="numpy.save writes one")
            if size > shape.size + _HEADER_MAX:
                raise ConfigError(
                    f"{path} is too large for the input", evidence=_wanted(shape, size)
                )
            file.seek(0)
            values = np.load(file, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise ConfigError(f"{path} cannot be read", cause=str(error)) from error
    wanted = (shape.h, shape.w, shape.c)
    if values.dtype != np.int8 or values.shape != wanted:
        raise ConfigError(
            f"{path} does not hold the input",
            evidence={
                "holds": f"{values.dtype} {list(values.shape)}",
                "wanted": f"int8 {list(wanted)}, h x w x c",
            },
            hint="values as the network quantises them: numpy.save(FILE, x.astype(numpy.int8))",
        )
    return np.ascontiguousarray(values)


def _wanted(shape: Shape, size: int) -> dict[str, object]:
    return {"bytes": size, "wanted": f"int8 {[shape.h, shape.w, shape.c]}, {shape.size} bytes"}


def check_outputs(paths: Sequence[Path], count: int) -> None:
    """Before anything runs. Errors: ConfigError for another number of files than of outputs, and for a
    folder that is not there."""
    if len(paths) not in (0, count):
        raise ConfigError(
            f"{len(paths)} files are named for {count} outputs",
            hint="one --output for each, in order",
        )
    for path in paths:
        if not path.parent.is_dir() or path.is_dir():
            raise ConfigError(f"{path} cannot be written: no such folder, or it is one")


def write_outputs(paths: Sequence[Path], outputs: Sequence[Int8s]) -> None:
    """int8 [h, w, c] each; a file is there whole or as it was before. Errors: ConfigError."""
    for path, values in zip(paths, outputs, strict=True):
        try:
            with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
                made = Path(file.name)
                try:
                    np.save(file, values, allow_pickle=False)
                    file.flush()
                    made.chmod(0o666 & ~_umask())
                    made.replace(path)
                except BaseException:
                    made.unlink(missing_ok=True)
                    raise
        except OSError as error:
            raise ConfigError(f"{path} cannot be written", cause=str(error)) from error


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
