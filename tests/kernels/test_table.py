# SPDX-License-Identifier: Apache-2.0
"""The generated table, compiled for the host: what each kernel takes and needs is what Python says."""

from __future__ import annotations

import ctypes
import random
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from harness.case.network_records import network_records
from harness.geometry import Execution
from harness.kernels import PLAIN, KernelSet, find_kernels, table_source
from harness.kernels.declared import Kernel, Situation
from harness.kernels.formula import NAMES
from harness.schema.constants import SCRATCH_APART, Layout, OpKind, Rounding, TapOrder, Traversal
from harness.schema.records import OpRecord, TensorRecord
from tests.device.forced_segments import forced_case, forced_plan
from tests.device.test_segments import usable
from tests.firmware.support import tensor
from tests.kernels.host import library

MANY = """
kernels:
  - {name: first, op: conv, sources: [a.c], pixels: [2, w_out, h_out * w_out], channels: 4,
     accepts: [c_in % 4 == 0, c_out % 2 == 0 or k_h == 1], scratch: b * k_h * k_w * c_in + 8 * c_in,
     alignment: 4, weights: int16, weights_bytes: 2 * k_h * k_w * c_in * c_out}
  - {name: second, op: depthwise, sources: [a.c], traversal: channel, accepts: c_in == c_out,
     ring: (k_h - 1) * d_h + 1, scratch: k_h * (w_in + pad_left + pad_right) * 2, rounding: any}
  - {name: third, op: add, sources: [a.c], accepts: broadcast == 0 and operands == 2, channels: 4,
     traversal: [row, reverse], tap_order: any, layout: any}
  - {name: fourth, op: average_pool, sources: [a.c], tap_order: direct, scratch: "max(h_in - 3, 0) /
  d_w"}
"""
ASK = """
int asked(const struct op_record *record, const struct tensor_record *tensors, uint64_t *answer)
{
    const struct op_kernel *const kernel = kernel_for(record, tensors);
    if (kernel == NULL) {
        return 0;
    }
    answer[0] = kernel->scratch_bytes(record, tensors);
    answer[1] = kernel->weights_bytes == NULL ? 0 : kernel->weights_bytes(record, tensors);
    answer[2] = kernel->alignment;
    answer[3] = kernel->run != NULL;
    return 1;
}
"""


class Table:
    """A compiled table of a whole set."""

    def __init__(self, kernels: KernelSet, folder: Path) -> None:
        self.kernels = kernels
        names = {kernel.run for kernel in kernels.kernels}
        stubs = "\n".join(
            f"void {n}(const struct op_call *c) {{ (void)c; }}" for n in sorted(names)
        )
        self._c = library(folder, f"{table_source(kernels.all())}\n{stubs}\n{ASK}")

    def ask(self, record: OpRecord, tensors: list[TensorRecord]) -> tuple[int, ...] | None:
        return self.ask_segment([record], tensors)

    def ask_segment(
        self, records: list[OpRecord], tensors: list[TensorRecord]
    ) -> tuple[int, ...] | None:
        """records: its own, then its stages'."""
        answer = (ctypes.c_uint64 * 4)()
        ops, packed = (b"".join(one.pack() for one in some) for some in (records, tensors))
        return tuple(answer) if self._c.asked(ops, packed, answer) else None


@pytest.fixture(scope="module", params=["plain", "many"])
def table(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Table:
    folder = tmp_path_factory.mktemp("table")
    if request.param == "plain":
        return Table(find_kernels("plain"), folder)
    own = folder / "own"
    own.mkdir()
    (own / "a.c").write_text("")
    (own / "kernels.yaml").write_text(MANY)
    return Table(find_kernels(str(own)), folder)


def _extent(rng: random.Random) -> int:
    return rng.choice(
        (1, 2, 3, 4, 8, rng.randint(1, 64), rng.randint(1, 64), rng.randint(0, 65535))
    )


def _draw(rng: random.Random, count: int) -> tuple[OpRecord, list[TensorRecord]]:
    """Any enumerators and extents, mostly small; also numbers that are of no enumerator."""
    one = tensor(0, 1, 1, 1)
    first = replace(one, h=_extent(rng), w=_extent(rng), c=_extent(rng))
    second = rng.choice((first, replace(one, c=first.c)))
    channels = rng.choice((first.c, _extent(rng)))
    output = replace(one, h=_extent(rng), w=_extent(rng), c=channels)
    fields: dict[str, Any] = {
        name: _extent(rng) for name in NAMES if name[:2] in ("k_", "s_", "d_", "pa")
    }
    pixels = rng.choice((1, 1, 1, 2, output.w, output.h * output.w, rng.randrange(2**32)))
    record = OpRecord(
        kind=rng.randint(0, 16), rounding=rng.choice((0, 0, 1, 2, 3, 40)), layout=rng.choice((0, 0, 1,
        2)), tap_order=rng.choice((0, 0, 1, 1, 2)), traversal=rng.choice((0, 0, 1, 2, 3, 4, 5, 37)),
        input_count=rng.randint(1, 2), inputs=(0, 1, 0, 0), output=2, kernel=rng.randint(0, count),
        input_zero_points=(0, 0), output_zero_point=0, activation_min=0, activation_max=0,
        weights_offset=0, weights_bytes=0, quant_first=0, quant_count=0, step_pixels=pixels,
        scratch_offset=SCRATCH_APART, scratch_bytes=0, stages=0, **fields,
    )  # fmt: skip
    return record, [first, second, output]


def _likely(rng: random.Random, record: OpRecord, kernel: Kernel) -> OpRecord:
    """Run as the kernel can run it; its formulas may still say no."""
    return replace(
        record,
        kind=kernel.kind,
        rounding=rng.choice(sorted(kernel.roundings)),
        layout=rng.choice(sorted(kernel.layouts)),
        tap_order=rng.choice(sorted(kernel.tap_orders)),
        traversal=rng.choice(sorted(kernel.traversals)),
    )


def _situation(record: OpRecord, tensors: list[TensorRecord]) -> Situation | None:
    """The same question in Python; None for a number of no enumerator."""
    try:
        execution = Execution(
            Layout(record.layout), TapOrder(record.tap_order), Traversal(record.traversal)
        )
        kind, rounding = OpKind(record.kind), Rounding(record.rounding)
    except ValueError:
        return None
    first, second, output = tensors
    extents = (first.h, first.w, first.c, output.h, output.w, output.c)
    names = dict(zip(NAMES, extents, strict=False))
    names |= {name: getattr(record, name) for name in NAMES if hasattr(record, name)}
    smaller = record.input_count == 2 and (first.h, first.w) != (second.h, second.w)
    names |= {"operands": record.input_count, "broadcast": int(smaller)}
    return Situation(kind, execution, rounding, names)


def _expected(kernel: Kernel, asked: Situation, pixels: int) -> tuple[int, ...] | None:
    if not kernel.takes(asked):
        return None
    sizes = [formula.evaluate(asked.names) for formula in kernel.pixels]
    if pixels not in sizes or not 0 < pixels < 2**31:  # op_call's are signed, and no step is empty
        return None
    least = kernel.weights_bytes
    needed = 0 if least is None else least.evaluate({**asked.names, "b": pixels})
    return (kernel.scratch_bytes(asked, pixels), needed, kernel.alignment, 1)


def test_it_says_what_python_says(table: Table) -> None:
    """Of 20,000 records, each for the kernel that it names."""
    rng = random.Random(6)
    count = len(table.kernels.kernels)
    ordinary = {
        n: kernel.name
        for n, kernel in enumerate(table.kernels.kernels)
        if kernel.kind is not OpKind.SEGMENT
    }
    taken: dict[str, int] = {}
    for _ in range(20_000):
        record, tensors = _draw(rng, count)
        if rng.random() < 0.7 and record.kernel in ordinary:
            record = _likely(rng, record, table.kernels.kernels[record.kernel])
        asked = _situation(record, tensors)
        expected = None
        if asked is not None and record.kernel in ordinary:
            kernel = table.kernels.kernels[record.kernel]
            expected = _expected(kernel, asked, record.step_pixels)
            if expected is not None:
                taken[kernel.name] = taken.get(kernel.name, 0) + 1
        assert table.ask(record, tensors) == expected, (record, tensors)
    assert set(taken) == set(ordinary.values())
    assert min(taken.values()) >= 5, taken


def test_it_says_what_python_says_of_segments(tmp_path: Path) -> None:
    """Their scratch is the most that any stage asks for, and every stage must be taken."""
    table = Table(find_kernels("plain"), tmp_path)
    for name, segment in islice(usable(11, PLAIN), 60):
        plan = forced_plan(segment, name)
        made = network_records(forced_case(plan))
        (choice,) = plan.choices
        assert table.ask_segment(made.ops, made.tensors) == (choice.scratch_bytes, 0, 1, 1)
        for stage in range(1, len(made.ops)):
            for change in ({"d_h": 2}, {"rounding": 2}):
                ops = [*made.ops]
                ops[stage] = replace(ops[stage], **change)
                assert table.ask_segment(ops, made.tensors) is None
        assert table.ask_segment([replace(made.ops[0], stages=0)], made.tensors) is None


def test_what_is_left_out_runs_nothing(tmp_path: Path) -> None:
    """Numbers stay, and another chip's kernel is left out."""
    (tmp_path / "a.c").write_text("")
    (tmp_path / "kernels.yaml").write_text(
        "kernels: [{name: one, op: conv, sources: [a.c], chips: rp2350}]"
    )
    kernels = find_kernels(str(tmp_path))
    number = len(kernels.kernels) - 1
    both = kernels.select([kernels.kernels[0], kernels.kernels[number]])
    for chip, entries in (
        ("rp2350", {0, 1, 2, 3, number - 1, number}),
        ("rp2040", {0, 1, 2, 3, number - 1}),
    ):
        found = {n for n, kernel in enumerate(both.kernels(chip)) if kernel is not None}
        assert found == entries
        source = table_source(both, chip)
        assert ("one" in source) == (chip == "rp2350")
        assert "    [0] = {accepts_0, scratch_0, NULL, plain_conv_gather_double, 1, NULL}" in source


def test_no_step_is_empty_or_negative(tmp_path: Path) -> None:
    """op_call's pixels are signed, and a formula may give 0 or MAX: neither is a step."""
    (tmp_path / "a.c").write_text("")
    (tmp_path / "kernels.yaml").write_text(
        "kernels: [{name: whole, op: conv, sources: [a.c], pixels: h_out * w_out}]"
    )
    kernels = find_kernels(str(tmp_path))
    table, number = Table(kernels, tmp_path), len(kernels.kernels) - 1
    record, (first, second, output) = _draw(random.Random(1), number)
    record = replace(
        record, kind=OpKind.CONV, rounding=0, layout=0, tap_order=0, traversal=0, kernel=number
    )
    for side, pixels, taken in (
        (2, 4, True),
        (0, 0, False),
        (65535, 2**31 - 1, True),
        (65535, 2**31, False),
        (65535, 2**32 - 1, False),
    ):
        tensors = [first, second, replace(output, h=side, w=side)]
        answer = table.ask(replace(record, step_pixels=pixels), tensors)
        assert (answer is not None) == taken, (side, pixels)
