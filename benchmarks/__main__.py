# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks`: all of them, one table each."""

from __future__ import annotations

from benchmarks import (
    core,
    flashing,
    gaps,
    history,
    kernels_m0plus,
    kernels_m33,
    models,
    packs,
    planner,
    rack,
    shift,
    silence,
    site,
    trend,
    witness,
)

MODULES = (
    *(planner, flashing, silence, packs, shift, witness, core, gaps, history, site, trend, rack),
    *(kernels_m33, kernels_m0plus, models),
)

for benchmark in MODULES:
    benchmark.main()
