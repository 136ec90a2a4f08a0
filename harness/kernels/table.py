# SPDX-License-Identifier: Apache-2.0
"""The C table of a build: of each selected kernel what it takes, its scratch, and its function."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from pathlib import Path

from harness.kernels.declared import Kernel
from harness.kernels.formula import Formula
from harness.kernels.kernelset import Selection
from harness.schema.constants import Layout, Rounding, TapOrder, Traversal

_OF_AN_OP = "(const struct op_record *record, const struct tensor_record *tensors)"


def table_source(selection: Selection, chip: str | None = None) -> str:
    """A whole C file with `kernel_for` (firmware/runner/kernels.h). chip: kernels of others are left
    out. Numbers stay those of the set, whatever is left out."""
    numbered = [(n, k) for n, k in enumerate(selection.kernels(chip)) if k is not None]
    functions = dict.fromkeys(kernel.run for _, kernel in numbered)
    entries = "\n".join(
        f"    [{n}] = {{accepts_{n}, scratch_{n}, {_weights_name(n, kernel)}, {kernel.run}, "
        f"{kernel.alignment}}}, /* {kernel.name} */"
        for n, kernel in numbered
    )
    return "\n".join(
        [
            "/* Generated from kernels.yaml. Do not edit. */",
            "#include <stddef.h>",
            "",
            '#include "kernels/formula.h"',
            "",
            *(f"void {name}(const struct op_call *call);" for name in functions),
            "",
            *(_functions_of(n, kernel) for n, kernel in numbered),
            # as long as the set, so that the bytes of a runner are a sum over its kernels
            f"static const struct op_kernel table[{len(selection.kernel_set.kernels)}] = {{",
            entries or "    [0] = {NULL, NULL, NULL, NULL, 0},",
            "};",
            "",
            f"const struct op_kernel *kernel_for{_OF_AN_OP}",
            "{",
            "    if (record->kernel >= sizeof table / sizeof table[0]) {",
            "        return NULL;",
            "    }",
            "    const struct op_kernel *const kernel = &table[record->kernel];",
            "    return kernel->run != NULL && kernel->accepts(record, tensors) ? kernel : NULL;",
            "}",
            "",
        ]
    )


def table_sources(selection: Selection, chip: str | None = None) -> tuple[Path, ...]:
    """All files that the table's kernels are made of, each once."""
    return tuple(
        dict.fromkeys(
            kernel.folder / name
            for kernel in selection.kernels(chip)
            if kernel is not None
            for name in kernel.sources
        )
    )


def _functions_of(number: int, kernel: Kernel) -> str:
    steps = " || ".join(f"n.b == {formula.in_c('n')}" for formula in kernel.pixels)
    conditions = [
        f"record->kind == {int(kernel.kind)}u",
        _one_of("rounding", kernel.roundings, Rounding),
        _one_of("layout", kernel.layouts, Layout),
        _one_of("tap_order", kernel.tap_orders, TapOrder),
        _one_of("traversal", kernel.traversals, Traversal),
        f"({steps})",
        *(f"{formula.in_c('n')} != 0" for formula in kernel.accepts),
    ]
    text = [
        f"static bool accepts_{number}{_OF_AN_OP}",
        "{",
        "    const struct formula_names n = formula_names_of(record, tensors);",
        "    return " + " &&\n           ".join(conditions) + ";",
        "}",
        "",
        *_number(f"scratch_{number}", kernel.scratch),
    ]
    if kernel.weights_bytes is not None:
        text += _number(f"weights_{number}", kernel.weights_bytes)
    return "\n".join(text)


def _number(name: str, formula: Formula) -> list[str]:
    return [
        f"static uint64_t {name}{_OF_AN_OP}",
        "{",
        "    const struct formula_names n = formula_names_of(record, tensors);",
        "    (void)n;",
        f"    return {formula.in_c('n')};",
        "}",
        "",
    ]


def _weights_name(number: int, kernel: Kernel) -> str:
    return "NULL" if kernel.weights_bytes is None else f"weights_{number}"


def _one_of(field: str, members: Iterable[IntEnum], enum: type[IntEnum]) -> str:
    """A field that is one of these; a number of none is never."""
    bits = sum(1 << member for member in members)
    return f"(record->{field} < {len(enum)}u && (({bits}u >> record->{field}) & 1u) != 0)"
