# SPDX-License-Identifier: Apache-2.0
"""How much flash a network takes, from its shapes alone: what records.py writes, without writing it."""

from __future__ import annotations

from harness.bounds import round_up
from harness.geometry import ConvGeometry
from harness.network import Layer, Network
from harness.schema.constants import SECTION_ALIGNMENT, SLICE_ALIGNMENT, OpKind
from harness.schema.records import CaseEntry, OpRecord, PackHeader, QuantRecord, TensorRecord

_TABLE = 256
_SOFTMAX = 256 * 4
_WEIGHTED = (OpKind.CONV, OpKind.DEPTHWISE, OpKind.FULLY_CONNECTED)
_QUANTS = {OpKind.ADD: 3, OpKind.MUL: 1, OpKind.MEAN: 1}
_TABLES = {OpKind.TABLE: _TABLE, OpKind.SOFTMAX: _SOFTMAX}


def weight_bytes(layer: Layer) -> int:
    """int8 weights, or a table."""
    g = layer.geometry
    if layer.kind in _WEIGHTED and isinstance(g, ConvGeometry):
        taps = g.k_h * g.k_w
        return g.c_out * taps * (1 if layer.kind is OpKind.DEPTHWISE else g.c_in)
    return _TABLES.get(layer.kind, 0)


def quant_count(layer: Layer) -> int:
    """Records of bias, multiplier and shift."""
    g = layer.geometry
    if layer.kind in _WEIGHTED and isinstance(g, ConvGeometry):
        return g.c_out
    return _QUANTS.get(layer.kind, 0)


def constant_bytes(network: Network) -> int:
    """Of a pack with one case of the network, without shifts."""
    weights = 0
    for node in network.nodes:
        weights = round_up(weights, SLICE_ALIGNMENT) + weight_bytes(node.layer)
    quants = sum(quant_count(node.layer) for node in network.nodes) * QuantRecord.size()
    head = round_up(PackHeader.size(), SLICE_ALIGNMENT) + CaseEntry.size()
    records = len(network.nodes) * OpRecord.size(), len(network.tensors) * TensorRecord.size()
    sections = (head, *records, quants, weights)
    return sum(round_up(max(size, 1), SECTION_ALIGNMENT) for size in sections)
