# SPDX-License-Identifier: Apache-2.0
"""Device time for pytest-benchmark: a clock that only a board's cycles move."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from harness.history.benchmarkjson import device_seconds, extra_info
from harness.history.plain import to_plain

if TYPE_CHECKING:
    from harness.bench import Bench
    from harness.network import Layer
    from harness.results import Verdict


class DeviceClock:
    """A timer for `pytest.mark.benchmark(timer=clock)`. It stands still but for `advance`; from a
    `reset` on its reading is exactly the seconds that it was advanced by, so use `reset` as the set-up
    of each round: `benchmark.pedantic(run, setup=clock.reset, rounds=n, iterations=1)`. (Without
    `pedantic` pytest-benchmark waits for a clock to tick by itself.)"""

    def __init__(self) -> None:
        self._seconds = 0.0

    def __call__(self) -> float:
        return self._seconds

    def reset(self) -> None:
        self._seconds = 0.0

    def advance(self, seconds: float) -> None:
        self._seconds += seconds


class DeviceBenchmark:
    """Proves a layer, and gives each warm run of it to pytest-benchmark as a round in device seconds.

    benchmark: the fixture of pytest-benchmark, with `clock` as its timer. Where that measures nothing,
    as under xdist, the layer is proved all the same; `--device-json` writes then what it would have.
    """

    def __init__(self, bench: Bench, clock: DeviceClock, benchmark: Any) -> None:
        self._bench = bench
        self._clock = clock
        self._benchmark = benchmark

    def __call__(self, layer: Layer, plan: str = "rip") -> Verdict:
        """Once a test. As many rounds as `--repeat` gives warm runs. Errors: as Bench.prove."""
        verdict = self._bench.prove(layer, plan)
        measured = self._bench.run(layer, plan)
        taken = device_seconds(measured.samples, verdict.provenance.clk_sys_hz)
        left: Iterator[float] = iter(taken)
        self._benchmark.pedantic(
            lambda: self._clock.advance(next(left)),
            setup=self._clock.reset,
            rounds=len(taken),
            iterations=1,
        )
        self._benchmark.extra_info.update(extra_info(to_plain(verdict)))
        return verdict
