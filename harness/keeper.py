# SPDX-License-Identifier: Apache-2.0
"""What a bench hands to the history: of each measurement the attempts, the ELF file and the frames."""

from __future__ import annotations

from collections.abc import Sequence

from harness.boards import Board
from harness.boards.recovery import Ladder
from harness.build import RunnerImage
from harness.errors import HarnessError
from harness.history import Recorder, Taken
from harness.results import Failure, Measurement, Verdict
from harness.wire.codec import Frame, encode

_MAX_FRAMES = 8 << 20  # bytes of one measurement's; a board that sends more is cut short here


class Keeper:
    """Of one board. A key is a measurement's: a layer's in a mode, a network's cases. kernels: the set
    that is asked for. test: the id of the test that asks, set by who knows it."""

    def __init__(self, recorder: Recorder | None, board: str, kernels: str) -> None:
        self._recorder = recorder
        self._board = board
        self._kernels = kernels
        self._frames = bytearray()
        self._taken: dict[object, Taken] = {}
        self._tried: dict[object, tuple[str, ...]] = {}
        self.test = ""

    def add_frame(self, frame: Frame) -> None:
        """As it came: what decodes to this frame encodes to the bytes that were on the wire."""
        keeps = self._recorder is not None and self._recorder.keeps_files
        if keeps and len(self._frames) < _MAX_FRAMES:
            self._frames += encode(frame)

    def begin(self) -> None:
        """An attempt begins; the frames of one that failed are not the next one's."""
        self._frames.clear()

    def measured(self, key: object, board: Board, image: RunnerImage) -> None:
        """An attempt succeeded."""
        self._taken[key] = Taken(image.elf, board.flash_bytes, bytes(self._frames))
        self._frames.clear()

    def failed(self, key: object, ladder: Ladder | None, error: HarnessError) -> None:
        """The last attempt failed. ladder: None where there was only one."""
        tried = [] if ladder is None else [str(attempt) for attempt in ladder.failed]
        if len(tried) < (1 if ladder is None else ladder.attempts):
            tried.append(f"{type(error).__name__}: {error.message}")  # that no step helps against
        self._tried[key] = tuple(tried)

    def verdict(self, verdict: Verdict, measured: Measurement | None, key: object) -> None:
        if self._recorder is not None:
            taken = self._taken.get(key)
            self._recorder.verdict(
                verdict,
                measured,
                taken,
                kernels=self._kernels,
                test=self.test,
                budget=verdict.budget,
            )

    def failure(self, name: str, plans: Sequence[str], key: object, error: HarnessError) -> None:
        """No attempt was made where the board was not to be had, or nothing could be built for it."""
        if self._recorder is not None:
            tried, kind = self._tried.get(key, ()), type(error).__name__
            failure = Failure(
                self._board, name, ",".join(plans), kind, error.message, error.cause, len(tried)
            )
            self._recorder.failure(failure, tried, test=self.test)
