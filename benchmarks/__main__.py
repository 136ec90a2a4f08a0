# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks`: all of them, one table each."""

from __future__ import annotations

from benchmarks import core, flashing, gaps, packs, shift, silence, witness

for benchmark in (flashing, silence, packs, shift, witness, core, gaps):
    benchmark.main()
