# SPDX-License-Identifier: Apache-2.0
"""Closed forms of gap, debt and workspace. Pure integer arithmetic, no simulation."""

from harness.bounds.rip import Bound, dense, dense_scalar_direct, round_up

__all__ = ["Bound", "dense", "dense_scalar_direct", "round_up"]
