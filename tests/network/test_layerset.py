# SPDX-License-Identifier: Apache-2.0
"""Layer sets: what is shipped, and how mistakes are answered."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import ConfigError
from harness.network import find_set, load_set


def test_the_first_set() -> None:
    layers = load_set(find_set("first"))
    assert [(layer.id, layer.geometry.macs) for layer in layers] == [
        ("mcunet-in0.0", 373_248),
        ("mcunet-in0.3", 589_824),
        ("mcunet-in0.5", 147_456),
        ("resnet56-3x3", 2_359_296),
        ("inception-v3-7x1", 49_717_248),
        ("deepspeech2-21x11", 6_209_280),
        ("odd-3x3", 24_570),
    ]
    assert [layer.id for layer in layers if layer.slow] == ["inception-v3-7x1", "deepspeech2-21x11"]


def _refusal(tmp_path: Path, text: str) -> str:
    path = tmp_path / "set.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_set(path)
    return str(caught.value)


GOOD = "{id: a, h_in: 4, w_in: 4, c_in: 1, c_out: 1"


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (GOOD + ", stride: [1, 1]}", "unknown key 'stride'"),
        (GOOD + ", k: [5, 5]}", "a: this convolution has no output"),
        (GOOD + ", k: [3]}", "2 numbers are expected here, got 1"),
        (GOOD + ", pad: [1, 1]}", "4 numbers"),
        ("{id: 'A b', h_in: 4, w_in: 4, c_in: 1, c_out: 1}", "'A b' is not an id"),
        ("{id: ../x, h_in: 4, w_in: 4, c_in: 1, c_out: 1}", "'../x' is not an id"),
        ("{id: a, h_in: 4, w_in: 4, c_in: 1}", "'c_out' is missing"),
        ("{id: a, h_in: 70000, w_in: 4, c_in: 1, c_out: 1}", "70000 is not within 1 to 65535"),
        (GOOD + "}, " + GOOD + "}", "'a' is here twice"),
    ],
)
def test_mistakes(tmp_path: Path, line: str, says: str) -> None:
    refusal = _refusal(tmp_path, f"layers: [{line}]")
    assert says in refusal
    assert "set.yaml:1:" in refusal


def test_unknown_set_names_the_nearest() -> None:
    with pytest.raises(ConfigError, match="did you mean 'first'"):
        find_set("frist")
