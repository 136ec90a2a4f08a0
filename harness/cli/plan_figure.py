# SPDX-License-Identifier: Apache-2.0
"""The arena over the ops of a model under three strategies (the paper's Figure 1), as SVG of our own:
the same plan gives the same bytes."""

from __future__ import annotations

from collections.abc import Iterator
from xml.sax.saxutils import escape, quoteattr

from harness.cli.plan_fits import Fit, Target, fit_of
from harness.network import Network
from harness.plan import NetworkPlan, Strategy, occupancies, plan_network
from harness.report import printable

_WIDTH, _PANEL, _LEFT, _TOP = 900, 240, 90, 60
_INK, _PALE, _BAND, _LIMIT = "#222222", "#b8bec6", "#8e979f", "#b3261e"
_FILLS = {
    "dual": "#9db8d2",
    "baseline": "#e3b778",
    "rip": "#7fb08a",
    "extended": "#b59cc9",
    "fused": "#d99a9a",
}
_SHOWN = (Strategy.DUAL, Strategy.BASELINE, Strategy.RIP)


def figure(network: Network, plan: NetworkPlan, target: Target) -> str:
    """One panel each for dual, baseline and rip (and the plan's own strategy
    if that is another): tensors as boxes from their producer to their last reader, above them the band
    of what is not arena, and the line where the board's SRAM ends."""
    strategies = [*_SHOWN, *([plan.strategy] if plan.strategy not in _SHOWN else [])]
    plans = [
        plan if s is plan.strategy else plan_network(network, s, kernel=plan.kernel)
        for s in strategies
    ]
    fits = [fit_of(p, target) for p in plans]
    height = _TOP + len(plans) * (_PANEL + 60) + 10
    most = max(max(_in_all(fit), fit.sram_bytes) for fit in fits) * 1.05
    title = f"{printable(plan.name)} on {printable(target.board)}: bytes of SRAM over the ops (computed)"
    parts = [*_text(_LEFT, 26, title, size=16)]
    for number, (made, fit) in enumerate(zip(plans, fits, strict=True)):
        parts += _panel(made, fit, _TOP + number * (_PANEL + 60), most)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" '
        f'height="{height}" font-family="sans-serif" fill="{_INK}">'
    )
    return (
        "\n".join([head, '<rect width="100%" height="100%" fill="white"/>', *parts]) + "\n</svg>\n"
    )


def _in_all(fit: Fit) -> int:
    """Bytes of SRAM with everything that is not the arena."""
    return fit.sram_bytes - fit.pool_bytes + fit.needed


def _panel(plan: NetworkPlan, fit: Fit, top: float, most: float) -> Iterator[str]:
    width = _WIDTH - _LEFT - 30
    step = width / len(plan.steps)

    def y(value: float) -> float:
        return top + _PANEL * (1 - value / most)

    verdict = f"{fit.spare:,} spare" if fit.spare >= 0 else f"{-fit.spare:,} missing"
    words = f"{plan.label}: arena {plan.peak:,}, {_in_all(fit):,} in all, {verdict}"
    yield from _text(_LEFT, top - 8, words, size=13)
    yield from _box(_LEFT, top, width, _PANEL, "none", _PALE)
    for x0, x1, low, high in _boxes(plan):
        yield from _box(
            _LEFT + x0 * step,
            y(high),
            (x1 - x0) * step,
            y(low) - y(high),
            _FILLS[plan.label],
            "white",
        )
    yield from _text(_LEFT + width, y(plan.peak) - 4, f"peak {plan.peak:,}", size=11, anchor="end")
    over = _in_all(fit) - plan.peak
    for found in occupancies(plan):
        x = _LEFT + found.step * step
        yield from _box(
            x, y(found.top + over), step, y(found.top) - y(found.top + over), _BAND, _BAND
        )
    yield (
        f'<line x1="{_LEFT}" x2="{_LEFT + width}" y1="{y(fit.sram_bytes):.1f}" '
        f'y2="{y(fit.sram_bytes):.1f}" stroke="{_LIMIT}" stroke-width="2" stroke-dasharray="6 3"/>'
    )
    limit = f"{fit.sram_bytes:,} bytes of SRAM"
    yield from _text(_LEFT + 6, y(fit.sram_bytes) - 5, limit, size=11)
    for value in (0, plan.peak):
        yield from _text(_LEFT - 6, y(value) + 4, f"{value:,}", size=11, anchor="end")
    yield from _text(_LEFT, top + _PANEL + 16, "op 0", size=11)
    last = f"op {len(plan.network.nodes) - 1}"
    yield from _text(_LEFT + width, top + _PANEL + 16, last, size=11, anchor="end")
    band = f"grey: {over:,} bytes of scratch, guards, code in SRAM, data and stacks"
    yield from _text(_LEFT + width / 2, top + _PANEL + 16, band, size=11, anchor="middle")


def _boxes(plan: NetworkPlan) -> Iterator[tuple[int, int, int, int]]:
    """First step, step after the last one, lowest byte and byte after the highest, of each tensor, and
    of each buffer of a step."""
    spans: dict[tuple[int, int, int], list[int]] = {}
    for found in occupancies(plan):
        for extent in found.extents:
            tensor = extent.tensor if extent.buffer is None else -1 - found.step
            spans.setdefault((tensor, extent.offset, extent.end), []).append(found.step)
    for (_, low, high), steps in spans.items():
        yield min(steps), max(steps) + 1, low, high


def _text(x: float, y: float, words: str, size: int = 12, anchor: str = "start") -> Iterator[str]:
    yield (
        f'<text x="{x:g}" y="{y:.1f}" font-size="{size}" text-anchor={quoteattr(anchor)}>'
        f"{escape(words)}</text>"
    )


def _box(x: float, y: float, w: float, h: float, fill: str, stroke: str) -> Iterator[str]:
    yield (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}" fill="{fill}" '
        f'stroke="{stroke}" stroke-width="0.5"/>'
    )
