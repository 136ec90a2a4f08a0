# SPDX-License-Identifier: Apache-2.0
"""judge.c from Python, and small hostile layers by seed for it."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from harness.bounds import bound_of
from harness.bounds.batch import FIELDS, NO_DEBT, dual, geometries_of, outputs
from harness.geometry import ConvGeometry, Execution
from harness.schema.constants import Layout, OpKind, TapOrder, Traversal

Int64s = NDArray[np.int64]
Layers = dict[str, Int64s]
WINDOWS = (OpKind.CONV, OpKind.DEPTHWISE, OpKind.AVERAGE_POOL, OpKind.MAX_POOL)
_PIPELINED, _RING = 2, 3


@dataclass(frozen=True)
class Window:
    """A window operator, how it is executed, and when a pixel's taps are released."""

    kind: OpKind
    execution: Execution
    release: str = "scalar"

    def __str__(self) -> str:
        pixel = "-whole-pixels" if self.release == "pixel" else ""
        return f"{self.kind.name.lower()}{self.execution.label}{pixel}"

    @property
    def channels(self) -> str:
        """Output channels that the operator can have: `any`, `multiple` or `same` of the input's."""
        if self.kind is OpKind.CONV:
            return "any"
        by_channel = self.execution.traversal is Traversal.CHANNEL
        return "multiple" if self.kind is OpKind.DEPTHWISE and not by_channel else "same"

    def layers(self, drawn: Layers) -> Layers:
        """The same layers with such channels."""
        if self.channels == "any":
            return drawn
        multiplier = drawn["c_out"] % 3 + 1 if self.channels == "multiple" else 1
        return {**drawn, "c_out": drawn["c_in"] * multiplier}


def windows() -> list[Window]:
    """All windows in all executions, in direct order with both ways of releasing taps."""
    found = []
    for kind in WINDOWS:
        for layout in Layout if kind in (OpKind.CONV, OpKind.DEPTHWISE) else [Layout.DENSE]:
            for traversal in list(Traversal)[:4]:
                found.append(Window(kind, Execution(layout, TapOrder.GATHER, traversal)))
                for release in ("scalar", "pixel"):
                    direct = Execution(layout, TapOrder.DIRECT, traversal)
                    found.append(Window(kind, direct, release))
    for layout in Layout:
        execution = Execution(layout, traversal=Traversal.CHANNEL)
        found.append(Window(OpKind.DEPTHWISE, execution))
    return found


def draw_layers(count: int, seed: int, extent: int = 12, channels: int = 8) -> Layers:
    """Kernels up to 5, strides up to 4, dilation up to 3, each side padded by up to k_eff + 1: outputs
    that read padding alone, columns that nothing reads and ragged edges are common."""
    rng = np.random.default_rng(seed)
    tries = 3 * count + 100
    layers = {name: rng.integers(1, extent + 1, tries) for name in ("h_in", "w_in")}
    layers |= {name: rng.integers(1, channels + 1, tries) for name in ("c_in", "c_out")}
    for name, most in (("k", 5), ("s", 4), ("d", 3)):
        layers |= {f"{name}_{axis}": rng.integers(1, most + 1, tries) for axis in "hw"}
    for axis, sides in (("h", ("top", "bottom")), ("w", ("left", "right"))):
        most = (layers[f"k_{axis}"] - 1) * layers[f"d_{axis}"] + 2
        for side in sides:
            drawn = rng.integers(0, most + 1)
            layers[f"pad_{side}"] = np.where(rng.random(tries) < 0.4, 0, drawn)
    h_out, w_out = outputs(layers)
    whole = np.flatnonzero((h_out > 0) & (w_out > 0))[:count]
    assert len(whole) == count
    return {name: np.ascontiguousarray(layers[name][whole]) for name in FIELDS}


_MODELS = {"any": OpKind.CONV, "multiple": OpKind.DEPTHWISE, "same": OpKind.AVERAGE_POOL}


@lru_cache(maxsize=3)
def _layers_and_geometries(channels: str, count: int) -> tuple[Layers, list[ConvGeometry]]:
    layers = Window(_MODELS[channels], Execution()).layers(draw_layers(count, seed=count))
    return layers, geometries_of(layers)


def check_window(judge: Judge, window: Window, count: int) -> None:
    """Debt, gap and workspace of `bound_of` are the simulator's, on each of `count` hostile layers: a
    gap below its own is unsafe, one above it loose."""
    layers, drawn = _layers_and_geometries(window.channels, count)
    truths = judge.windows(layers, window)
    h_out, w_out = outputs(layers)
    n_out = h_out * w_out * layers["c_out"]
    stored = window.execution.layout is Layout.PADDED
    n_in = dual(layers, stores_padding=stored)["workspace"] - n_out
    sizes = zip(n_in.tolist(), n_out.tolist(), strict=True)
    for g, truth, (held, made) in zip(drawn, truths, sizes, strict=True):
        bound = bound_of(window.kind, g, window.execution, release=window.release)
        gap = max(0, made - held, 0 if truth is None else truth)
        assert (bound.debt, bound.gap, bound.workspace) == (truth, gap, gap + held), g
    assert truths.count(None) < count // 2


@dataclass(frozen=True)
class Stepped:
    """A convolution kernel by rows that makes several pixels a step; order: gather, direct, pipelined
    or ring. `pixels` of each step, `channels` between two readings."""

    order: str
    layout: Layout = Layout.DENSE
    channels: int = 1
    over_rows: bool = False


class Judge:
    """judge.c, compiled into `folder`."""

    def __init__(self, folder: Path) -> None:
        compiler = next(path for name in ("cc", "gcc", "clang") if (path := shutil.which(name)))
        library = folder / "judge.so"
        flags = ["-std=c11", "-O3", "-Wall", "-Wextra", "-Werror", "-Wconversion", "-shared"]
        source = Path(__file__).with_name("judge.c")
        subprocess.run(
            [compiler, *flags, "-fPIC", str(source), "-o", str(library)], check=True, timeout=300
        )
        self._judge = ctypes.CDLL(str(library)).judge
        self._judge.restype = None

    def windows(self, layers: Layers, window: Window) -> list[int | None]:
        """harness.liveness.debt of each layer."""
        execution = window.execution
        own = window.kind is not OpKind.CONV
        return self._ask(
            layers,
            (
                execution.layout, execution.tap_order, execution.traversal, own,
                window.release == "pixel", 0, 0, 0,
            ),
        )  # fmt: skip

    def steps(self, layers: Layers, stepped: Stepped, pixels: int) -> list[int | None]:
        order = {"gather": 0, "direct": 1, "pipelined": _PIPELINED, "ring": _RING}[stepped.order]
        return self._ask(
            layers,
            (
                stepped.layout, order, Traversal.ROW, False, False,
                pixels, stepped.channels, stepped.over_rows,
            ),
        )  # fmt: skip

    def _ask(self, layers: Layers, way: tuple[int, ...]) -> list[int | None]:
        rows = np.ascontiguousarray(np.stack([layers[name] for name in FIELDS], axis=1))
        ways = np.array([int(number) for number in way], dtype=np.int64)
        debts = np.empty(len(rows), dtype=np.int64)
        pointers = [ctypes.c_void_p(array.ctypes.data) for array in (rows, ways, debts)]
        self._judge(ctypes.c_int64(len(rows)), *pointers)
        return [None if debt == NO_DEBT else debt for debt in debts.tolist()]
