# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks`: all of them, one table each."""

from __future__ import annotations

from benchmarks import (
    core,
    flashing,
    gaps,
    kernels_m0plus,
    kernels_m33,
    models,
    packs,
    planner,
    shift,
    silence,
    witness,
)

ALL = (
    planner, flashing, silence, packs, shift, witness, core, gaps, kernels_m33, kernels_m0plus, models,
)  # fmt: skip

for benchmark in ALL:
    benchmark.main()
