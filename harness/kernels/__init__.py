# SPDX-License-Identifier: Apache-2.0
"""What the bench must know of a kernel before it runs: how it steps through an op."""

from harness.kernels.declared import Kernel
from harness.kernels.kernelset import (
    FAST,
    PLAIN_SET,
    KernelSet,
    Selection,
    find_kernels,
    set_for,
    shipped_sets,
)
from harness.kernels.table import library_sources, table_source, table_sources
from harness.kernels.traits import (
    PLAIN,
    Choice,
    KernelTraits,
    closed_form,
    executions,
    kernel_set,
    operands_to_share,
    schedule_of,
)

__all__ = [
    "FAST",
    "PLAIN",
    "PLAIN_SET",
    "Choice",
    "Kernel",
    "KernelSet",
    "KernelTraits",
    "Selection",
    "closed_form",
    "executions",
    "find_kernels",
    "kernel_set",
    "library_sources",
    "operands_to_share",
    "schedule_of",
    "set_for",
    "shipped_sets",
    "table_source",
    "table_sources",
]
