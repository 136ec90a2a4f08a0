# SPDX-License-Identifier: Apache-2.0
"""The Keras graphs: all 33 of the paper's Table 7 by their number of ops, and hostile files."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from harness.case import draw_network_parameters, draw_parameters
from harness.errors import ConfigError
from harness.network import Network, load_network, model_files
from harness.network.shapes import MAX_OPS
from harness.schema.constants import OpKind
from harness.strictyaml import MAX_BYTES

# "Ops" of the paper's Table 7.
TABLE_7 = {
    "MobileNet": 29, "MobileNetV2": 64, "MobileNetV3Small": 109, "MobileNetV3Large": 122,
    "VGG16": 21, "VGG19": 24, "ResNet50": 72, "ResNet50V2": 109, "ResNet101": 140,
    "ResNet101V2": 211, "ResNet152": 208, "ResNet152V2": 313, "DenseNet121": 308,
    "DenseNet169": 428, "DenseNet201": 508, "InceptionV3": 124, "InceptionResNetV2": 334,
    "Xception": 103, "EfficientNetB0": 242, "EfficientNetB1": 344, "EfficientNetB2": 344,
    "EfficientNetB3": 389, "EfficientNetB4": 479, "EfficientNetB5": 581, "EfficientNetB6": 671,
    "EfficientNetB7": 818, "EfficientNetV2B0": 269, "EfficientNetV2B1": 328,
    "EfficientNetV2B2": 343, "EfficientNetV2B3": 403, "EfficientNetV2S": 503,
    "EfficientNetV2M": 726, "EfficientNetV2L": 1005,
}  # fmt: skip


def _network(name: str | Path) -> Network:
    made = load_network(name)
    assert isinstance(made, Network)
    return made


def test_they_are_all_there() -> None:
    assert {name for name, path in model_files().items() if path.suffix == ".json"} == set(TABLE_7)


@pytest.mark.parametrize("name", TABLE_7)
def test_ops(name: str) -> None:
    made = _network(name)
    assert len(made.nodes) == TABLE_7[name]
    assert len(made.tensors) == TABLE_7[name] + 1
    assert made.source == f"Keras application {name}"
    assert made.nodes[-1].layer.id == f"{name.lower()}.op{TABLE_7[name] - 1}"


def test_multiply_accumulates() -> None:
    """As published with MobileNet (569 M) and VGG-16 (15.5 G)."""
    for name, wanted in (("MobileNet", 568_740_352), ("VGG16", 15_470_264_320)):
        filters = (OpKind.CONV, OpKind.DEPTHWISE, OpKind.FULLY_CONNECTED)
        nodes = _network(name).nodes
        macs = sum(n.layer.macs for n in nodes if n.layer.kind in filters)
        assert macs == wanted


def test_a_gate_and_constants() -> None:
    made = _network("EfficientNetB0")
    kinds = Counter((node.layer.kind, node.layer.function) for node in made.nodes)
    assert kinds[OpKind.TABLE, "affine"] == 4
    assert kinds[OpKind.MEAN, ""] == 17
    assert kinds[OpKind.DEPTHWISE, ""] == 16
    gates = [n for n in made.nodes if n.layer.kind is OpKind.MUL and n.layer.inputs[1].h == 1]
    assert sum(n.layer.inputs[0].h > 1 for n in gates) == 16


def test_what_has_no_kernel_is_not_run() -> None:
    made = _network("EfficientNetB0")
    with pytest.raises(ConfigError, match="no kernel computes 'affine'") as caught:
        draw_network_parameters(made)
    assert "planned" in caught.value.hint
    with pytest.raises(ConfigError, match="no kernel computes 'affine'"):
        draw_parameters(made.nodes[0].layer)


# ---- hostile files ----

_CONV = {"op": "conv", "ins": [0], "out": 1, "k": [3, 3], "s": [1, 1], "d": [1, 1], "p": [0] * 4}
_ADD = {"op": "add", "ins": [1, 1], "out": 2}


def _good() -> dict[str, Any]:
    tensors = [[4, 4, 3], [2, 2, 5], [2, 2, 5]]
    ops = [dict(_CONV), dict(_ADD)]
    return {"model": "Some", "input": 0, "output": 2, "tensors": tensors, "ops": ops}


def _refused(tmp_path: Path, content: bytes) -> str:
    path = tmp_path / "some.json"
    path.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        load_network(path)
    assert str(path) in str(caught.value)
    assert len(str(caught.value)) < 2000
    return str(caught.value)


def test_the_good_one(tmp_path: Path) -> None:
    path = tmp_path / "some.json"
    path.write_text(json.dumps(_good()))
    assert [node.layer.id for node in _network(path).nodes] == ["some.op0", "some.op1"]


TOP = {
    "another model": ({"model": 5}, "`model` is no text"),
    "another input": ({"input": 3}, "`input` is no whole number from 0 to 2"),
    "a true input": ({"input": True}, "`input` is no whole number"),
    "a real output": ({"output": 2.0}, "`output` is no whole number"),
    "an unknown key": ({"outputs": [2]}, "unknown key 'outputs'"),
    "a made input": ({"input": 1}, "reads tensor 0 before anything makes it"),
    "no ops": ({"ops": []}, "a network without ops"),
    "ops that are none": ({"ops": {}}, "`ops` is no list"),
    "an op that is none": ({"ops": [5]}, "op 0: 'None' is not known"),
    "many ops": ({"ops": [0] * (MAX_OPS + 1)}, "`ops` is no list of at most"),
    "no tensors": ({"tensors": []}, "no whole number from 0 to -1"),
    "a flat tensor": ({"tensors": [[4, 4]]}, "tensor 0: 3 numbers are expected, got 2"),
    "an empty tensor": ({"tensors": [[0, 4, 4]]}, "tensor 0 is no whole number from 1"),
}  # fmt: skip


@pytest.mark.parametrize("name", TOP)
def test_mistakes(name: str, tmp_path: Path) -> None:
    change, message = TOP[name]
    assert message in _refused(tmp_path, json.dumps({**_good(), **change}).encode())


OPS = {
    "an unknown op": (0, {"op": "convolve"}, "op 0: 'convolve' is not known"),
    "a list as op": (0, {"op": ["conv"]}, "op 0: \"['conv']\" is not known"),
    "a key of another op": (1, {"k": [1, 1]}, "op 1: unknown key 'k'"),
    "a kernel of 0": (0, {"k": [0, 3]}, "op 0: `k` is no whole number from 1"),
    "a kernel of three": (0, {"k": [3, 3, 3]}, "op 0: `k` is no list of at most 2"),
    "a negative pad": (0, {"p": [-1, 0, 0, 0]}, "op 0: `p` is no whole number from 0"),
    "another output": (0, {"s": [2, 2]}, "op 0: this conv makes 1x1x5, and its output is 2x2x5"),
    "a subtraction": (1, {"op": "sub"}, "op 1: sub of two tensors"),
    "no operand": (1, {"ins": []}, "op 1: add of 0 operands"),
    "many operands": (1, {"ins": [1] * 5}, "`ins` is no list of at most 4"),
    "an operand that is not there": (1, {"ins": [1, 9]}, "an operand is no whole number from 0 to 2"),
    "a cycle": (0, {"ins": [1], "k": [1, 1]}, "reads tensor 1 before anything makes it"),
    "made twice": (1, {"out": 1}, "makes tensor 1 a second time"),
}  # fmt: skip


@pytest.mark.parametrize("name", OPS)
def test_mistakes_in_ops(name: str, tmp_path: Path) -> None:
    number, change, message = OPS[name]
    content = _good()
    content["ops"][number].update(change)
    assert message in _refused(tmp_path, json.dumps(content).encode())


@pytest.mark.parametrize("key", [*_good(), "ops.op", "ops.ins", "ops.out", "ops.k", "ops.p"])
def test_what_is_missing(key: str, tmp_path: Path) -> None:
    content = _good()
    where = content["ops"][0] if "." in key else content
    del where[key.removeprefix("ops.")]
    message = _refused(tmp_path, json.dumps(content).encode())
    assert "is missing" in message or (key == "ops.op" and "'None' is not known" in message)


BYTES = {
    "nothing": b"",
    "not UTF-8": b'{"model": "\xff"}',
    "a key twice": json.dumps(_good()).replace("{", '{"output": 2, ', 1).encode(),
    "deep": b"[" * 500_000,
    "deep mappings": b'{"a":' * 100_000,
    "a long number": b'{"model": ' + b"9" * 5000 + b"}",
    "not a number": b'{"model": NaN}',
    "infinity": b'{"model": -Infinity}',
    "a list": b"[]",
    "null": b"null",
    "half": json.dumps(_good()).encode()[:-2],
    "two documents": b"{} {}",
    "zeros": bytes(1000),
    "too large": b" " * (MAX_BYTES + 1),
    "a long key": b'{"' + b"k" * 900_000 + b'": 1}',
    "a long op": json.dumps({**_good(), "ops": [{"op": "o" * 900_000}]}).encode(),
}


@pytest.mark.parametrize("name", BYTES)
def test_what_is_no_graph(name: str, tmp_path: Path) -> None:
    _refused(tmp_path, BYTES[name])
