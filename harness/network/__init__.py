# SPDX-License-Identifier: Apache-2.0
"""Networks: what is computed, without weights, memory or order. A layer is a network of one op."""

from harness.network.budget import Ceiling, ceiling_of
from harness.network.graph import Layer
from harness.network.layerset import find_set, load_set
from harness.network.load import load_network, model_files
from harness.network.model import Facts, Model, Quantisation
from harness.network.network import Network, Node, network_of

__all__ = [
    "Ceiling",
    "Facts",
    "Layer",
    "Model",
    "Network",
    "Node",
    "Quantisation",
    "ceiling_of",
    "find_set",
    "load_network",
    "load_set",
    "model_files",
    "network_of",
]
