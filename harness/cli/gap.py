# SPDX-License-Identifier: Apache-2.0
"""`ripbench gap --conv 56x56x64-128 --k 3 --s 1 --pad 1`, and `ripbench gap --from layers.json`."""

from __future__ import annotations

import argparse
import contextlib
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tabulate import tabulate

from harness.bounds import Bound, batch, bound_of, published
from harness.bounds.herringbone import block_debt
from harness.cli.explain import as_text, explain
from harness.errors import ConfigError
from harness.geometry import ConvGeometry, Execution, Pad
from harness.paper.printed import theorem_13
from harness.schema.constants import Layout, OpKind, TapOrder, Traversal

JSON_VERSION = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "--conv", metavar="HxWxC-C", help="input height, width, channels - output channels"
    )
    what.add_argument(
        "--from",
        dest="listing",
        metavar="FILE",
        type=Path,
        help="a JSON or YAML list of {h_in, w_in, c_in, c_out, k: [h, w], s, d, p} or pad: [t, l, b, r]",
    )
    parser.add_argument("--k", default="1", metavar="K or HxW", help="kernel (default 1)")
    parser.add_argument("--s", default="1", metavar="S or HxW", help="stride (default 1)")
    parser.add_argument("--d", default="1", metavar="D or HxW", help="dilation (default 1)")
    parser.add_argument(
        "--pad", default="0", metavar="P, HxW or T,L,B,R", help="zero padding (default 0)"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    parser.add_argument(
        "--keep-going", action="store_true", help="with --from: answer beside wrong entries, exit 1"
    )
    parser.add_argument("--explain", action="store_true", help="which output pixel and tap binds")
    parser.add_argument(
        "--figure", metavar="FILE.svg", type=Path, help="draw debt, traversals and the binding tap"
    )
    parser.add_argument(
        "--layout", choices=("dense", "padded"), default="dense", help="of --explain and --figure"
    )
    parser.add_argument(
        "--tap-order", choices=("gather", "direct"), default="gather", help="of the same"
    )


def run(options: argparse.Namespace) -> int:
    if options.listing is not None:
        from harness.cli.gap_from import run_listing

        return run_listing(options)
    geometry = parse_conv(options.conv, options.k, options.s, options.d, options.pad)
    ways = list(_ways(geometry))
    if options.json:
        print(json.dumps(_as_json(geometry, ways)))
    else:
        print(f"{geometry}; scalars\n")
        print(_table(geometry, ways))
    execution = Execution(Layout[options.layout.upper()], TapOrder[options.tap_order.upper()])
    name = f"{options.layout}, {options.tap_order}, by rows"
    if options.explain and not options.json:
        print(f"\n{name}: {as_text(explain(geometry, execution))}")
    if options.figure is not None:
        from harness.cli.figure import figure

        _write(options.figure, figure(f"{geometry}; {name}", explain(geometry, execution)))
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


@dataclass(frozen=True)
class _Way:
    """A row of the table. key: its name in JSON. printed: names and gaps of the paper's forms for it."""

    key: str
    words: tuple[str, str, str]
    bound: Bound
    printed: tuple[tuple[str, int], ...] = ()


def _ways(g: ConvGeometry) -> Iterator[_Way]:
    """Every layout, traversal and tap order; direct order releases whole pixels, as the paper's does,
    and again scalar by scalar, as the plain kernels do."""
    for layout in Layout:
        for traversal in (Traversal.ROW, Traversal.COLUMN, Traversal.REVERSE):
            for order in TapOrder:
                execution = Execution(layout, order, traversal)
                words = (layout.name.lower(), traversal.name.lower(), order.name.lower())
                key = "_".join(
                    ("rip", words[0], *(words[1:2] if words[1] != "row" else ()), words[2])
                )
                bound = bound_of(OpKind.CONV, g, execution, release="pixel")
                yield _Way(key, words, bound, _printed(g, execution))
                if execution.direct:
                    scalar = bound_of(OpKind.CONV, g, execution)
                    yield _Way(f"{key}_scalar", (*words[:2], "direct by scalars"), scalar)
    yield from _herringbone(g)


def _printed(g: ConvGeometry, execution: Execution) -> tuple[tuple[str, int], ...]:
    if execution.traversal is not Traversal.ROW:
        return ()
    if execution.layout is Layout.PADDED:
        return (("Theorem 4", published.theorem_4(g, direct=execution.direct)),)
    found = ("Theorem 13", theorem_13(batch.layers_of([g]), execution.direct).item())
    return (found,)


def _herringbone(g: ConvGeometry) -> Iterator[_Way]:
    """The input in order of release. By blocks is how the paper's forms count."""
    n_in = _stored(g)
    debt = block_debt(g, g.c_out)
    gap = max(0, debt, g.n_out - n_in)
    blocks = Bound(g.c_out, gap, debt, gap + n_in)
    printed = [("Theorem 11", published.theorem_11(g))]
    for name, form in (("Eq. 1", published.gural_murmann), ("Corollary 1", published.corollary_1)):
        with contextlib.suppress(ConfigError):  # outside what it is for
            printed.append((name, form(g)))
    words = ("padded", "herringbone", "direct by blocks")
    yield _Way("herringbone", words, blocks, tuple(printed))
    for layout in Layout:
        execution = Execution(layout, TapOrder.DIRECT, Traversal.HERRINGBONE)
        bound = bound_of(OpKind.CONV, g, execution, release="pixel")
        layout_name = layout.name.lower()
        yield _Way(
            f"herringbone_{layout_name}_literal", (layout_name, "herringbone", "direct"), bound
        )


def _stored(g: ConvGeometry) -> int:
    p = g.pad
    return (g.h_in + p.top + p.bottom) * (g.w_in + p.left + p.right) * g.c_in


def _table(g: ConvGeometry, ways: list[_Way]) -> str:
    dual = g.n_in + g.n_out
    rows: list[list[object]] = []
    for way in ways:
        if way.words[0] == "padded" and way.words[1] != "herringbone" and g.pad == Pad():
            continue  # as the dense row
        debt = "none" if way.bound.debt is None else way.bound.debt
        saves = f"{100 * (1 - way.bound.workspace / dual):.1f} %"
        rows.append([*way.words, way.bound.gap, debt, way.bound.workspace, saves, _verdict(way)])
    rows.append(["two buffers", "", "", "", "", dual, "", ""])
    headers = [
        "layout",
        "traversal",
        "tap order",
        "gap",
        "debt",
        "workspace",
        "saves",
        "as printed",
    ]
    sides = (*["left"] * 3, *["right"] * 4, "left")
    return tabulate(rows, headers=headers, disable_numparse=True, colalign=sides)


def _verdict(way: _Way) -> str:
    found = []
    for name, gap in way.printed:
        word = ", too small" if gap < way.bound.gap else ", more than needed"
        found.append(f"{name}: {gap}{word if gap != way.bound.gap else ''}")
    return "; ".join(found)


def _as_json(g: ConvGeometry, ways: list[_Way]) -> dict[str, object]:
    return {
        "version": JSON_VERSION,
        "n_in": g.n_in,
        "n_out": g.n_out,
        "dual": {"workspace": g.n_in + g.n_out},
        **{
            way.key: {
                "gap": way.bound.gap,
                "debt": way.bound.debt,
                "workspace": way.bound.workspace,
            }
            for way in ways
        },
        "published": {
            way.key: [
                {
                    "form": name,
                    "gap": gap,
                    "workspace": gap + way.bound.workspace - way.bound.gap,
                }
                for name, gap in way.printed
            ]
            for way in ways
            if way.printed
        },
    }


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be written", cause=error.strerror or str(error)
        ) from error
    print(f"{path} written", file=sys.stderr)
