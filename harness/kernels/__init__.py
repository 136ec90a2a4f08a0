# SPDX-License-Identifier: Apache-2.0
"""What the bench must know of a kernel before it runs: how it steps through a layer."""

from harness.kernels.traits import PLAIN_CONV, KernelTraits

__all__ = ["PLAIN_CONV", "KernelTraits"]
