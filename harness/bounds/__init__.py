# SPDX-License-Identifier: Apache-2.0
"""Closed forms of gap, debt and workspace. Pure integer arithmetic, no simulation.

`bound_of` is exact, for every operator in every execution. `published` has the forms as they are
printed, `steps` kernels that make several pixels a step, `batch` many layers at once.
"""

from harness.bounds.exact import bound_of, is_safe_at_zero
from harness.bounds.rip import Bound, dense, dense_scalar_direct, round_up
from harness.bounds.stepped import stepped_bound

__all__ = [
    "Bound",
    "bound_of",
    "dense",
    "dense_scalar_direct",
    "is_safe_at_zero",
    "round_up",
    "stepped_bound",
]
