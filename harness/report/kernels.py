# SPDX-License-Identifier: Apache-2.0
"""What was found of kernels that were validated, in the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tabulate import tabulate

from harness.judge import KernelVerdict
from harness.measure.kernel import LayerSpeeds, Speed
from harness.report.text import printable

HEADERS = ("kernel", "board", "kind", "trials right", "in place", "bases", "scratch, most of",
           "debt proof", "moved by 0/2/4/6 bytes", "verdict")  # fmt: skip
SPEED_HEADERS = ("layer", "board", "kind", "MACs", "kernel", "c/MAC", "plain", "best shipped", "of")
_PLAIN = "plain"


def kernel_tables(verdicts: Sequence[KernelVerdict]) -> str:
    """What each showed; its speed beside others'; and of those that failed why."""
    parts = [tabulate([_row(v) for v in verdicts], headers=HEADERS, disable_numparse=True)]
    speeds = [row for verdict in verdicts for row in _speeds(verdict)]
    if speeds:
        parts.append(tabulate(speeds, headers=SPEED_HEADERS, disable_numparse=True))
    parts += ["\n".join(_why(verdict)) for verdict in verdicts if not verdict.ok]
    return "\n\n".join(parts)


def _row(verdict: KernelVerdict) -> list[str]:
    used, declared = verdict.scratch_used
    return [
        printable(verdict.kernel),
        printable(verdict.provenance.board),
        verdict.provenance.kind,
        f"{verdict.right} of {verdict.tried}",
        str(verdict.in_place),
        ",".join(map(str, verdict.bases)),
        f"{used} of {declared}",
        "; ".join(verdict.proofs) or "-",
        sensitivity(verdict.moved),
        "pass" if verdict.ok else "FAIL",
    ]


def sensitivity(moved: Sequence[tuple[int, int]]) -> str:
    """Cycles by padding, in words: `no cycle`, `up to 12 cycles (0.4 %)`."""
    if len(moved) < 2:
        return "-"
    first = moved[0][1]
    cycles = [count for _, count in moved]
    most = max(cycles) - min(cycles)
    if most == 0:
        return "no cycle"
    return f"{most:,} cycles ({100 * most / first:.2f} %)"


def _speeds(verdict: KernelVerdict) -> Iterator[list[str]]:
    for layer in verdict.layers:
        own = layer.speeds[0]
        others = {s.label: s for s in layer.speeds if s.label != own.label}
        best = min(
            (s for name, s in others.items() if name != _PLAIN and s.cycles is not None),
            key=lambda speed: speed.cycles or 0,
            default=None,
        )
        yield [
            printable(layer.layer),
            printable(verdict.provenance.board),
            verdict.provenance.kind,
            f"{layer.macs:,}",
            printable(own.kernel),
            _per_mac(layer, own),
            _per_mac(layer, others.get(_PLAIN)),
            _per_mac(layer, best),
            "" if best is None else printable(best.kernel),
        ]


def _per_mac(layer: LayerSpeeds, speed: Speed | None) -> str:
    if speed is None:
        return "-"
    if speed.cycles is None:
        return "does not fit"
    return f"{speed.cycles / layer.macs:.2f}" if speed.right else "WRONG"


def _why(verdict: KernelVerdict) -> Iterator[str]:
    yield f"{printable(verdict.kernel)} on {printable(verdict.provenance.board)} fails:"
    yield from (f"  - {printable(failure)}" for failure in verdict.failures)
    yield from (f"  because: {printable(reason)}" for reason in verdict.reasons)
