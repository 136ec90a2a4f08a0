# SPDX-License-Identifier: Apache-2.0
"""The paper's Tables 3 and 7 as it states them, but for what was measured on its authors' boards."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Table3Row:
    """model: its name in layers/models. Bytes. ratio: RiP to Base, as printed. base_runs, rip_runs: on a
    Pico 1; a dash in the table is False."""

    model: str
    buffer: int
    base: int
    rip: int
    ratio: str
    base_runs: bool
    rip_runs: bool


TABLE3 = (
    Table3Row("mcunet-in0", 3_984, 46_080, 36_864, "4/5", True, True),
    Table3Row("mcunet-in1", 5_864, 92_160, 73_728, "4/5", True, True),
    Table3Row("mcunet-in2", 14_976, 204_800, 179_200, "7/8", True, True),
    Table3Row("mcunet-in3", 18_536, 247_808, 185_856, "3/4", False, True),
    Table3Row("mcunet-in4", 16_520, 409_600, 307_200, "3/4", False, False),
    Table3Row("mbv2-w0.35", 11_816, 290_304, 248_832, "6/7", False, False),
    Table3Row("proxyless-w0.3", 17_792, 247_808, 185_856, "3/4", False, True),
    Table3Row("mcunet-vww0", 3_456, 57_344, 49_152, "6/7", True, True),
    Table3Row("mcunet-vww1", 4_392, 89_600, 76_800, "6/7", True, True),
    Table3Row("mcunet-vww2", 11_816, 165_888, 145_152, "7/8", True, True),
    Table3Row("person-det", 11_688, 245_760, 163_840, "2/3", False, True),
)


@dataclass(frozen=True)
class Table7Row:
    """graph: its name in layers/keras. compile: of RiP, seconds on the authors' machine, and the ratio
    to dual's. dual, rip: KB, and their ratio. All as printed. shifts: 0 for a dash."""

    graph: str
    ops: int
    branches: int
    variables: int
    constraints: int
    compile: str
    compile_ratio: str
    dual: str
    rip: str
    ratio: str
    shifts: int


TABLE7 = (
    Table7Row("MobileNet", 29, 0, 1_361, 1_969, "0.14", "1.69", "1,176.0", "784.0", "2/3", 0),
    Table7Row("MobileNetV2", 64, 10, 6_364, 8_813, "0.52", "2.01", "1,470.0", "1,176.0", "4/5", 0),
    Table7Row(
        "MobileNetV3Small", 109, 15, 18_201, 24_834, "1.49", "1.37", "392.0", "220.5", "9/16", 0
    ),
    Table7Row(
        "MobileNetV3Large", 122, 18, 22_751, 30_967, "1.42", "1.12", "980.0", "784.0", "4/5", 0
    ),
    Table7Row("VGG16", 21, 0, 729, 1_077, "0.16", "1.49", "6,272.0", "3,150.1", "0.502", 1),
    Table7Row("VGG19", 24, 0, 942, 1_377, "0.18", "1.55", "6,272.0", "3,150.1", "0.502", 1),
    Table7Row("ResNet50", 72, 16, 8_024, 11_063, "0.67", "1.15", "2,352.0", "1,568.0", "2/3", 0),
    Table7Row(
        "ResNet50V2", 109, 16, 18_199, 24_827, "1.77", "1.56", "2,352.0", "1,568.0", "2/3", 0
    ),
    Table7Row("ResNet101", 140, 33, 29_886, 40_558, "2.28", "1.24", "2,352.0", "1,568.0", "2/3", 0),
    Table7Row(
        "ResNet101V2", 211, 33, 67_516, 91_110, "6.16", "1.54", "2,352.0", "1,568.0", "2/3", 0
    ),
    Table7Row("ResNet152", 208, 50, 65_620, 88_549, "5.21", "1.32", "2,352.0", "1,568.0", "2/3", 0),
    Table7Row(
        "ResNet152V2", 313, 50, 148_045, 199_009, "10.97", "1.22", "2,352.0", "1,568.0", "2/3", 0
    ),
    Table7Row(
        "DenseNet121", 308, 58, 143_138, 192_103, "14.64", "1.91", "2,058.0", "1,568.0", "16/21", 0
    ),
    Table7Row(
        "DenseNet169", 428, 82, 275_942, 369_655, "29.50", "2.04", "2,058.0", "1,568.0", "16/21", 0
    ),
    Table7Row(
        "DenseNet201", 508, 98, 388_478, 520_023, "28.91", "1.40", "2,058.0", "1,568.0", "16/21", 0
    ),
    Table7Row(
        "InceptionV3", 124, 35, 23_394, 31_683, "2.46", "1.65", "2,025.8", "1,355.2", "0.669", 1
    ),
    Table7Row(
        "InceptionResNetV2",
        334,
        98,
        168_297,
        225_797,
        "15.13",
        "1.60",
        "2,025.8",
        "1,355.2",
        "0.669",
        1,
    ),
    Table7Row("Xception", 103, 12, 16_270, 22_227, "1.05", "0.99", "6,752.8", "4,051.7", "3/5", 0),
    Table7Row(
        "EfficientNetB0", 242, 74, 88_689, 119_465, "6.39", "1.24", "3,528.0", "2,352.0", "2/3", 0
    ),
    Table7Row(
        "EfficientNetB1",
        344,
        108,
        178_704,
        239_995,
        "13.82",
        "1.41",
        "4,050.0",
        "2,700.0",
        "2/3",
        0,
    ),
    Table7Row(
        "EfficientNetB2",
        344,
        108,
        178_704,
        239_995,
        "12.95",
        "1.28",
        "4,753.1",
        "3,168.8",
        "2/3",
        0,
    ),
    Table7Row(
        "EfficientNetB3",
        389,
        123,
        228_339,
        306_400,
        "20.03",
        "1.53",
        "9,492.2",
        "6,328.1",
        "2/3",
        0,
    ),
    Table7Row(
        "EfficientNetB4",
        479,
        153,
        345_834,
        463_510,
        "43.12",
        "2.36",
        "15,229.7",
        "10,153.1",
        "2/3",
        0,
    ),
    Table7Row(
        "EfficientNetB5",
        581,
        187,
        508_371,
        680_736,
        "46.19",
        "1.72",
        "21,930.7",
        "14,620.5",
        "2/3",
        0,
    ),
    Table7Row(
        "EfficientNetB6",
        671,
        217,
        677_706,
        906_966,
        "67.09",
        "1.86",
        "39,204.0",
        "26,136.0",
        "2/3",
        0,
    ),
    Table7Row(
        "EfficientNetB7",
        818,
        266,
        1_006_545,
        1_346_153,
        "76.88",
        "1.36",
        "50,625.0",
        "33,750.0",
        "2/3",
        0,
    ),
    Table7Row(
        "EfficientNetV2B0", 269, 86, 109_479, 147_317, "7.73", "1.17", "1,274.0", "882.0", "9/13", 0
    ),
    Table7Row(
        "EfficientNetV2B1",
        328,
        107,
        162_520,
        218_332,
        "16.05",
        "1.65",
        "1,462.5",
        "1,012.5",
        "9/13",
        0,
    ),
    Table7Row(
        "EfficientNetV2B2",
        343,
        112,
        177_670,
        238_607,
        "16.93",
        "1.54",
        "1,716.4",
        "1,188.3",
        "9/13",
        0,
    ),
    Table7Row(
        "EfficientNetV2B3",
        403,
        132,
        245_020,
        328_707,
        "18.14",
        "1.17",
        "2,856.4",
        "1,977.5",
        "9/13",
        0,
    ),
    Table7Row(
        "EfficientNetV2S",
        503,
        167,
        381_270,
        510_872,
        "33.63",
        "1.54",
        "5,616.0",
        "3,888.0",
        "9/13",
        0,
    ),
    Table7Row(
        "EfficientNetV2M",
        726,
        242,
        793_151,
        1_061_161,
        "59.06",
        "1.40",
        "8,775.0",
        "6,075.0",
        "9/13",
        0,
    ),
    Table7Row(
        "EfficientNetV2L",
        1005,
        337,
        1_518_551,
        2_029_754,
        "132.04",
        "1.64",
        "11,700.0",
        "8,100.0",
        "9/13",
        0,
    ),
)
