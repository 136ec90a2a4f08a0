# SPDX-License-Identifier: Apache-2.0
"""`ripbench run --gdb`: where the core stands, told by gdb's own remote protocol."""

from __future__ import annotations

import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness.build.image import load_image
from harness.build.lines import Lines
from harness.cli import main
from harness.kernels import find_kernels

TWO_PIXELS = Path(__file__).parent / "device" / "firmware" / "two_pixels"
DENSE_BLOCK = Path(__file__).parent / "device" / "networks" / "dense-block.yaml"
BOARDS = ["pico1-emu", pytest.param("pico2-emu", marks=pytest.mark.extra)]
RIPBENCH = "import sys; from harness.cli import main; sys.exit(main())"
CASE = "first#odd-3x3"
WIDTH, CHANNELS = 7, 6  # of its output
# the last channel of the last column alone: a store that is right, and one more that is not
LATER = "pixel[channel] = output_of(call, channel, first);"
BROKEN = (
    LATER
    + """
                if (!both && channel == 5) {
                    pixel[channel] = (int8_t)(pixel[channel] ^ 1);  /* the mistake */
                }"""
)
PC = 15


def _broken(folder: Path) -> Path:
    """The kernel with its mistake, which the last store of channel 5 of pixel 6 makes first."""
    shutil.copytree(TWO_PIXELS, folder, dirs_exist_ok=True)
    source = folder / "two_pixels.c"
    assert source.read_text().count(LATER) == 1
    source.write_text(source.read_text().replace(LATER, BROKEN))
    return folder


@contextmanager
def _started(*words: str) -> Iterator[tuple[subprocess.Popen[str], str, int]]:
    """The process, what it said until it waits, and its port."""
    command = [sys.executable, "-c", RIPBENCH, "run", CASE, "--gdb", *words]
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stderr is not None
        said = ""
        for line in process.stderr:
            said += line
            found = re.search(r"target remote localhost:(\d+)", line)
            if found:
                yield process, said, int(found[1])
                return
        raise AssertionError(said)
    finally:
        process.kill()
        process.wait()
        assert process.stderr is not None
        process.stderr.close()


class Gdb:
    """The least of a debugger."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("localhost", port), timeout=60)

    def ask(self, words: str) -> str:
        check = sum(words.encode()) % 256
        self._socket.sendall(f"${words}#{check:02x}".encode())
        data = b""
        while not re.search(rb"\$[^#]*#..$", data):
            more = self._socket.recv(4096)
            assert more, "the server has gone"
            data += more
        self._socket.sendall(b"+")
        return data.decode().partition("$")[2].rpartition("#")[0]

    def registers(self) -> list[int]:
        data = bytes.fromhex(self.ask("g").replace("x", "0"))
        return [int.from_bytes(data[n : n + 4], "little") for n in range(0, 64, 4)]

    def close(self) -> None:
        self._socket.close()


@pytest.mark.parametrize("board", BOARDS)
def test_the_core_stands_ahead_of_the_wrong_store(board: str, tmp_path: Path) -> None:
    """Not of the right one before it; one step on, the wrong value is there."""
    folder = _broken(tmp_path)
    words = ["--board", board, "--kernels", str(folder)]
    with _started(*words) as (process, said, port):
        first = re.search(r"pixel (\d+) \(row 0, column (\d+)\), channel (\d+): (-?\d+) instead of"
                          r" (-?\d+)", said)  # fmt: skip
        assert first is not None
        assert [int(n) for n in first.groups()[:3]] == [WIDTH - 1, WIDTH - 1, CHANNELS - 1]
        seen, right = int(first[4]), int(first[5])
        assert seen == right ^ 1
        assert f"{seen} is stored, {right} is right" in said
        address = int(re.search(r"address +(0x[0-9a-f]+)", said)[1], 16)  # type: ignore[index]
        assert "its store number 2 there, the last" in said
        assert "kernels/two_pixels.c:" in said
        assert "/* the mistake */" in said
        elf = Path(re.search(r"\S+/runner-\S+\.elf", said)[0])  # type: ignore[index]

        gdb = Gdb(port)
        pc = gdb.registers()[PC]
        image, line = load_image(elf), Lines(elf).at(pc)
        assert image.function_at(pc).startswith("two_pixels+")
        assert line is not None
        assert "the mistake" in (folder / "two_pixels.c").read_text().splitlines()[line.number - 1]
        assert gdb.ask(f"m{address:x},1") == f"{right & 0xFF:02x}"
        assert gdb.ask("qRcmd," + b"$__import__('os')".hex()).startswith(b"`monitor`".hex())
        assert gdb.ask("s").startswith(("T05", "S05"))
        assert gdb.registers()[PC] in (pc + 2, pc + 4)
        assert gdb.ask(f"m{address:x},1") == f"{seen & 0xFF:02x}"
        assert gdb.ask("D") == "OK"
        gdb.close()
        assert process.wait(60) == 1


def test_nobody_comes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    find_kernels.cache_clear()
    words = ["--kernels", str(_broken(tmp_path)), "--gdb", "--gdb-timeout", "0"]
    assert main(["run", CASE, *words]) == 1
    answer = capsys.readouterr()
    assert "WRONG: the outputs' CRC is" in answer.out
    assert f"-ex 'set substitute-path /kernels {tmp_path}'" in answer.err
    assert "no debugger came within 0 s" in answer.err
    assert main(["run", CASE]) == 0, "the board is as good as before"


@pytest.mark.extra
def test_ctrl_c_ends_the_wait(tmp_path: Path) -> None:
    with _started("--kernels", str(_broken(tmp_path))) as (process, _, _):
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130


def test_where_everything_is_right(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", CASE, "--gdb"]) == 0
    answer = capsys.readouterr()
    assert "everything is right: there is no wrong write to stop at" in answer.err
    assert "target remote" not in answer.err


def test_a_byte_that_nothing_stores(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The last pixel is left out: what is there is no store's."""
    shutil.copytree(TWO_PIXELS, tmp_path, dirs_exist_ok=True)
    source = tmp_path / "two_pixels.c"
    source.write_text(
        source.read_text().replace(
            LATER, f"if (pixel - call->output < {34 * CHANNELS}) {{ {LATER} }}"
        )
    )
    find_kernels.cache_clear()
    words = ["--kernels", str(tmp_path), "--strategy", "dual", "--gdb"]
    assert main(["run", CASE, *words]) == 1
    err = capsys.readouterr().err
    assert "first in pixel 34 (row 4, column 6), channel 0" in err
    assert "there is no write to stop at" in err
    assert "target remote" not in err


@pytest.mark.extra
def test_a_network_is_traced_to_its_op(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The halted core is in the first wrong op: the first of all, though all go wrong."""
    shutil.copytree(TWO_PIXELS, tmp_path, dirs_exist_ok=True)
    source = tmp_path / "two_pixels.c"
    source.write_text(source.read_text().replace("- call->input_zero_point", "+ 1", 1))
    find_kernels.cache_clear()
    words = ["--kernels", str(tmp_path), "--gdb", "--gdb-timeout", "0"]
    assert main(["run", str(DENSE_BLOCK), *words]) == 1
    err = capsys.readouterr().err
    assert re.search(
        r"first wrong +op \d+ \(conv\), tensor \d+: \d+ bytes, the first in pixel", err
    )
    assert re.search(r"store +two_pixels\+0x[0-9a-f]+ at 0x2000", err)
    assert "no debugger came within 0 s" in err
