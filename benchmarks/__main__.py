# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks`: all of them, one table each."""

from __future__ import annotations

from benchmarks import core, flashing, gaps, packs, planner, shift, silence, trend, witness

for benchmark in (planner, flashing, silence, packs, shift, witness, core, gaps, trend):
    benchmark.main()
