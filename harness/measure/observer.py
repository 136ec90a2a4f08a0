# SPDX-License-Identifier: Apache-2.0
"""Tells a witness what to look at, and what it saw in the words of a sample."""

from __future__ import annotations

from harness.boards.witness import ELSEWHERE, Access, Extent, Window, Witness
from harness.build import RunnerImage
from harness.errors import ProtocolError
from harness.measure.fit import scratch_offset
from harness.plan import Plan
from harness.results import Collision, Touched, Witnessed
from harness.schema.constants import ARENA_LEAD

# The runner's window is what lies between these two calls: the kernel and the call of it.
_BEGIN, _END = "port_window_begin", "port_window_end"
_ARENA, _SCRATCH, _OUTSIDE, _STACK = "arena", "scratch", "outside", "stack"


class Observer:
    """One witness over the runs of one image."""

    def __init__(self, witness: Witness, image: RunnerImage) -> None:
        self._witness = witness
        self._image = image
        self._plan: Plan | None = None

    def watch(self, plan: Plan) -> None:
        """Before each run: where this plan puts things, as runner/case.c lays them out."""
        self._plan = plan
        symbols = self._image.symbols
        pool, arena, scratch = self._pool, self._arena, self._scratch
        arena_end, scratch_end = arena + plan.arena_bytes, scratch + plan.scratch_bytes
        pool_end = pool + self._image.pool_bytes
        self._witness.watch(
            begin=symbols[_BEGIN],
            end=symbols[_END],
            areas={
                _ARENA: [(arena, plan.arena_bytes)],
                _SCRATCH: [(scratch, plan.scratch_bytes)],
                _OUTSIDE: [
                    (pool, arena - pool),
                    (arena_end, scratch - arena_end),
                    (scratch_end, pool_end - scratch_end),
                ],
                _STACK: [(self._stack_bottom, self._stack_top - self._stack_bottom)],
            },
            inputs=[(arena + place.offset, place.shape.size) for place in plan.inputs],
            outputs=[(arena + plan.output.offset, plan.output.shape.size)],
        )

    def witnessed(self, repeats: int) -> list[Witnessed]:
        """After the run: one for each repeat. Errors: ProtocolError when it saw more or fewer."""
        windows = self._witness.windows()
        if len(windows) != repeats:
            raise ProtocolError(
                f"the witness saw {len(windows)} kernels run, the firmware reports {repeats}"
            )
        return [self._seen(window) for window in windows]

    def stop(self) -> None:
        self._witness.stop()

    def _seen(self, window: Window) -> Witnessed:
        arena, outside, scratch = (window.zones[name] for name in (_ARENA, _OUTSIDE, _SCRATCH))
        elsewhere, stack = window.zones[ELSEWHERE], window.zones[_STACK]
        inside = (arena, outside, scratch)
        unwritten = [zone.first_unwritten for zone in inside if zone.first_unwritten is not None]
        return Witnessed(
            visible=self._touched(arena.changed, outside.changed, scratch.changed),
            written=self._touched(arena.written, outside.written, scratch.written),
            outside_store=self._say(outside.first_store),
            unwritten_count=sum(zone.unwritten.count for zone in inside),
            unwritten_read=self._say(min(unwritten, key=lambda a: a.cycle, default=None)),
            elsewhere_count=elsewhere.written.count,
            elsewhere_store=self._say(elsewhere.first_store),
            unexplained=sum(zone.unexplained for zone in inside),
            stack_depth=self._stack_top - stack.written.first if stack.written.count else 0,
            collisions=window.collisions,
            collision=self._collision(window),
            collided_in=self._functions(window),
        )

    def _touched(self, arena: Extent, outside: Extent, scratch: Extent) -> Touched:
        """As runner/case.c puts it: the input counts, as it was loaded."""
        plan = self._known_plan
        extents = [extent for extent in (arena, outside) if extent.count]
        loaded = min(place.offset for place in plan.inputs)
        loaded_end = max(place.end for place in plan.inputs)
        low = min([self._arena + loaded, *(extent.first for extent in extents)])
        high = max([self._arena + loaded_end, *(extent.end for extent in extents)])
        return Touched(
            low_water=low - self._arena,
            high_water=high - self._arena,
            outside_count=outside.count,
            outside_first=outside.first - self._arena if outside.count else 0,
            scratch_used=scratch.end - self._scratch if scratch.count else 0,
        )

    def _collision(self, window: Window) -> Collision | None:
        """Steps by progress: a kernel that stores each output byte once is at step s while s * unit
        bytes have been stored, whatever address it stores to."""
        if window.overwritten is None or window.last_read is None:
            return None
        plan = self._known_plan
        shared = plan.inputs[plan.mode.onto]
        store, load = window.overwritten, window.last_read
        return Collision(
            writer=store.progress // plan.unit,
            address=store.address - self._arena - plan.output.offset,
            live=store.address - self._arena - shared.offset,
            last_reader=load.progress // plan.unit,
        )

    def _functions(self, window: Window) -> str:
        if window.overwritten is None or window.last_read is None:
            return ""
        writer, reader = (
            self._image.function_at(access.pc) for access in (window.overwritten, window.last_read)
        )
        return f"stored by {writer}, read by {reader}"

    def _say(self, access: Access | None) -> str:
        if access is None:
            return ""
        where = f"{access.address - self._arena} from the arena's base ({access.address:#010x})"
        return f"{where}, by {self._image.function_at(access.pc)} at cycle {access.cycle}"

    @property
    def _known_plan(self) -> Plan:
        assert self._plan is not None, "watch() comes first"
        return self._plan

    @property
    def _pool(self) -> int:
        return self._image.symbols["__pool_start"]

    @property
    def _arena(self) -> int:
        return self._pool + ARENA_LEAD

    @property
    def _scratch(self) -> int:
        return self._pool + scratch_offset(self._known_plan)

    @property
    def _stack_bottom(self) -> int:
        return self._image.symbols["__stack_bottom"]

    @property
    def _stack_top(self) -> int:
        return self._image.symbols["__stack_top"]
