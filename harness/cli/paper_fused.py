# SPDX-License-Identifier: Apache-2.0
"""`ripbench paper fused`: our arenas with segments beside the paper's and others', as each counts."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from dataclasses import asdict

from tabulate import tabulate

from harness.paper.fused import MACS, Ours, fused_models
from harness.paper.stated_fused import PEERS, Peer
from harness.plan import RingForm

JSON_VERSION = 1
_NOTES = """\
Ours: computed, bytes. fused: the arena with the input image in it, all rings, and the scratch of every
step; beside it there is only the runner. paper: RiP + Buffer, which lies beside its arena. streamed: as
fused, but for the input, of which there is only a ring of the first window's rows; the firmware has no
such input. planar, pixel: kernels with row-sweep scratch; least: with only the scratch that correctness
needs. Every plan of ours makes each row once, and a segment's weights fit the flash cache."""


def run(options: argparse.Namespace) -> int:
    found = fused_models()
    print(_json(found) if options.json else _text(found))
    return 0


def _text(found: tuple[Ours, ...]) -> str:
    return "\n".join(
        [
            "Fused segments: bytes of arena and scratch, at MACs x " + MACS,
            "",
            _models(found),
            "",
            _NOTES,
            "",
            "What others have published, as they count, and ours that counts as little:",
            "",
            _peers({ours.model: ours for ours in found}),
        ]
    )


def _models(found: tuple[Ours, ...]) -> str:
    rows = [
        (
            ours.model,
            f"{ours.image:,}",
            "-" if ours.stated is None else f"{ours.stated:,} + {ours.stated_buffer:,}",
            f"{ours.rip:,} + {ours.rip_scratch:,}",
            *(f"{ours.fused[form]:,}" for form in RingForm),
            *(f"{ours.streamed[form]:,}" for form in (RingForm.PLANAR, RingForm.LEAST)),
        )
        for ours in found
    ]
    headers = (
        *("model", "image", "paper: RiP + Buffer", "rip + scratch"),
        *(f"fused, {form}" for form in RingForm),
        *("streamed, planar", "streamed, least"),
    )
    sides = ("left", *["right"] * (len(headers) - 1))
    return tabulate(rows, headers=headers, disable_numparse=True, colalign=sides)


def _peers(ours: Mapping[str, Ours]) -> str:
    """What a figure counts and where it was read is said below the table, once."""
    notes = list(dict.fromkeys((peer.counts, peer.source) for peer in PEERS))
    rows = [
        (
            peer.work,
            peer.model or "-",
            peer.published,
            peer.macs,
            str(notes.index((peer.counts, peer.source)) + 1),
            _beside(ours.get(peer.model), peer),
        )
        for peer in PEERS
    ]
    headers = ("work", "model", "published", "MACs x", "note", f"ours, MACs x {MACS}")
    sides = ("left", "left", "left", "right", "right", "left")
    table = tabulate(rows, headers=headers, disable_numparse=True, colalign=sides)
    said = [
        f"{number}: counts: {counts}. Read in: {source}."
        for number, (counts, source) in enumerate(notes, 1)
    ]
    return "\n".join([table, "", *said])


def _beside(ours: Ours | None, peer: Peer) -> str:
    if ours is None:
        return "-"
    figures = ours.beside(peer)
    what = "streamed" if peer.input_counted is False else "input counted"
    return f"{figures[RingForm.PLANAR]:,} planar, {figures[RingForm.LEAST]:,} least; {what}"


def _json(found: tuple[Ours, ...]) -> str:
    return json.dumps(
        {
            "version": JSON_VERSION,
            "label": "computed",
            "macs": MACS,
            "models": [asdict(ours) for ours in found],
            "peers": [asdict(peer) for peer in PEERS],
        }
    )
