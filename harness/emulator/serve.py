# SPDX-License-Identifier: Apache-2.0
"""A process that is an emulated board: `ripbench emu serve`.

One thread accepts clients, one serves each of them, and all take turns on the board. The process ends
at SIGTERM, SIGINT or SIGHUP: the socket is removed and the flash file is synced. Any other end (SIGKILL)
leaves the flash as it was at that moment and a stale socket, which the next server takes over.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from harness.emulator import channel, runtime
from harness.emulator.flashfile import FlashFile
from harness.emulator.ptyport import PtyPort
from harness.emulator.registry import BoardEntry
from harness.emulator.servedboard import ServedBoard
from harness.emulator.session import Session

SESSIONS_MAX = 16
END_SECONDS = 3.0
ENDS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def serve(
    entry: BoardEntry, flash_path: Path, *, with_pty: bool, announce: Callable[[str], None]
) -> None:
    """Serves a board until a signal ends it. announce: given one line once clients can connect.

    To be called in the main thread of a process of its own. Errors: ConfigError for a name that is
    served already or a file that cannot be its flash; BuildError.
    """
    lock = runtime.claim(entry.name)
    flash = FlashFile(flash_path, entry.name, entry.chip)
    server = Server(ServedBoard(entry, flash))
    with _end_asked_for() as wait:
        try:
            server.start(runtime.listen(entry.name), with_pty)
            announce(server.describe())
            wait()
        finally:
            runtime.socket_path(entry.name).unlink(missing_ok=True)
            server.stop()
            flash.close()
            os.close(lock)


@contextlib.contextmanager
def _end_asked_for() -> Iterator[Callable[[], object]]:
    """Inside it the signals of ENDS end no process, but the wait that is given. A mask would not do: a
    library's thread that was there before has none, and may be the one that a signal meets."""
    comes, tell = os.pipe()
    os.set_blocking(tell, False)
    before = {one: signal.signal(one, lambda *_: None) for one in ENDS}
    woken = signal.set_wakeup_fd(tell, warn_on_full_buffer=False)
    try:
        yield lambda: os.read(comes, 1)
    finally:
        signal.set_wakeup_fd(woken)
        for one, handler in before.items():
            signal.signal(one, signal.SIG_DFL if handler is None else handler)
        os.close(comes)
        os.close(tell)


class Server:
    """The threads of a served board."""

    def __init__(self, served: ServedBoard) -> None:
        self._served = served
        self._stopping = threading.Event()
        self._sessions: dict[Session, threading.Thread] = {}
        self._beginning = threading.Lock()  # of a session: none is half there when all are ended
        self._listener: socket.socket | None = None
        self._pty: PtyPort | None = None

    def start(self, listener: socket.socket, with_pty: bool) -> None:
        self._listener = listener
        if with_pty:
            self._pty = PtyPort(self._served, self._stopping)
            self._pty.start()
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def describe(self) -> str:
        entry = self._served.entry
        where = runtime.socket_path(entry.name)
        line = f"READY {entry.name} {entry.chip.name} pid {os.getpid()} socket {where}"
        line += f" flash {self._served.flash.path}"
        return line + (f" pty {self._pty.path}" if self._pty is not None else "")

    def stop(self) -> None:
        """Everybody out, at most END_SECONDS."""
        self._stopping.set()
        if self._listener is not None:
            self._listener.close()
        deadline = time.monotonic() + END_SECONDS
        with self._beginning:
            sessions = list(self._sessions.items())
        for session, thread in sessions:
            session.hang_up()
            thread.join(max(0.0, deadline - time.monotonic()))
        if self._pty is not None:
            self._pty.join(max(0.0, deadline - time.monotonic()))

    def _accept(self, listener: socket.socket) -> None:
        while not self._stopping.is_set():
            try:
                connection, _ = listener.accept()
            except OSError:
                if self._stopping.is_set():
                    return
                time.sleep(0.05)  # out of descriptors, say: others may give some back
                continue
            owner = runtime.peer(connection)[1]
            if owner not in (None, os.getuid()) or len(self._sessions) >= SESSIONS_MAX:
                self._turn_away(connection)
                continue
            session = Session(connection, self._served, self._stopping)
            thread = threading.Thread(target=self._serve, args=(session,), daemon=True)
            with self._beginning:
                if self._stopping.is_set():
                    connection.close()
                    return
                self._sessions[session] = thread
                thread.start()

    def _serve(self, session: Session) -> None:
        try:
            session.serve()
        finally:
            self._sessions.pop(session, None)

    @staticmethod
    def _turn_away(connection: socket.socket) -> None:
        with connection, contextlib.suppress(channel.Closed, TimeoutError):
            connection.settimeout(1.0)
            channel.send(connection, channel.Message({"malformed": "no room for another client"}))
