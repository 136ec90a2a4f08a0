# SPDX-License-Identifier: Apache-2.0
"""Encodings of ARMv8-M Mainline + DSP, one row of the manual's tables each, and what an operand may be.

A pattern is the instruction from bit 31 (or 15) down. 0 and 1 are fixed; a letter is a field, the same
letter in several places one field from its highest bit on. d n m a t u are registers, any of r0 to r12
and r14; other letters are any number. `operation` is the name in instructions.h or instructions_v8m.h.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

Fields = dict[str, int]
REGISTERS = (*range(13), 14)
LOW, HIGH = range(8), REGISTERS


def anything(_: Fields) -> bool:
    return True


@dataclass(frozen=True)
class Row:
    name: str
    operation: str
    pattern: str
    allowed: Callable[[Fields], bool] = anything
    offset: Callable[[Fields, dict[int, int]], int] | None = None  # of the access from R[n]; memory
    aligned: bool = False  # it faults when unaligned
    branches: bool = False  # registers hold addresses near the code
    alone: bool = False  # reaches memory, the pc or SP: no instruction may follow unlooked at

    @property
    def bits(self) -> str:
        return self.pattern.replace(" ", "")

    def encode(self, fields: Fields) -> bytes:
        left = {
            letter: format(value, f"0{self.bits.count(letter)}b")
            for letter, value in fields.items()
        }
        text = ""
        for bit in self.bits:
            if bit in "01":
                text += bit
            else:
                text, left[bit] = text + left[bit][0], left[bit][1:]
        halves = [int(text[k : k + 16], 2) for k in range(0, len(text), 16)]
        return b"".join(half.to_bytes(2, "little") for half in halves)

    def fields(self, chance: random.Random) -> Fields:
        """One allowed choice; list-like rows are sparse, so this may take some tries."""
        letters = sorted(set(self.bits) - set("01"))
        while True:
            chosen = {}
            for letter in letters:
                width = self.bits.count(letter)
                if letter in "dnmatu" and width == 4:
                    chosen[letter] = chance.choice(REGISTERS)
                else:
                    chosen[letter] = chance.getrandbits(width)
            if self.allowed(chosen):
                return chosen


def expanded(imm12: int) -> int | None:
    """ThumbExpandImm(); None where it is UNPREDICTABLE."""
    byte, rotation = imm12 & 0xFF, imm12 >> 7
    if imm12 >= 0x400:
        value = 0x80 | imm12 & 0x7F
        return (value >> rotation | value << (32 - rotation)) & 0xFFFFFFFF
    if imm12 >= 0x100 and not byte:
        return None
    return byte * (1, 0x00010001, 0x01000100, 0x01010101)[imm12 >> 8]


def different(*letters: str) -> Callable[[Fields], bool]:
    return lambda f: len({f[letter] for letter in letters}) == len(letters)


def is_expandable(f: Fields) -> bool:
    return expanded(f["i"]) is not None


# ---- data processing: modified immediate, shifted register ----

OPCODES = {
    "AND": 0, "BIC": 1, "ORR": 2, "ORN": 3, "EOR": 4, "ADD": 8, "ADC": 10, "SBC": 11, "SUB": 13,
    "RSB": 14,
}  # fmt: skip
MOVES = {"MOV": 2, "MVN": 3}
COMPARISONS = {"TST": 0, "TEQ": 4, "CMN": 8, "CMP": 13}


def _data_rows() -> Iterator[Row]:
    for name, opcode in (*OPCODES.items(), *MOVES.items()):
        n = "1111" if name in MOVES else "nnnn"
        for s in (0, 1):
            suffix, head = "S" * s, f"{opcode:04b} {s} {n}"
            yield Row(
                f"{name}{suffix}.W #imm", f"{name}{suffix}_IMM_W",
                f"11110 i 0 {head} 0 iii dddd iiiiiiii", is_expandable,
            )  # fmt: skip
            yield Row(
                f"{name}{suffix}.W shifted", f"{name}{suffix}_REG_W",
                f"1110101 {head} 0 iii dddd ii yy mmmm", lambda f: f["y"] != 0 or f["i"] != 0,
            )  # fmt: skip
        yield Row(
            f"{name}.W LSL", f"{name}_LSL_W",
            f"1110101 {opcode:04b} 0 {n} 0 iii dddd ii 00 mmmm",
        )  # fmt: skip
        yield Row(
            f"{name}S.W RRX", f"{name}S_REG_W", f"1110101 {opcode:04b} 1 {n} 0000 dddd 0011 mmmm"
        )
    for name, opcode in COMPARISONS.items():
        head = f"{opcode:04b} 1 nnnn"
        yield Row(
            f"{name}.W #imm", f"{name}_IMM_W", f"11110 i 0 {head} 0 iii 1111 iiiiiiii",
            is_expandable,
        )  # fmt: skip
        yield Row(f"{name}.W shifted", f"{name}_REG_W", f"1110101 {head} 0 iii 1111 ii yy mmmm")


def _plain_rows() -> Iterator[Row]:
    yield Row("ADDW", "ADD_IMM_W", "11110 i 100000 nnnn 0 iii dddd iiiiiiii")
    yield Row("SUBW", "SUB_IMM_W", "11110 i 101010 nnnn 0 iii dddd iiiiiiii")
    yield Row("ADR.W after", "ADR_W", "11110 i 100000 1111 0 iii dddd iiiiiiii")
    yield Row("ADR.W before", "ADR_W", "11110 i 101010 1111 0 iii dddd iiiiiiii")
    yield Row("MOVW", "MOV_IMM_W", "11110 i 100100 iiii 0 iii dddd iiiiiiii")
    yield Row("MOVT", "MOVT", "11110 i 101100 iiii 0 iii dddd iiiiiiii")
    yield Row("SSAT LSL", "SSAT", "11110 0 110000 nnnn 0 iii dddd ii 0 sssss")
    yield Row("SSAT ASR", "SSAT", "11110 0 110010 nnnn 0 iii dddd ii 0 sssss", lambda f: f["i"] > 0)
    yield Row("SSAT16", "SSAT16", "11110 0 110010 nnnn 0000 dddd 00 00 ssss")
    yield Row("USAT LSL", "USAT", "11110 0 111000 nnnn 0 iii dddd ii 0 sssss")
    yield Row("USAT ASR", "USAT", "11110 0 111010 nnnn 0 iii dddd ii 0 sssss", lambda f: f["i"] > 0)
    yield Row("USAT16", "USAT16", "11110 0 111010 nnnn 0000 dddd 00 00 ssss")
    in_register = lambda f: f["i"] + f["w"] <= 31  # noqa: E731
    yield Row("SBFX", "SBFX", "11110 0 110100 nnnn 0 iii dddd ii 0 wwwww", in_register)
    yield Row("UBFX", "UBFX", "11110 0 111100 nnnn 0 iii dddd ii 0 wwwww", in_register)
    in_order = lambda f: f["w"] >= f["i"]  # noqa: E731
    yield Row("BFI", "BFI", "11110 0 110110 nnnn 0 iii dddd ii 0 wwwww", in_order)
    yield Row("BFC", "BFC", "11110 0 110110 1111 0 iii dddd ii 0 wwwww", in_order)
    yield Row("PKHBT", "PKHBT", "1110101 0110 0 nnnn 0 iii dddd ii 00 mmmm")
    yield Row("PKHTB", "PKHTB", "1110101 0110 0 nnnn 0 iii dddd ii 10 mmmm")
    yield Row("ADDW Rd, SP", "ADD_IMM_W", "11110 i 100000 1101 0 iii dddd iiiiiiii")


# ---- data processing: register; multiply ----

EXTENDS = ("SXT{}H", "UXT{}H", "SXT{}B16", "UXT{}B16", "SXT{}B", "UXT{}B")
PARALLEL = {"ADD8": 0, "ADD16": 1, "ASX": 2, "SUB8": 4, "SUB16": 5, "SAX": 6}
PREFIXES = {"S": 0, "Q": 1, "SH": 2, "U": 4, "UQ": 5, "UH": 6}


def _register_rows() -> Iterator[Row]:
    for k, name in enumerate(("LSL", "LSR", "ASR", "ROR")):
        for s in (0, 1):
            yield Row(
                f"{name}{'S' * s}.W Rm", f"{name}{'S' * s}_W",
                f"11111010 0 {k:02b} {s} nnnn 1111 dddd 0000 mmmm",
            )  # fmt: skip
    for k, form in enumerate(EXTENDS):
        name, added = form.format(""), form.format("A")
        wide = name if name.endswith("16") else f"{name}_W"
        yield Row(f"{name}.W", wide, f"11111010 0 {k:03b} 1111 1111 dddd 10 rr mmmm")
        yield Row(added, added, f"11111010 0 {k:03b} nnnn 1111 dddd 10 rr mmmm")
    for name, k in PARALLEL.items():
        for prefix, variant in PREFIXES.items():
            yield Row(
                prefix + name, "PARALLEL",
                f"11111010 1 {k:03b} nnnn 1111 dddd 0 {variant:03b} mmmm",
            )  # fmt: skip
    for k, name in enumerate(("QADD", "QDADD", "QSUB", "QDSUB")):
        yield Row(name, name, f"11111010 1000 nnnn 1111 dddd 10 {k:02b} mmmm")
    for k, name in enumerate(("REV_W", "REV16_W", "RBIT", "REVSH_W")):
        yield Row(
            name, name, f"11111010 1001 nnnn 1111 dddd 10 {k:02b} mmmm", lambda f: f["n"] == f["m"]
        )
    yield Row("SEL", "SEL", "11111010 1010 nnnn 1111 dddd 1000 mmmm")
    yield Row("CLZ", "CLZ", "11111010 1011 nnnn 1111 dddd 1000 mmmm", lambda f: f["n"] == f["m"])


def _multiply_rows() -> Iterator[Row]:
    def row(name: str, operation: str, opcode: int, accumulator: str, variant: str) -> Row:
        return Row(
            name, operation, f"111110110 {opcode:03b} nnnn {accumulator} dddd 00 {variant} mmmm"
        )

    yield row("MUL.W", "MUL_W", 0, "1111", "00")
    yield row("MLA", "MLA", 0, "aaaa", "00")
    yield row("MLS", "MLS", 0, "aaaa", "01")
    for k, halves in enumerate(("BB", "BT", "TB", "TT")):
        yield row(f"SMUL{halves}", "SMLAXY", 1, "1111", f"{k:02b}")
        yield row(f"SMLA{halves}", "SMLAXY", 1, "aaaa", f"{k:02b}")
    yield row("SMUAD", "SMLAD", 2, "1111", "00")
    yield row("SMUADX", "SMLADX", 2, "1111", "01")
    yield row("SMLAD", "SMLAD", 2, "aaaa", "00")
    yield row("SMLADX", "SMLADX", 2, "aaaa", "01")
    for k, half in enumerate("BT"):
        yield row(f"SMULW{half}", "SMLAWY", 3, "1111", f"0{k}")
        yield row(f"SMLAW{half}", "SMLAWY", 3, "aaaa", f"0{k}")
    for x in (0, 1):
        yield row(f"SMUSD{'X' * x}", "SMLSD", 4, "1111", f"0{x}")
        yield row(f"SMLSD{'X' * x}", "SMLSD", 4, "aaaa", f"0{x}")
        yield row(f"SMMUL{'R' * x}", "SMMLA", 5, "1111", f"0{x}")
        yield row(f"SMMLA{'R' * x}", "SMMLA", 5, "aaaa", f"0{x}")
        yield row(f"SMMLS{'R' * x}", "SMMLS", 6, "aaaa", f"0{x}")
    yield row("USAD8", "USADA8", 7, "1111", "00")
    yield row("USADA8", "USADA8", 7, "aaaa", "00")

    long = {
        "SMULL": (0, "0000"), "UMULL": (2, "0000"), "SMLAL": (4, "0000"), "UMLAL": (6, "0000"),
        "UMAAL": (6, "0110"), "SMLALBB": (4, "1000"), "SMLALBT": (4, "1001"),
        "SMLALTB": (4, "1010"), "SMLALTT": (4, "1011"), "SMLALD": (4, "1100"),
        "SMLALDX": (4, "1101"), "SMLSLD": (5, "1100"), "SMLSLDX": (5, "1101"),
    }  # fmt: skip
    for name, (opcode, variant) in long.items():
        operation = "SMLALXY" if name[5:] in ("BB", "BT", "TB", "TT") else name.removesuffix("X")
        yield Row(
            name, operation, f"111110111 {opcode:03b} nnnn tttt dddd {variant} mmmm",
            different("t", "d"),
        )  # fmt: skip
    yield Row("SDIV", "SDIV", "111110111 001 nnnn 1111 dddd 1111 mmmm")
    yield Row("UDIV", "UDIV", "111110111 011 nnnn 1111 dddd 1111 mmmm")


# ---- 16-bit instructions that compute ----


def _narrow_rows() -> Iterator[Row]:
    yield Row("MOVS Rd, Rm", "MOVS_REG", "00000 00000 mmm ddd")
    for k, name in enumerate(("LSLS", "LSRS", "ASRS")):
        yield Row(f"{name} #imm", f"{name}_IMM", f"000 {k:02b} iiiii mmm ddd", lambda f: f["i"] > 0)
    for k, name in enumerate(("ADDS_REG", "SUBS_REG", "ADDS_IMM", "SUBS_IMM")):
        yield Row(f"{name} 3", name, f"00011 {k:02b} mmm nnn ddd")
    for k, name in enumerate(("MOVS_IMM", "CMP_IMM", "ADDS_IMM", "SUBS_IMM")):
        yield Row(f"{name} 8", name, f"001 {k:02b} ddd iiiiiiii")
    opcodes = (
        "ANDS", "EORS", "LSLS_REG", "LSRS_REG", "ASRS_REG", "ADCS", "SBCS", "RORS",
        "TST", "RSBS", "CMP_REG", "CMN", "ORRS", "MULS", "BICS", "MVNS",
    )  # fmt: skip
    for k, name in enumerate(opcodes):
        yield Row(name, name, f"010000 {k:04b} mmm ddd")
    yield Row("ADD Rd, Rm", "ADD_HIGH", "01000100 d mmmm ddd")
    yield Row(
        "CMP Rn, Rm high", "CMP_REG", "01000101 n mmmm nnn", lambda f: max(f["n"], f["m"]) > 7
    )
    yield Row("MOV Rd, Rm", "MOV_HIGH", "01000110 d mmmm ddd")
    yield Row("ADR", "ADR", "10100 ddd iiiiiiii")
    yield Row("ADD Rd, SP, #imm", "ADD_SP_IMM", "10101 ddd iiiiiiii")
    for k, name in enumerate(("SXTH", "SXTB", "UXTH", "UXTB")):
        yield Row(name, name, f"10110010 {k:02b} mmm ddd")
    for k, name in ((0, "REV"), (1, "REV16"), (3, "REVSH")):
        yield Row(name, name, f"10111010 {k:02b} mmm ddd")


ROWS = (*_data_rows(), *_plain_rows(), *_register_rows(), *_multiply_rows(), *_narrow_rows())
