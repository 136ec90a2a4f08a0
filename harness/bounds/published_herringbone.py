# SPDX-License-Identifier: Apache-2.0
"""The paper's herringbone forms as printed (Eq. 1, Sec. 3.2, Appendices C to E), in integers.

All count direct order with whole pixels released (sigma = c_out) and the padding stored. Gaps, in
scalars. p_h and p_w of the paper are the same on both sides; here H_p and W_p take in either side's pad.
"""

from __future__ import annotations

from harness.errors import ConfigError
from harness.geometry import ConvGeometry, Pad


def gural_murmann(g: ConvGeometry) -> int:
    """Eq. 1: Gural and Murmann's closed form, for what they restrict themselves to.

    Unsafe where x* is no integer: 14x14x1 -> 12x12x5, k=3 gives 531, truth 533. Loose beyond any bound
    where floor(x*) >= w_out, unless x* = w_out: 8x8x3 -> 4x4x4, k=5 gives 79, truth 7. Errors:
    ConfigError outside the restrictions, and for c_out <= c_in, where x* does not exist.
    """
    x = critical_leg(g)[0]
    return _square_left(g, x)


def corollary_1(g: ConvGeometry) -> int:
    """Eq. 2 and 3: Eq. 1 repaired. Right on square outputs, even kernels too.

    Its statement does not ask for a square output, and without one it fails: 4x3x1 -> 2x1x2, k=3 gives
    1, truth 2; 3x4x1 -> 1x2x2 gives 3, truth 2. Errors: ConfigError outside Eq. 1's restrictions.
    """
    _check_restricted(g)
    if g.c_out <= g.c_in:
        return g.c_out
    alpha, rho = g.c_out - g.c_in, (g.k_h - 1) * g.c_in
    x_hat = min(rho // alpha, g.w_out - 1)
    return _square_left(g, x_hat) + rho - alpha * x_hat


def critical_leg(g: ConvGeometry) -> tuple[int, int]:
    """Eq. 13: floor(x*), and the numerator of what is left over c_out - c_in. Errors: as Eq. 1."""
    _check_restricted(g)
    if g.c_out <= g.c_in:
        raise ConfigError(f"{g}: x* does not exist", cause="c_out is not above c_in")
    return divmod((g.k_h - 1) * g.c_in, g.c_out - g.c_in)


def shortfall(g: ConvGeometry) -> int:
    """Lemma 9, Eq. 22: what Eq. 1 lacks where x* is no integer and floor(x*) < w_out, on square outputs;
    (k - 1) c_in mod (c_out - c_in)."""
    return critical_leg(g)[1]


def leg_debt(g: ConvGeometry, length: int) -> int:
    """Eq. 11: what a leg writes less what it frees. Errors: as Eq. 1."""
    _check_restricted(g)
    return length * (g.c_out - g.c_in) - (g.k_h - 1) * g.c_in


def running_debt(g: ConvGeometry, shortest: int) -> int:
    """Lemma 5, Eq. 15: after all legs of at least `shortest` outputs, of a square output. Every length
    but w_out comes twice."""
    pairs = sum(leg_debt(g, x) for x in range(shortest, g.w_out))
    return leg_debt(g, g.w_out) + 2 * pairs + g.k_h * g.c_in


def legs(h_out: int, w_out: int) -> list[tuple[str, int]]:
    """Eq. 25: (`row` or `column`, length) of each leg in order; Lemma 10: together h_out * w_out."""
    long, short = max(h_out, w_out), min(h_out, w_out)
    major, minor = ("row", "column") if w_out >= h_out else ("column", "row")
    found = [(major, long)]
    for n in range(1, short):
        found += [(minor, short - n), (major, long - n)]
    return found


def theorem_11(g: ConvGeometry) -> int:
    """Eq. 38 with Eq. 23 to 37: any stride, dilation, padding and kernel, in O(1).

    Exact for block release, where each output frees the s_h x s_w inputs that it steps over and a leg's
    last one the residual. By the text's own liveness (Appendix G.1: live until the last output that
    depends on it) it is loose: 1x1x1 -> 1x1x1, k=2x1 s=3x1 d=2x1, pad 2 above and below: 1, truth 0.
    """
    h_p, w_p = g.h_in + g.pad.top + g.pad.bottom, g.w_in + g.pad.left + g.pad.right
    wide = g.w_out >= g.h_out
    long, short = max(g.h_out, g.w_out), min(g.h_out, g.w_out)
    delta = long - short
    stepped = g.s_h * g.s_w * g.c_in
    alpha = g.c_out - stepped
    rho_r = g.s_h * g.c_in * (w_p - g.s_w * g.w_out)
    rho_c = g.s_w * g.c_in * (h_p - g.s_h * g.h_out)
    rho_maj, rho_min = (rho_r, rho_c) if wide else (rho_c, rho_r)
    r_min = rho_min + stepped

    def l_maj(x: int, y: int) -> int:  # Eq. 32
        linear = rho_maj + rho_min + alpha * delta
        return alpha * (long**2 - x**2) - linear * (long - x) + alpha * (y - 1) + g.c_out

    def l_min(x: int, y: int) -> int:  # Eq. 35: the pair's major leg is done as well
        return l_maj(x, y) + alpha * x - rho_maj

    last = l_min(delta + 2, 1) - r_min + g.c_out + max(0, (g.c_out - r_min) * delta)  # Eq. 37
    found = [g.c_out, last]
    if short > 1:  # E.3: else there is no pair of legs
        rising = alpha > 0
        for x in _candidates(rho_maj + rho_min, alpha, delta, delta + 2, long):  # Eq. 33
            found.append(l_maj(x, x if rising else 1))
        for x in _candidates(rho_maj + rho_min, alpha, delta + 1, delta + 2, long):  # Eq. 36
            found.append(l_min(x, x - delta - 1 if rising else 1))
    return max(found)


def _candidates(rho: int, alpha: int, shift: int, low: int, high: int) -> tuple[int, int]:
    """Floor and ceiling of rho / (2 alpha) + shift / 2, clipped; where alpha <= 0 both ends."""
    if alpha <= 0:
        return low, high
    top, twice = rho + alpha * shift, 2 * alpha
    floor, ceiling = top // twice, -(-top // twice)
    return min(max(floor, low), high), min(max(ceiling, low), high)


def _square_left(g: ConvGeometry, x: int) -> int:
    """Lemma 7, Eq. 19: the debt when a square of x by x outputs is left."""
    written = g.c_out * (g.pixels_out - x * x)
    k = g.k_h
    return written - g.c_in * (g.h_in * g.w_in - (x + k - 1) ** 2 - k)


def _check_restricted(g: ConvGeometry) -> None:
    """Not that k is odd, which nothing here needs."""
    ones = (g.s_h, g.s_w, g.d_h, g.d_w)
    if g.k_h != g.k_w or ones != (1, 1, 1, 1) or g.pad != Pad():
        raise ConfigError(
            f"{g} is outside what Eq. 1 is for",
            hint="that is a square kernel, no padding, unit stride and unit dilation",
        )
