# SPDX-License-Identifier: Apache-2.0
"""Device time in the JSON of pytest-benchmark, so that `pytest-benchmark compare` and what else reads
its files takes ours: seconds of each warm run, cycles by clk_sys. Names and statistics are what
pytest-benchmark itself writes for a test that uses the fixture `device_benchmark`."""

from __future__ import annotations

import platform
import statistics
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from harness import __version__
from harness.history.kept import are_warm
from harness.history.plain import from_plain
from harness.results import Sample

_FENCE = 1.5  # quartile ranges: what is further out is Tukey's outlier
_VERSION = "5.3.1"  # of the pytest-benchmark whose form this is


def benchmark_json(lines: Iterable[Mapping[str, Any]], made: str) -> dict[str, Any]:
    """lines: of harness.history.lines.verdict_lines; those without samples have no data and are left
    out. made: time of writing, ISO 8601."""
    chosen = [line for line in lines if line["samples"]]
    verdicts_of = Counter(line["test"] for line in chosen)
    run = chosen[-1]["run"] if chosen else {}
    return {
        "machine_info": {
            "node": platform.node(),
            "machine": ", ".join(sorted({line["provenance"]["board"] for line in chosen})),
            "ripbench": __version__,
        },
        "commit_info": {
            "id": run.get("commit", ""),
            "time": None,
            "author_time": None,
            "dirty": run.get("dirty", False),
            "project": "ripbench",
            "branch": "(unknown)",
        },
        "benchmarks": [_benchmark(line, verdicts_of[line["test"]] > 1) for line in chosen],
        "datetime": made,
        "version": _VERSION,
    }


def device_seconds(samples: Sequence[Sample], clock_hz: int) -> list[float]:
    """Of each warm run, in the order in which they were taken."""
    warm = are_warm(samples)
    return [s.cycles / clock_hz for s, of in zip(samples, warm, strict=True) if of]


def extra_info(line: Mapping[str, Any]) -> dict[str, Any]:
    """What lies beside the time: of a verdict as plain fields."""
    p = line["provenance"]
    names = ("layer", "plan", "ok", "cycles", "cold_cycles", "stack_peak", "scratch_bytes")
    return {
        "board": p["board"],
        "kind": p["kind"],
        "clock_hz": p["clk_sys_hz"],
        "elf_hash": p["elf_hash"],
        "compiler": p["compiler"],
        "arena_bytes": line["workspace_given"],
        **{name: line[name] for name in names},
    }


def _benchmark(line: Mapping[str, Any], is_one_of_many: bool) -> dict[str, Any]:
    """A test that reached several verdicts has one entry for each."""
    p = line["provenance"]
    fullname = line["test"] or f"{line['layer']}[{p['board']}-{line['plan']}]"
    if is_one_of_many and line["test"]:
        fullname += f"-{line['layer']}-{line['plan']}"
    samples = [from_plain(Sample, sample) for sample in line["samples"]]
    head, bracket, parameters = fullname.partition("[")
    return {
        "group": None,
        "name": head.rpartition("::")[2] + bracket + parameters,
        "fullname": fullname,
        "params": None,
        "param": None,
        "extra_info": extra_info(line),
        "options": {"timer": "DeviceClock"},
        "stats": benchmark_stats(device_seconds(samples, p["clk_sys_hz"])),
    }


def benchmark_stats(data: list[float]) -> dict[str, Any]:
    """Every field of pytest-benchmark's own. data: seconds of each round, at least one."""
    ordered, count = sorted(data), len(data)
    q1, q3 = _quartiles(ordered)
    mean, total = statistics.mean(data), sum(data)
    stddev = statistics.stdev(data) if count > 1 else 0
    low, high = q1 - _FENCE * (q3 - q1), q3 + _FENCE * (q3 - q1)
    far = sum(not mean - stddev <= value <= mean + stddev for value in data)
    out = sum(not low <= value <= high for value in data)
    return {
        "min": ordered[0],
        "max": ordered[-1],
        "mean": mean,
        "stddev": stddev,
        "rounds": count,
        "median": statistics.median(data),
        "iqr": q3 - q1,
        "q1": q1,
        "q3": q3,
        "iqr_outliers": out,
        "stddev_outliers": far,
        "outliers": f"{far};{out}",
        "ld15iqr": ordered[0] if count == 1 else ordered[bisect_left(ordered, low)],
        "hd15iqr": ordered[0] if count == 1 else ordered[bisect_right(ordered, high) - 1],
        "ops": count / total if total else 0,
        "total": total,
        "data": data,
        "iterations": 1,
    }


def _quartiles(ordered: list[float]) -> tuple[float, float]:
    """Of an odd number of values by Moore and McCabe's third method, as pytest-benchmark does."""
    n, rest = divmod(len(ordered), 4)
    if len(ordered) == 1:
        return ordered[0], ordered[0]
    if len(ordered) % 2 == 0:
        half = len(ordered) // 2
        return statistics.median(ordered[:half]), statistics.median(ordered[half:])
    if rest == 1:
        return (
            0.25 * ordered[n - 1] + 0.75 * ordered[n],
            0.75 * ordered[3 * n] + 0.25 * ordered[3 * n + 1],
        )
    return (
        0.75 * ordered[n] + 0.25 * ordered[n + 1],
        0.25 * ordered[3 * n + 1] + 0.75 * ordered[3 * n + 2],
    )
