# SPDX-License-Identifier: Apache-2.0
"""Data and names inside a page, and names as file names."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.report.html.embed import script_json, shown, slug
from tests.report.made import HOSTILE

_ANY = st.text(st.characters(exclude_categories=()), max_size=40)  # lone surrogates, too


def test_script_json_literally() -> None:
    value = {"a": "</script><!--", "b": "&\u2028\u2029\u202e", "c": [1, None, True, 1.5]}
    assert script_json(value) == (
        '{"a":"\\u003c/script\\u003e\\u003c!--","b":"\\u0026\\u2028\\u2029\\u202e",'
        '"c":[1,null,true,1.5]}'
    )


@given(
    st.recursive(_ANY, lambda inner: st.lists(inner) | st.dictionaries(_ANY, inner), max_leaves=8)
)
def test_script_json_is_harmless_and_the_same(value: object) -> None:
    text = str(script_json(value))
    assert not re.search(r"[<>&\u2028\u2029]", text)
    assert text.isascii()
    assert json.loads(text) == value


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_numbers_that_json_has_not(value: float) -> None:
    with pytest.raises(ValueError):
        script_json([value])


def test_slugs_literally() -> None:
    assert slug("mcunet-in0.3") == "mcunet-in0-3-286bf429e05f"
    assert slug("../../../../etc/passwd") == "etc-passwd-a032902ca26b"
    assert slug("\u05d0") == "defba94d071a"
    assert slug("") == "e3b0c44298fc"


@given(_ANY)
def test_a_slug_is_a_plain_file_name(name: str) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", slug(name))
    assert len(slug(name)) <= 73


def test_slugs_differ_where_names_do() -> None:
    names = [*HOSTILE, "a.b", "a-b", "A.b", "a b", "x" * 299, "x" * 301, "con", "CON"]
    slugs = {slug(name) for name in names}
    assert len(slugs) == len(names)
    assert len({name.lower() for name in slugs}) == len(names)  # also where case is one


def test_shown() -> None:
    assert shown("a\x1b[31m\u202eb\u2066\nc\u200b") == "a?[31m?b??c?"
    assert shown("x" * 121) == "x" * 119 + "…"
    assert shown("x" * 120) == "x" * 120
