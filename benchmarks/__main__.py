# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks`: all of them, one table each."""

from __future__ import annotations

from benchmarks import core, flashing, gaps, history, packs, planner, shift, silence, site, witness

for benchmark in (planner, flashing, silence, packs, shift, witness, core, gaps, history, site):
    benchmark.main()
