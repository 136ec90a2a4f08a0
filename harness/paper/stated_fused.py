# SPDX-License-Identifier: Apache-2.0
"""What others have published about running several layers at once: their own words and numbers.

Only what stands in a source that was read is here; what was read in another work's table says so.
"""

from __future__ import annotations

from dataclasses import dataclass

NOT_STATED = "not stated"
_MSF = "msf-CNN (NeurIPS 2025)"
_MSF_COUNTS = "no network input, no residual adds"
_MSF_MBV2 = _MSF_COUNTS + "; its MbV2 has unrounded widths (18.9 M MAC, ours 23.5 M)"


@dataclass(frozen=True)
class Peer:
    """model: its name in layers/models or layers/keras, empty where no such one is meant. published: as
    printed, with its unit. ram_bytes: the same as a number, None where it is rounded or there is none.
    macs: the factor over layer by layer. counts: what the number includes. input_counted: None where
    that is not known. source: where it was read."""

    work: str
    model: str
    published: str
    ram_bytes: int | None
    macs: str
    counts: str
    input_counted: bool | None
    source: str


def _msf(model: str, counts: str, *rows: tuple[int, str]) -> tuple[Peer, ...]:
    where = "TinyPART/msf-CNN at 9632d3e, msf_CNN_eval_models/result.json"
    return tuple(
        Peer(_MSF, model, f"{found:,} B", found, macs, counts, False, where) for found, macs in rows
    )


PEERS = (
    *_msf(
        "mbv2-w0.35", _MSF_MBV2,
        (83_133, "1.02"), (67_996, "1.10"), (25_803, "1.25"), (21_389, "1.30"), (8_560, "1.68"),
    ),
    *_msf(
        "mcunet-vww1", _MSF_COUNTS,
        (45_283, "1.04"), (26_240, "1.11"), (17_904, "1.35"), (15_368, "1.96"),
    ),
    *_msf(
        "mcunet-in3", _MSF_COUNTS,
        (217_891, "1.04"), (94_224, "1.45"), (63_456, "2.02"), (51_164, "2.69"),
    ),
    Peer(
        "MCUNetV2 (2021)", "MobileNetV2", "1,372 to 172 kB, 4 x 4 patches", None, "over 1",
        "not the input image, as its authors say", False,
        "arXiv 2110.15352; mit-han-lab/mcunet issue 9",
    ),
    Peer(
        "MCUNetV2 (2021)", "mbv2-w0.35", "63 kB", None, "over 1", NOT_STATED, None,
        "as msf-CNN quotes it",
    ),
    Peer(
        "StreamNet (NeurIPS 2023)", "mbv2-w0.35", "66 kB", None, "over 1", NOT_STATED, None,
        "as msf-CNN quotes it",
    ),
    Peer(
        "StreamNet (NeurIPS 2023)", "", "ten of the eleven models; 81 % fewer MACs than patches", None,
        "over 1", "stream buffers", None, "abstract",
    ),
    Peer(
        "TinyEngine, patch mode", "", "higher peaks than layer by layer for VWW2, in2 and in3", None,
        "over 1", NOT_STATED, None, "mit-han-lab/tinyengine issue 104, a user's measurement",
    ),
    Peer(
        "TinyTS", "", "up to 5.92 times below TFLM on nine of the eleven models", None, "1.00",
        NOT_STATED, None, "abstract",
    ),
    Peer(
        "vMCU (MLSys 2024)", "", "bottleneck of a whole network -61.5 %, layers -12 to -49.5 %", None,
        "1.00", "a circular pool of segments", None, "abstract",
    ),
    Peer(
        "Fused-layer CNNs (Deutel 2024)", "", "-54 % on networks like MobileNetV2, latency +14 %",
        None, NOT_STATED, NOT_STATED, None, "abstract",
    ),
    Peer(
        "Pex (2022)", "", "4 times, by channel-wise partial execution", None, "1.00", NOT_STATED,
        None, "arXiv 2211.17246, abstract",
    ),
    Peer(
        "FDT (2023)", "", "-76.2 % and -18.1 % on two models", None, "1.00", NOT_STATED, None,
        "arXiv 2303.17878, abstract",
    ),
)  # fmt: skip
