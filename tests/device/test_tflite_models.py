# SPDX-License-Identifier: Apache-2.0
"""Published int8 models with their own weights: the board's outputs are LiteRT's, bit for bit."""

from __future__ import annotations

import os
import zlib
from pathlib import Path

import numpy as np
import pytest
from ai_edge_litert.interpreter import Interpreter, OpResolverType

from harness.bench import Bench, BenchOptions, demand
from harness.boards import BoardEntry
from harness.case import NetworkCase
from harness.kernels import FAST, set_for
from harness.network import Model, load_network
from harness.plan import Strategy

FOLDER = os.environ.get("RIPBENCH_TFLITE_DIR")
MODELS = ("mcunet-vww1", "person-det", "mcunet-in3")
INPUTS = {"plain": 20, FAST: 5}  # random ones, by the kernels that run them

pytestmark = [
    pytest.mark.skipif(FOLDER is None, reason="RIPBENCH_TFLITE_DIR names no folder with the files"),
    pytest.mark.extra,
]


class LiteRt:
    """A file under LiteRT's reference kernels."""

    def __init__(self, path: Path, model: Model) -> None:
        self._model = model
        self._interpreter = Interpreter(
            model_content=path.read_bytes(),
            experimental_op_resolver_type=OpResolverType.BUILTIN_REF,
            num_threads=1,
        )
        self._interpreter.allocate_tensors()

    def outputs(self, case: NetworkCase, seed: int) -> bytes:
        """int8 of all outputs, one after the other, on the case's input of this seed."""
        (x,), (entry,) = case.inputs(seed), self._interpreter.get_input_details()
        if self._model.float_inputs[0]:
            q = self._model.inputs[0]
            x = (x.astype(np.float32) - q.zero_point) * np.float32(q.scale)
        self._interpreter.set_tensor(entry["index"], x.reshape(entry["shape"]))
        self._interpreter.invoke()
        found = []
        for n, details in enumerate(self._interpreter.get_output_details()):
            values = self._interpreter.get_tensor(details["index"])
            if self._model.float_outputs[n]:
                q = self._model.outputs[n]
                values = np.rint(values / np.float32(q.scale)) + q.zero_point
            found.append(values.astype(np.int8).tobytes())
        return b"".join(found)


@pytest.mark.parametrize("kernels", INPUTS)
@pytest.mark.parametrize("name", MODELS)
def test_the_board_gives_what_litert_gives(entry: BoardEntry, name: str, kernels: str) -> None:
    """In the memory of the paper's plan. Each fits a Pico 1 as well."""
    path = Path(str(FOLDER)) / f"{name}.tflite"
    model = load_network(path)
    assert isinstance(model, Model)
    seeds = range(1, 1 + INPUTS[kernels])
    bench = Bench(entry, BenchOptions(seeds=seeds, repeats=1, kernels=kernels))
    try:
        cases = bench.network_cases(model, [Strategy.RIP])
        (verdict,) = bench.judge_network(cases)
        runs = bench.run_network(cases)
    finally:
        bench.close()
    demand(verdict)
    litert = LiteRt(path, model)
    seen = {sample.seed: sample.output_crc for sample in runs.measured[Strategy.RIP].samples}
    assert sorted(seen) == list(seeds)
    sets = {choice.kernel.set for choice in cases[0].plan.choices}
    assert sets - {"plain"} == {set_for(kernels, entry.chip)} - {"plain"}
    for seed, crc in seen.items():
        assert crc == zlib.crc32(litert.outputs(cases[0], seed)), seed
