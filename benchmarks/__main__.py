# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks`: all of them, one table each."""

from __future__ import annotations

from benchmarks import (
    core,
    flashing,
    gaps,
    history,
    packs,
    planner,
    shift,
    silence,
    site,
    trend,
    witness,
)

MODULES = (planner, flashing, silence, packs, shift, witness, core, gaps, history, site, trend)

for benchmark in MODULES:
    benchmark.main()
