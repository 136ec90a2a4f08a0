# SPDX-License-Identifier: Apache-2.0
"""The formulas of kernels.yaml: what they say, what is refused, and the same numbers in C."""

from __future__ import annotations

import ctypes
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import ConfigError
from harness.kernels.formula import MAX, MAX_DEPTH, MAX_LENGTH, NAMES, STEP_NAMES, parse, parse_node
from harness.strictyaml import parse as parse_yaml
from tests.kernels.host import library

VALUES = {name: number for number, name in enumerate(STEP_NAMES, 2)}  # h_in 2, w_in 3, c_in 4, ...
SIGNS = ("+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "and", "or")
EDGES = (0, 1, 2, 3, 7, 255, 256, 65535, 2**16, 2**31 - 2, MAX)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7", 7),
        ("c_in", 4),
        ("h_in + w_in * c_in", 14),
        ("(h_in + w_in) * c_in", 20),
        ("20 - 3 - 4", 13),
        ("100 / 7 / 2", 7),
        ("100 / 7 * 7 + 100 % 7", 100),
        ("3 - 4", 0),
        ("3 - 4 + 5", 5),
        ("65535 * 65535 * 65535", MAX),
        ("65535 * 65535 * 65535 / 65536", 32767),
        ("2147483647 + 1", MAX),
        ("5 / (h_in - 2)", MAX),
        ("5 % (h_in - 2)", MAX),
        ("min(c_in, 3)", 3),
        ("max(c_in, 3, 9, 1)", 9),
        ("min(7)", 7),
        ("max(min(c_in, 8), 2) * 2", 8),
        ("c_in % 4 == 0", 1),
        ("c_in % 3 == 0", 0),
        ("1 < 1 or 1 <= 1", 1),
        ("1 or 0 and 0", 1),
        ("(1 or 0) and 0", 0),
        ("2 and 3", 1),
        ("0 or 0", 0),
        ("2 != 2 + 1 and 3 > 2 and 3 >= 3", 1),
        ("  c_in  ", 4),
    ],
)
def test_what_they_say(text: str, value: int) -> None:
    assert parse(text).evaluate(VALUES) == value


@pytest.mark.parametrize(
    ("text", "column", "says"),
    [
        ("", 1, "the end is not expected"),
        ("1 +", 4, "the end is not expected"),
        ("c_inn", 1, "'c_inn' is no name of a formula"),
        ("b", 1, "'b' is no name of a formula"),
        ("1 < 2 < 3", 7, "a comparison of a comparison"),
        ("(1, 2)", 1, "several values in one bracket"),
        ("min()", 5, "')' is not expected"),
        ("min(1", 6, "the end is not expected"),
        ("min 1", 5, "'1' is not expected"),
        ("1)", 2, "')' is not expected"),
        ("__import__('os')", 1, "'_' is in no formula"),
        ("c_in.real", 5, "'.' is in no formula"),
        ("c_in; 1", 5, "';' is in no formula"),
        ("2 ** 3", 4, "'*' is not expected"),
        ("1 // 2", 4, "'/' is not expected"),
        ("-1", 1, "'-' is not expected"),
        ("c_in / 0", 8, "a division by 0"),
        ("c_in % 0", 8, "a division by 0"),
        ("2147483648", 1, "is more than 2147483647"),
        ("9" * 350, 1, "is more than 2147483647"),
        ("0x10", 2, "'x10' is not expected"),
        ("1.5", 2, "'.' is in no formula"),
        ("c_in c_out", 6, "'c_out' is not expected"),
        ("\u0663", 1, "is in no formula"),
        ("c_\u0456n", 3, "is in no formula"),
        ("1 and", 6, "the end is not expected"),
        ("not 1", 1, "'not' is no name"),
        ("\t1", 1, "is in no formula"),
        ("1\n+ 1", 2, "is in no formula"),
        (
            "(" * (MAX_DEPTH + 1) + "1" + ")" * (MAX_DEPTH + 1),
            MAX_DEPTH + 1,
            "brackets in each other",
        ),
        ("1+" * (MAX_LENGTH // 2) + "1", 1, f"a formula of {MAX_LENGTH + 1} characters"),
    ],
)
def test_what_is_refused(text: str, column: int, says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse(text)
    assert caught.value.message.startswith(f"column {column}: ")
    assert says in caught.value.message


@pytest.mark.parametrize(
    ("yaml", "where"),
    [
        ("scratch: c_in + c_iin", "f.yaml:1:17: "),
        ("scratch: 'c_in + c_iin'", "f.yaml:1:18: "),
        ("a: 1\nscratch:   c_iin", "f.yaml:2:12: "),
        ("scratch: >\n  c_in\n  + c_iin\n", "f.yaml:1:10: "),  # over several lines: its start
    ],
)
def test_where_it_is_refused(yaml: str, where: str) -> None:
    entry = parse_yaml(yaml, "f.yaml").mapping()
    with pytest.raises(ConfigError) as caught:
        parse_node(entry["scratch"])
    assert caught.value.message.startswith(where)


@given(st.text(alphabet="c_in hkw0123()+-*/%<=>!,minaxodr", max_size=60))
def test_any_text_is_a_formula_or_an_error(text: str) -> None:
    try:
        formula = parse(text)
    except ConfigError:
        return
    assert 0 <= formula.evaluate(VALUES) <= MAX
    assert parse(f"({text})").evaluate(VALUES) == formula.evaluate(VALUES)


def _draw(rng: random.Random, depth: int) -> str:
    """A formula whose every part is in brackets but where the grammar puts them itself."""
    kind = rng.random()
    if depth == 0 or kind < 0.15:
        if rng.random() < 0.6:
            return rng.choice(STEP_NAMES)
        return str(rng.choice((*EDGES, rng.randrange(MAX))))
    if kind < 0.3:
        parts = ", ".join(_draw(rng, depth - 1) for _ in range(rng.randint(1, 3)))
        return f"{rng.choice(('min', 'max'))}({parts})"
    left, right = (f"({_draw(rng, depth - 1)})" for _ in range(2))
    return f"{left} {rng.choice(SIGNS)} {right}"


def test_the_same_in_c(tmp_path: Path) -> None:
    """500 drawn formulas, each of 40 drawn sets of values, extremes among them."""
    rng = random.Random(8)
    formulas = []
    while len(formulas) < 500:
        try:
            formulas.append(parse(_draw(rng, 4), STEP_NAMES))
        except ConfigError:  # too long, or a division by 0
            continue
    fields = ", ".join(f".{name} = v[{at}]" for at, name in enumerate(STEP_NAMES))
    functions = [
        f"uint64_t f{number}(const uint64_t *v)\n{{\n"
        f"    const struct formula_names n = {{{fields}}};\n"
        f"    (void)n;\n    return {formula.in_c('n')};\n}}"
        for number, formula in enumerate(formulas)
    ]
    source = "\n".join(['#include "kernels/formula.h"', *functions])
    c = library(tmp_path, source)
    found = set()
    for number, formula in enumerate(formulas):
        function = getattr(c, f"f{number}")
        function.restype = ctypes.c_uint64
        for _ in range(40):
            extents = [rng.choice((*EDGES[:8], rng.randint(0, 65535))) for _ in NAMES]
            values = [*extents, rng.choice(EDGES)]
            seen = function((ctypes.c_uint64 * len(values))(*values))
            asked = dict(zip(STEP_NAMES, values, strict=True))
            assert seen == formula.evaluate(asked), (formula.text, asked)
            found.add(seen)
    assert {0, 1, MAX} < found
    assert len(found) > 300
