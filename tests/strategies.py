# SPDX-License-Identifier: Apache-2.0
"""Hypothesis strategies for the project's own types."""

from __future__ import annotations

from hypothesis import strategies as st

from harness.errors import ConfigError
from harness.geometry import ConvGeometry, Pad


@st.composite
def conv_geometries(draw: st.DrawFn, extent: int = 6, channels: int = 5) -> ConvGeometry:
    """Small hostile convolutions: asymmetric padding beyond the kernel, strides over it, dilation."""
    while True:
        number = st.integers(1, extent)
        try:
            return ConvGeometry(
                h_in=draw(number),
                w_in=draw(number),
                c_in=draw(st.integers(1, channels)),
                c_out=draw(st.integers(1, channels)),
                k_h=draw(st.integers(1, 3)),
                k_w=draw(st.integers(1, 3)),
                s_h=draw(st.integers(1, 3)),
                s_w=draw(st.integers(1, 3)),
                d_h=draw(st.integers(1, 2)),
                d_w=draw(st.integers(1, 2)),
                pad=Pad(*(draw(st.integers(0, 3)) for _ in range(4))),
            )
        except ConfigError:
            continue
