# SPDX-License-Identifier: Apache-2.0
"""The sweep of Sec. 5.2: closed forms against the simulator on random layers, five configurations.

Each form gets the paper's verdicts: unsafe below the simulator's least gap, tight at it, loose above.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import astuple, dataclass

import numpy as np
from numpy.typing import NDArray

from harness.bounds import batch
from harness.errors import HarnessError
from harness.geometry import ConvGeometry
from harness.liveness.pixels import row_and_herringbone
from harness.paper.generators import draw_layers
from harness.paper.printed import closed_forms, outside_13, printed_forms
from harness.paper.table6 import restricted

Int64s = NDArray[np.int64]
Bools = NDArray[np.bool_]
_CHUNK = 250

# in the order of harness.liveness.pixels.Debts
TRUTHS = (
    "rip_padded_gather",
    "rip_padded_direct",
    "rip_dense_gather",
    "rip_dense_direct",
    "herringbone",
    "herringbone_literal",
)


@dataclass(frozen=True)
class Verdicts:
    """One form in one configuration. over: mean of the loose layers' overshoot, and the largest one.
    example: the first layer where it is unsafe, or None. must_hold: is it a fault if it does not?"""

    configuration: str
    form: str
    unsafe: int
    tight: int
    loose: int
    mean_over: float
    most_over: int
    example: str | None
    must_hold: bool

    @property
    def holds(self) -> bool:
        return not self.must_hold or (self.unsafe == 0 and (self.loose == 0 or self._may_be_loose))

    @property
    def _may_be_loose(self) -> bool:
        """F.4: where the first real pixels are never read, in direct order."""
        return self.form.startswith("Theorem 13") and self.configuration == "rip_dense_direct"


@dataclass(frozen=True)
class Sweep:
    """restricted: layers inside the restrictions of the published herringbone form."""

    count: int
    seed: int
    restricted: int
    generators: dict[str, int]
    verdicts: tuple[Verdicts, ...]

    @property
    def holds(self) -> bool:
        return all(verdict.holds for verdict in self.verdicts)


def _silent(done: int) -> None:
    del done


def sweep(count: int, seed: int, jobs: int, progress: Callable[[int], None] = _silent) -> Sweep:
    """progress: told how many layers are simulated. The same for any number of jobs."""
    drawn = draw_layers(count, seed)
    geometries = [geometry for _, geometry in drawn]
    truths = _truths(geometries, jobs, progress)
    layers = batch.layers_of(geometries)
    exact, printed = closed_forms(layers), printed_forms(layers)
    outside = outside_13(layers)
    everywhere = np.ones(count, dtype=np.bool_)
    verdicts = []
    for n, name in enumerate(TRUTHS[:4]):
        truth = truths[:, n]
        verdicts.append(_judged(name, "exact", exact[name]["gap"], truth, everywhere, geometries))
        theirs = printed[name]["gap"]
        if "padded" in name:
            verdicts.append(_judged(name, "Theorem 4", theirs, truth, everywhere, geometries))
            continue
        inside = _judged(name, "Theorem 13, p < k_eff", theirs, truth, ~outside, geometries)
        beyond = _judged(
            name, "Theorem 13, p >= k_eff", theirs, truth, outside, geometries, must_hold=False
        )
        verdicts += [inside, beyond]
    theirs = printed["herringbone"]["gap"]
    for n, name in enumerate(TRUTHS[4:], 4):
        must = name == "herringbone"
        form = "Theorem 11"
        verdicts.append(
            _judged(name, form, theirs, truths[:, n], everywhere, geometries, must_hold=must)
        )
    generators: dict[str, int] = {}
    for name, _ in drawn:
        generators[name] = generators.get(name, 0) + 1
    inside_gm = sum(restricted(geometry) for geometry in geometries)
    return Sweep(count, seed, inside_gm, generators, tuple(verdicts))


def _judged(
    configuration: str,
    form: str,
    gaps: Int64s,
    truth: Int64s,
    of: Bools,
    geometries: Sequence[ConvGeometry],
    *,
    must_hold: bool = True,
) -> Verdicts:
    over = gaps - truth
    loose = over[of & (over > 0)]
    unsafe = np.flatnonzero(of & (over < 0))
    example = None
    if unsafe.size:
        n = int(unsafe[0])
        example = f"{geometries[n]}: {int(gaps[n])}, truth {int(truth[n])}"
    return Verdicts(
        configuration=configuration,
        form=form,
        unsafe=len(unsafe),
        tight=int((of & (over == 0)).sum()),
        loose=len(loose),
        mean_over=round(float(loose.mean()), 2) if loose.size else 0.0,
        most_over=int(loose.max(initial=0)),
        example=example,
        must_hold=must_hold,
    )


def _truths(
    geometries: Sequence[ConvGeometry], jobs: int, progress: Callable[[int], None]
) -> Int64s:
    """[layers, len(TRUTHS)] least gaps."""
    chunks = [geometries[at : at + _CHUNK] for at in range(0, len(geometries), _CHUNK)]
    found, done = [], 0
    for part in _mapped(chunks, jobs):
        found.append(part)
        done += len(part)
        progress(done)
    return np.concatenate(found) if found else np.zeros((0, len(TRUTHS)), dtype=np.int64)


def _mapped(chunks: Sequence[Sequence[ConvGeometry]], jobs: int) -> Iterator[Int64s]:
    if jobs == 1 or len(chunks) == 1:
        yield from map(_simulate, chunks)
        return
    context = multiprocessing.get_context("spawn")  # a fork would copy another thread's locks
    try:
        with ProcessPoolExecutor(min(jobs, len(chunks)), context) as pool:
            yield from pool.map(_simulate, chunks)
    except BrokenProcessPool as error:
        raise HarnessError(
            "a process of the sweep ended before it was done", cause=str(error), hint="--jobs 1"
        ) from error


def _simulate(geometries: Sequence[ConvGeometry]) -> Int64s:
    rows = []
    for g in geometries:
        p = g.pad
        padded = (g.h_in + p.top + p.bottom) * (g.w_in + p.left + p.right) * g.c_in
        sizes = (padded, padded, g.n_in, g.n_in, padded, padded)
        debts = astuple(row_and_herringbone(g))
        rows.append(
            [
                max(0, g.n_out - size, debt if debt is not None else 0)
                for debt, size in zip(debts, sizes, strict=True)
            ]
        )
    return np.array(rows, dtype=np.int64)
