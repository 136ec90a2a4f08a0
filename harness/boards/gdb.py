# SPDX-License-Identifier: Apache-2.0
"""pyOCD's gdb server over the probe that is open, for one visit of a debugger."""

from __future__ import annotations

import contextlib
import time
from typing import Any

from harness.boards.backend import Clock
from harness.errors import ProbeError

_POLL_SECONDS = 0.02
_STEP_SECONDS = 0.02  # of the board's time, while the debugger lets it run


class GdbServer:
    """Listens on localhost from the first moment. port: 0 takes a free one. A context manager. Errors:
    ProbeError where it cannot listen."""

    def __init__(self, session: Any, clock: Clock, port: int = 0) -> None:
        session.options.set("gdbserver_port", port)
        self._clock = clock
        self._session = session
        try:
            self._server = _server_class()(session, core=0)
        except OSError as error:
            raise ProbeError(
                f"no gdb server can listen on port {port}",
                cause=str(error),
                hint="another program has it; --gdb-port 0 takes a free one",
            ) from error
        self._server.start()

    @property
    def port(self) -> int:
        return int(self._server.port)

    def __enter__(self) -> GdbServer:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(Exception):  # a client that is gone while it is said goodbye to
            self._server.stop()

    def wait(self, seconds: float) -> bool:
        """Until a debugger has come and gone again; False where none came within `seconds` of the
        host's time."""
        last = time.monotonic() + seconds
        while not self._visitors():
            if time.monotonic() >= last:
                return False
            time.sleep(_POLL_SECONDS)
        while self._visitors():
            self._let_run()
            time.sleep(_POLL_SECONDS)
        return True

    def _visitors(self) -> int:
        with self._server.client_sessions_lock:
            return len(self._server.client_sessions)

    def _let_run(self) -> None:
        """Time of a board that is not hardware passes only where somebody waits for it."""
        from pyocd.core.target import Target

        with self._server.lock:
            state = self._session.target.get_state()
            if state in (Target.State.RUNNING, Target.State.SLEEPING):
                self._clock.sleep(_STEP_SECONDS)


def _server_class() -> Any:
    """pyOCD's server without `monitor`: its commands `$` and `!` would run Python and a shell here, for
    whoever can reach the port."""
    from pyocd.gdbserver.gdbserver import GDBServer

    class QuietServer(GDBServer):  # type: ignore[misc]
        def handle_remote_command(self, cmd: bytes) -> bytes:  # noqa: ARG002
            text = b"`monitor` is not served here\n"
            return bytes(self.create_rsp_packet(text.hex().encode()))

    return QuietServer
