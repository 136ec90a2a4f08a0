# SPDX-License-Identifier: Apache-2.0
"""`ripbench gap --conv 56x56x64-128 --k 3 --s 1 --pad 1`."""

from __future__ import annotations

import argparse
import json
import re

from tabulate import tabulate

from harness.bounds import Bound, dense, dense_scalar_direct
from harness.errors import ConfigError
from harness.geometry import ConvGeometry, Pad

JSON_VERSION = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--conv",
        required=True,
        metavar="HxWxC-C",
        help="input height, width, channels - output channels",
    )
    parser.add_argument("--k", default="1", metavar="K or HxW", help="kernel (default 1)")
    parser.add_argument("--s", default="1", metavar="S or HxW", help="stride (default 1)")
    parser.add_argument("--d", default="1", metavar="D or HxW", help="dilation (default 1)")
    parser.add_argument(
        "--pad", default="0", metavar="P, HxW or T,L,B,R", help="zero padding (default 0)"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")


def run(options: argparse.Namespace) -> int:
    geometry = parse_conv(options.conv, options.k, options.s, options.d, options.pad)
    bounds = {
        "gather (sigma 0)": dense(geometry, direct=False),
        "direct (sigma c_out)": dense(geometry, direct=True),
        "direct, scalar by scalar": dense_scalar_direct(geometry),
    }
    if options.json:
        print(json.dumps(_as_json(geometry, list(bounds.values()))))
        return 0
    print(f"{geometry}, dense layout, row order; scalars\n")
    dual = geometry.n_in + geometry.n_out
    rows = [[name, *_row(bound, dual)] for name, bound in bounds.items()]
    rows.append(["dual buffer", "", "", dual, ""])
    headers = ["tap order", "gap", "debt", "workspace", "saves"]
    print(tabulate(rows, headers=headers, disable_numparse=True, colalign=("left", *["right"] * 4)))
    return 0


def parse_conv(conv: str, k: str, s: str, d: str, pad: str) -> ConvGeometry:
    """A geometry from the command line's words. Errors: ConfigError names the word."""
    match = re.fullmatch(r"(\d+)x(\d+)x(\d+)-(\d+)", conv)
    if match is None:
        raise ConfigError(f"--conv {conv!r} is not HxWxC-C", hint="for example --conv 56x56x64-128")
    h, w, c_in, c_out = (int(part) for part in match.groups())
    (k_h, k_w), (s_h, s_w), (d_h, d_w) = _pair("--k", k), _pair("--s", s), _pair("--d", d)
    return ConvGeometry(h, w, c_in, c_out, k_h, k_w, s_h, s_w, d_h, d_w, _padding(pad))


def _pair(option: str, text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d+)(?:x(\d+))?", text)
    if match is None:
        raise ConfigError(
            f"{option} {text!r} is not a number or HxW", hint=f"for example {option} 3"
        )
    return int(match[1]), int(match[2] or match[1])


def _padding(text: str) -> Pad:
    sides = text.split(",")
    if len(sides) == 4 and all(side.isdecimal() for side in sides):
        return Pad(*(int(side) for side in sides))
    return Pad.same(*_pair("--pad", text))


def _row(bound: Bound, dual: int) -> list[object]:
    debt = "none" if bound.debt is None else bound.debt
    return [bound.gap, debt, bound.workspace, f"{100 * (1 - bound.workspace / dual):.1f} %"]


def _as_json(geometry: ConvGeometry, bounds: list[Bound]) -> dict[str, object]:
    names = ("rip_dense_gather", "rip_dense_direct", "rip_dense_direct_scalar")
    return {
        "version": JSON_VERSION,
        "n_in": geometry.n_in,
        "n_out": geometry.n_out,
        "dual": {"workspace": geometry.n_in + geometry.n_out},
        **{
            name: {"gap": bound.gap, "debt": bound.debt, "workspace": bound.workspace}
            for name, bound in zip(names, bounds, strict=True)
        },
    }
