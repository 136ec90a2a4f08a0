# SPDX-License-Identifier: Apache-2.0
"""Ten thousand layers: `ripbench gap --from` of a JSON and a YAML list, and `ripbench sweep`; whole
processes, as a reader calls them."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.common import seconds, show
from harness.paper.generators import draw_layers

COUNT = 10_000
_CALL = "import sys; from harness.cli import main; raise SystemExit(main(sys.argv[1:]))"


def listing() -> list[dict[str, object]]:
    """The sweep's layers, in the form that `--from` reads."""
    return [
        {
            **{name: getattr(g, name) for name in ("h_in", "w_in", "c_in", "c_out")},
            "k": [g.k_h, g.k_w],
            "s": [g.s_h, g.s_w],
            "d": [g.d_h, g.d_w],
            "pad": [g.pad.top, g.pad.left, g.pad.bottom, g.pad.right],
        }
        for _, g in draw_layers(COUNT, seed=1)
    ]


def _ripbench(*words: str) -> None:
    command = [sys.executable, "-c", _CALL, *words]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def main() -> None:
    entries = [json.dumps(entry) for entry in listing()]
    with tempfile.TemporaryDirectory() as folder:
        as_json, as_yaml = Path(folder, "layers.json"), Path(folder, "layers.yaml")
        as_json.write_text("[" + ",\n".join(entries) + "]")
        as_yaml.write_text("".join(f"- {entry}\n" for entry in entries))
        rows = [
            (f"gap --from, {path.suffix[1:]}", seconds(lambda p=path: _gap(p), runs=3), asked)
            for path, asked in ((as_json, "2"), (as_yaml, "8"))
        ]
    rows.append(
        (
            "sweep, two processes",
            seconds(lambda: _ripbench("sweep", "-n", str(COUNT)), runs=1),
            "15",
        )
    )
    show(f"{COUNT} layers: gaps, and closed forms against the simulator", rows)


def _gap(path: Path) -> None:
    _ripbench("gap", "--from", str(path), "--json")


if __name__ == "__main__":
    main()
