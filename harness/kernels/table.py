# SPDX-License-Identifier: Apache-2.0
"""The C table of a build: of each selected kernel what it takes, its scratch, and its function."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from pathlib import Path

from harness.kernels.declared import Kernel
from harness.kernels.formula import Formula
from harness.kernels.kernelset import Selection
from harness.schema.constants import Layout, OpKind, Rounding, TapOrder, Traversal

_OF_AN_OP = "(const struct op_record *record, const struct tensor_record *tensors)"
_OF_CONSTANTS = _OF_AN_OP.replace(")", ", const int8_t *constants)")


def table_source(selection: Selection, chip: str | None = None) -> str:
    """A whole C file with `kernel_for` (firmware/runner/kernels.h). chip: kernels of others are left
    out. Numbers stay those of the set, whatever is left out."""
    numbered = [(n, k) for n, k in enumerate(selection.kernels(chip)) if k is not None]
    functions = dict.fromkeys(kernel.run for _, kernel in numbered)
    looked_through = {kernel.sound for _, kernel in numbered if kernel.sound is not None}
    names = _FormulaNames(selection.kernel_set.kernels)
    entries = "\n".join(
        f"    [{n}] = {{accepts_{n}, {names.scratch(kernel)}, {names.weights(kernel)}, {kernel.run}, "
        f"{kernel.alignment}, {kernel.sound or 'NULL'}}}, /* {kernel.name} */"
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
            *(f"bool {name}{_OF_CONSTANTS};" for name in sorted(looked_through)),
            "",
            *(
                (_accepts_segment if kernel.kind is OpKind.SEGMENT else _accepts)(n, kernel)
                for n, kernel in numbered
            ),
            *names.functions([kernel for _, kernel in numbered]),
            # as long as the set, so that the bytes of a runner are a sum over its kernels
            f"static const struct op_kernel table[{len(selection.kernel_set.kernels)}] = {{",
            entries or "    [0] = {NULL, NULL, NULL, NULL, 0, NULL},",
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


def library_sources(selection: Selection, chip: str | None = None) -> tuple[Path, ...]:
    """What their kernels call of somebody else's, each once."""
    return tuple(
        dict.fromkeys(
            kernel.folder / name
            for kernel in selection.kernels(chip)
            if kernel is not None
            for name in kernel.library
        )
    )


class _FormulaNames:
    """Names of the functions that compute scratch and constants: kernels of a set with one formula share
    one function, called by the first of them, whatever a build leaves out."""

    def __init__(self, kernels: tuple[Kernel, ...]) -> None:
        self._scratch: dict[tuple[Formula, bool], str] = {}
        self._weights: dict[Formula, str] = {}
        for n, kernel in enumerate(kernels):
            self._scratch.setdefault(_scratch_of(kernel), f"scratch_{n}")
            if kernel.weights_bytes is not None:
                self._weights.setdefault(kernel.weights_bytes, f"weights_{n}")

    def scratch(self, kernel: Kernel) -> str:
        return self._scratch[_scratch_of(kernel)]

    def weights(self, kernel: Kernel) -> str:
        return "NULL" if kernel.weights_bytes is None else self._weights[kernel.weights_bytes]

    def functions(self, kernels: Iterable[Kernel]) -> list[str]:
        """Of these kernels, each once."""
        made: dict[str, list[str]] = {}
        for kernel in kernels:
            name, segment = self.scratch(kernel), kernel.kind is OpKind.SEGMENT
            made[name] = (_most if segment else _number)(name, kernel.scratch)
            if kernel.weights_bytes is not None:
                name = self.weights(kernel)
                made[name] = _number(name, kernel.weights_bytes)
        return [line for lines in made.values() for line in lines]


def _accepts(number: int, kernel: Kernel) -> str:
    steps = " || ".join(f"n.b == {formula.in_c('n')}" for formula in kernel.pixels)
    conditions = [
        f"record->kind == {int(kernel.kind)}u",
        _one_of("rounding", kernel.roundings, Rounding),
        _one_of("layout", kernel.layouts, Layout),
        _one_of("tap_order", kernel.tap_orders, TapOrder),
        _one_of("traversal", kernel.traversals, Traversal),
        "record->step_pixels - 1u < FORMULA_MAX",  # op_call's is signed, and no step is empty
        f"({steps})",
        *(f"{formula.in_c('n')} != 0" for formula in kernel.accepts),
    ]
    return "\n".join(
        [
            f"static bool accepts_{number}{_OF_AN_OP}",
            "{",
            "    const struct formula_names n = formula_names_of(record, tensors);",
            "    return " + " &&\n           ".join(conditions) + ";",
            "}",
            "",
        ]
    )


def _scratch_of(kernel: Kernel) -> tuple[Formula, bool]:
    """The formula, and whether it is of a segment's stages."""
    return kernel.scratch, kernel.kind is OpKind.SEGMENT


_EACH_STAGE = [
    "    for (uint32_t stage = 1; stage <= record->stages; stage++) {",
    "        const struct formula_names n = formula_names_of_stage(record, stage, tensors);",
    "        (void)n;",
]


def _accepts_segment(number: int, kernel: Kernel) -> str:
    """Every stage must be one that it takes."""
    rounding = _one_of("rounding", kernel.roundings, Rounding).replace("record->", "record[stage].")
    conditions = [rounding, *(f"{formula.in_c('n')} != 0" for formula in kernel.accepts)]
    return "\n".join(
        [
            f"static bool accepts_{number}{_OF_AN_OP}",
            "{",
            f"    if (record->kind != {int(kernel.kind)}u || record->stages == 0) {{",
            "        return false;",
            "    }",
            *_EACH_STAGE,
            "        if (!(" + " &&\n              ".join(conditions) + ")) {",
            "            return false;",
            "        }",
            "    }",
            "    return true;",
            "}",
            "",
        ]
    )


def _most(name: str, formula: Formula) -> list[str]:
    """Of any stage."""
    return [
        f"static uint64_t {name}{_OF_AN_OP}",
        "{",
        "    uint64_t most = 0;",
        *_EACH_STAGE,
        f"        most = formula_max(most, {formula.in_c('n')});",
        "    }",
        "    return most;",
        "}",
        "",
    ]


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


def _one_of(field: str, members: Iterable[IntEnum], enum: type[IntEnum]) -> str:
    """A field that is one of these; a number of none is never."""
    bits = sum(1 << member for member in members)
    return f"(record->{field} < {len(enum)}u && (({bits}u >> record->{field}) & 1u) != 0)"
