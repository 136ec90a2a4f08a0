# SPDX-License-Identifier: Apache-2.0
"""A .tflite file as plain tensors and ops, checked one by one; how they belong together is not looked
at (tflite.py). Field numbers and codes are the schema's, version 3."""

from __future__ import annotations

import stat
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from harness.errors import ConfigError
from harness.network.flatbuffer import Flatbuffer, Table
from harness.network.shapes import MAX_OPS

MAX_BYTES = 64 << 20
MAX_TENSORS = 16_384
MAX_RANK = 6
MAX_OPERANDS = 64
MAX_CHANNELS = 65_535

FLOAT32, INT32, INT64, INT8 = 0, 2, 4, 9
TYPES = {
    0: "FLOAT32", 1: "FLOAT16", 2: "INT32", 3: "UINT8", 4: "INT64", 5: "STRING", 6: "BOOL",
    7: "INT16", 8: "COMPLEX64", 9: "INT8", 10: "FLOAT64", 15: "UINT32", 16: "UINT16", 17: "INT4",
}  # fmt: skip
_STORED = {FLOAT32: "<f4", INT32: "<i4", INT64: "<i8", INT8: "i1"}

# Builtin operators by code, up to the last that a converter of convolutional networks makes.
OPS = tuple(
    """
ADD AVERAGE_POOL_2D CONCATENATION CONV_2D DEPTHWISE_CONV_2D DEPTH_TO_SPACE DEQUANTIZE
EMBEDDING_LOOKUP FLOOR FULLY_CONNECTED HASHTABLE_LOOKUP L2_NORMALIZATION L2_POOL_2D
LOCAL_RESPONSE_NORMALIZATION LOGISTIC LSH_PROJECTION LSTM MAX_POOL_2D MUL RELU
RELU_N1_TO_1 RELU6 RESHAPE RESIZE_BILINEAR RNN SOFTMAX SPACE_TO_DEPTH SVDF TANH
CONCAT_EMBEDDINGS SKIP_GRAM CALL CUSTOM EMBEDDING_LOOKUP_SPARSE PAD
UNIDIRECTIONAL_SEQUENCE_RNN GATHER BATCH_TO_SPACE_ND SPACE_TO_BATCH_ND TRANSPOSE MEAN SUB
DIV SQUEEZE UNIDIRECTIONAL_SEQUENCE_LSTM STRIDED_SLICE BIDIRECTIONAL_SEQUENCE_RNN EXP
TOPK_V2 SPLIT LOG_SOFTMAX DELEGATE BIDIRECTIONAL_SEQUENCE_LSTM CAST PRELU MAXIMUM ARG_MAX
MINIMUM LESS NEG PADV2 GREATER GREATER_EQUAL LESS_EQUAL SELECT SLICE SIN TRANSPOSE_CONV
SPARSE_TO_DENSE TILE EXPAND_DIMS EQUAL NOT_EQUAL LOG SUM SQRT RSQRT SHAPE POW ARG_MIN
FAKE_QUANT REDUCE_PROD REDUCE_MAX PACK LOGICAL_OR ONE_HOT LOGICAL_AND LOGICAL_NOT UNPACK
REDUCE_MIN FLOOR_DIV REDUCE_ANY SQUARE ZEROS_LIKE FILL FLOOR_MOD RANGE
RESIZE_NEAREST_NEIGHBOR LEAKY_RELU SQUARED_DIFFERENCE MIRROR_PAD ABS SPLIT_V UNIQUE CEIL
REVERSE_V2 ADD_N GATHER_ND COS WHERE RANK ELU REVERSE_SEQUENCE MATRIX_DIAG QUANTIZE
MATRIX_SET_DIAG ROUND HARD_SWISH IF WHILE NON_MAX_SUPPRESSION_V4 NON_MAX_SUPPRESSION_V5
SCATTER_ND SELECT_V2 DENSIFY SEGMENT_SUM BATCH_MATMUL
""".split()  # noqa: SIM905 (a list of 127 lines)
)
_LATER_CODES = 127  # the old one-byte field says this where the code is larger

CONVERSION = (
    "convert it to int8: optimizations = [tf.lite.Optimize.DEFAULT], a representative_dataset, "
    "target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8], "
    "inference_input_type = inference_output_type = tf.int8"
)


@dataclass(frozen=True, eq=False)
class FileTensor:
    """scales: float32, one or one for each index of `axis`; none where the file gives none.
    data: of a constant; empty otherwise, as is that of a constant of a type that is not read."""

    index: int
    shape: tuple[int, ...]
    type: int
    scales: NDArray[np.float32]
    zero_points: NDArray[np.int64]
    axis: int
    constant: bool
    data: NDArray[np.generic]
    table: Table

    @property
    def type_name(self) -> str:
        return TYPES.get(self.type, f"type {self.type}")

    def fail(self, message: str, hint: str = "") -> ConfigError:
        error = self.table.fail(f"tensor {self.index}: {message}")
        return ConfigError(error.message, evidence=error.evidence, hint=hint)


@dataclass(frozen=True)
class FileOp:
    """inputs: tensor numbers, -1 for one that is left out. options: None where the op has none."""

    index: int
    name: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    options: Table | None
    table: Table

    def fail(self, message: str, hint: str = "") -> ConfigError:
        error = self.table.fail(f"op {self.index} ({self.name}): {message}")
        return ConfigError(error.message, evidence=error.evidence, hint=hint)


class TfliteFile:
    """One subgraph. Errors: ConfigError with the file and the offset of what is wrong."""

    def __init__(self, data: bytes, name: str) -> None:
        if len(data) > MAX_BYTES:
            raise ConfigError(f"{name} is larger than {MAX_BYTES} bytes")
        self._buffer = Flatbuffer(data, name)
        model = self._buffer.root(b"TFL3")
        if model.integer(0, "I") != 3:
            raise model.fail(f"version {model.integer(0, 'I')} of the schema, not 3")
        graphs = model.tables(2, 64)
        if len(graphs) != 1:
            raise model.fail(f"{len(graphs)} subgraphs; only one is supported")
        self.name = name
        self.graph = graphs[0]
        self._model = model
        self._codes = model.tables(1, MAX_OPS)
        self._buffers = model.tables(4, 2 * MAX_TENSORS)

    @cached_property
    def tensors(self) -> tuple[FileTensor, ...]:
        tables = self.graph.tables(0, MAX_TENSORS)
        return tuple(self._tensor(n, table) for n, table in enumerate(tables))

    @cached_property
    def ops(self) -> tuple[FileOp, ...]:
        tables = self.graph.tables(3, MAX_OPS)
        return tuple(self._op(n, table) for n, table in enumerate(tables))

    @cached_property
    def inputs(self) -> tuple[int, ...]:
        return self._indices(self.graph, 1, MAX_OPERANDS, least=0)

    @cached_property
    def outputs(self) -> tuple[int, ...]:
        return self._indices(self.graph, 2, MAX_OPERANDS, least=0)

    def _indices(self, table: Table, field: int, most: int, least: int) -> tuple[int, ...]:
        found = table.numbers(field, "<i4", most)
        for index in found:
            if not least <= index < len(self.tensors):
                raise table.fail(f"tensor {index} of {len(self.tensors)}")
        return found

    def _op(self, number: int, table: Table) -> FileOp:
        code = table.integer(0, "I")
        if code >= len(self._codes):
            raise table.fail(f"op {number} has operator code {code} of {len(self._codes)}")
        return FileOp(
            number,
            self._operator(self._codes[code]),
            self._indices(table, 1, MAX_OPERANDS, least=-1),
            self._indices(table, 2, MAX_OPERANDS, least=0),
            table.table(4) if table.integer(3, "B") else None,
            table,
        )

    def _operator(self, code: Table) -> str:
        old, new = code.integer(0, "b"), code.integer(3, "i")
        number = max(old, new)
        if number < 0 or (number != old and old not in (0, _LATER_CODES)):
            raise code.fail(f"operator codes {old} and {new}")
        if number < len(OPS):
            return OPS[number] if OPS[number] != "CUSTOM" else f"CUSTOM {code.text(1)[:40]!r}"
        return f"builtin operator {number}"

    def _tensor(self, number: int, table: Table) -> FileTensor:
        shape = table.numbers(0, "<i4", MAX_RANK)
        if any(extent < 0 for extent in shape):
            raise table.fail(f"tensor {number} has the shape {list(shape)}")
        kind = table.integer(1, "b")
        if table.table(6) is not None:
            raise table.fail(f"tensor {number} is sparse, which is not supported")
        quantisation = table.table(4)
        none = np.zeros(0)
        scales, zero_points = none.astype("<f4"), none.astype("<i8")
        axis = 0
        if quantisation is not None:
            scales = quantisation.array(2, "<f4", MAX_CHANNELS).astype(np.float32, copy=False)
            zero_points = quantisation.array(3, "<i8", MAX_CHANNELS).astype(np.int64, copy=False)
            axis = quantisation.integer(6, "i")
        data = self._data(number, table, shape, kind)
        return FileTensor(
            number, shape, kind, scales, zero_points, axis,
            constant=data is not None,
            data=np.zeros(0, np.int8) if data is None else data,
            table=table,
        )  # fmt: skip

    def _data(
        self, number: int, table: Table, shape: tuple[int, ...], kind: int
    ) -> NDArray[np.generic] | None:
        """Of a constant, in its shape; None for a tensor that ops make."""
        index = table.integer(2, "I")
        if index >= len(self._buffers):
            raise table.fail(f"tensor {number} has buffer {index} of {len(self._buffers)}")
        buffer = self._buffers[index]
        at, count = buffer.span(0)
        if buffer.integer(1, "Q") > 1:
            raise buffer.fail(f"tensor {number}'s data lie outside the flatbuffer")
        if count == 0:
            return None
        if kind not in _STORED:
            return np.zeros(0, np.int8)
        dtype = np.dtype(_STORED[kind])
        size = dtype.itemsize
        for extent in shape:  # whole numbers of any size: no product overflows
            size *= extent
        if size != count:
            raise buffer.fail(
                f"tensor {number} of shape {list(shape)} has {count} bytes, not {size}"
            )
        found: NDArray[np.generic] = np.frombuffer(
            self._buffer.data, dtype, count // dtype.itemsize, at
        ).reshape(shape)
        return found


def read_tflite(path: Path) -> TfliteFile:
    """Errors: ConfigError for what is no plain file of at most MAX_BYTES, or no .tflite file."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # a device or a pipe may never end
            raise ConfigError(f"{path} is not a file")
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read", cause=error.strerror or str(error)) from error
    return TfliteFile(data, str(path))
