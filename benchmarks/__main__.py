# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks`: all of them, one table each."""

from __future__ import annotations

from benchmarks import core, flashing, silence, witness

for benchmark in (flashing, silence, witness, core):
    benchmark.main()
