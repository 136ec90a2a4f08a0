# SPDX-License-Identifier: Apache-2.0
"""The paper's RiP forms as printed (Sec. 4, Appendices F and I), in integers; gaps and scalars.

They are here to be compared with harness.bounds.exact and the simulator; plans use the exact forms. Each
docstring says where its statement fails, by the smallest layer known. direct: sigma = c_out, whole
pixels released; else sigma = 0. p_h and p_w of the paper are the same on both sides; here they are
pad.top and pad.left, and H_p and W_p take in either side's pad.
"""

from __future__ import annotations

from harness.bounds.axis import Axis, axes
from harness.bounds.published_herringbone import (
    corollary_1,
    critical_leg,
    gural_murmann,
    leg_debt,
    legs,
    running_debt,
    shortfall,
    theorem_11,
)
from harness.geometry import GATHER, ConvGeometry, UpsampleGeometry

__all__ = [
    "breakpoints_4",
    "breakpoints_13",
    "corollary_1",
    "critical_leg",
    "crossings",
    "debt_4",
    "debt_13",
    "gural_murmann",
    "leg_debt",
    "legs",
    "padding_saving",
    "pooling_workspace",
    "precondition_13",
    "running_debt",
    "shortfall",
    "theorem_4",
    "theorem_11",
    "theorem_13",
    "theorem_14",
]


def theorem_4(g: ConvGeometry, *, direct: bool) -> int:
    """Eq. 9 and 10: the padded layout's gap, the maximum over nine breakpoints and N_out - N_p.

    Exact. Its proof's "all nine are load-bearing; dropping any one lowers the maximum on some
    configuration" is wrong: (0, 0), (0, w_out - 1), (h_out - 2, 0), (h_out - 2, w_out - 2) and
    (h_out - 1, 0) never are, for the maximum is sigma + (w_out - 1) max(0, alpha) +
    (h_out - 1) max(0, beta), which the other four reach.
    """
    debts = [debt_4(g, r, c, direct=direct) for r, c in breakpoints_4(g)]
    return max(*debts, g.n_out - _stored(g))


def breakpoints_4(g: ConvGeometry) -> list[tuple[int, int]]:
    """Eq. 9: R_s x C_s, without negative ones, each once."""
    return [(r, c) for r in _extremes(g.h_out) for c in _extremes(g.w_out)]


def debt_4(g: ConvGeometry, r: int, c: int, *, direct: bool) -> int:
    """Lemma 3, Eq. 8: the debt after output pixel (r, c), padding stored."""
    sigma = g.c_out if direct else 0
    w_p = g.w_in + g.pad.left + g.pad.right
    beta = g.c_out * g.w_out - g.s_h * w_p * g.c_in
    alpha = g.c_out - g.s_w * g.c_in
    if c + 1 < g.w_out:
        return beta * r + alpha * (c + 1) + sigma
    return (beta * (r + 1) if r + 1 < g.h_out else 0) + sigma


def theorem_13(g: ConvGeometry, *, direct: bool, as_proved: bool = False) -> int:
    """The dense layout's gap: Theorem 4's breakpoints and those of Lemma 12.

    Inside its precondition never unsafe, and exact in gather. Loose in direct order where the first real
    pixels are never read and sigma binds: 1x1x1 -> 1x1x1, k=1x2 d=1x2, pad 1 left and right: 1, truth 0
    (F.4 has 2 channels and 2). Outside it unsafe ("safe unconditionally", F.4, is wrong): 5x6x1 -> 3
    channels, k=1 s=3x2, pad 2 left and right, gather: 4, truth 5; 2x6x1 -> 7, s=4x2, direct: 23,
    truth 24. as_proved: with the crossing that Lemma 12's proof names, which is unsafe inside the
    precondition: 4x3x2 -> 17, k=2x3 s=3x1 d=1x4, pad 5 left and right, direct: 61, truth 64.
    """
    return max(
        *(debt_13(g, r, c, direct=direct) for r, c in breakpoints_13(g, as_proved=as_proved)),
        g.n_out - g.n_in,
    )


def precondition_13(g: ConvGeometry) -> bool:
    """p_h < k_h_eff and p_w < k_w_eff. It does not do what the proof says, that no output reads padding
    alone: 1x2x1 -> 3 channels, k=2x1 s=2x1 d=2x1, pad 1 above and below, meets it, and its one row
    of outputs has its taps on rows -1 and 1."""
    p = g.pad
    return max(p.top, p.bottom) < g.k_h_eff and max(p.left, p.right) < g.k_w_eff


def breakpoints_13(g: ConvGeometry, *, as_proved: bool = False) -> list[tuple[int, int]]:
    """R_s x C_s with every crossing and the index below it."""
    rows, columns = axes(g, GATHER)
    on_rows, on_columns = (
        sorted(
            {*_extremes(axis.n_out)}
            | {
                min(max(at, 0), axis.n_out - 1)
                for crossing in crossings(axis, as_proved=as_proved)
                for at in (crossing, crossing - 1)
            }
        )
        for axis in (rows, columns)
    )
    return [(r, c) for r in on_rows for c in on_columns]


def crossings(axis: Axis, *, as_proved: bool = False) -> list[int]:
    """Lemma 12: the outputs at which each tap enters the real input, and leaves it. For the latter it
    prints the tap's arrival at the last input; its proof (as_proved) says, beyond it."""
    leaves = axis.n if as_proved else axis.n - 1
    starts = [axis.pad - tap * axis.d for tap in range(axis.k)]
    return [-(-(start + by) // axis.s) for start in starts for by in (0, leaves)]


def debt_13(g: ConvGeometry, r: int, c: int, *, direct: bool) -> int:
    """Lemma 12, Eq. 40 and 41: the debt after output pixel (r, c), padding not stored. The next live
    input is the first real pixel that any output after (r, c) reads; sigma where there is none."""
    sigma = g.c_out if direct else 0
    rows, columns = axes(g, GATHER)
    live = [
        y * g.w_in + x
        for y, x in (
            (_lowest_at(rows, r), columns.lowest_from(c + 1)),
            (rows.lowest_from(r + 1), columns.lowest_from(0)),
        )
        if y is not None and x is not None
    ]
    if not live:
        return sigma
    return (r * g.w_out + c + 1) * g.c_out - min(live) * g.c_in + sigma


def padding_saving(g: ConvGeometry, *, direct: bool) -> int:
    """Eq. 42: the padded layout's workspace less the dense one's, by Theorems 4 and 13.

    "Strictly positive whenever the padding is non-zero" is wrong in gather where N_out binds: 1x1x1 -> 5
    channels, k=2, pad 1 on all sides: both need 20.
    """
    padded = theorem_4(g, direct=direct) + _stored(g)
    return padded - theorem_13(g, direct=direct) - g.n_in


def theorem_14(g: UpsampleGeometry) -> int:
    """The workspace of nearest-neighbour upsampling in reverse, both tensors left-aligned: N_out.

    Safe, with unequal factors too. Reverse is not required ("has to run backwards"): forwards, with the
    input right-aligned, the same workspace is safe on every layer. "(0, 0) is the only identity write"
    fails, harmlessly, at factor 1, where all are.
    """
    return g.output.size


def pooling_workspace(g: ConvGeometry) -> int:
    """I.1: "W* = N_in = max(N_out, N_in)". Unsafe with padding, which the dense layout does not store:
    1x2x2, 3x3 at stride 1, pad 1 on all sides: 4, truth 6. Right without padding."""
    return max(g.n_in, g.n_out)


def _extremes(n_out: int) -> list[int]:
    return sorted({at for at in (0, n_out - 2, n_out - 1) if at >= 0})


def _lowest_at(axis: Axis, output: int) -> int | None:
    """The lowest position that this one output reads."""
    return min(
        (output * axis.s - start for start, low, high in axis.runs() if low <= output <= high),
        default=None,
    )


def _stored(g: ConvGeometry) -> int:
    """N_p: scalars of the padded input."""
    p = g.pad
    return (g.h_in + p.top + p.bottom) * (g.w_in + p.left + p.right) * g.c_in
