# SPDX-License-Identifier: Apache-2.0
"""The shipped models against the paper's Table 3 as published counts have it, the files that they are
of, and hostile files."""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path

import pytest

from harness.errors import ConfigError
from harness.network import Model, Network, Node, find_set, load_network, load_set, model_files
from harness.network.modelfile import slug_of
from harness.schema.constants import OpKind

_FILTERS = (OpKind.CONV, OpKind.DEPTHWISE)

# Ops, multiply-accumulates of filters, bytes of weights: published with the models.
TABLE_3 = {
    "mcunet-in0": (55, 6_364_224, 735_176),
    "mcunet-in1": (51, 12_790_096, 623_216),
    "mcunet-in2": (67, 67_287_200, 712_904),
    "mcunet-in3": (67, 81_785_520, 721_032),
    "mcunet-in4": (63, 125_874_400, 1_710_232),
    "mbv2-w0.35": (64, 23_499_152, 736_864),
    "proxyless-w0.3": (76, 38_282_216, 741_680),
    "mcunet-vww0": (51, 5_958_400, 358_744),
    "mcunet-vww1": (55, 11_578_816, 420_520),
    "mcunet-vww2": (83, 55_771_280, 621_032),
    "person-det": (70, 18_296_320, 159_584),
}
SLUG = re.compile(r"[a-z0-9][a-z0-9_.]*(-[a-z0-9.]+)*")


def network(name: str | Path) -> Network:
    made = load_network(name)
    assert isinstance(made, Network)
    return made


def _weights(node: Node) -> int:
    g = node.layer.window
    return g.c_out * g.k_h * g.k_w * (1 if node.layer.kind is OpKind.DEPTHWISE else g.c_in)


def test_they_are_all_there() -> None:
    assert {name for name, path in model_files().items() if path.suffix == ".yaml"} == set(TABLE_3)


@pytest.mark.parametrize("name", TABLE_3)
def test_counts(name: str) -> None:
    made = network(name)
    filters = [node for node in made.nodes if node.layer.kind in _FILTERS]
    macs = sum(node.layer.macs for node in filters)
    assert (len(made.nodes), macs, sum(map(_weights, filters))) == TABLE_3[name]
    assert made.name == name
    assert len(made.tensors) == len(made.nodes) + 1
    assert "commit" in made.source


@pytest.mark.parametrize("name", TABLE_3)
def test_ids_are_slugs_of_the_op_s_number(name: str) -> None:
    """They seed the weights and are keys of the history: never another."""
    made = network(name)
    assert [node.layer.id for node in made.nodes] == [
        f"{name}.op{n}" for n in range(len(made.nodes))
    ]
    assert all(SLUG.fullmatch(node.layer.id) for node in made.nodes)


def test_no_id_is_that_of_another_layer() -> None:
    ids = Counter(node.layer.id for file in model_files().values() for node in network(file).nodes)
    assert max(ids.values()) == 1
    for name in ("first", "table2", "paper84"):
        assert not {layer.id for layer in load_set(find_set(name))} & set(ids)


def test_a_pinned_weight_seed() -> None:
    assert network("mcunet-in0").nodes[3].layer.weight_seed == 23_380_735


def test_person_detection_has_three_outputs() -> None:
    made = network("person-det")
    assert made.outputs == (52, 63, 70)
    kinds = Counter(node.layer.kind for node in made.nodes)
    assert (kinds[OpKind.UPSAMPLE], kinds[OpKind.MAX_POOL]) == (2, 2)


# ---- the files that they are of ----


def _files() -> Path:
    folder = os.environ.get("RIPBENCH_TFLITE_DIR")
    if not folder:
        pytest.skip("RIPBENCH_TFLITE_DIR names no folder of .tflite files")
    return Path(folder)


def _alike(a: Node, b: Node) -> bool:
    return (a.layer.kind, a.layer.geometry, a.layer.activation, a.inputs, a.output) == (
        b.layer.kind, b.layer.geometry, b.layer.activation, b.inputs, b.output,
    )  # fmt: skip


@pytest.mark.parametrize("name", ["mcunet-in3", "person-det"])
def test_the_file_says_the_same(name: str) -> None:
    model = load_network(_files() / f"{name}.tflite")
    assert isinstance(model, Model)
    made, wanted = model.network, network(name)
    assert made.tensors == wanted.tensors
    assert all(_alike(a, b) for a, b in zip(made.nodes, wanted.nodes, strict=True))
    assert (made.inputs, sorted(made.outputs)) == (wanted.inputs, sorted(wanted.outputs))


def test_the_file_says_the_same_but_for_its_end() -> None:
    """This converter averages over columns, then over rows, and writes the last 1x1 convolution as a
    fully connected layer."""
    model = load_network(_files() / "mcunet-vww1.tflite")
    assert isinstance(model, Model)
    made, wanted = model.network, network("mcunet-vww1")
    assert made.tensors[:54] == wanted.tensors[:54]
    assert all(map(_alike, made.nodes[:53], wanted.nodes[:53]))
    assert [node.layer.kind.name for node in wanted.nodes[53:]] == ["AVERAGE_POOL", "CONV"]
    assert [node.layer.kind.name for node in made.nodes[53:]] == [
        "AVERAGE_POOL", "MEAN", "FULLY_CONNECTED",
    ]  # fmt: skip
    assert made.tensors[-2:] == wanted.tensors[-2:]


# ---- names ----


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("mcunet-in9", "mcunet-in"),
        ("mobilenetv", "mobilenet"),
        ("../models/mcunet-in0", "mcunet-in0"),
        ("", "known:"),
        ("x" * 10_000, "known:"),
    ],
)
def test_the_nearest_name(name: str, hint: str) -> None:
    with pytest.raises(ConfigError, match="no model") as caught:
        load_network(name)
    assert hint in caught.value.hint
    assert len(str(caught.value)) < 3000


def test_capitals_do_not_matter() -> None:
    assert network("MobileNetV2") == network("mobilenetv2")
    assert network("MCUNet-in0") == network("mcunet-in0")


@pytest.mark.parametrize(
    ("stem", "slug"),
    [
        ("mbv2-w0.35", "mbv2-w0.35"),
        ("EfficientNetV2B0", "efficientnetv2b0"),
        ("My Model (final)..v2", "my-model-final-v2"),
        ("../../etc/passwd", "etc-passwd"),
        ("-", "model"),
        ("\x1b[31mred", "31mred"),
        ("x" * 500, "x" * 40),
        ("ä.5", "5"),
        ("a.b.1.2", "a-b-1.2"),
    ],
)
def test_slugs(stem: str, slug: str) -> None:
    assert slug_of(stem) == slug
    assert SLUG.fullmatch(slug)


# ---- hostile files ----

_GOOD = """
source: "a test"
inputs: [0]
outputs: [2]
tensors:
  0: [4, 4, 3]
  1: [2, 2, 5]
  2: [2, 2, 5]
ops:
  - {op: conv, in: [0], out: 1, k: [3, 3], activation: relu6}
  - {op: add, in: [1, 1], out: 2}
"""


def _load(tmp_path: Path, text: str) -> Network:
    path = tmp_path / "some.yaml"
    path.write_text(text)
    return network(path)


def test_the_good_one(tmp_path: Path) -> None:
    made = _load(tmp_path, _GOOD)
    assert [node.layer.id for node in made.nodes] == ["some.op0", "some.op1"]
    assert made.nodes[0].layer.activation == "relu6"


CHANGES = {
    "unknown key": ("source:", "sauce:", r"3?.*unknown key 'sauce'"),
    "unknown key of an op": ("k: [3, 3]", "kk: [3, 3]", r":10:\d+: unknown key 'kk'"),
    "a key of another operator": ("out: 2}", "out: 2, k: [1, 1]}", r":11:\d+: unknown key 'k'"),
    "unknown operator": ("op: conv", "op: convolve", r":10:\d+: 'convolve' is not known"),
    "unknown activation": ("relu6", "swish", r":10:\d+: 'swish' is not known"),
    "rows": ("1: [2, 2, 5]", "1: [3, 2, 5]", r":10:5: this conv makes 2x2x5, and its output is 3x2x5"),
    "channels": ("2: [2, 2, 5]", "2: [2, 2, 6]", r":11:5: this add makes 2x2x5"),
    "no channels": ("0: [4, 4, 3]", "0: [4, 4, 0]", r":6:13: 0 is not within 1"),
    "four extents": ("0: [4, 4, 3]", "0: [1, 4, 4, 3]", r":6:6: 3 numbers are expected"),
    "a gap": ("  2: [", "  3: [", r":8:6: tensor '3' stands where tensor 2"),
    "a number twice": ("  2: [", "  1: [", r":8:3: '1' is here twice"),
    "too large": ("0: [4, 4, 3]", "0: [60000, 60000, 3]", r":6:6: a tensor .* more than"),
    "no such operand": ("in: [1, 1]", "in: [1, 3]", r":11:23: 3 is not within 0 to 2"),
    "no operand": ("in: [1, 1]", "in: []", r":11:5: add of 0 operands"),
    "one operand too few": ("in: [1, 1]", "in: [1]", r":11:5: add of 1 operands"),
    "many operands": ("in: [1, 1]", "in: [1, 1, 1, 1, 1]", r":11:19: 1 to 4 operands"),
    "a cycle": ("in: [0], out: 1, k: [3, 3]", "in: [1], out: 2, k: [1, 1]", r"some.yaml: some: op 0"),
    "made twice": ("in: [1, 1], out: 2", "in: [1, 1], out: 1", r"makes tensor 1 a second time"),
    "an input that is made": ("inputs: [0]", "inputs: [0, 1]", r"makes tensor 1 a second time"),
    "no input": ("inputs: [0]", "inputs: []", r"no input"),
    "one input twice": ("inputs: [0]", "inputs: [0, 0]", r"no input, or one twice"),
    "an output that nothing makes": ("out: 2}", "out: 1}", r"a second time"),
    "the kernel too large": ("k: [3, 3]", "k: [5, 5]", r":10:5: this convolution has no output"),
    "no kernel": ("k: [3, 3]", "k: [0, 3]", r":10:\d+: 0 is not within"),
    "ops missing": ("ops:", "opps:", r"unknown key 'opps'"),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_mistakes(name: str, tmp_path: Path) -> None:
    old, new, message = CHANGES[name]
    assert _GOOD.count(old) >= 1
    with pytest.raises(ConfigError, match=message) as caught:
        _load(tmp_path, _GOOD.replace(old, new, 1))
    assert "some.yaml" in str(caught.value)


def test_more_ops_than_there_may_be(tmp_path: Path) -> None:
    text = "inputs: [0]\noutputs: [1]\ntensors: {0: [1, 1, 1]}\nops: [" + "x," * 4097 + "]"
    with pytest.raises(ConfigError, match="more than 4096 ops"):
        _load(tmp_path, text)
