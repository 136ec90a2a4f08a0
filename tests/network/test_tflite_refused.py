# SPDX-License-Identifier: Apache-2.0
"""What the .tflite reader does not take: named with its number, a place and a way out; and damaged
files, which are an error or a network, in bounded time and memory."""

from __future__ import annotations

import os
import random
import re
import struct
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema

from harness.case import quantised_parameters
from harness.errors import ConfigError
from harness.network import load_network
from harness.network.tflite import model_of
from harness.network.tflite_file import MAX_BYTES, OPS, TfliteFile
from tests.network.tflite_models import BUILTIN, FLOAT, Maker, small_model


def _refused(content: bytes) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        quantised_parameters(model_of(TfliteFile(content, "some.tflite"), "some"))
    return caught.value


def _one(build: Callable[[Maker], tuple[list[int], list[int]]]) -> ConfigError:
    m = Maker()
    return _refused(m.file(*build(m)))


def test_names_of_operators() -> None:
    """By the code that the schema gives them."""
    names = {code: name for name, code in vars(BUILTIN).items() if isinstance(code, int)}
    assert [names[code] for code in range(len(OPS))] == list(OPS)


KINDS = {
    "float": schema.TensorType.FLOAT32,
    "uint8": schema.TensorType.UINT8,
    "int16": schema.TensorType.INT16,
    "float16": schema.TensorType.FLOAT16,
}


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("inside", [False, True])
def test_other_types_say_how_to_convert(name: str, inside: bool) -> None:
    m = Maker()
    x = m.tensor(1, 4, 4, 3, kind=None if inside else KINDS[name])
    y = m.tensor(1, 4, 4, 3, kind=KINDS[name])
    m.op(BUILTIN.RELU, [x], y)
    error = _refused(m.file([x], [y]))
    assert name.upper() in str(error) or "FLOAT32" in str(error)
    assert "TFLITE_BUILTINS_INT8" in error.hint
    assert "tf.int8" in error.hint
    assert "offset" in error.evidence


Build = Callable[[Maker], Any]


def _refusals() -> dict[str, tuple[str, Build]]:
    kept: dict[str, tuple[str, Build]] = {}

    def refusal(message: str) -> Callable[[Build], Build]:
        def keep(build: Build) -> Build:
            kept[build.__name__] = message, build
            return build

        return keep

    def plain(m: Maker, builtin: int, options: Any = None, **settings: Any) -> Any:
        x, y = m.tensor(1, 4, 4, 3), m.tensor(1, 4, 4, 3)
        return [x], [m.op(builtin, [x], y, options, **settings)]

    @refusal(r"op 1 \(TANH\): not supported")
    def unknown_op(m: Maker) -> Any:
        x, y, z = (m.tensor(1, 4, 4, 3) for _ in range(3))
        m.op(BUILTIN.RELU, [x], y)
        return [x], [m.op(BUILTIN.TANH, [y], z)]

    @refusal(r"op 0 \(builtin operator 150\): not supported")
    def later_op(m: Maker) -> Any:
        return plain(m, BUILTIN.GELU)

    @refusal(r"op 0 \(CUSTOM ''\): not supported")
    def custom_op(m: Maker) -> Any:
        return plain(m, BUILTIN.CUSTOM)

    @refusal(r"op 0 \(CONV_2D\): a filter of 3 channels on 4x4x6: groups")
    def groups(m: Maker) -> Any:
        x, y = m.tensor(1, 4, 4, 3), m.tensor(1, 2, 2, 4)
        m.conv(x, y)
        m.tensors[x] = m.tensors[m.tensor(1, 4, 4, 6)]
        return [x], [y]

    @refusal(r"op 0 \(CONV_2D\): this conv makes 2x2x4, and its output is 3x3x4")
    def another_shape(m: Maker) -> Any:
        x = m.tensor(1, 4, 4, 3)
        return [x], [m.conv(x, m.tensor(1, 3, 3, 4))]

    @refusal(r"op 0 \(CONV_2D\): a stride, dilation or kernel of 0")
    def no_stride(m: Maker) -> Any:
        x = m.tensor(1, 4, 4, 3)
        return [x], [m.conv(x, m.tensor(1, 2, 2, 4), strideH=0)]

    @refusal(r"op 0 \(CONV_2D\): .* with dilation -1x1")
    def negative_dilation(m: Maker) -> Any:
        x = m.tensor(1, 4, 4, 3)
        return [x], [m.conv(x, m.tensor(1, 2, 2, 4), dilationHFactor=-1)]

    @refusal(r"op 0 \(CONV_2D\): padding 7")
    def unknown_padding(m: Maker) -> Any:
        x = m.tensor(1, 4, 4, 3)
        return [x], [m.conv(x, m.tensor(1, 2, 2, 4), padding=7)]

    @refusal(r"op 0 \(CONV_2D\): fused activation 4")
    def tanh_inside(m: Maker) -> Any:
        x = m.tensor(1, 4, 4, 3)
        return [x], [m.conv(x, m.tensor(1, 2, 2, 4), fusedActivationFunction=4)]

    @refusal(r"op 0 \(CONV_2D\): operand 1 \(INT8\) is not a constant")
    def computed_weights(m: Maker) -> Any:
        x = m.tensor(1, 4, 4, 3)
        y = m.conv(x, m.tensor(1, 2, 2, 4))
        m.ops[0][3][1] = m.tensor(4, 3, 3, 3)
        return [x], [y]

    @refusal(r"op 0 \(CONV_2D\): its options are missing")
    def no_options(m: Maker) -> Any:
        x = m.tensor(1, 4, 4, 3)
        y = m.conv(x, m.tensor(1, 2, 2, 4))
        m.ops[0] = (*m.ops[0][:2], None, *m.ops[0][3:])
        return [x], [y]

    @refusal(r"op 0 \(CONV_2D\): operand 1 is missing")
    def no_filter(m: Maker) -> Any:
        x = m.tensor(1, 4, 4, 3)
        y = m.conv(x, m.tensor(1, 2, 2, 4))
        m.ops[0][3][1] = -1
        return [x], [y]

    @refusal(r"op 0 \(CONV_2D\): a bias of shape \[3\] for 4 channels")
    def short_bias(m: Maker) -> Any:
        x = m.tensor(1, 4, 4, 3)
        y = m.conv(x, m.tensor(1, 2, 2, 4))
        m.ops[0][3][2] = m.integers(1, 2, 3)
        return [x], [y]

    @refusal(r"op 0 \(CONV_2D\): 3 filter scales for 4 channels")
    def few_scales(m: Maker) -> Any:
        x = m.tensor(1, 4, 4, 3)
        y = m.conv(x, m.tensor(1, 2, 2, 4))
        m.ops[0][3][1] = m.constant(np.ones((4, 3, 3, 3), np.int8), [0.1] * 3)
        return [x], [y]

    @refusal(r"op 0 \(CONV_2D\): a filter scale that is no number")
    def infinite_scale(m: Maker) -> Any:
        x = m.tensor(1, 4, 4, 3)
        y = m.conv(x, m.tensor(1, 2, 2, 4))
        m.ops[0][3][1] = m.constant(np.ones((4, 3, 3, 3), np.int8), [0.1, np.inf, 1, 1])
        return [x], [y]

    @refusal(r"some\.op0: a multiplier of")
    def huge_multiplier(m: Maker) -> Any:
        x = m.tensor(1, 4, 4, 3)
        y = m.conv(x, m.tensor(1, 2, 2, 4))
        m.ops[0][3][1] = m.constant(np.ones((4, 3, 3, 3), np.int8), [0.1, 1e12, 1, 1])
        return [x], [y]

    @refusal(r"op 0 \(ADD\): operand 1 is a constant")
    def added_constant(m: Maker) -> Any:
        x, y = m.tensor(1, 4, 4, 3), m.tensor(1, 4, 4, 3)
        constant = m.constant(np.ones((1, 4, 4, 3), np.int8), [0.1])
        return [x], [m.op(BUILTIN.ADD, [x, constant], y, schema.AddOptionsT())]

    @refusal(r"op 0 \(ADD\): add of 4x4x3 and 1x4x3")
    def added_row(m: Maker) -> Any:
        x, row, y = m.tensor(1, 4, 4, 3), m.tensor(1, 1, 4, 3), m.tensor(1, 4, 4, 3)
        return [x, row], [m.op(BUILTIN.ADD, [x, row], y, schema.AddOptionsT())]

    @refusal(r"some\.op0: an addition's output scale")
    def added_to_a_small_scale(m: Maker) -> Any:
        x, y = m.tensor(1, 4, 4, 3, scale=1.0), m.tensor(1, 4, 4, 3, scale=1e-7)
        return [x], [m.op(BUILTIN.ADD, [x, x], y, schema.AddOptionsT())]

    @refusal("a batch of 2")
    def batch(m: Maker) -> Any:
        x, y = m.tensor(2, 4, 4, 3), m.tensor(2, 4, 4, 3)
        return [x], [m.op(BUILTIN.RELU, [x], y)]

    @refusal("5 dimensions")
    def five_dimensions(m: Maker) -> Any:
        x, y = m.tensor(1, 2, 4, 4, 3), m.tensor(1, 2, 4, 4, 3)
        return [x], [m.op(BUILTIN.RELU, [x], y)]

    @refusal(r"op 0 \(AVERAGE_POOL_2D\): input and output differ")
    def pool_between_scales(m: Maker) -> Any:
        x = m.tensor(1, 4, 4, 3)
        return [x], [m.pool(BUILTIN.AVERAGE_POOL_2D, x, m.tensor(1, 2, 2, 3, scale=0.06), 2, 2)]

    @refusal(r"op 0 \(CONCATENATION\): along axis 1")
    def concatenated_rows(m: Maker) -> Any:
        x, y = m.tensor(1, 4, 4, 3), m.tensor(1, 8, 4, 3)
        options = schema.ConcatenationOptionsT()
        return [x], [m.op(BUILTIN.CONCATENATION, [x, x], y, options, axis=1)]

    @refusal(r"op 0 \(CONCATENATION\): concat of 5 operands")
    def many_operands(m: Maker) -> Any:
        x, y = m.tensor(1, 4, 4, 3), m.tensor(1, 4, 4, 15)
        options = schema.ConcatenationOptionsT()
        return [x], [m.op(BUILTIN.CONCATENATION, [x] * 5, y, options, axis=3)]

    @refusal(r"op 0 \(RESIZE_NEAREST_NEIGHBOR\): from 4 to 6; only whole factors")
    def half_a_factor(m: Maker) -> Any:
        x, y = m.tensor(1, 4, 4, 3), m.tensor(1, 6, 8, 3)
        options = schema.ResizeNearestNeighborOptionsT()
        return [x], [m.op(BUILTIN.RESIZE_NEAREST_NEIGHBOR, [x, m.integers(6, 8)], y, options)]

    @refusal(r"op 0 \(RESIZE_NEAREST_NEIGHBOR\): from 2 to 82 is no plain repetition")
    def a_factor_that_float32_does_not_divide(m: Maker) -> Any:
        x, y = m.tensor(1, 7, 2, 3), m.tensor(1, 7, 82, 3)
        options = schema.ResizeNearestNeighborOptionsT()
        m.ops.append((BUILTIN.RESIZE_NEAREST_NEIGHBOR, 2, options, [x, m.integers(7, 82)], [y]))
        return [x], [y]

    @refusal(r"op 0 \(MEAN\): over channels")
    def mean_of_channels(m: Maker) -> Any:
        x, y = m.tensor(1, 4, 4, 3), m.tensor(1, 4, 4)
        return [x], [m.op(BUILTIN.MEAN, [x, m.integers(3)], y, schema.ReducerOptionsT())]

    @refusal(r"op 1 \(RELU\): operand 0 is transposed")
    def transposed(m: Maker) -> Any:
        x, y, z = m.tensor(1, 4, 5, 3), m.tensor(1, 3, 4, 5), m.tensor(1, 3, 4, 5)
        order = m.integers(0, 3, 1, 2)
        m.op(BUILTIN.TRANSPOSE, [x, order], y, schema.TransposeOptionsT())
        return [x], [m.op(BUILTIN.RELU, [y], z)]

    @refusal("an output that is transposed")
    def transposed_output(m: Maker) -> Any:
        x, a, y = m.tensor(1, 4, 5, 3), m.tensor(1, 4, 5, 3), m.tensor(1, 3, 4, 5)
        m.op(BUILTIN.RELU, [x], a)
        order = m.integers(0, 3, 1, 2)
        return [x], [m.op(BUILTIN.TRANSPOSE, [a, order], y, schema.TransposeOptionsT())]

    @refusal("an output that is padded")
    def padded_output(m: Maker) -> Any:
        x, a, y = m.tensor(1, 4, 5, 3), m.tensor(1, 4, 5, 3), m.tensor(1, 4, 6, 3)
        m.op(BUILTIN.RELU, [x], a)
        return [x], [m.pad(a, y, (0, 0), (0, 0), (0, 1), (0, 0))]

    @refusal(r"op 0 \(PAD\): padding of batch or channels")
    def padded_channels(m: Maker) -> Any:
        x, y = m.tensor(1, 4, 5, 3), m.tensor(1, 4, 5, 4)
        return [x], [m.pad(x, y, (0, 0), (0, 0), (0, 0), (0, 1))]

    @refusal(r"op 0 \(PAD\): a padding of -1 and 0")
    def negative_padding(m: Maker) -> Any:
        x, y = m.tensor(1, 4, 5, 3), m.tensor(1, 3, 5, 3)
        return [x], [m.pad(x, y, (0, 0), (-1, 0), (0, 0), (0, 0))]

    @refusal(r"op 1 \(RELU\): operand 0 was reshaped from 4x4x3 to 2x8x3")
    def reshaped(m: Maker) -> Any:
        x, y, z = m.tensor(1, 4, 4, 3), m.tensor(1, 2, 8, 3), m.tensor(1, 2, 8, 3)
        order = m.integers(1, 2, 8, 3)
        m.op(BUILTIN.RESHAPE, [x, order], y, schema.ReshapeOptionsT(), version=1)
        return [x], [m.op(BUILTIN.RELU, [y], z)]

    @refusal(r"op 0 \(SOFTMAX\): an output that is not of scale 1/256")
    def softmax_of_another_scale(m: Maker) -> Any:
        return plain(m, BUILTIN.SOFTMAX, schema.SoftmaxOptionsT(), beta=1.0)

    @refusal(r"op 0 \(SOFTMAX\): beta -1")
    def negative_beta(m: Maker) -> Any:
        x, y = m.tensor(1, 4), m.tensor(1, 4, scale=1 / 256, zero_point=-128)
        return [x], [m.op(BUILTIN.SOFTMAX, [x], y, schema.SoftmaxOptionsT(), beta=-1.0)]

    @refusal("scale 0.05 with zero point 300")
    def zero_point_out_of_range(m: Maker) -> Any:
        x, y = m.tensor(1, 4, zero_point=300), m.tensor(1, 4)
        return [x], [m.op(BUILTIN.RELU, [x], y)]

    @refusal("scale -1 with zero point 3")
    def negative_scale(m: Maker) -> Any:
        x, y = m.tensor(1, 4), m.tensor(1, 4, scale=-1.0)
        return [x], [m.op(BUILTIN.RELU, [x], y)]

    @refusal("2 scales of a tensor that is computed")
    def two_scales(m: Maker) -> Any:
        x = m.tensor(1, 4)
        y = m.tensor(1, 4)
        object.__setattr__(m.tensors[y][0], "scales", [0.1, 0.2])
        return [x], [m.op(BUILTIN.RELU, [x], y)]

    @refusal(r"op 0 \(RELU\): reads tensor 1 before anything makes it")
    def a_cycle(m: Maker) -> Any:
        x, a, b = m.tensor(1, 4), m.tensor(1, 4), m.tensor(1, 4)
        m.op(BUILTIN.RELU, [a], b)
        m.op(BUILTIN.RELU, [b], a)
        return [x], [b]

    @refusal(r"op 1 \(RELU\): makes tensor 1 a second time")
    def made_twice(m: Maker) -> Any:
        x, a = m.tensor(1, 4), m.tensor(1, 4)
        m.op(BUILTIN.RELU, [x], a)
        return [x], [m.op(BUILTIN.RELU, [x], a)]

    @refusal("a network without ops")
    def nothing_to_do(m: Maker) -> Any:
        x = m.tensor(1, 4)
        return [x], [x]

    @refusal("no output, or one twice")
    def one_output_twice(m: Maker) -> Any:
        x, y = m.tensor(1, 4), m.tensor(1, 4)
        return [x], [m.op(BUILTIN.RELU, [x], y), y]

    @refusal("more than 67108864 scalars")
    def enormous(m: Maker) -> Any:
        x, y = m.tensor(1, 60000, 60000, 9), m.tensor(1, 60000, 60000, 9)
        return [x], [m.op(BUILTIN.RELU, [x], y)]

    @refusal(r"c is 70000")
    def too_many_channels(m: Maker) -> Any:
        x, y = m.tensor(1, 70000), m.tensor(1, 70000)
        return [x], [m.op(BUILTIN.RELU, [x], y)]

    @refusal("quantized twice")
    def two_entries(m: Maker) -> Any:
        x, a, b = m.tensor(1, 4, kind=FLOAT), m.tensor(1, 4), m.tensor(1, 4, scale=0.1)
        m.op(BUILTIN.QUANTIZE, [x], a, schema.QuantizeOptionsT())
        return [x], [m.op(BUILTIN.QUANTIZE, [x], b, schema.QuantizeOptionsT())]

    return kept


REFUSALS = _refusals()


@pytest.mark.parametrize("name", REFUSALS)
def test_refused(name: str) -> None:
    message, build = REFUSALS[name]
    error = _one(build)
    assert re.search(message, str(error)), str(error)
    assert "some.tflite" in str(error)


# ---- damaged files ----


def _outcome(content: bytes) -> str:
    """A network is one whose parameters are whole, too."""
    try:
        model = model_of(TfliteFile(content, "damaged.tflite"), "damaged")
        quantised_parameters(model)
    except ConfigError as error:
        assert "damaged.tflite" in str(error)
        return "refused"
    assert len(model.facts) == len(model.network.nodes)
    return "a network"


def test_every_truncation_is_an_error() -> None:
    """The root table lies at the end of what flatbuffers write, so that none of them is whole."""
    content = small_model()
    assert _outcome(content) == "a network"
    for length in range(0, len(content) - 4, 3):
        assert _outcome(content[:length]) == "refused"


def _flips(content: bytes, rng: random.Random) -> bytes:
    """One to four bytes: one bit, a random one, or a number that offsets and counts are made of."""
    damaged = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(damaged))
        damaged[at] = rng.choice(
            (damaged[at] ^ (1 << rng.randrange(8)), rng.randrange(256), 0, 0xFF, 0x7F, 0x80)
        )
    return bytes(damaged)


def _words(content: bytes, rng: random.Random) -> bytes:
    """A whole aligned word: a distance, a count, a shape's extent, a scale."""
    damaged = bytearray(content)
    at = rng.randrange(len(damaged) // 4) * 4
    word = rng.choice((0, 1, 2**31 - 1, 2**31, 2**32 - 1, len(content), rng.getrandbits(32), 65536))
    struct.pack_into("<I", damaged, at, word)
    return bytes(damaged)


@pytest.mark.parametrize("damage", [_flips, _words])
def test_damaged_bytes(damage: Callable[[bytes, random.Random], bytes]) -> None:
    content, rng = small_model(), random.Random(5)
    outcomes = [_outcome(damage(content, rng)) for _ in range(1500)]
    assert min(outcomes.count("refused"), outcomes.count("a network")) > 150


def test_damage_takes_no_memory() -> None:
    content, rng = small_model(), random.Random(6)
    tracemalloc.start()
    try:
        for _ in range(300):
            _outcome(_words(content, rng))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 16 << 20


def test_noise() -> None:
    rng = random.Random(7)
    for _ in range(500):
        noise = rng.randbytes(rng.randrange(200))
        assert _outcome(noise) == "refused"
        assert _outcome(noise[:4] + b"TFL3" + noise[8:]) == "refused"


@pytest.mark.parametrize("extension", [".tflite", ".TFLITE"])
def test_what_is_no_file(tmp_path: Path, extension: str) -> None:
    pipe, endless = tmp_path / f"pipe{extension}", tmp_path / f"endless{extension}"
    os.mkfifo(pipe)
    endless.symlink_to("/dev/zero")
    (tmp_path / f"folder{extension}").mkdir()
    for path in (pipe, endless, tmp_path / f"folder{extension}"):
        with pytest.raises(ConfigError, match="is not a file"):
            load_network(path)
    with pytest.raises(ConfigError, match="cannot be read"):
        load_network(tmp_path / f"missing{extension}")


def test_a_file_that_is_too_large(tmp_path: Path) -> None:
    path = tmp_path / "large.tflite"
    with path.open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(ConfigError, match="larger than"):
        load_network(path)
