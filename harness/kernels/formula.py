# SPDX-License-Identifier: Apache-2.0
"""The formulas of kernels.yaml: whole numbers from 0 to MAX, in Python and as C.

    either   = both { "or" both }
    both     = compared { "and" compared }
    compared = sum [ ("==" | "!=" | "<" | "<=" | ">" | ">=") sum ]
    sum      = product { ("+" | "-") product }
    product  = atom { ("*" | "/" | "%") atom }
    atom     = number | name | ("min" | "max") "(" either { "," either } ")" | "(" either ")"

`/` rounds down. What holds is 1, what does not is 0; for `and` and `or` whatever is not 0 holds. What
would be more than MAX is MAX, and so is a division by 0; what would be less than 0 is 0. So nothing in a
formula can overflow, in C as in Python, and a formula that says MAX asks for more than any board has.
Nothing is executed: a text becomes a tree of these, or is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from harness.errors import ConfigError
from harness.strictyaml import Node, nearest, quoted

MAX = 2**31 - 1
MAX_LENGTH = 400  # characters
MAX_DEPTH = 20  # brackets in brackets

NAMES = (
    *("h_in", "w_in", "c_in", "h_out", "w_out", "c_out"),
    *("k_h", "k_w", "s_h", "s_w", "d_h", "d_w"),
    *("pad_top", "pad_left", "pad_bottom", "pad_right"),
    *("operands", "broadcast"),
)
"""Extents as the op's record has them: h_in and w_in of the first operand as stored, with its padding in
the padded layout. operands: how many. broadcast: 1 where the second one is smaller than the first."""

STEP_NAMES = (*NAMES, "b")
"""With the pixels of a step, where these are known."""

STAGE_NAMES = (*NAMES, "conv", "depthwise", "stage")
"""Of an op inside a segment. conv, depthwise: 1 where it is one. stage: its number in there, from 1."""

_TOKEN = re.compile(
    r" *(?:(?P<number>[0-9]+)|(?P<word>[a-z][a-z0-9_]*)|(?P<sign>[=!<>]=|[-+*/%<>(),]))"
)
_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
_FUNCTIONS = ("min", "max")
_C_FUNCTIONS = {
    "+": "formula_add",
    "-": "formula_sub",
    "*": "formula_mul",
    "/": "formula_div",
    "%": "formula_mod",
    "min": "formula_min",
    "max": "formula_max",
    "and": "formula_and",
    "or": "formula_or",
    "==": "formula_eq",
    "!=": "formula_ne",
    "<": "formula_lt",
    "<=": "formula_le",
    ">": "formula_gt",
    ">=": "formula_ge",
}


@dataclass(frozen=True)
class Number:
    value: int


@dataclass(frozen=True)
class Name:
    name: str


@dataclass(frozen=True)
class Binary:
    """sign: of arithmetic, a comparison, `and`, `or`, `min` or `max`."""

    sign: str
    left: Tree
    right: Tree


Tree = Number | Name | Binary
Fail = Callable[[int, str, str], ConfigError]


@dataclass(frozen=True)
class Formula:
    """A formula and its text. Equal where the texts are."""

    text: str
    tree: Tree = field(compare=False)

    def evaluate(self, names: Mapping[str, int]) -> int:
        """From 0 to MAX. names: values of at least all that it uses, none negative."""
        return _evaluate(self.tree, names)

    def in_c(self, names: str) -> str:
        """A uint64_t expression over `struct formula_names` (firmware/kernels/formula.h)."""
        return _in_c(self.tree, names)


def parse(text: str, names: Collection[str] = NAMES, fail: Fail | None = None) -> Formula:
    """Errors: ConfigError, as `fail(offset, message, hint)` makes it, for all but the grammar above."""
    failed = fail or _fail
    if len(text) > MAX_LENGTH:
        raise failed(0, f"a formula of {len(text)} characters", f"{MAX_LENGTH} are allowed")
    reader = _Reader(_tokens(text, failed), names, failed)
    tree = reader.either()
    reader.end()
    return Formula(text, tree)


def parse_node(node: Node, names: Collection[str] = NAMES) -> Formula:
    """The same for a value of a YAML file; errors say its line and the column inside it."""
    return parse(node.text(), names, node.fail_at)


def _fail(offset: int, message: str, hint: str) -> ConfigError:
    return ConfigError(f"column {offset + 1}: {message}", hint=hint)


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    at: int


def _tokens(text: str, fail: Fail) -> list[_Token]:
    found, at = [], 0
    end = len(text.rstrip(" "))
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            at += len(text[at:]) - len(text[at:].lstrip(" "))
            raise fail(at, f"{quoted(text[at])} is in no formula", "numbers, names, + - * / % ( )")
        kind = match.lastgroup
        found.append(_Token(kind, match[kind], match.start(kind)))
        at = match.end()
    found.append(_Token("end", "", len(text)))
    return found


class _Reader:
    """Recursive descent over the tokens, one method a rule."""

    def __init__(self, tokens: list[_Token], names: Collection[str], fail: Fail) -> None:
        self._tokens = tokens
        self._names = names
        self._fail = fail
        self._next = 0
        self._depth = 0

    @property
    def _token(self) -> _Token:
        return self._tokens[self._next]

    def end(self) -> None:
        if self._token.kind != "end":
            raise self._unexpected()

    def either(self) -> Tree:
        return self._chain(("or",), lambda: self._chain(("and",), self._compared))

    def _compared(self) -> Tree:
        left = self._sum()
        if self._token.text not in _COMPARISONS:
            return left
        sign = self._take()
        right = self._sum()
        if self._token.text in _COMPARISONS:
            raise self._fail(self._token.at, "a comparison of a comparison", "join them by `and`")
        return Binary(sign, left, right)

    def _sum(self) -> Tree:
        return self._chain(("+", "-"), lambda: self._chain(("*", "/", "%"), self._atom))

    def _chain(self, signs: tuple[str, ...], part: Callable[[], Tree]) -> Tree:
        """Parts from left to right."""
        tree = part()
        while self._token.text in signs:
            sign, at = self._take(), self._token.at
            right = part()
            if sign in ("/", "%") and right == Number(0):
                raise self._fail(at, "a division by 0", "")
            tree = Binary(sign, tree, right)
        return tree

    def _atom(self) -> Tree:
        token = self._token
        if token.kind == "number":
            self._take()
            if len(token.text) > len(str(MAX)) or int(token.text) > MAX:
                raise self._fail(token.at, f"{quoted(token.text)} is more than {MAX}", "")
            return Number(int(token.text))
        if token.text in _FUNCTIONS:
            self._take()
            return self._call(token.text)
        if token.text == "(":
            tree, *more = self._bracket()
            if more:
                raise self._fail(token.at, "several values in one bracket", "min(...) or max(...)?")
            return tree
        if token.kind == "word" and token.text not in ("and", "or"):
            if token.text not in self._names:
                raise self._fail(
                    token.at,
                    f"{quoted(token.text)} is no name of a formula",
                    nearest(token.text, self._names),
                )
            self._take()
            return Name(token.text)
        raise self._unexpected()

    def _call(self, function: str) -> Tree:
        if self._token.text != "(":
            raise self._unexpected()
        tree, *others = self._bracket()
        for other in others:
            tree = Binary(function, tree, other)
        return tree

    def _bracket(self) -> list[Tree]:
        opened = self._token.at
        self._take()
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self._fail(opened, f"more than {MAX_DEPTH} brackets in each other", "")
        values = [self.either()]
        while self._token.text == ",":
            self._take()
            values.append(self.either())
        if self._token.text != ")":
            raise self._unexpected()
        self._take()
        self._depth -= 1
        return values

    def _take(self) -> str:
        text = self._token.text
        self._next += 1
        return text

    def _unexpected(self) -> ConfigError:
        token = self._token
        what = quoted(token.text) if token.text else "the end"
        return self._fail(token.at, f"{what} is not expected here", "")


def _evaluate(tree: Tree, names: Mapping[str, int]) -> int:
    if isinstance(tree, Number):
        return tree.value
    if isinstance(tree, Name):
        return min(names[tree.name], MAX)
    left, right = _evaluate(tree.left, names), _evaluate(tree.right, names)
    return _binary(tree.sign, left, right)


def _binary(sign: str, a: int, b: int) -> int:
    match sign:
        case "+":
            return min(a + b, MAX)
        case "-":
            return max(a - b, 0)
        case "*":
            return min(a * b, MAX)
        case "/":
            return a // b if b else MAX
        case "%":
            return a % b if b else MAX
        case "min":
            return min(a, b)
        case "max":
            return max(a, b)
        case "and":
            return int(a != 0 and b != 0)
        case "or":
            return int(a != 0 or b != 0)
        case "==":
            return int(a == b)
        case "!=":
            return int(a != b)
        case "<":
            return int(a < b)
        case "<=":
            return int(a <= b)
        case ">":
            return int(a > b)
        case _:
            return int(a >= b)


def _in_c(tree: Tree, names: str) -> str:
    if isinstance(tree, Number):
        return f"{tree.value}ull"
    if isinstance(tree, Name):
        return f"{names}.{tree.name}"
    left, right = _in_c(tree.left, names), _in_c(tree.right, names)
    return f"{_C_FUNCTIONS[tree.sign]}({left}, {right})"
