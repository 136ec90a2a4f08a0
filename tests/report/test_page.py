# SPDX-License-Identifier: Apache-2.0
"""The frame of every page: its policy, and that scripts and styles inside are those it allows."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

import pytest
from jinja2 import UndefinedError

from harness.report.html.page import ASSETS, SCRIPTS, TEMPLATES, Assets, number, render

FROM_A_HOST = re.compile(r"(?:src|href|action)\s*=\s*[\"']?\s*(?:https?:)?//|@import|url\(")


def _page(assets: Assets) -> str:
    return render("base.html", assets, title='<b>"&')


def test_a_page_in_one_file_allows_what_is_in_it_and_nothing_else() -> None:
    text = _page(Assets())
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    for tag, name in (("script", "script-src"), ("style", "style-src")):
        inside = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        assert inside
        sums = [
            base64.b64encode(hashlib.sha256(body.encode()).digest()).decode() for body in inside
        ]
        allowed = " ".join(f"&#39;sha256-{found}&#39;" for found in sums)
        assert f"{name} {allowed};" in policy
    assert policy.startswith("default-src &#39;none&#39;;")
    assert "unsafe" not in policy
    assert "base-uri &#39;none&#39;; form-action &#39;none&#39;" in policy


def test_a_page_of_a_folder_has_no_script_inside() -> None:
    text = _page(Assets(folder="assets"))
    assert "script-src &#39;self&#39;; style-src &#39;self&#39;;" in text
    assert re.findall(r"<script[^>]*>", text) == ['<script src="assets/theme.js">']
    assert "<style" not in text


def test_the_title_is_escaped() -> None:
    text = _page(Assets())
    assert "<b>" not in text.split("<body>")[0]
    assert "&lt;b&gt;&#34;&amp;" in text


def test_a_name_that_a_template_lacks_is_an_error() -> None:
    with pytest.raises(UndefinedError):
        render("base.html", Assets())


@pytest.mark.parametrize("path", sorted(TEMPLATES.glob("*.html")), ids=lambda path: path.name)
def test_templates_name_no_host_and_escape_everything(path: Path) -> None:
    text = path.read_text()
    assert not FROM_A_HOST.search(text)
    assert "|safe" not in text.replace(" ", "")
    assert "autoescape" not in text
    assert not re.search(r"<[a-z][^>]*\s(?:on[a-z]+|style)\s*=", text)  # the policy forbids both
    assert not re.search(r"=\{\{", text), "an attribute without quotes"


def test_own_scripts_make_text_and_never_markup() -> None:
    words = (
        r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|Function\(|\bfetch\(|XMLHttp"
    )
    for name in (*SCRIPTS, "filter.js", "case.js"):
        assert not re.search(words, (ASSETS / name).read_text())


def test_the_charting_library_is_the_published_one() -> None:
    """uplot 1.6.32 of the npm registry, dist/; its licence goes with it."""
    sums = {
        "uPlot.iife.min.js": "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
        "uPlot.min.css": "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
        "uPlot.LICENSE": "8f989229699b4fe2f1a0432d0e9edc338a8a911e250e2d1b01ecd770a5f5b1bd",
    }
    for name, expected in sums.items():
        assert hashlib.sha256((ASSETS / name).read_bytes()).hexdigest() == expected
    assert "v1.6.32" in (ASSETS / "uPlot.iife.min.js").read_text()[:100]
    assert "MIT License" in (ASSETS / "uPlot.LICENSE").read_text()
    assert not FROM_A_HOST.search((ASSETS / "uPlot.min.css").read_text())


def test_numbers() -> None:
    assert number(1234567) == "1\u202f234\u202f567"
    assert number(0) == "0"
    assert number(None) == "–"
