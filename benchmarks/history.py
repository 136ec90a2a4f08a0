# SPDX-License-Identifier: Apache-2.0
"""A history of a million samples: what a night costs to keep, and what it costs to read one case, all
cases, and to list. The numbers in it are drawn; the rows are those of real verdicts."""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from benchmarks.common import seconds, show
from harness.history import Recorder, all_points, points, reading, runs, series, writing
from harness.history.database import transaction
from harness.history.kept import Kept, RunInfo
from harness.history.write import add_run, add_verdict
from harness.results import Measurement, Provenance, Sample, Verdict

NIGHTS, VERDICTS, SAMPLES = 200, 500, 10  # a million samples
_PLANS = ("dual", "rip")
_PROVENANCE = Provenance(
    board="pico1", kind="board", chip="rp2040", unique_id="E6616407E3646B29", clk_sys_hz=125_000_000,
    elf_hash="", build_id="0f2d3a4b5c6d7e8f", pack_id="d1a5f4641f174993", nonce="88c77e3a",
    compiler="arm-none-eabi-gcc (15:12.2.rel1-1) 12.2.1 20221205",
)  # fmt: skip


def night(number: int, draw: random.Random) -> list[tuple[Verdict, Measurement]]:
    """Every case of it once, each with its own cycles and some noise."""
    provenance = replace(_PROVENANCE, elf_hash=f"{number:064x}")
    return [_case(provenance, case, draw) for case in range(VERDICTS)]


def _case(provenance: Provenance, case: int, draw: random.Random) -> tuple[Verdict, Measurement]:
    cycles = [100_000 + 1000 * case + draw.randrange(100) for _ in range(SAMPLES)]
    samples = tuple(_sample(n, c) for n, c in enumerate(cycles))
    layer, plan = f"layer-{case // 2}", _PLANS[case % 2]
    measured = Measurement(provenance, layer, plan, f"{layer}/{plan}", 25_000, 4096, 64, samples)
    verdict = Verdict(
        provenance=provenance, layer=layer, plan=plan, ok=True, failures=(), workspace_bound=4093,
        workspace_given=4096, workspace_reached=4093, debt="48 (3 seeds)", witness="",
        cycles=cycles[-1], shift_cycles=0, cycles_by_model=(), cold_cycles=cycles[0],
        microseconds=2319, cycles_per_mac=11.5, ratio=1.0, output_crc="3dd2a11d", seeds=(1, 2, 3),
        interrupts_on=False, xip_misses=97, stack_peak=1004, scratch_bytes=64, kernel="plain",
    )  # fmt: skip
    return verdict, measured


def _sample(number: int, cycles: int) -> Sample:
    return Sample(
        seed=1, paint=0, repeat=number, cycles=cycles, microseconds=cycles // 125,
        interrupt_cycles=0, interrupts=0, interrupts_on=False, xip_accesses=4000, xip_hits=3903,
        input_crc=0x1234ABCD, output_crc=0x3DD2A11D, low_water=0, high_water=4093, outside_count=0,
        outside_first=0, scratch_used=60, stack_peak=1004, op_cycles=(cycles,), op_kernels=(3,),
    )  # fmt: skip


def build(path: Path) -> None:
    """All nights but the last, one transaction each."""
    draw = random.Random(1)
    with writing(path) as db:
        for number in range(NIGHTS - 1):
            day = f"2026-{1 + number // 28:02}-{1 + number % 28:02}T02:00:00+00:00"
            info = RunInfo(f"night-{number}", day, f"{number:040x}", ended=day, status="passed")
            with transaction(db):
                run = add_run(db, info)
                for verdict, measured in night(number, draw):
                    kept = Kept(verdict, "plain", samples=measured.samples, time=day)
                    add_verdict(db, run, kept)


def record(path: Path, last: list[tuple[Verdict, Measurement]]) -> None:
    """A night as pytest does it: a transaction for each verdict."""
    recorder = Recorder(path)
    recorder.start()
    for verdict, measured in last:
        recorder.verdict(verdict, measured, kernels="plain")
    recorder.end("passed")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "history.sqlite")
        build(path)
        last = night(NIGHTS - 1, random.Random(2))
        rows = [(f"a night is kept: {VERDICTS} verdicts", _once(lambda: record(path, last)), "2")]
        with reading(path) as db:
            (count,) = db.execute("SELECT count(*) FROM sample").fetchone()
            keys = series(db)
            rows += [
                ("points of one case", seconds(lambda: points(db, keys[len(keys) // 2])), "1"),
                ("points of all cases", seconds(lambda: all_points(db), runs=3), "5"),
                ("list of series", seconds(lambda: series(db)), "1"),
                ("list of runs", seconds(lambda: runs(db)), "1"),
            ]
        size = path.stat().st_size / 1e6
        show(f"History of {count} samples in {NIGHTS} nights, {size:.0f} MB", rows)


def _once(action: Callable[[], object]) -> list[float]:
    """Each call would leave another night, so there is one."""
    start = time.perf_counter()
    action()
    return [time.perf_counter() - start]


if __name__ == "__main__":
    main()
