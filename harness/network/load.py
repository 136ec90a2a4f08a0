# SPDX-License-Identifier: Apache-2.0
"""One entry for everything that is a network: a name, or a file of one of three kinds."""

from __future__ import annotations

from pathlib import Path

from harness import resources
from harness.errors import ConfigError
from harness.network.keras import load_keras_graph
from harness.network.model import Model
from harness.network.modelfile import load_model_file
from harness.network.network import Network
from harness.strictyaml import nearest, quoted

_SUFFIXES = (".yaml", ".yml", ".json", ".tflite")


def model_files() -> dict[str, Path]:
    """All that is shipped, by name: the models of layers/models, the Keras graphs of layers/keras."""
    layers = resources.layers()
    files = [*(layers / "models").glob("*.yaml"), *(layers / "keras").glob("*.json")]
    return {file.stem: file for file in sorted(files)}


def load_network(name: str | Path) -> Network | Model:
    """name: of a shipped model (capitals do not matter), or a file: .yaml, .json of
    tools/keras_graphs.py, .tflite. Of a .tflite file the weights come too. Errors: ConfigError."""
    path = Path(name)
    suffix = path.suffix.lower()
    if suffix not in _SUFFIXES:
        path = _shipped(str(name))
        suffix = path.suffix
    if suffix == ".tflite":
        from harness.network.tflite import load_tflite  # numpy comes with it

        return load_tflite(path)
    return load_keras_graph(path) if suffix == ".json" else load_model_file(path)


def _shipped(name: str) -> Path:
    known = {stem.lower(): path for stem, path in model_files().items()}
    if name.lower() not in known:
        raise ConfigError(
            f"no model {quoted(name)}",
            hint=nearest(name.lower(), known) + "; or give a .yaml, .json or .tflite file",
        )
    return known[name.lower()]
