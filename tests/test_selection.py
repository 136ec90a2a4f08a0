# SPDX-License-Identifier: Apache-2.0
"""Words of a command line."""

from __future__ import annotations

from argparse import Namespace

import pytest

from harness.errors import ConfigError
from harness.selection import bench_options, choose_layers, choose_plans


def test_layers() -> None:
    assert len(choose_layers("first")) == 7
    assert [layer.id for layer in choose_layers("first#odd-3x3,first#mcunet-in0.0")] == [
        "odd-3x3",
        "mcunet-in0.0",
    ]
    with pytest.raises(ConfigError, match="did you mean 'odd-3x3'"):
        choose_layers("first#odd-3x4")


def test_plans() -> None:
    assert choose_plans(None, None) == ["dual", "rip", "dual-direct", "rip-direct"]
    assert choose_plans("rip", "gather") == ["rip"]
    with pytest.raises(ConfigError, match="--strategy 'rop' is not known"):
        choose_plans("rop", None)


def _words(**changed: object) -> Namespace:
    words: dict[str, object] = {
        "seeds": 3,
        "seed": 7,
        "repeat": 2,
        "history": "",
        "nonce": "1f",
        "reflash": False,
        "no_witness": False,
    }
    return Namespace(**{**words, **changed})


def test_options() -> None:
    options = bench_options(_words())
    assert (options.seeds, options.nonce, options.history) == ((7, 8, 9), 0x1F, None)


@pytest.mark.parametrize(
    "changed", [{"seeds": 0}, {"seed": -1}, {"repeat": 1000}, {"nonce": "xyz"}]
)
def test_wrong_numbers(changed: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        bench_options(_words(**changed))
