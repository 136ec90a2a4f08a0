# SPDX-License-Identifier: Apache-2.0
"""The paper's Tables 2, 5 and 6 as it states them: what our own numbers are laid beside."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Table2Row:
    """layer: its id in layers/sets/table2.yaml. critical: x*, as printed. Debts in scalars."""

    layer: str
    critical: str
    published: int
    truth: int
    error: int


TABLE2 = (
    Table2Row("table2-conv0", "0.5", 531, 533, -2),
    Table2Row("table2-conv1", "3.3", 148, 149, -1),
    Table2Row("table2-conv2", "5.3", 45, 46, -1),
    Table2Row("table2-8x8x3-4-k5", "12", 79, 7, 72),
    Table2Row("table2-9x9x8-9-k7", "48", 2081, 11, 2070),
    Table2Row("table2-12x12x16-17-k9", "128", 15520, 20, 15500),
    Table2Row("table2-18x18x16-17-k15", "224", 48640, 20, 48620),
)


@dataclass(frozen=True)
class Table5Row:
    tier: int
    generator: str
    share: int


TABLE5 = (
    Table5Row(1, "plain convolution", 11),
    Table5Row(1, "same padding", 8),
    Table5Row(1, "strided downsampling", 6),
    Table5Row(1, "inverted-bottleneck expansion", 5),
    Table5Row(1, "projection", 5),
    Table5Row(2, "collapsed minor axis", 9),
    Table5Row(2, "small herringbone grid", 7),
    Table5Row(2, "small output grid", 6),
    Table5Row(2, "thin axis", 6),
    Table5Row(2, "restricted regime, integer x*", 6),
    Table5Row(2, "random symmetric axes", 6),
    Table5Row(2, "non-integer x*", 5),
    Table5Row(3, "non-monotone tap order", 4),
    Table5Row(3, "rectangular kernel", 3),
    Table5Row(3, "dilation", 3),
    Table5Row(3, "asymmetric stride", 2),
    Table5Row(3, "asymmetric dilation", 2),
    Table5Row(3, "asymmetric padding", 2),
    Table5Row(3, "fully asymmetric", 2),
    Table5Row(3, "maximal padding", 2),
)


@dataclass(frozen=True)
class Table6Row:
    """Counts of layers; worst ratio, save, dense as printed. timed: 0 where the paper has a dash, and
    cost, the median ratio of runtimes to two buffers, empty."""

    family: str
    n: int
    general: int
    exact: int
    within: int
    worst: str
    save: str
    dense: str
    timed: int
    cost: str = ""


TABLE6 = (
    Table6Row("ResNet-50", 11, 4, 10, 11, "1.006", "25.5", "2.3", 6, "1.000"),
    Table6Row("ResNet-56 (pruned)", 5, 5, 4, 5, "1.011", "26.9", "11.4", 5, "1.001"),
    Table6Row("VGG-16", 4, 4, 0, 4, "1.033", "25.0", "0.9", 0),
    Table6Row("VGG-16 (pruned)", 3, 3, 0, 1, "1.086", "17.9", "4.2", 3, "1.000"),
    Table6Row("MobileNetV1", 6, 1, 5, 6, "1.005", "32.1", "0.0", 3, "1.000"),
    Table6Row("MobileNetV2", 5, 1, 4, 5, "1.005", "16.8", "0.0", 2, "1.000"),
    Table6Row("MCUNet-in1-in4", 16, 4, 12, 16, "1.022", "24.2", "0.1", 16, "1.002"),
    Table6Row("EfficientNet-B0", 4, 1, 3, 4, "1.005", "17.4", "0.0", 1, "1.000"),
    Table6Row("ConvNeXt-T", 2, 2, 1, 2, "1.007", "33.1", "0.0", 2, "1.001"),
    Table6Row("DenseNet-121", 2, 1, 1, 2, "1.006", "24.3", "0.1", 0),
    Table6Row("ShuffleNetV2", 1, 1, 0, 1, "1.007", "32.9", "0.2", 1, "0.997"),
    Table6Row("SqueezeNet", 2, 2, 0, 2, "1.009", "15.3", "0.3", 1, "1.000"),
    Table6Row("Xception", 1, 1, 0, 1, "1.002", "27.2", "0.0", 0),
    Table6Row("YOLO v5-v26", 15, 7, 13, 15, "1.003", "29.4", "1.2", 5, "1.000"),
    Table6Row("RT-DETR-l", 3, 2, 3, 3, "1.000", "18.1", "0.4", 0),
    Table6Row("Inception-v3", 2, 2, 1, 1, "1.170", "29.0", "17.4", 2, "1.000"),
    Table6Row("DeepSpeech2", 2, 2, 1, 2, "1.021", "9.9", "10.9", 1, "1.008"),
    Table6Row("All", 84, 43, 58, 81, "1.170", "24.8", "2.1", 48, "1.000"),
)


@dataclass(frozen=True)
class ShiftStated:
    """Section 5.3, of the 48 timed layers: how many run faster than with two buffers, and the right
    shift in per cent of the convolution, as printed."""

    faster: int
    median: str
    worst: str


SHIFT_STATED = ShiftStated(5, "0.05", "0.83")
