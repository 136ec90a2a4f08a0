# SPDX-License-Identifier: Apache-2.0
"""Weights for layers that are only a shape: drawn once for each layer's id, never from a run's seed."""

from __future__ import annotations

import numpy as np

from harness.network import Layer
from harness.reference import ConvParameters, quantize_multiplier

_INPUT_DEVIATION = 73.9  # of a uniform int8
_OUTPUT_DEVIATION = 45.0  # keeps some 99 % of a normal output strictly inside int8
_ZERO_POINT = 30


def draw_parameters(layer: Layer) -> ConvParameters:
    """Normal weights with the largest of each output channel at 127, and per-channel scales that
    spread the output over int8 without saturating it (a test holds this for every shipped layer)."""
    g = layer.geometry
    rng = np.random.default_rng(layer.weight_seed)
    drawn = rng.normal(size=(g.c_out, g.field))
    weights = np.round(drawn / np.abs(drawn).max(axis=1, keepdims=True) * 127)
    input_zero_point = int(rng.integers(-_ZERO_POINT, _ZERO_POINT + 1))
    output_zero_point = int(rng.integers(-_ZERO_POINT // 3, _ZERO_POINT // 3 + 1))
    deviation = _INPUT_DEVIATION * np.sqrt((weights**2).sum(axis=1))
    mean = (-0.5 - input_zero_point) * weights.sum(axis=1)
    bias = np.round(rng.normal(size=g.c_out) * deviation / 4 - mean)
    scales = [quantize_multiplier(_OUTPUT_DEVIATION / d) for d in deviation]
    return ConvParameters(
        weights=weights.astype(np.int8).reshape(g.c_out, g.k_h, g.k_w, g.c_in),
        bias=bias.astype(np.int32),
        multiplier=np.array([m for m, _ in scales], dtype=np.int32),
        shift=np.array([s for _, s in scales], dtype=np.int32),
        input_zero_point=input_zero_point,
        output_zero_point=output_zero_point,
    )
