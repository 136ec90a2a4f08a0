# SPDX-License-Identifier: Apache-2.0
"""Who may use a served board, where it is found, and what its owner can do with it."""

from __future__ import annotations

import json
import os
import re
import socket
import stat
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import serial

from harness.boards import Board, find_board, load_boards
from harness.boards.probe import Probe
from harness.build import RunnerImage, build_runner
from harness.emulator import backend, registry, runtime
from harness.emulator.remote import RemoteBoard
from harness.emulator.servedboard import SEAT_SECONDS
from harness.errors import ConfigError, ProbeError
from tests.device.support import small_pack
from tests.emulator.echo_firmware import echo_elf, segments
from tests.served.conftest import Serve, short_folder
from tests.served.support import Server, entry_of, fill_flash, forked, ripbench

ENTRY = entry_of("rp2040")
RAM = 0x20001000


@contextmanager
def holding(what: str) -> Iterator[int]:
    """Another process that has the debugger's or the serial port's seat; its process id."""
    ready, tell = os.pipe()
    done, end = os.pipe()

    def hold() -> None:
        os.close(end)
        if what == "debugger":
            with Probe(ENTRY):
                os.write(tell, b"!")
                os.read(done, 1)
        else:
            with serial.serial_for_url(ENTRY.serial):
                os.write(tell, b"!")
                os.read(done, 1)

    child = forked(hold)
    os.close(tell)
    os.close(done)
    assert os.read(ready, 1) == b"!"
    try:
        yield child
    finally:
        os.close(end)
        os.close(ready)
        assert os.waitpid(child, 0)[1] == 0


@pytest.fixture
def echo(serve: Serve, flash_file: Path) -> Server:
    """A served board whose echo firmware is enumerated."""
    fill_flash(flash_file, "rp2040", segments(echo_elf("rp2040")))
    server = serve()
    backend.clock(ENTRY.name).sleep(0.3)
    registry.remove(ENTRY.name)
    return server


# ---- one at a time ----


@pytest.mark.usefixtures("echo")
def test_the_second_client_is_told_who_has_it() -> None:
    with holding("debugger") as pid:
        registry.served(ENTRY.name)
        started = time.monotonic()
        with pytest.raises(ProbeError, match="the debugger of pico1-emu is in use") as refused:
            registry.debug_link(ENTRY.name)
        assert time.monotonic() - started < SEAT_SECONDS  # who is alive is not waited for
        with pytest.raises(ProbeError, match="the debugger of pico1-emu is in use") as refused:
            Probe(ENTRY).__enter__()
        assert f"held by: process {pid}" in str(refused.value)
        serial.serial_for_url(ENTRY.serial).close()  # the other end is free
        listed = ripbench("emu", "list", "--json")
        (board,) = json.loads(listed.stdout)["boards"]
        assert board["in_use"] == {"debugger": f"process {pid}"}
    with holding("serial port") as pid:
        with pytest.raises(serial.SerialException, match=f"process {pid} has it open"):
            serial.serial_for_url(ENTRY.serial)
        with Probe(ENTRY) as probe:
            assert probe.state() == "halted"
    serial.serial_for_url(ENTRY.serial).close()


@pytest.mark.usefixtures("echo")
def test_a_process_is_refused_its_own_second_session() -> None:
    with Probe(ENTRY):
        with pytest.raises(ProbeError, match="already has a debugger") as refused:
            Probe(ENTRY).__enter__()
        assert f"process {os.getpid()}" in str(refused.value)
    with Probe(ENTRY) as probe:
        probe.read(RAM, 4)


def test_boards_of_two_folders_are_two_boards(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of one name, which both may be used at once; one that nobody serves needs no lock."""
    assert backend.lock_keys(ENTRY.as_mapping()) == ()
    serve()
    (here,) = backend.lock_keys(ENTRY.as_mapping())
    (again,) = backend.lock_keys(ENTRY.as_mapping())
    registry.remove(ENTRY.name)
    with short_folder() as folder:
        monkeypatch.setenv("RIPBENCH_RUNTIME", str(folder))
        other = Server([ENTRY.name, "--flash", str(tmp_path / "other.bin")])
        (there,) = backend.lock_keys(ENTRY.as_mapping())
        registry.remove(ENTRY.name)
        other.kill()
    assert here == again != there


# ---- power ----


def test_a_power_cycle_loses_ram_and_keeps_flash(serve: Serve, runner_image: RunnerImage) -> None:
    serve()
    clock = backend.clock(ENTRY.name)
    with Board(ENTRY) as board:
        board.start(runner_image, small_pack())
        cycles = board.run(0, seed=1).results[0].cycles
    with Probe(ENTRY) as probe:
        probe.write(RAM, b"kept?")
        before = clock.now()
        done = ripbench("emu", "power", ENTRY.name)
        assert done.returncode == 0, done.stderr
        assert clock.now() >= before  # a deadline that runs meanwhile stays right
        with pytest.raises(ProbeError, match="the debug ports are dormant"):
            probe.read(RAM, 5)
    with Probe(ENTRY) as probe:
        assert probe.read(RAM, 5) != b"kept?"
        flash = probe.read(0x10000000, len(runner_image.flash))
        assert flash == runner_image.flash
    stages: list[str] = []
    with Board(ENTRY, on_stage=stages.append) as board:
        board.start(runner_image, small_pack())
        assert board.run(0, seed=1).results[0].cycles == cycles
    assert "flash" in stages


@pytest.mark.usefixtures("echo")
def test_a_port_vanishes_with_the_power() -> None:
    port = serial.serial_for_url(ENTRY.serial, timeout=1)
    port.write(b"one\n")
    assert port.readline() == b"one\n"
    backend.power(ENTRY.name)
    with pytest.raises(serial.SerialException, match="the board lost power"):
        port.read(1)
    port.close()
    backend.clock(ENTRY.name).sleep(0.3)
    port.open()
    port.write(b"two\n")
    assert port.readline() == b"two\n"


def test_power_of_a_board_that_nobody_serves() -> None:
    done = ripbench("emu", "power", "pico1-emu")
    assert done.returncode == 1
    assert "no board pico1-emu is served" in done.stderr


# ---- where it is found ----


def test_folder_and_socket_are_the_owners_alone(serve: Serve, runtime_folder: Path) -> None:
    runtime_folder.rmdir()
    serve()
    assert stat.S_IMODE(runtime_folder.stat().st_mode) == 0o700
    for path in runtime_folder.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path


def test_a_folder_that_others_may_look_into_is_refused(
    runtime_folder: Path, flash_file: Path
) -> None:
    runtime_folder.chmod(0o755)
    done = ripbench("emu", "serve", "pico1-emu", "--flash", str(flash_file))
    assert done.returncode == 1
    assert "not a folder of yours alone" in done.stderr
    assert not flash_file.exists()


def test_links_are_not_followed(
    serve: Serve, runtime_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve()
    other = runtime_folder.with_name(runtime_folder.name + "x")
    other.symlink_to(runtime_folder)
    try:
        monkeypatch.setenv("RIPBENCH_RUNTIME", str(other))
        assert RemoteBoard.find(ENTRY.name) is None  # no server would listen behind a link
        with pytest.raises(ConfigError, match="not a folder of yours alone"):
            runtime.make_folder()
    finally:
        other.unlink()
    monkeypatch.setenv("RIPBENCH_RUNTIME", str(runtime_folder))
    (runtime_folder / "b.sock").symlink_to(runtime.socket_path(ENTRY.name))
    with pytest.raises(ProbeError, match="is no socket of yours"):
        RemoteBoard.find("b")


def test_another_users_folder_is_nobodys(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    serve()
    monkeypatch.setattr(os, "getuid", lambda: 4711)
    assert RemoteBoard.find(ENTRY.name) is None
    assert runtime.names() == []


def test_a_stale_socket_is_nobody_and_is_taken_over(serve: Serve, runtime_folder: Path) -> None:
    serve().kill()
    assert (runtime_folder / "pico1-emu.sock").exists()
    assert registry.served(ENTRY.name) is None
    assert ripbench("emu", "list").stdout.splitlines()[2:] == []
    server = serve()
    remote = registry.served(ENTRY.name)
    assert remote is not None and remote.pid == server.pid


def test_one_server_a_name(serve: Serve, tmp_path: Path) -> None:
    server = serve()
    done = ripbench("emu", "serve", "pico1-emu", "--flash", str(tmp_path / "other.bin"))
    assert done.returncode == 1
    assert "board pico1-emu is served already" in done.stderr
    assert f"by process: {server.pid}" in done.stderr


def test_a_server_that_ends_while_clients_come(serve: Serve) -> None:
    for _ in range(20):
        server = serve()
        clients = [runtime.connect(ENTRY.name) for _ in range(8)]
        assert server.stop() == 0
        for client in clients:
            assert client is not None
            client.close()
        assert server.complaints == ""


def test_a_board_in_use_here_stays_here(flash_file: Path) -> None:
    here = registry.board(ENTRY.name)
    server = Server([ENTRY.name, "--flash", str(flash_file)], fresh=True)
    try:
        assert RemoteBoard.find(ENTRY.name) is not None
        assert registry.served(ENTRY.name) is None
        assert registry.board(ENTRY.name) is here
    finally:
        assert server.stop() == 0


def test_another_chip_under_the_name(serve: Serve) -> None:
    serve("rp2350")
    with pytest.raises(ConfigError, match="is served under this name"):
        backend.configure({"name": "pico2-emu", "chip": "rp2040"})
        registry.served("pico2-emu")


def test_another_sram_under_the_name(serve: Serve, flash_file: Path) -> None:
    """A chip that does not exist is another chip, for its clients too."""
    name = "pico1-emu-xl"
    registry.remove(name)
    server = Server([name, "--flash", str(flash_file)])
    try:
        remote = registry.served(name)
        assert remote is not None and (remote.chip, remote.sram_bytes) == ("rp2040", 520 * 1024)
        assert backend.kind_of(name) == "hypothetical"
        registry.remove(name)
        with pytest.raises(ConfigError, match="an rp2040 with 532480 bytes of SRAM is served"):
            backend.configure({"name": name, "chip": "rp2040"})
            registry.served(name)
    finally:
        registry.remove(name)
        assert server.stop() == 0
    serve()
    with pytest.raises(
        ConfigError, match="with 307200 bytes of SRAM here, but an rp2040 is served"
    ):
        backend.configure({"name": ENTRY.name, "chip": "rp2040", "sram_bytes": 300 * 1024})
        registry.served(ENTRY.name)


def test_a_served_board_with_more_sram_runs(flash_file: Path) -> None:
    name = "pico1-emu-xl"
    entry, image = find_board(name, load_boards()), build_runner("rp2040", sram_bytes=520 * 1024)
    registry.remove(name)
    server = Server([name, "--flash", str(flash_file)])
    try:
        with Board(entry) as board:
            assert board.start(image, small_pack()).pool_bytes == image.pool_bytes
            assert board.kind == "hypothetical"
            assert registry.served(name) is not None
    finally:
        registry.remove(name)
        assert server.stop() == 0


# ---- what is said of it ----


def test_lists(serve: Serve, flash_file: Path) -> None:
    server = serve()
    assert f"pid {server.pid}" in server.line
    rows = ripbench("emu", "list").stdout.splitlines()[2:]
    assert rows[0].split() == ["pico1-emu", "rp2040", str(server.pid), str(flash_file)]
    boards = ripbench("boards").stdout
    assert re.search(rf"pico1-emu .* yes, served by process {server.pid}$", boards, re.MULTILINE)
    assert re.search(r"pico2-emu .* yes$", boards, re.MULTILINE)


def test_a_name_that_no_boards_yaml_has(flash_file: Path) -> None:
    server = Server(["desk-7", "--chip", "rp2350", "--flash", str(flash_file)], fresh=True)
    try:
        listed = json.loads(ripbench("boards", "--json").stdout)
        assert "emu:desk-7" in listed["other_probes"]
        assert ripbench("emu", "serve", "desk-8", "--flash", str(flash_file)).returncode == 1
    finally:
        assert server.stop() == 0


# ---- a terminal for other programs ----


def test_the_terminal_echoes(serve: Serve, flash_file: Path) -> None:
    fill_flash(flash_file, "rp2040", segments(echo_elf("rp2040")))
    server = serve("rp2040", "--pty")
    for words in (b"hello\n", b"a second time\r\n\xff\n"):
        with terminal(server.pty) as tty:
            os.write(tty, words)
            assert read(tty, len(words)) == words
            with pytest.raises(serial.SerialException, match=f"the terminal {server.pty} has it"):
                serial.serial_for_url(ENTRY.serial)
        time.sleep(0.2)  # until the server has seen that it was closed
    before = backend.clock(ENTRY.name).now()
    time.sleep(0.2)
    assert backend.clock(ENTRY.name).now() == before  # nobody waits, no time passes
    port = serial.serial_for_url(ENTRY.serial, timeout=1)
    port.write(b"free\n")
    assert port.readline() == b"free\n"
    assert server.stop() == 0


def test_the_terminal_is_no_other_programs_while_a_client_has_the_port(echo: Server) -> None:
    assert echo.stop() == 0
    server = Server([*echo.words, "--pty"])
    try:
        backend.clock(ENTRY.name).sleep(0.3)
        with serial.serial_for_url(ENTRY.serial, timeout=1) as port, terminal(server.pty) as tty:
            os.write(tty, b"later\n")
            time.sleep(0.1)
            port.write(b"now\n")
            assert port.readline() == b"now\n"
            port.close()
            assert read(tty, 6) == b"later\n"
    finally:
        server.kill()


@contextmanager
def terminal(path: str) -> Iterator[int]:
    tty = os.open(path, os.O_RDWR | os.O_NOCTTY)
    try:
        assert not termios.tcgetattr(tty)[3] & (termios.ECHO | termios.ICANON)
        yield tty
    finally:
        os.close(tty)


def read(tty: int, count: int) -> bytes:
    os.set_blocking(tty, False)
    data, deadline = b"", time.monotonic() + 20
    while len(data) < count and time.monotonic() < deadline:
        try:
            data += os.read(tty, count - len(data))
        except BlockingIOError:
            time.sleep(0.01)
    return data


def test_the_socket_path_has_a_longest(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RIPBENCH_RUNTIME", str(tmp_path / ("x" * 100)))
    with pytest.raises(ConfigError, match="too long for a socket"):
        runtime.claim("pico1-emu")


def answer_otherwise(listener: socket.socket) -> None:
    connection, _ = listener.accept()
    connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    while connection.recv(1000):
        pass


def test_what_listens_must_be_a_board(runtime_folder: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(runtime_folder / "pico1-emu.sock"))
        listener.listen()
        child = forked(lambda: answer_otherwise(listener))
        with pytest.raises(ProbeError, match="is no served board"):
            registry.served(ENTRY.name)
        os.waitpid(child, 0)
