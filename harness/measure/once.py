# SPDX-License-Identifier: Apache-2.0
"""One case run once: its ops one by one, its outputs read back, and where they go wrong."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.boards import Board, Run
from harness.build import RunnerImage
from harness.case import Case, NetworkCase, build_pack, record_counts
from harness.geometry import ConvGeometry
from harness.measure.fit import check_fit
from harness.measure.samples import is_long, kernels_asked, provenance_of
from harness.measure.wrong import first_wrong
from harness.measure.wrongop import first_wrong_op, has_long_op
from harness.network import Layer
from harness.plan import Step
from harness.reference import unstored_output
from harness.results import Provenance, WrongOutput

Int8s = NDArray[np.int8]


@dataclass(frozen=True)
class OpRun:
    """An op of the case. kind: `move` where its plan shifts a tensor, `segment 0-4` of ops in one.
    cycles: empty bracket and counted interrupts taken off."""

    kind: str
    kernel: str
    macs: int
    cycles: int
    interrupt_cycles: int
    xip_accesses: int
    xip_misses: int


@dataclass(frozen=True)
class Once:
    """outputs: int8 [h, w, c] each, as read back. failures: in words; none when all is right."""

    provenance: Provenance
    case: str
    seed: int
    arena_bytes: int
    scratch_bytes: int
    ops: tuple[OpRun, ...]
    run: Run
    outputs: tuple[Int8s, ...]
    failures: tuple[str, ...]

    @property
    def cycles(self) -> int:
        return self.run.results[0].cycles


@dataclass(frozen=True)
class WrongByte:
    """The first one, by its place. op_records: as many run up to the op that leaves it wrong, the last
    of them. offset: in bytes from the arena's base."""

    op_records: int
    offset: int
    what: str
    wrong: WrongOutput


class OnceSession:
    """A board with one case on it. Errors of all of it: ConfigError where it does not fit, before
    flashing; and all that a board can raise."""

    def __init__(
        self,
        board: Board,
        image: RunnerImage,
        case: Case | NetworkCase,
        seed: int,
        *,
        reflash: bool = False,
    ) -> None:
        check_fit(case.plan, image)
        self.board, self.image, self.case, self.seed = board, image, case, seed
        self._pack = build_pack([case])
        self._tensors = case.tensors(seed) if isinstance(case, NetworkCase) else []
        self.start(reflash=reflash)

    def start(self, *, reflash: bool = False) -> None:
        """Or again: a board that was reset for another reason."""
        self.board.start(self.image, self._pack, reflash=reflash)

    @property
    def keep_interrupts(self) -> bool:
        """Is a window too long to mask interrupts in it?"""
        clock_hz = self.board.entry.clock_hz
        if isinstance(self.case, NetworkCase):
            return has_long_op(self.case, clock_hz)
        return is_long(self.case.macs, self.case.n_out, clock_hz)

    def run(self) -> Once:
        """From a cold flash cache."""
        run = self.board.run(0, self.seed, keep_interrupts=self.keep_interrupts)
        stored = self._read_outputs()
        return Once(
            provenance=provenance_of(self.board, self.image, self._pack.id),
            case=self.case.id,
            seed=self.seed,
            arena_bytes=self.case.arena_bytes,
            scratch_bytes=self.case.scratch_bytes,
            ops=self._ops(run),
            run=run,
            outputs=self._as_tensors(stored),
            failures=tuple(self._failures(run, stored)),
        )

    def first_wrong_byte(self) -> WrongByte | None:
        """After a run whose output is wrong. None where it is right when it is looked at again."""
        case = self.case
        if isinstance(case, NetworkCase):
            found = first_wrong_op(
                self.board, 0, case, self._tensors, self.seed, 0, self.keep_interrupts
            )
            if found is None:
                return None
            step = next(n for n, s in enumerate(case.plan.steps) if s.ops[-1] == found.op)
            shape = case.plan.network.tensors[found.tensor]
            within = found.wrong.pixel * shape.c + found.wrong.channel
            return WrongByte(
                record_counts(case.plan)[step],
                case.plan.offsets[found.tensor] + within,
                f"op {found.op} ({found.kind}), tensor {found.tensor}",
                found.wrong,
            )
        output = case.plan.output
        (stored,) = self._read_outputs()
        wrong = first_wrong(case.plan, stored, case.expected(self.seed))
        if wrong is None:
            return None
        within = wrong.pixel * output.shape.c + wrong.channel
        return WrongByte(len(case.plan.choices), output.offset + within, case.plan.name, wrong)

    def _read_outputs(self) -> list[bytes]:
        """As stored."""
        case = self.case
        if isinstance(case, Case):
            places = [(case.plan.output.offset, case.plan.output.shape.size)]
        else:
            tensors = case.plan.network.tensors
            places = [(case.plan.offsets[t], tensors[t].size) for t in case.plan.network.outputs]
        return [self.board.read(offset, size) for offset, size in places]

    def _as_tensors(self, stored: list[bytes]) -> tuple[Int8s, ...]:
        case = self.case
        arrays = [np.frombuffer(data, np.int8) for data in stored]
        if isinstance(case, NetworkCase):
            network = case.plan.network
            shapes = [network.tensors[t] for t in network.outputs]
        else:
            geometry, way = case.plan.layer.geometry, case.plan.mode.execution
            if isinstance(geometry, ConvGeometry):
                return (unstored_output(geometry, way.traversal, arrays[0]),)
            shapes = [case.plan.output.shape]
        return tuple(a.reshape(s.h, s.w, s.c) for a, s in zip(arrays, shapes, strict=True))

    def _ops(self, run: Run) -> tuple[OpRun, ...]:
        asked = kernels_asked(self.case.plan.choices)
        return tuple(
            OpRun(
                kind,
                kernel,
                macs,
                op.cycles,
                op.interrupt_cycles,
                op.xip_accesses,
                op.xip_accesses - op.xip_hits,
            )
            for (kind, macs), (_, kernel), op in zip(self._kinds(), asked, run.ops[0], strict=True)
        )

    def _kinds(self) -> list[tuple[str, int]]:
        """Kind and MACs of each op record."""
        case = self.case
        moved = ("move", 0)
        if isinstance(case, Case):
            layer = case.plan.layer
            return [*([moved] if case.plan.arrival is not None else []), _kind(layer)]
        found = []
        for step in case.plan.steps:
            found += [] if step.onto is None or step.moved_to is None else [moved]
            layers = [case.plan.network.nodes[op].layer for op in step.ops]
            found.append(_kind(layers[0]) if len(layers) == 1 else _segment(step, layers))
        return found

    def _failures(self, run: Run, stored: list[bytes]) -> list[str]:
        (result,), failures = run.results, []
        right = self._expected_outputs()
        if result.input_crc != self.case.input_crc(self.seed):
            failures.append("the inputs are not those that the host has")
        crc = zlib.crc32(b"".join(right))
        if result.output_crc != crc:
            failures.append(f"the outputs' CRC is {result.output_crc:08x} instead of {crc:08x}")
        if zlib.crc32(b"".join(stored)) != result.output_crc:
            failures.append("the outputs were changed before they were read back")
        if result.outside_count:
            failures.append(
                f"{result.outside_count} bytes outside arena and scratch changed, the first at "
                f"{result.outside_first} of the arena"
            )
        for n, ((index, name), op) in enumerate(
            zip(kernels_asked(self.case.plan.choices), run.ops[0], strict=True)
        ):
            if op.kernel != index:
                failures.append(f"op {n} was run by kernel {op.kernel}, not by {name}")
        return failures

    def _expected_outputs(self) -> list[bytes]:
        case = self.case
        if isinstance(case, Case):
            return [case.expected(self.seed).tobytes()]
        return [np.ascontiguousarray(self._tensors[t]).tobytes() for t in case.plan.network.outputs]


def _segment(step: Step, layers: Sequence[Layer]) -> tuple[str, int]:
    return f"segment {step.ops[0]}-{step.ops[-1]}", sum(layer.macs for layer in layers)


def _kind(layer: Layer) -> tuple[str, int]:
    return layer.kind.name.lower(), layer.macs
