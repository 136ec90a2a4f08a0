# SPDX-License-Identifier: Apache-2.0
"""Rows of v8m_rows that reach memory, the pc or the stack pointer, and all rows together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tests.emulator import v8m_rows
from tests.emulator.v8m_rows import Fields, Row, anything, different, expanded

# ---- loads and stores ----

LOADS = {"LDRB": 0b000, "LDRH": 0b001, "LDR": 0b010, "LDRSB": 0b100, "LDRSH": 0b101}
STORES = {"STRB": 0b000, "STRH": 0b001, "STR": 0b010}


def _imm(f: Fields, _: dict[int, int]) -> int:
    return f["i"]


def _signed(f: Fields, _: dict[int, int]) -> int:
    return f["i"] if f["s"] else -f["i"]


def _none(_f: Fields, _: dict[int, int]) -> int:
    return 0


def _index(f: Fields, r: dict[int, int]) -> int:
    return r[f["m"]] << f.get("h", 0)


def _words(f: Fields, _: dict[int, int]) -> int:
    return 4 * (f["i"] if f["s"] else -f["i"])


def _single_rows() -> Iterator[Row]:
    for load, table in ((1, LOADS), (0, STORES)):
        for name, code in table.items():
            head = f"1111100 {code >> 2} {{}} {code & 3:02b} {load} {{}} tttt"
            yield Row(
                f"{name}.W [n, #imm12]", f"{name}_IMM_W", head.format(1, "nnnn") + "iiiiiiiiiiii",
                different("n", "t"), _imm,
            )  # fmt: skip
            yield Row(
                f"{name}.W [n, #-imm8]", f"{name}_IMM_W",
                head.format(0, "nnnn") + "1100 iiiiiiii", different("n", "t"),
                lambda f, _: -f["i"],
            )  # fmt: skip
            yield Row(
                f"{name}T [n, #imm8]", f"{name}_IMM_W",
                head.format(0, "nnnn") + "1110 iiiiiiii", different("n", "t"), _imm,
            )  # fmt: skip
            yield Row(
                f"{name}.W [n, #imm8]!", f"{name}_INDEX_W",
                head.format(0, "nnnn") + "11 s 1 iiiiiiii", different("n", "t"), _signed,
            )  # fmt: skip
            yield Row(
                f"{name}.W [n], #imm8", f"{name}_INDEX_W",
                head.format(0, "nnnn") + "10 s 1 iiiiiiii", different("n", "t"), _none,
            )  # fmt: skip
            yield Row(
                f"{name}.W [n, m, LSL]", f"{name}_REG_W",
                head.format(0, "nnnn") + "0 00000 hh mmmm", different("n", "m", "t"), _index,
            )  # fmt: skip
            if load:
                yield Row(
                    f"{name}.W literal", f"{name}_LITERAL_W",
                    head.format("s", "1111") + "0 iiiiiiiiiii",
                )  # fmt: skip
    yield Row(
        "LDR.W pc, [n, #imm12]",
        "LDR_PC_W",
        "111110001101 nnnn 1111 iiiiiiiiiiii",
        anything,
        _imm,
        True,
    )
    yield Row(
        "LDR.W pc, [n], #imm8",
        "LDR_PC_W",
        "111110000101 nnnn 1111 10 s 1 iiiiiiii",
        anything,
        _none,
        True,
    )
    yield Row(
        "LDR.W sp, [n, m, LSL]", "LDR_SP_W", "111110000101 nnnn 1101 0 00000 hh mmmm",
        different("n", "m"), _index,
    )  # fmt: skip
    yield Row("PLD", "NOP_W", "111110001001 nnnn 1111 iiiiiiiiiiii")


def _has_two(f: Fields) -> bool:
    return f["l"].bit_count() >= 2 and not f["l"] >> f["n"] & 1 if "n" in f else True


def _other_memory_rows() -> Iterator[Row]:
    distinct = different("n", "t", "u")
    for load, name in ((1, "LDRD"), (0, "STRD")):
        head = "1110100 {} " + f"{load} nnnn tttt uuuu iiiiiiii"
        yield Row(
            f"{name} [n, #imm]", f"{name}_IMM", head.format("1 s 1 0"), distinct, _words, True
        )
        yield Row(
            f"{name} [n, #imm]!", f"{name}_INDEX", head.format("1 s 1 1"), distinct, _words, True
        )
        yield Row(
            f"{name} [n], #imm", f"{name}_INDEX", head.format("0 s 1 1"), distinct, _none, True
        )
    yield Row(
        "LDRD literal", "LDRD_LITERAL", "1110100 1 s 1 0 1 1111 tttt uuuu iiiiiiii",
        different("t", "u"),
    )  # fmt: skip

    def below(f: Fields, _: dict[int, int]) -> int:
        return -4 * f["l"].bit_count()

    for w in (0, 1):
        back = "!" * w
        yield Row(
            f"LDMIA.W n{back}",
            "LDM_W",
            f"1110100 010 {w} 1 nnnn 00 0 lllllllllllll",
            _has_two,
            _none,
            True,
        )
        yield Row(
            f"LDMDB n{back}",
            "LDM_W",
            f"1110100 100 {w} 1 nnnn 00 0 lllllllllllll",
            _has_two,
            below,
            True,
        )
        yield Row(
            f"STMIA.W n{back}",
            "STM_W",
            f"1110100 010 {w} 0 nnnn 0 0 0 lllllllllllll",
            _has_two,
            _none,
            True,
        )
        yield Row(
            f"STMDB n{back}",
            "STM_W",
            f"1110100 100 {w} 0 nnnn 0 1 0 lllllllllllll",
            lambda f: _has_two(f) and f["n"] != 14,
            lambda f, r: below(f, r) - 4,
            True,
        )
    yield Row(
        "LDMIA.W n!, {..., pc}",
        "LDM_PC_W",
        "1110100 010 1 1 nnnn 10 0 lllllllllllll",
        _has_two,
        _none,
        True,
    )
    yield Row("TBB", "TBB", "111010001101 nnnn 11110000 0000 mmmm", different("n", "m"), _index)
    yield Row(
        "TBH", "TBH", "111010001101 nnnn 11110000 0001 mmmm", different("n", "m"),
        lambda f, r: 2 * r[f["m"]],
    )  # fmt: skip
    for name, code in (("B", "1000"), ("H", "1001"), ("", "1010")):
        yield Row(
            f"LDA{name}",
            "LOAD_ACQUIRE",
            f"111010001101 nnnn tttt 1111 {code} 1111",
            different("n", "t"),
            _none,
            True,
        )
        yield Row(
            f"STL{name}",
            "STORE_RELEASE",
            f"111010001100 nnnn tttt 1111 {code} 1111",
            different("n", "t"),
            _none,
            True,
        )


def _multiple_of_4(f: Fields) -> bool:
    return (expanded(f["i"]) or 1) % 4 == 0


def _stack_pointer_rows() -> Iterator[Row]:
    yield Row(
        "ADD SP, SP, #imm", "SP_IMM_W", "11110 i 01000 0 1101 0 iii 1101 iiiiiiii", _multiple_of_4
    )
    yield Row(
        "SUB SP, SP, #imm", "SP_IMM_W", "11110 i 01101 0 1101 0 iii 1101 iiiiiiii", _multiple_of_4
    )
    yield Row(
        "ADDS SP, SP, #imm",
        "SP_FLAGS_W",
        "11110 i 01000 1 1101 0 iii 1101 iiiiiiii",
        _multiple_of_4,
    )
    yield Row(
        "SUBS SP, SP, #imm",
        "SP_FLAGS_W",
        "11110 i 01101 1 1101 0 iii 1101 iiiiiiii",
        _multiple_of_4,
    )
    yield Row("ADD SP, SP, Rm, LSL #2", "SP_FLAGS_W", "1110101 1000 0 1101 0000 1101 10 00 mmmm")
    yield Row("SUBS SP, SP, Rm, LSL #3", "SP_FLAGS_W", "1110101 1101 1 1101 0000 1101 11 00 mmmm")
    yield Row("ADD SP, Rm", "ADD_SP", "01000100 1 mmmm 101")
    yield Row("MOV SP, Rm", "MOV_SP", "01000110 1 mmmm 101")
    yield Row("MOV.W SP, Rm", "MOV_SP_W", "1110101 0010 0 1111 0000 1101 0000 mmmm")


# ---- branches and control; 16-bit instructions of ARMv8-M ----

CONDITIONS = ("EQ", "NE", "CS", "CC", "MI", "PL", "VS", "VC", "HI", "LS", "GE", "LT", "GT", "LE")


def _branch_rows() -> Iterator[Row]:
    for k, condition in enumerate(CONDITIONS):
        yield Row(
            f"B{condition}.W", f"B{condition}_W", f"11110 i {k:04b} iiiiii 10 i 0 i iiiiiiiiiii"
        )
        yield Row(f"B{condition}", f"B{condition}", f"1101 {k:04b} iiiiiiii")
    yield Row("B.W", "B_W", "11110 i iiiiiiiiii 10 i 1 i iiiiiiiiiii")
    yield Row("BL", "BL", "11110 i iiiiiiiiii 11 i 1 i iiiiiiiiiii")
    yield Row("CBZ", "CBZ", "1011 0 0 i 1 iiiii nnn")
    yield Row("CBNZ", "CBNZ", "1011 1 0 i 1 iiiii nnn")
    yield Row("MSR APSR_nzcvq", "MSR", "111100111000 nnnn 1000 1000 00000000")
    yield Row("MSR APSR_g", "MSR", "111100111000 nnnn 1000 0100 00000000")
    yield Row("MSR APSR_nzcvqg", "MSR", "111100111000 nnnn 1000 1100 00000000")
    yield Row("MRS APSR", "MRS", "1111001111101111 1000 dddd 00000000")
    yield Row("DSB, DMB", "BARRIER", "1111001110111111 10001111 01 0 k 1111")
    yield Row("ISB", "BARRIER", "1111001110111111 10001111 0110 1111")
    yield Row("NOP.W", "NOP_W", "1111001110101111 10000000 00000000")


def _narrow_other_rows() -> Iterator[Row]:
    yield Row("ADD PC, Rm", "ADD_PC", "01000100 1 mmmm 111", branches=True)
    yield Row("MOV PC, Rm", "MOV_PC", "01000110 1 mmmm 111", branches=True)
    yield Row("BX", "BX", "010001110 mmmm 000", branches=True)
    yield Row("BLX", "BLX", "010001111 mmmm 000", branches=True)
    yield Row("LDR literal", "LDR_LITERAL", "01001 ddd iiiiiiii")
    by_register = ("STR", "STRH", "STRB", "LDRSB", "LDR", "LDRH", "LDRB", "LDRSH")
    for k, name in enumerate(by_register):
        yield Row(
            f"{name} [n, m]",
            f"{name}_REG",
            f"0101 {k:03b} mmm nnn ttt",
            different("n", "m", "t"),
            _index,
        )
    for name, code, scale in (("STR", 12, 4), ("LDR", 13, 4), ("STRB", 14, 1), ("LDRB", 15, 1),
                              ("STRH", 16, 2), ("LDRH", 17, 2)):  # fmt: skip
        yield Row(
            f"{name} [n, #imm]",
            f"{name}_IMM",
            f"{code:05b} iiiii nnn ttt",
            different("n", "t"),
            lambda f, _, scale=scale: f["i"] * scale,  # type: ignore[misc]
        )
    yield Row("STR [SP, #imm]", "STR_IMM", "10010 ttt iiiiiiii")
    yield Row("LDR [SP, #imm]", "LDR_IMM", "10011 ttt iiiiiiii")
    yield Row("ADD/SUB SP, #imm", "ADJUST_SP", "10110000 s iiiiiii")
    yield Row("PUSH", "PUSH", "1011010 lllllllll", lambda f: f["l"] > 0)
    yield Row("POP", "POP", "10111100 llllllll", lambda f: f["l"] > 0)
    yield Row("POP {..., pc}", "POP_PC", "10111101 llllllll")
    yield Row(
        "STM",
        "STM",
        "11000 nnn llllllll",
        lambda f: f["l"] > 0 and not f["l"] >> f["n"] & 1,
        _none,
        True,
    )
    yield Row("LDM", "LDM", "11001 nnn llllllll", lambda f: f["l"] > 0, _none, True)
    yield Row("B", "B", "11100 iiiiiiiiiii", lambda f: f["i"] != 0x7FE)


ROWS = (
    *v8m_rows.ROWS,
    *(
        replace(row, alone=True)
        for rows in (_single_rows, _other_memory_rows, _stack_pointer_rows, _branch_rows,
                     _narrow_other_rows)
        for row in rows()
    ),
)  # fmt: skip

# Operations that a single instruction in Unicorn says nothing about: entries that are no instruction;
# what the system answers, or what Unicorn's emulation stops at; and those of other tests (IT blocks and
# exclusive pairs against Unicorn in test_v8m_unicorn, the FPU in test_v8m_fpu).
WITHOUT_ORACLE = {
    "DECODE", "BREAKPOINT", "STEP_END", "UNDEFINED", "UNPREDICTABLE",
    "CPS", "BKPT", "SVC", "NOP", "WFE", "WFI", "SEV", "WFE_W", "WFI_W", "SEV_W", "B_SELF",
    "BXNS", "BLXNS", "TT", "SG", "CLREX", "COPROCESSOR", "FPU",
    "IT", "LOAD_EXCLUSIVE", "STORE_EXCLUSIVE",
}  # fmt: skip
