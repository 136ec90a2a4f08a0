# SPDX-License-Identifier: Apache-2.0
"""What the bench must know of a kernel before it runs: how it steps through an op."""

from harness.kernels.traits import (
    PLAIN,
    KernelTraits,
    closed_form,
    executions,
    kernel_set,
    operands_to_share,
    schedule_of,
)

__all__ = [
    "PLAIN",
    "KernelTraits",
    "closed_form",
    "executions",
    "kernel_set",
    "operands_to_share",
    "schedule_of",
]
