# SPDX-License-Identifier: Apache-2.0
"""What the paper's Table 3 states of its authors' boards, as printed; a dash is an empty string."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class OnBoard:
    """In-place and baseline, and their ratio."""

    base: str
    rip: str
    ratio: str


@dataclass(frozen=True)
class Timed:
    """model: its name in layers/models. pico_2: millions of cycles. pico_1: milliseconds."""

    model: str
    pico_2: OnBoard
    pico_1: OnBoard


TABLE3_TIMES = (
    Timed("mcunet-in0", OnBoard("39.5", "39.7", "1.003"), OnBoard("1,772.4", "1,772.0", "1.000")),
    Timed("mcunet-in1", OnBoard("70.0", "70.3", "1.004"), OnBoard("3,601.1", "3,607.8", "1.002")),
    Timed("mcunet-in2", OnBoard("307.0", "307.2", "1.001"), OnBoard("15,978.1", "15,999.5", "1.001")),
    Timed("mcunet-in3", OnBoard("380.5", "380.8", "1.001"), OnBoard("", "19,388.2", "")),
    Timed("mcunet-in4", OnBoard("708.2", "708.7", "1.001"), OnBoard("", "", "")),
    Timed("mbv2-w0.35", OnBoard("120.4", "120.4", "1.000"), OnBoard("", "", "")),
    Timed("proxyless-w0.3", OnBoard("184.2", "184.3", "1.000"), OnBoard("", "9,801.9", "")),
    Timed("mcunet-vww0", OnBoard("31.7", "31.6", "0.998"), OnBoard("1,657.8", "1,664.1", "1.004")),
    Timed("mcunet-vww1", OnBoard("63.1", "62.9", "0.998"), OnBoard("3,218.8", "3,216.6", "0.999")),
    Timed("mcunet-vww2", OnBoard("269.8", "269.5", "0.999"), OnBoard("14,222.7", "14,245.1", "1.002")),
    Timed("person-det", OnBoard("70.1", "70.1", "1.000"), OnBoard("", "5,215.4", "")),
)  # fmt: skip
