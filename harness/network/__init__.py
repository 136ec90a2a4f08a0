# SPDX-License-Identifier: Apache-2.0
"""Networks: what is computed, without weights, memory or order. A layer is a network of one op."""

from harness.network.graph import Layer
from harness.network.layerset import find_set, load_set
from harness.network.network import Network, Node, network_of

__all__ = ["Layer", "Network", "Node", "find_set", "load_set", "network_of"]
