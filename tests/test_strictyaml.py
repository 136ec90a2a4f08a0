# SPDX-License-Identifier: Apache-2.0
"""Mistakes in YAML are answered with their place and the nearest name."""

from __future__ import annotations

import pytest

from harness.errors import ConfigError
from harness.strictyaml import MAX_DEPTH, parse


def _refusal(text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        top = parse(text, "f.yaml").mapping(known=("boards", "racks"), needed=("boards",))
        top["boards"].mapping(known=("a", "b"))["a"].integer(1, 10)
    return str(caught.value)


def test_good() -> None:
    assert parse("boards: {a: 0x7}", "f").mapping()["boards"].mapping()["a"].integer(1, 10) == 7


@pytest.mark.parametrize(
    ("text", "place", "says"),
    [
        ("boards: {a: 1}\nrack: 3", "f.yaml:2:1", "did you mean 'racks'?"),
        ("boards: {a: 1, a: 2}", "f.yaml:1:16", "'a' is here twice"),
        ("racks: 1", "f.yaml:1:1", "'boards' is missing"),
        ("boards: {a: eleven}", "f.yaml:1:13", "a whole number from 1 to 10"),
        ("boards: {a: 11}", "f.yaml:1:13", "11 is not within 1 to 10"),
        ("boards: [1, 2]", "f.yaml:1:9", "a mapping"),
        ("boards: {a: 1", "f.yaml:", "not YAML"),
        ("x: &p 1\nboards: {a: *p}", "f.yaml", "aliases are not allowed at line 2"),
        ("boards: " + "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1), "f.yaml", "levels"),
        ("boards: !!python/object/apply:os.system ['true']", "f.yaml", "tags are not allowed"),
        ("", "f.yaml", "empty"),
    ],
)
def test_mistakes(text: str, place: str, says: str) -> None:
    refusal = _refusal(text)
    assert place in refusal
    assert says in refusal
