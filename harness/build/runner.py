# SPDX-License-Identifier: Apache-2.0
"""Compiles the runner with the Arm cross compiler."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tempfile
from pathlib import Path

from harness import resources
from harness.build import cache
from harness.build.finish import finish
from harness.build.image import RunnerImage, load_image
from harness.errors import BuildError, ConfigError
from harness.schema.header import header

COMPILER = "arm-none-eabi-gcc"
_SECONDS = 120  # a compiler that takes longer hangs
_COMMON = [
    *("-std=c11", "-mthumb", "-O2", "-g", "-ffreestanding", "-fno-tree-loop-distribute-patterns"),
    *("-ffunction-sections", "-fdata-sections", "-Wall", "-Wextra", "-Werror", "-Wconversion"),
]
LINK = ["-nostdlib", "-Wl,--gc-sections", "-Wl,--no-warn-rwx-segments"]
# Nothing of the runner needs the M33's FPU; with it unused, every exception frame is the short one.
_CPU = {
    "rp2040": ["-mcpu=cortex-m0plus"],
    "rp2350": ["-mcpu=cortex-m33", "-mfloat-abi=soft"],
}
_OTHER_SRAM = {"rp2040": range(268 << 10, (520 << 10) + 1, 4 << 10)}  # what a link script takes
TABLE = Path("kernels/table.c")


def build_runner(
    chip: str,
    kernel_table: Path | None = None,
    kernels: frozenset[int] | None = None,
    sram_bytes: int | None = None,
) -> RunnerImage:
    """The runner for a chip, from the cache if these very sources were compiled by this very compiler.

    kernel_table: a C file in place of kernels/table.c, with other kernels. It is trusted code. kernels:
    a set of harness.kernels.kernel_set, all by default; what is left out is more SRAM for the arena.
    sram_bytes: of a chip that does not exist, None for its own. Errors: ConfigError for an unknown chip
    or an SRAM that no link script has; BuildError when there is no compiler or it fails.
    """
    flags = flags_for(chip, kernels, sram_bytes)
    compiler = find_compiler()
    sources = sources_for(chip, kernel_table)
    key = _key(chip, compiler, flags, sources)
    elf = cache.folder("firmware") / f"runner-{chip}-{key}.elf"
    if not elf.exists():
        _compile(chip, compiler, flags, sources, elf)
    return load_image(elf)


def flags_for(
    chip: str, kernels: frozenset[int] | None = None, sram_bytes: int | None = None
) -> list[str]:
    """Options for compiler and linker. Errors: ConfigError."""
    if chip not in _CPU:
        raise ConfigError(
            f"there is no firmware for the chip {chip!r}", hint="known: " + ", ".join(_CPU)
        )
    flags = [*_CPU[chip], *_COMMON]
    if kernels is not None:
        flags.append(f"-DKERNELS={sum(1 << bit for bit in kernels):#x}u")
    check_sram(chip, sram_bytes)
    if sram_bytes is not None:
        flags.append(f"-Wl,--defsym=sram_bytes={sram_bytes:#x}")
    return flags


def check_sram(chip: str, sram_bytes: int | None) -> None:
    """Errors: ConfigError for an SRAM that the chip's link script has no layout for."""
    sizes = _OTHER_SRAM.get(chip, range(0))
    if sram_bytes is None or sram_bytes in sizes:
        return
    others = f"multiples of {sizes.step} from {sizes[0]} to {sizes[-1]}, or " if sizes else ""
    raise ConfigError(
        f"there is no firmware for an {chip} with {sram_bytes} bytes of SRAM",
        hint=f"{others}leave it out for the chip's own",
    )


def include_options(chip: str, work: Path) -> list[str]:
    """For a compiler that runs in firmware/. work: holds ripbench_schema.h."""
    return [f"-I{work}", "-I.", f"-Iport/{chip}"]


def link_script(chip: str) -> str:
    return str(resources.firmware() / "port" / chip / f"{chip}.ld")


def find_compiler() -> str:
    """Path of the cross compiler. Errors: BuildError says how to install it."""
    path = shutil.which(COMPILER)
    if path is None:
        raise BuildError(
            f"{COMPILER} is not installed",
            hint="sudo apt-get install --no-install-recommends gcc-arm-none-eabi  |  "
            "brew install --cask gcc-arm-embedded  |  pacman -S arm-none-eabi-gcc",
        )
    return path


def compiler_version() -> str:
    """First line of `arm-none-eabi-gcc --version`."""
    return run_compiler([find_compiler(), "--version"]).splitlines()[0]


def sources_for(chip: str, kernel_table: Path | None) -> list[Path]:
    """Relative to firmware/, but for a table of kernels from elsewhere."""
    listed = (resources.firmware() / "port" / chip / "sources.txt").read_text().splitlines()
    names = [Path(line.strip()) for line in listed if line.strip() and not line.startswith("#")]
    if kernel_table is not None:
        names[names.index(TABLE)] = kernel_table.resolve()
    return names


def _key(chip: str, compiler: str, flags: list[str], sources: list[Path]) -> str:
    digest = hashlib.sha256(Path(__file__).with_name("finish.py").read_bytes())
    for part in (chip, run_compiler([compiler, "--version"]), " ".join(flags), header()):
        digest.update(part.encode() + b"\0")
    for path in sources:
        if path.is_absolute():
            digest.update(path.read_bytes() + b"\0")
    folder = resources.firmware()
    for path in sorted(
        p for p in folder.rglob("*") if p.suffix in (".c", ".h", ".S", ".ld", ".txt")
    ):
        digest.update(str(path.relative_to(folder)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _compile(chip: str, compiler: str, flags: list[str], sources: list[Path], elf: Path) -> None:
    """All sources in one call; the result is moved into place whole, so that two may build at once."""
    folder = resources.firmware()
    with tempfile.TemporaryDirectory(dir=elf.parent) as temporary:
        work = Path(temporary)
        (work / "ripbench_schema.h").write_text(header())
        linked = work / "runner.elf"
        # paths relative to firmware/, so that the ELF is the same wherever the checkout is
        names = [str(path) for path in sources]
        prefix = [
            f"-ffile-prefix-map={work}=.",
            f"-ffile-prefix-map={folder}=firmware",
            f"-Wa,--debug-prefix-map={folder}=firmware",
        ]
        options = [*flags, *prefix, *LINK, *include_options(chip, work), "-T", link_script(chip)]
        run_compiler([compiler, *options, *names, "-lgcc", "-o", str(linked)], cwd=folder)
        finished = work / "finished.elf"
        finished.write_bytes(finish(linked.read_bytes()))
        finished.replace(elf)


def run_compiler(command: list[str], cwd: Path | None = None) -> str:
    """What it prints. Errors: BuildError with what it complains about."""
    try:
        done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BuildError(f"{command[0]} could not be run", cause=str(error)) from error
    if done.returncode:
        raise BuildError(
            "the firmware does not compile",
            evidence={"command": " ".join(command[:1]) + " ...", "output": done.stderr[-4000:]},
        )
    return done.stdout
