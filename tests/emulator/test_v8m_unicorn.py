# SPDX-License-Identifier: Apache-2.0
"""The Cortex-M33 against Unicorn's, instruction by instruction: every row of v8m_rows with random
operands, random IT blocks, and pairs of exclusive accesses.

Unicorn knows nothing of cycles, exceptions or stack limits, and is more lenient than silicon in two
things: it lets multiple, dual and acquiring accesses be unaligned, and it keeps the two low bits of SP.
"""

from __future__ import annotations

import random
import re
import shutil
from pathlib import Path

import pytest
import unicorn
from unicorn import arm_const as arm

from harness.emulator import build
from harness.emulator.machine import Stop
from tests.emulator.core_program import PC, SP, XPSR, XPSR_T
from tests.emulator.v8m_program import CoreV8M
from tests.emulator.v8m_rows import ROWS as COMPUTING
from tests.emulator.v8m_rows import Row
from tests.emulator.v8m_rows_alone import ROWS, WITHOUT_ORACLE

SETS, CHAIN = 130, 5  # instructions of a row; how many run between two looks, if it allows that
REGION, REGION_BYTES, AT = 0x20010000, 0x4000, 0x20012000
TARGETS = (0x20010800, 0x20011800)
REACH = (0x1F000000, 0x02100000)  # Unicorn fetches where a branch leads, up to 16 MB away
EDGES = (0, 1, 31, 32, 33, 0x7FFF, 0x8000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF,
         0x00FF00FF, 0x80008000, 0x7FFF7FFF)  # fmt: skip
FLAGS, IPSR = 0xF80F0000, 0x1FF
BKPT = b"\x00\xbe"
CODE_BYTES = 64
LOADS_PC = {"POP_PC", "LDM_PC_W", "LDR_PC_W"}
WRITES_SP = {"SP_IMM_W", "SP_FLAGS_W", "MOV_SP", "MOV_SP_W", "ADD_SP", "LDR_SP_W"}
CORE_SOURCES = build.CORE

After = tuple[list[int], int, int, bytes]


class Oracle:
    def __init__(self, region: bytes) -> None:
        self.engine = unicorn.Uc(
            unicorn.UC_ARCH_ARM, unicorn.UC_MODE_THUMB | unicorn.UC_MODE_MCLASS
        )
        self.engine.ctl_set_cpu_model(arm.UC_CPU_ARM_CORTEX_M33)
        self.engine.mem_map(*REACH)
        self.names = [arm.UC_ARM_REG_R0 + n for n in range(13)]
        self.names += [arm.UC_ARM_REG_SP, arm.UC_ARM_REG_LR]
        self.fill(region)

    def fill(self, region: bytes) -> None:
        self.engine.mem_write(REGION, region)

    def run(self, code: bytes, registers: list[int], flags: int, *, one: bool) -> After | None:
        """Registers, flags, pc and memory behind the code, or after its first instruction."""
        engine = self.engine
        engine.mem_write(AT, code)
        engine.ctl_remove_cache(AT, AT + len(code) + 4)
        engine.reg_write_batch(
            [*zip(self.names, registers, strict=True), (arm.UC_ARM_REG_XPSR_NZCVQG, flags)]
        )
        try:
            engine.emu_start(AT | 1, 0xFFFFFFFE if one else AT + len(code), count=int(one))
        except unicorn.UcError:
            return None
        wanted = (*self.names, arm.UC_ARM_REG_XPSR, arm.UC_ARM_REG_PC)
        *after, xpsr, pc = engine.reg_read_batch(wanted)
        return after, xpsr & FLAGS, pc & ~1, bytes(engine.mem_read(REGION, REGION_BYTES))


class Subject:
    def __init__(self, region: bytes) -> None:
        self.core = CoreV8M()
        self.fill(region)

    def fill(self, region: bytes) -> None:
        self.core.machine.bus_write_block(REGION, region)

    def run(self, code: bytes, registers: list[int], flags: int, *, one: bool) -> After | str:
        """As the oracle; the message where it stops."""
        core, machine = self.core, self.core.machine
        machine.bus_write_block(AT, code if one else code + BKPT)
        for number, value in enumerate(registers):
            core.set(number, value)
        core.set(XPSR, flags | XPSR_T)
        core.set(PC, AT)
        stop = core.step() if one else core.go()
        xpsr = core.get(XPSR)
        if stop != Stop.HALTED or xpsr & IPSR:
            return self.recover(stop)
        memory = machine.bus_read_block(REGION, REGION_BYTES)
        assert memory is not None
        return [core.get(number) for number in range(15)], xpsr & FLAGS, core.get(PC), memory

    def recover(self, stop: Stop) -> str:
        machine = self.core.machine
        text = f"{stop.name}: {machine.message()} {machine.last_fault()}"
        region = machine.bus_read_block(REGION, REGION_BYTES)
        assert region is not None
        machine.clear_message()
        self.core = CoreV8M()
        self.fill(region)
        return text


def operand(chance: random.Random) -> int:
    kind = chance.randrange(4)
    if kind == 0:
        return chance.choice(EDGES)
    return chance.getrandbits(32) if kind < 3 else chance.randrange(64)


def registers_for(row: Row, fields: dict[str, int], chance: random.Random) -> list[int]:
    registers = [operand(chance) for _ in range(15)]
    registers[SP] = chance.randrange(*TARGETS, 4)
    if row.operation in WRITES_SP or row.branches:
        step = 2 if row.branches else 4
        base = 0 if row.name == "ADD PC, Rm" or "ADD" in row.name or "SUB" in row.name else AT
        registers[:13] = [base + step * chance.randrange(100) | row.branches for _ in range(13)]
        registers[14] = base + step * chance.randrange(100) | row.branches
        if row.name == "ADD PC, Rm":
            registers[SP] = 0x400
    if row.offset:
        if "m" in fields:
            registers[fields["m"]] = chance.randrange(100)
        target = chance.randrange(*TARGETS, 4 if row.aligned else 1)
        offset = row.offset(fields, dict(enumerate(registers)))
        registers[fields["n"]] = (target - offset) & 0xFFFFFFFF
    return registers


def regions(chance: random.Random) -> tuple[bytes, bytes]:
    """What memory holds: anything, and addresses near the code."""
    words = [AT + 2 * chance.randrange(200) | 1 for _ in range(REGION_BYTES // 4)]
    return chance.randbytes(REGION_BYTES), b"".join(word.to_bytes(4, "little") for word in words)


def comparable(after: After | str | None) -> object:
    """Without where the code is (one side has a breakpoint behind it) and the low bits of SP."""
    if after is None or isinstance(after, str):
        return after
    registers, flags, pc, memory = after
    registers[SP] &= ~3
    begin = AT - REGION
    return registers, flags, pc, memory[:begin] + memory[begin + CODE_BYTES :]


def differing_rows(rows: tuple[Row, ...], seed: int) -> tuple[dict[str, str], int]:
    """Of each row that differs the first case, and how many instructions were compared."""
    chance = random.Random(seed)
    anything, addresses = regions(chance)
    oracle, subject = Oracle(anything), Subject(anything)
    different: dict[str, str] = {}
    compared = 0
    for row in rows:
        region = addresses if row.operation in LOADS_PC else anything
        oracle.fill(region)
        subject.fill(region)
        in_a_run = 1 if row.alone else CHAIN
        for _ in range(SETS // in_a_run):
            chosen = [row.fields(chance) for _ in range(in_a_run)]
            code = b"".join(row.encode(fields) for fields in chosen)
            registers = registers_for(row, chosen[0], chance)
            flags = chance.getrandbits(32) & FLAGS
            theirs = comparable(oracle.run(code, list(registers), flags, one=row.alone))
            ours = comparable(subject.run(code, registers, flags, one=row.alone))
            compared += in_a_run
            if ours != theirs:
                different[row.name] = describe(code, registers, flags, ours, theirs)
                break
    return different, compared


def describe(code: bytes, before: list[int], flags: int, ours: object, theirs: object) -> str:
    if not (isinstance(ours, tuple) and isinstance(theirs, tuple)):
        text = ours if isinstance(ours, str) else "ran"
        return f"{code.hex()}: ours {text}, theirs {'ran' if theirs else 'stopped'}"
    changed = [
        f"r{n} {a:#x} not {b:#x}"
        for n, (a, b) in enumerate(zip(ours[0], theirs[0], strict=True))
        if a != b
    ]
    rest = [f"{a:#x} not {b:#x}" for a, b in zip(ours[1:3], theirs[1:3], strict=True)]
    memory = "" if ours[3] == theirs[3] else ", memory differs"
    values = [hex(value) for value in before]
    return f"{code.hex()}: {changed}, flags and pc {rest}{memory}; before {values} {flags:#x}"


def test_every_row_agrees() -> None:
    different, compared = differing_rows(ROWS, seed=1)
    assert different == {}
    assert compared >= 50_000


# ---- IT blocks, exclusive accesses ----

SYSTEM_IN_IT = ("MSR APSR_nzcvq", "MSR APSR_nzcvqg", "MRS APSR", "DSB, DMB", "NOP.W")
MAY_BE_IN_IT = (*COMPUTING, *(row for row in ROWS if row.name in SYSTEM_IN_IT))


def it_instruction(chance: random.Random) -> tuple[int, int]:
    """Any IT but the UNPREDICTABLE ones, and how many instructions it rules."""
    condition, mask = chance.randrange(15), chance.randrange(1, 16)
    if condition == 14:
        mask &= -mask
    return 0xBF00 | condition << 4 | mask, 4 - ((mask & -mask).bit_length() - 1)


def test_random_it_blocks_agree() -> None:
    """What is in them changes flags too, and some of it (MSR, barriers) looks for interrupts. No ISB:
    Unicorn runs what is behind one in a block whatever the condition."""
    chance = random.Random(2)
    region, _ = regions(chance)
    oracle, subject = Oracle(region), Subject(region)
    for _ in range(4000):
        code, flags = b"", chance.getrandbits(32) & FLAGS
        for _ in range(2):
            it, count = it_instruction(chance)
            rows = chance.choices(MAY_BE_IN_IT, k=count)
            code += it.to_bytes(2, "little")
            code += b"".join(row.encode(row.fields(chance)) for row in rows)
        registers = [operand(chance) for _ in range(15)]
        registers[SP] = TARGETS[0]
        theirs = comparable(oracle.run(code, list(registers), flags, one=False))
        ours = comparable(subject.run(code, list(registers), flags, one=False))
        assert ours == theirs, describe(code, registers, flags, ours, theirs)


LOADS_EXCLUSIVE = (0xE8500F00, 0xE8D00F4F, 0xE8D00F5F, 0xE8D00FCF, 0xE8D00FDF, 0xE8D00FEF)
STORES_EXCLUSIVE = (0xE8400000, 0xE8C00F40, 0xE8C00F50, 0xE8C00FC0, 0xE8C00FD0, 0xE8C00FE0)
SIZES = (4, 1, 2, 1, 2, 4)


def wide(encoding: int) -> bytes:
    return (encoding >> 16).to_bytes(2, "little") + (encoding & 0xFFFF).to_bytes(2, "little")


@pytest.mark.parametrize("between", [b"", wide(0xF3BF8F2F)], ids=["", "CLREX"])
@pytest.mark.parametrize("which", range(len(SIZES)))
def test_exclusive_pairs_agree(which: int, between: bytes) -> None:
    """LDREX, LDREXB, LDREXH, LDAEXB, LDAEXH, LDAEX r1, [r0]; the store of the same kind r2 to r0, status
    r3, and once more the store, which must fail."""
    chance = random.Random(which)
    region, _ = regions(chance)
    oracle, subject = Oracle(region), Subject(region)
    status = 0x300 if which == 0 else 3
    store = wide(STORES_EXCLUSIVE[which] | 2 << 12 | status)
    again = wide(STORES_EXCLUSIVE[which] | 2 << 12 | (status + 0x100 if which == 0 else status + 1))
    code = wide(LOADS_EXCLUSIVE[which] | 1 << 12) + between + store + again
    for _ in range(20):
        registers = [chance.getrandbits(32) for _ in range(15)]
        registers[0] = chance.randrange(*TARGETS, SIZES[which])
        registers[SP] = TARGETS[0]
        theirs = comparable(oracle.run(code, list(registers), 0, one=False))
        ours = comparable(subject.run(code, list(registers), 0, one=False))
        assert ours == theirs, describe(code, registers, 0, ours, theirs)
        assert isinstance(ours, tuple)
        assert (ours[0][3], ours[0][4]) == ((1, 1) if between else (0, 1))


# ---- is it watched at all? ----

SEEDED_BUGS = (
    ("thumb32_data.h", "LOGICAL(ORN, RN | ~y)", "LOGICAL(ORN, RN | y)"),
    ("decode_v8m_data.c", "case 0x66: return OP_UMAAL;", "case 0x66: return OP_UMLAL;"),
    ("decode_v8m_memory.c", "bits(j, 10, 10) ? FORM_BEFORE : 0", "bits(j, 9, 9) ? FORM_BEFORE : 0"),
    ("decode_v8m.c", "bits(j, 11, 11) << 19 | bits(j, 13, 13) << 18",
     "bits(j, 13, 13) << 19 | bits(j, 11, 11) << 18"),
    ("dsp.h", "sum += (uint32_t)(difference < 0", "sum += (uint32_t)(difference < -100"),
    ("thumb32_data.h", "op_QDSUB: RESULT_W(signed_saturate(SIGNED(RM) - DOUBLED(RN)",
     "op_QDSUB: RESULT_W(signed_saturate(SIGNED(RM) - 2 * SIGNED(RN)"),
)  # fmt: skip
WRONG_WITH_THEM = (
    r"ORNS?\.W .*|UMAAL|(LDR|STR)S?[BH]?\.W \[n.* ?#-?imm8\]?!?|B(EQ|NE|CS|CC|MI|PL|VS|VC|HI|LS|GE|LT|GT"
    r"|LE)\.W|USADA?8|QDSUB|LDR\.W pc, \[n\], #imm8"
)


@pytest.mark.extra
def test_seeded_bugs_are_found_where_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A copy of the core with one bug in each of six places: the rows that differ are theirs."""
    core = tmp_path / "core"
    shutil.copytree(CORE_SOURCES, core)
    for name, right, wrong in SEEDED_BUGS:
        text = (core / name).read_text()
        assert text.count(right) == 1, f"{right!r} in {name}"
        (core / name).write_text(text.replace(right, wrong))
    monkeypatch.setattr(build, "CORE", core)
    monkeypatch.setenv("RIPBENCH_CACHE", str(tmp_path / "cache"))
    different, _ = differing_rows(ROWS, seed=1)
    suspects = {row.name for row in ROWS if re.fullmatch(WRONG_WITH_THEM, row.name)}
    assert set(different) == suspects


def test_every_operation_has_a_row_or_is_listed() -> None:
    names = {row.operation for row in ROWS}
    text = "".join(
        (CORE_SOURCES / name).read_text() for name in ("instructions.h", "instructions_v8m.h")
    )
    operations = set(re.findall(r"\bX\((\w+), \w+, \w+\)", text))
    for name in re.findall(r"FOR_EACH_DATA_FORM\(X, (\w+),", text):
        operations |= {f"{name}{form}_W" for form in ("_IMM", "S_IMM", "_LSL", "_REG", "S_REG")}
    for name in re.findall(r"FOR_EACH_LOAD_FORM\(X, (\w+)\)", text):
        operations |= {f"{name}_{form}_W" for form in ("IMM", "INDEX", "REG", "LITERAL")}
    for name in re.findall(r"FOR_EACH_STORE_FORM\(X, (\w+)\)", text):
        operations |= {f"{name}_{form}_W" for form in ("IMM", "INDEX", "REG")}
    operations = {name for name in operations if name.isupper()}  # not the forms' own definition
    assert names & WITHOUT_ORACLE == set()
    assert names | WITHOUT_ORACLE == operations
