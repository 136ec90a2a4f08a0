# SPDX-License-Identifier: Apache-2.0
"""Writes layers/keras/*.json again: the graphs of 33 Keras applications, shapes only.

    python -m venv tf && tf/bin/pip install tensorflow-cpu
    tf/bin/python tools/keras_graphs.py OUTPUT_FOLDER [MODEL ...]
    tf/bin/python tools/keras_graphs.py --check layers/keras [MODEL ...]

It needs TensorFlow with Keras 3 and nothing of ripbench. Models are built with random weights; nothing
is downloaded. `--check` compares with what is there and writes nothing.

The walk follows the functional graph in Keras' order and folds what a converter to int8 folds:

* batch normalisation, a constant factor or summand after a convolution without activation: into it;
  elsewhere a normalisation is MUL and ADD, a constant is an op with one operand;
* ReLU and ReLU6 into the op before, if that has no activation and no other reader;
* zero padding into the convolution or pool that reads it;
* reshaping, dropout and the last softmax: nothing. Swish: LOGISTIC and MUL. Hard-swish: one op;
* separable convolutions: a depthwise and a 1x1. Rescaling: MUL, and ADD for its offset.
  Normalization: SUB and DIV. EfficientNetB0 to B7: one MUL more, which Keras adds with the published
  weights alone.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

MODELS = [
    "MobileNet", "MobileNetV2", "MobileNetV3Small", "MobileNetV3Large", "VGG16", "VGG19",
    "ResNet50", "ResNet50V2", "ResNet101", "ResNet101V2", "ResNet152", "ResNet152V2",
    "DenseNet121", "DenseNet169", "DenseNet201", "InceptionV3", "InceptionResNetV2", "Xception",
    "EfficientNetB0", "EfficientNetB1", "EfficientNetB2", "EfficientNetB3", "EfficientNetB4",
    "EfficientNetB5", "EfficientNetB6", "EfficientNetB7", "EfficientNetV2B0",
    "EfficientNetV2B1", "EfficientNetV2B2", "EfficientNetV2B3", "EfficientNetV2S",
    "EfficientNetV2M", "EfficientNetV2L",
]  # fmt: skip

_LINEAR = ("conv", "dwconv", "fc")  # take a factor and a summand
_CLAMPING = (*_LINEAR, "add", "mul", "sub", "div", "avgpool", "maxpool")
_NOTHING = ("Dropout", "Reshape", "Flatten")
_NO_PAD = (0, 0, 0, 0)


class Walk:
    """tensors: [h, w, c]. ops: as written. Of each tensor: `_made`, the op's index; `_final`, has that
    op an activation already; `_readers`, of the Keras tensor that it stands for."""

    def __init__(self, model: Any, name: str) -> None:
        self.tensors: list[list[int]] = []
        self.ops: list[dict[str, Any]] = []
        self._name = name
        self._final: set[int] = set()
        self._made: dict[int, int] = {}
        self._at: dict[int, tuple[int, tuple[int, int, int, int]]] = {}
        self._readers: Counter[int] = Counter()
        steps = _in_order(model)
        for operation in steps:
            for tensor in _inputs(operation):
                self._readers[id(tensor)] += 1
        (image,) = model.inputs
        self._at[id(image)] = self._new(image.shape), _NO_PAD
        for operation in steps:
            if type(operation).__name__ != "InputLayer":
                self._step(operation)
        self.output, _ = self._at[id(model.outputs[0])]

    # ---- making ----

    def _new(self, shape: Sequence[Any]) -> int:
        extents = [int(n) for n in shape[1:]]
        self.tensors.append([1] * (3 - len(extents)) + extents)
        return len(self.tensors) - 1

    def _emit(self, word: str, ins: list[int], shape: Sequence[Any], **window: Any) -> int:
        out = self._new(shape)
        self._made[out] = len(self.ops)
        self.ops.append({"op": word, "ins": ins, "out": out, **window})
        return out

    def _of(self, tensor: int) -> str:
        """The word of the op that made it."""
        return self.ops[self._made[tensor]]["op"] if tensor in self._made else ""

    def _folds(self, tensor: int, keras_tensor: Any, into: tuple[str, ...]) -> bool:
        alone = self._readers[id(keras_tensor)] == 1
        return alone and tensor not in self._final and self._of(tensor) in into

    def _activated(self, x: int, kind: str, shape: Sequence[Any], alone: bool) -> int:
        """alone: has nobody else to read x."""
        if kind in ("linear", "softmax"):
            return x
        if kind in ("relu", "relu6"):
            if alone and x not in self._final and self._of(x) in _CLAMPING:
                self._final.add(x)
                return x
            return self._emit("relu", [x], shape)
        if kind in ("sigmoid", "swish", "silu"):
            gate = self._emit("logistic", [x], shape)
            self._final.add(gate)
            return gate if kind == "sigmoid" else self._emit("mul", [x, gate], shape)
        if kind in ("hard_swish", "hard_silu"):
            return self._emit("hardswish", [x], shape)
        raise SystemExit(f"{self._name}: an activation {kind!r} that is not known here")

    # ---- reading ----

    def _step(self, operation: Any) -> None:
        (result,) = operation._inbound_nodes[-1].output_tensors
        inputs = _inputs(operation)
        xs = [self._at[id(tensor)] for tensor in inputs]
        kind = type(operation).__name__
        x, pad = xs[0]
        if kind == "ZeroPadding2D":
            (top, bottom), (left, right) = operation.padding
            self._at[id(result)] = x, (pad[0] + top, pad[1] + left, pad[2] + bottom, pad[3] + right)
            return
        if kind in _NOTHING:
            self._at[id(result)] = xs[0]
            self._readers[id(result)] += self._readers[id(inputs[0])] - 1
            return
        made = self._op(operation, kind, inputs, [tensor for tensor, _ in xs], pad, result)
        self._at[id(result)] = made, _NO_PAD

    def _op(
        self, operation: Any, kind: str, inputs: list[Any], xs: list[int], pad: Any, result: Any
    ) -> int:
        x, shape = xs[0], result.shape
        if kind in ("Conv2D", "DepthwiseConv2D", "SeparableConv2D"):
            return self._convolution(operation, kind, x, pad, shape)
        if kind in ("AveragePooling2D", "MaxPooling2D"):
            word = "avgpool" if kind.startswith("Average") else "maxpool"
            window = _window(operation, operation.pool_size, self.tensors[x], pad)
            return self._emit(word, [x], shape, **window)
        if kind == "GlobalAveragePooling2D":
            return self._emit("mean", [x], shape)
        if kind == "Dense":
            out = self._emit("fc", [x], shape)
            return self._activated(out, operation.activation.__name__, shape, True)
        if kind in ("ReLU", "Activation"):
            word = "relu" if kind == "ReLU" else operation.activation.__name__
            alone = self._readers[id(inputs[0])] == 1
            return self._activated(x, word, shape, alone)
        if kind == "Concatenate":
            return self._emit("concat", xs, shape)
        if len(xs) == 2 and kind in ("Add", "Multiply", "CustomScaleLayer"):
            # the factor of the second operand is its convolution's
            return self._emit("mul" if kind == "Multiply" else "add", xs, shape)
        return self._constant(operation, kind, inputs[0], x, shape)

    def _convolution(self, operation: Any, kind: str, x: int, pad: Any, shape: Any) -> int:
        window = _window(operation, operation.kernel_size, self.tensors[x], pad)
        if kind == "SeparableConv2D":
            depth = self._emit("dwconv", [x], (*shape[:3], self.tensors[x][2]), **window)
            point = {"k": [1, 1], "s": [1, 1], "d": [1, 1], "p": [0, 0, 0, 0]}
            out = self._emit("conv", [depth], shape, **point)
        else:
            out = self._emit("conv" if kind == "Conv2D" else "dwconv", [x], shape, **window)
        return self._activated(out, operation.activation.__name__, shape, True)

    def _constant(self, operation: Any, kind: str, tensor: Any, x: int, shape: Any) -> int:
        """Ops with constants of their own."""
        if kind in ("BatchNormalization", "Add", "Multiply") and self._folds(x, tensor, _LINEAR):
            return x
        if kind == "BatchNormalization":
            return self._emit("add", [self._emit("mul", [x], shape)], shape)
        if kind in ("Add", "Multiply"):
            return self._emit(kind.lower()[:3], [x], shape)
        if kind == "Rescaling":
            scaled = self._emit("mul", [x], shape)
            return self._emit("add", [scaled], shape) if operation.offset else scaled
        if kind == "Normalization":
            divided = self._emit("div", [self._emit("sub", [x], shape)], shape)
            if self._name.startswith("EfficientNetB"):
                return self._emit("mul", [divided], shape)
            return divided
        raise SystemExit(f"{self._name}: a layer {kind} that is not known here")

    def text(self) -> str:
        """One op a line."""
        head = {"model": self._name, "input": 0, "output": self.output}
        tensors = json.dumps(self.tensors, separators=(",", ":"))
        ops = ",\n".join(json.dumps(op, separators=(",", ":")) for op in self.ops)
        first = json.dumps(head, separators=(",", ":"))[:-1]
        return f'{first},\n"tensors":{tensors},\n"ops":[\n{ops}\n]}}\n'


def _in_order(model: Any) -> list[Any]:
    """As Keras runs them: from the largest distance to the output down."""
    nodes = model._nodes_by_depth
    return [node.operation for depth in sorted(nodes, reverse=True) for node in nodes[depth]]


def _inputs(operation: Any) -> list[Any]:
    return list(operation._inbound_nodes[-1].input_tensors) if operation._inbound_nodes else []


def _window(operation: Any, kernel: Any, shape: list[int], pad: Any) -> dict[str, Any]:
    """k, s, d and p [top, left, bottom, right]: the border that was there, and what `same` adds."""
    k, s = list(kernel), list(operation.strides)
    d = list(getattr(operation, "dilation_rate", (1, 1)))
    top, left, bottom, right = pad
    if operation.padding == "same":
        above, below = _same(shape[0] + top + bottom, k[0], s[0], d[0])
        before, after = _same(shape[1] + left + right, k[1], s[1], d[1])
        top, left, bottom, right = top + above, left + before, bottom + below, right + after
    return {"k": k, "s": s, "d": d, "p": [top, left, bottom, right]}


def _same(size: int, taps: int, stride: int, dilation: int) -> tuple[int, int]:
    total = max((-(-size // stride) - 1) * stride + (taps - 1) * dilation + 1 - size, 0)
    return total // 2, total - total // 2


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("models", nargs="*", default=MODELS, metavar="MODEL")
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    options = parser.parse_args(arguments)
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import keras

    different = 0
    for name in options.models:
        if name not in MODELS:
            parser.error(f"{name} is none of {', '.join(MODELS)}")
        make = getattr(keras.applications, name)
        model = make(weights=None)
        if None in model.input_shape[1:]:  # MobileNetV3 takes any size
            model = make(weights=None, input_shape=(224, 224, 3))
        text = Walk(model, name).text()
        keras.utils.clear_session()
        path = options.folder / f"{name}.json"
        if not options.check:
            path.write_text(text)
            print(f"{name}: written")
            continue
        same = path.is_file() and json.loads(path.read_text()) == json.loads(text)
        different += not same
        print(f"{name}: {'the same' if same else 'DIFFERENT'}", flush=True)
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
