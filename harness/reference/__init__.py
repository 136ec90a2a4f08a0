# SPDX-License-Identifier: Apache-2.0
"""The exact host reference: what must come out, and what a too small gap must corrupt."""

from harness.reference.conv import (
    ConvParameters,
    convolution_sums,
    convolve,
    convolve_in_place,
    finish,
)
from harness.reference.depthwise import depthwise, depthwise_sums
from harness.reference.depthwise_in_place import depthwise_in_place
from harness.reference.elementwise import (
    AddParameters,
    MulParameters,
    add,
    add_parameters,
    mul_parameters,
    multiply,
    relu_range,
)
from harness.reference.fully_connected import FULLY_CONNECTED_ROUNDING, fully_connected
from harness.reference.layout import concat, pad
from harness.reference.mean import MeanParameters, mean, mean_multiplier
from harness.reference.network import compute_network
from harness.reference.operators import (
    ClampParameters,
    MoveParameters,
    Parameters,
    TableParameters,
    compute,
    compute_in_place,
)
from harness.reference.operators_in_place import (
    concat_in_place,
    copy_in_place,
    elementwise_in_place,
    pool_in_place,
    softmax_in_place,
)
from harness.reference.pool import PoolParameters, average, average_pool, max_pool
from harness.reference.requantize import quantize_multiplier, requantize
from harness.reference.resample import upsample
from harness.reference.softmax import SoftmaxParameters, softmax, softmax_parameters
from harness.reference.storage import stored_input, stored_output, unstored_output
from harness.reference.table import (
    apply_table,
    clamp,
    hard_swish_table,
    logistic_table,
    relu_table,
    requantize_table,
    swish_table,
)

__all__ = [
    "FULLY_CONNECTED_ROUNDING",
    "AddParameters",
    "ClampParameters",
    "ConvParameters",
    "MeanParameters",
    "MoveParameters",
    "MulParameters",
    "Parameters",
    "PoolParameters",
    "SoftmaxParameters",
    "TableParameters",
    "add",
    "add_parameters",
    "apply_table",
    "average",
    "average_pool",
    "clamp",
    "compute",
    "compute_in_place",
    "compute_network",
    "concat",
    "concat_in_place",
    "convolution_sums",
    "convolve",
    "convolve_in_place",
    "copy_in_place",
    "depthwise",
    "depthwise_in_place",
    "depthwise_sums",
    "elementwise_in_place",
    "finish",
    "fully_connected",
    "hard_swish_table",
    "logistic_table",
    "max_pool",
    "mean",
    "mean_multiplier",
    "mul_parameters",
    "multiply",
    "pad",
    "pool_in_place",
    "quantize_multiplier",
    "relu_range",
    "relu_table",
    "requantize",
    "requantize_table",
    "softmax",
    "softmax_in_place",
    "softmax_parameters",
    "stored_input",
    "stored_output",
    "swish_table",
    "unstored_output",
    "upsample",
]
