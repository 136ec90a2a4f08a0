# SPDX-License-Identifier: Apache-2.0
"""Other libraries' kernels through their adapters: exact on an emulated board of each chip, both sides
of their bounds shown, and a declaration that says more of them than is so is caught.

The default tests run the adapter over a library of our own with CMSIS-NN's interface. With
RIPBENCH_CMSIS_NN_DIR and RIPBENCH_TINYENGINE_DIR, which name checkouts, the same is done with them."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

from harness.boards import Board, BoardEntry
from harness.build import RunnerImage, build_runner
from harness.case import Case, make_case
from harness.errors import ConfigError
from harness.geometry import ConvGeometry, ElementwiseGeometry, Pad
from harness.judge import judge
from harness.kernels import KernelTraits, find_kernels
from harness.kernels.adapt import ADAPTERS, adapt
from harness.measure import measure_layer
from harness.network import Layer
from harness.plan import find_mode, plan_layer
from harness.results import Verdict
from harness.schema.constants import OpKind, Rounding
from tests.device.bulk import clean_crc, problem, run_all
from tests.device.m33_layers import add_layers, conv_layers, depthwise_layers
from tests.device.support import new_entry

STAND_IN = Path(__file__).parent / "firmware" / "stand_in"
CMSIS_NN = "RIPBENCH_CMSIS_NN_DIR"
TINYENGINE = "RIPBENCH_TINYENGINE_DIR"
SAME = Pad.same(1, 1)
CONV = Layer("conv", ConvGeometry(5, 7, 13, 6, 3, 3, pad=SAME))
POINTWISE = Layer("pointwise", ConvGeometry(4, 9, 8, 5))
STRIDED = Layer("strided", ConvGeometry(5, 7, 6, 4, s_h=2, s_w=2))
SMALL = Layer("small", ConvGeometry(6, 7, 8, 8, 3, 3, pad=SAME), OpKind.DEPTHWISE)
LARGE = Layer("large", ConvGeometry(6, 7, 6, 6, 5, 5, 2, 2, pad=Pad.same(2, 2)), OpKind.DEPTHWISE)
ADD = Layer("add", ElementwiseGeometry(3, 4, 5, 2), OpKind.ADD)
POOL = Layer("pool", ConvGeometry(6, 7, 6, 6, 3, 3, 2, 2, pad=SAME), OpKind.AVERAGE_POOL)
DENSE = Layer("dense", ConvGeometry(1, 1, 37, 9), OpKind.FULLY_CONNECTED, rounding=Rounding.DOUBLE)

# layer, plan, its kernel on either chip, and the debt: None where no write can meet a live scalar
EXPECTED: list[tuple[Layer, str, str, str, str | None]] = [
    (CONV, "rip", "cmsis_nn_conv", "cmsis_nn_conv", "48"),
    (POINTWISE, "rip", "cmsis_nn_conv_1x1_copied", "cmsis_nn_conv_1x1_copied", None),
    (POINTWISE, "rip-direct", "cmsis_nn_conv_1x1", "cmsis_nn_conv_1x1", "179"),
    (STRIDED, "rip", "cmsis_nn_conv_1x1_copied", "cmsis_nn_conv_1x1_copied", None),
    (SMALL, "rip-direct", "cmsis_nn_depthwise_3x3", "cmsis_nn_depthwise_3x3", "64"),
    (LARGE, "rip-row", "plain", "cmsis_nn_depthwise_gather", ""),
    (LARGE, "rip-direct", "cmsis_nn_depthwise_direct", "plain", ""),
    (ADD, "rip", "cmsis_nn_add", "cmsis_nn_add_dsp", "0"),
    (POOL, "rip", "cmsis_nn_average_pool", "cmsis_nn_average_pool_dsp", ""),
    (DENSE, "dual", "cmsis_nn_fully_connected", "cmsis_nn_fully_connected", ""),
]


def _checkout(variable: str) -> Path:
    folder = os.environ.get(variable)
    if folder is None:
        pytest.skip(f"{variable} names no checkout")
    return Path(folder)


@pytest.fixture(scope="session")
def stand_in(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("adapted") / "stand_in"
    adapt(ADAPTERS["cmsis-nn"], STAND_IN, made)
    return made


@pytest.fixture(scope="session")
def cmsis_nn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("adapted") / "cmsis_nn"
    adapt(ADAPTERS["cmsis-nn"], _checkout(CMSIS_NN), made)
    return made


@pytest.fixture(scope="session")
def tinyengine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("adapted") / "tinyengine"
    adapt(ADAPTERS["tinyengine"], _checkout(TINYENGINE), made)
    return made


def _judged(
    board: Board, image: RunnerImage, layer: Layer, plan: str, kernel: KernelTraits
) -> Verdict:
    strategy, mode = find_mode(layer, plan)
    runs = measure_layer(board, image, layer, mode=mode, kernel=kernel, seeds=(1, 2), repeats=1)
    verdict = judge(runs, strategy)
    assert verdict is not None
    return verdict


def _check_all(folder: Path, entry: BoardEntry) -> None:
    kernel = KernelTraits(str(folder), entry.chip)
    image = build_runner(entry.chip, kernels=kernel.kernels.all())
    with Board(entry) as board:
        for layer, plan, on_pico_1, on_pico_2, debt in EXPECTED:
            verdict = _judged(board, image, layer, plan, kernel)
            assert verdict.failures == (), (layer.id, plan)
            assert verdict.kernel == (on_pico_1 if entry.chip == "rp2040" else on_pico_2)
            if debt is None:
                assert verdict.debt == "none possible"
            elif debt:
                assert verdict.debt.split(" ")[0] == debt, (layer.id, verdict.debt)


@pytest.mark.parametrize(
    "chip", ["rp2350", pytest.param("rp2040", marks=pytest.mark.extra)], indirect=True
)
def test_every_kernel_of_the_adapter(stand_in: Path, entry: BoardEntry) -> None:
    _check_all(stand_in, entry)


@pytest.mark.extra
def test_every_kernel_of_cmsis_nn(cmsis_nn: Path, entry: BoardEntry) -> None:
    _check_all(cmsis_nn, entry)


def test_a_library_is_compiled_with_less_asked(stand_in: Path, tmp_path: Path) -> None:
    """Its warnings are not ours, its short memcpys are loads, and its code lies in SRAM; the adapter
    around it is compiled as all of ours."""
    image = build_runner("rp2350", kernels=find_kernels(str(stand_in)).all())
    at = {name: address for address, name in image.functions}
    for name in ("arm_convolve_1x1_s8_fast", "arm_stand_in_requantize", "cmsis_nn_conv"):
        assert at[name] >> 24 == 0x20, name
    command = ["arm-none-eabi-objdump", "-d", f"--disassemble={'arm_convolve_1x1_s8_fast'}"]
    done = subprocess.run([*command, str(image.elf)], capture_output=True, text=True, check=True)
    assert "<arm_convolve_1x1_s8_fast>:" in done.stdout
    assert "arm_stand_in_requantize" in done.stdout, "a call is told"
    assert "memcpy" not in done.stdout
    other = tmp_path / "other"
    shutil.copytree(stand_in, other)
    source = other / "conv.c"
    source.write_text(source.read_text().replace("int32_t row = 0;", "int32_t row = 0, unused;"))
    with pytest.raises(Exception, match="unused"):
        build_runner("rp2350", kernels=find_kernels(str(other)).all())


def _redeclared(folder: Path, made: Path, name: str, *changes: tuple[str, str]) -> KernelTraits:
    """The folder with changes in one entry of its kernels.yaml, each of which is there."""
    shutil.copytree(folder, made)
    path = made / "kernels.yaml"
    before, found, after = path.read_text().partition(f"  - name: {name}\n")
    assert found
    entry, gap, rest = after.partition("\n  - name: ")
    for old, new in changes:
        assert old in entry, old
        entry = entry.replace(old, new)
    path.write_text(before + found + entry + gap + rest)
    return KernelTraits(str(made), "rp2350")


def _check_that_it_gathers_nothing(folder: Path, tmp_path: Path) -> None:
    """CMSIS-NN's 1 x 1 kernel is said to gather two pixels, which it does under another compiler."""
    kernel = _redeclared(
        folder,
        tmp_path / "gathers",
        "cmsis_nn_conv_1x1_copied",
        ('pixels: [h_out * w_out, "min(h_out, 4) * w_out", w_out, "min(w_out, 8)"]', "pixels: 2"),
        ("    op: conv", "    run: cmsis_nn_conv\n    op: conv"),
    )
    layer = Layer("wide", ConvGeometry(4, 9, 8, 8))
    image = build_runner("rp2350", kernels=kernel.kernels.all())
    with Board(new_entry("rp2350")) as board:
        verdict = _judged(board, image, layer, "rip", kernel)
    assert verdict.kernel == "cmsis_nn_conv_1x1_copied"
    wrong = [failure for failure in verdict.failures if "the output's CRC is" in failure]
    assert wrong and all("in pixel 0 (row 0, column 0), channel 2" in text for text in wrong)
    assert any("unsafe" in failure for failure in verdict.failures)


def test_a_kernel_that_gathers_nothing_is_told(stand_in: Path, tmp_path: Path) -> None:
    _check_that_it_gathers_nothing(stand_in, tmp_path)


@pytest.mark.extra
def test_cmsis_nn_gathers_nothing(cmsis_nn: Path, tmp_path: Path) -> None:
    _check_that_it_gathers_nothing(cmsis_nn, tmp_path)


def _random_cases(kernel: KernelTraits, layers: Sequence[Layer], plan: str) -> list[Case]:
    """In place at the gap of the kernel's own steps."""
    cases = []
    for layer in layers:
        try:
            strategy, mode = find_mode(layer, plan)
        except ConfigError:  # a plan that it has not
            continue
        cases.append(make_case(plan_layer(layer, strategy, mode, kernel)))
    return cases


@pytest.mark.extra
def test_cmsis_nn_on_random_layers(cmsis_nn: Path, entry: BoardEntry) -> None:
    kernel = KernelTraits(str(cmsis_nn), entry.chip)
    cases = [
        *_random_cases(kernel, conv_layers(1000), "rip"),
        *_random_cases(kernel, conv_layers(1000, seed=2), "rip-direct"),
        *_random_cases(kernel, depthwise_layers(1000), "rip-direct"),
        *_random_cases(kernel, depthwise_layers(1000, seed=2), "rip-row"),
        *_random_cases(kernel, add_layers(500), "rip"),
    ]
    own = [case for case in cases if case.plan.choice.kernel.set != "plain"]
    assert len(own) > 2000
    image = build_runner(entry.chip, kernels=kernel.kernels.all())
    with Board(entry) as board:
        seeds = range(1, len(own) + 1)
        wrong = [
            found
            for case, seed, result in run_all(board, image, own, seeds)
            if (found := problem(case, seed, result, clean_crc(case, seed)))
        ]
    assert not wrong, (len(wrong), wrong[:5])


@pytest.mark.extra
@pytest.mark.parametrize("rounding", [Rounding.DOUBLE, Rounding.TRUNCATE])
def test_tinyengine(tinyengine: Path, rounding: Rounding) -> None:
    """Two pixels a step, gathered: safe at the gap of gathering two, and below its debt not."""
    kernel = KernelTraits(str(tinyengine), "rp2350")
    image = build_runner("rp2350", kernels=kernel.kernels.all())
    layer = partial(Layer, rounding=rounding)
    shapes = {"few": ConvGeometry(5, 7, 20, 22), "more": ConvGeometry(6, 6, 16, 48)}
    with Board(new_entry("rp2350")) as board:
        for name, geometry in shapes.items():
            verdict = _judged(board, image, layer(name, geometry), "rip", kernel)
            assert verdict.failures == ()
            assert verdict.kernel.startswith("tinyengine_conv_1x1")
            assert verdict.debt.endswith("(5 of 5 seeds)")


@pytest.mark.extra
def test_scratch_is_what_cmsis_nn_asks_for(cmsis_nn: Path, tmp_path: Path) -> None:
    """kernels.yaml's formulas beside the library's own functions, compiled for this machine."""
    program = tmp_path / "sizes.c"
    program.write_text(SIZES)
    sources = [*(cmsis_nn / "library").rglob("*get_buffer_sizes_s8.c")]
    compiler = shutil.which("cc")
    assert compiler is not None
    command = [compiler, "-w", f"-I{cmsis_nn / 'include'}", "-DARM_MATH_DSP", str(program)]
    built = subprocess.run(
        [*command, *map(str, sources), "-o", str(tmp_path / "sizes")],
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stderr
    kernels = {kernel.name: kernel for kernel in find_kernels(str(cmsis_nn)).kernels}
    for layer in (*conv_layers(150), *depthwise_layers(150)):
        g = layer.window
        depthwise = layer.kind is OpKind.DEPTHWISE
        padding = (g.pad.top, g.pad.left)
        numbers = (int(depthwise), g.h_in, g.w_in, g.c_in, g.k_h, g.k_w, g.c_out, g.s_h, g.d_h,
                   *padding, g.h_out, g.w_out)  # fmt: skip
        done = subprocess.run(
            [str(tmp_path / "sizes"), *map(str, numbers)],
            capture_output=True,
            text=True,
            check=True,
        )
        asked = int(done.stdout)
        small = (g.k_h, g.k_w) == (3, 3) and max(padding) <= 1
        if depthwise:
            name = "cmsis_nn_depthwise_3x3" if small else "cmsis_nn_depthwise_gather"
        elif (g.k_h, g.k_w) != (1, 1):
            name = "cmsis_nn_conv"
        else:
            continue
        names = {"c_out": g.c_out, "c_in": g.c_in, "k_h": g.k_h, "k_w": g.k_w, "b": 1}
        every = dict.fromkeys(
            ("h_in", "w_in", "h_out", "w_out", "s_h", "s_w", "d_h", "d_w", "operands", "broadcast",
             "pad_top", "pad_left", "pad_bottom", "pad_right"), 1
        )  # fmt: skip
        assert kernels[name].scratch.evaluate({**every, **names}) == 12 * g.c_out + asked, numbers


SIZES = """
#include <stdio.h>
#include <stdlib.h>
#include "arm_nnfunctions.h"
int main(int count, char **words)
{
    int v[14] = {0};
    for (int i = 1; i < count; i++) v[i] = atoi(words[i]);
    cmsis_nn_dims in = {1, v[2], v[3], v[4]}, out = {1, v[12], v[13], v[7]};
    if (v[1]) {
        cmsis_nn_dims filter = {1, v[5], v[6], v[7]};
        cmsis_nn_dw_conv_params p = {0, 0, 1, {v[8], v[8]}, {v[11], v[10]}, {v[9], v[9]}, {0, 0}};
        printf("%d", (int)arm_depthwise_conv_wrapper_s8_get_buffer_size_dsp(&p, &in, &filter, &out));
    } else {
        cmsis_nn_dims filter = {v[7], v[5], v[6], v[4]};
        cmsis_nn_conv_params p = {0, 0, {v[8], v[8]}, {v[11], v[10]}, {v[9], v[9]}, {0, 0}};
        printf("%d", (int)arm_convolve_wrapper_s8_get_buffer_size_dsp(&p, &in, &filter, &out));
    }
    return 0;
}
"""
