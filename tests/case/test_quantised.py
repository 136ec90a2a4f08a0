# SPDX-License-Identifier: Apache-2.0
"""Published int8 models, op by op and bit for bit as LiteRT's reference kernels compute them."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from ai_edge_litert.interpreter import Interpreter, OpResolverType

from harness.case import quantised_parameters
from harness.case.quantised import clamp_of, table_of
from harness.errors import ConfigError
from harness.network import Model, load_network
from harness.reference import compute_network

_INPUTS = 20
_FILES = ("mcunet-in3", "mcunet-vww1", "person-det")


def _path(name: str) -> Path:
    folder = os.environ.get("RIPBENCH_TFLITE_DIR")
    if not folder:
        pytest.skip("RIPBENCH_TFLITE_DIR names no folder of .tflite files")
    return Path(folder) / f"{name}.tflite"


def _litert(path: Path) -> Interpreter:
    interpreter = Interpreter(
        model_content=path.read_bytes(), experimental_op_resolver_type=OpResolverType.BUILTIN_REF,
        experimental_preserve_all_tensors=True, num_threads=1,
    )  # fmt: skip
    interpreter.allocate_tensors()
    return interpreter


def _every_tensor(interpreter: Interpreter) -> set[bytes]:
    """The bytes of each tensor that the file names."""
    seen = set()
    for details in interpreter.get_tensor_details():
        try:
            seen.add(interpreter.get_tensor(details["index"]).tobytes())
        except ValueError:  # scratch of a kernel
            continue
    return seen


@pytest.mark.parametrize("name", _FILES)
def test_every_output_and_every_tensor_between(name: str) -> None:
    """Outputs at their place; tensors between by their bytes, of which LiteRT must have the same."""
    path = _path(name)
    model = load_network(path)
    assert isinstance(model, Model)
    parameters = quantised_parameters(model)
    interpreter = _litert(path)
    (entry,) = interpreter.get_input_details()
    (tensor,) = model.network.inputs
    shape, q = model.network.tensors[tensor], model.inputs[0]
    for seed in range(_INPUTS):
        x = np.random.default_rng(seed).integers(-128, 128, shape.size).astype(np.int8)
        fed = (x.astype(np.float32) - q.zero_point) * np.float32(q.scale)
        given = fed if model.float_inputs[0] else x
        interpreter.set_tensor(entry["index"], given.reshape(entry["shape"]))
        interpreter.invoke()
        tensors = compute_network(model.network, parameters, [x])
        for number, details in enumerate(interpreter.get_output_details()):
            y = interpreter.get_tensor(details["index"]).ravel()
            out = model.outputs[number]
            if model.float_outputs[number]:
                y = np.rint(y / np.float32(out.scale)) + out.zero_point
            assert y.tolist() == tensors[model.network.outputs[number]].ravel().tolist()
        if seed < 3:
            seen = _every_tensor(interpreter)
            for node in model.network.nodes:
                made = tensors[node.output]  # the file may have it with its channels first
                either = {made.tobytes(), made.transpose(2, 0, 1).tobytes()}
                assert either & seen, node.layer.id


@pytest.mark.parametrize(
    ("activation", "scale", "zero_point", "expected"),
    [
        ("none", 0.1, 5, (-128, 127)),
        ("relu", 0.1, 5, (5, 127)),
        ("relu6", 0.1, 5, (5, 65)),
        ("relu6", 6 / 255, -128, (-128, 127)),
        ("relu", 3e38, -128, (-128, 127)),
        ("relu6", 1e-44, 0, (0, 127)),
        ("relu6", 3e38, 0, (0, 0)),
    ],
)
def test_clamps(activation: str, scale: float, zero_point: int, expected: tuple[int, int]) -> None:
    assert clamp_of(activation, scale, zero_point) == expected


def test_tables_between_scales_too_far_apart() -> None:
    for function in ("relu", "requantize", "swish"):
        with pytest.raises(ConfigError, match=f"{function} from scale"):
            table_of(function, 1e20, 0, 1e-20, 0)
    with pytest.raises(ConfigError, match="no kernel computes 'tanh'"):
        table_of("tanh", 1.0, 0, 1.0, 0)
