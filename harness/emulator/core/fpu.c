/* SPDX-License-Identifier: Apache-2.0 */
/* The FPU of the Cortex-M33, FPv5 single precision with 32 S registers (16 D registers to load,
 * store and move): decoding and registers (ARMv8-M Architecture Reference Manual C2.3.18, C2.3.19;
 * B4). The arithmetic is in fpu.h. Double precision is undefined, as on the core. */
#include "fpu.h"
#include "scb_v8m.h"

static uint32_t field(uint32_t instruction, int high, int low)
{
    return instruction >> low & ((2u << (high - low)) - 1);
}

static bool bit(uint32_t instruction, int n) { return instruction >> n & 1; }

/* Register numbers: four bits and one more, which is the lowest of an S and the highest of a D. */
static uint32_t s_d(uint32_t i) { return field(i, 15, 12) << 1 | bit(i, 22); }
static uint32_t s_n(uint32_t i) { return field(i, 19, 16) << 1 | bit(i, 7); }
static uint32_t s_m(uint32_t i) { return field(i, 3, 0) << 1 | bit(i, 5); }
static uint32_t d_d(uint32_t i) { return (uint32_t)bit(i, 22) << 4 | field(i, 15, 12); }
static uint32_t d_m(uint32_t i) { return (uint32_t)bit(i, 5) << 4 | field(i, 3, 0); }
static bool is_double(uint32_t i) { return bit(i, 8); }
enum { D_REGISTERS = 16, S_REGISTERS = 32 };

static bool fault(machine *m, enum v8m_fault_kind kind, const char *cause, uint32_t address)
{
    m->fault_kind = kind;
    m->fault_cause = cause;
    m->fault_address = address;
    return false;
}

static bool undefined(machine *m)
{
    return fault(m, FAULT_UNDEFINED, "undefined floating-point instruction", m->r[PC]);
}

static bool unpredictable(machine *m, uint32_t instruction)
{
    machine_strict(m, "UNPREDICTABLE floating-point instruction %08x", instruction);
    return undefined(m);
}

/* ExecuteFPCheck(): permission; the first instruction of a context gets default settings. */
static bool check_context(machine *m)
{
    const uint32_t both = CONTROL_FPCA | CONTROL_SFPA;

    if (!fpu_enabled(m))
        return fault(m, FAULT_NOCP, "floating-point instruction, but CPACR does not enable the FPU",
                     m->r[PC]);
    if (m->fpccr & (uint32_t)FPCCR_ASPEN && (m->control & both) != both) {
        m->control |= both;
        m->fpscr = m->fpdscr;
    }
    return true;
}

/* ---- loads and stores, C2.3.19 ---- */

static bool transfer(machine *m, bool load, uint32_t address, uint32_t first, uint32_t words)
{
    if (address & 3)
        return fault(m, FAULT_UNALIGNED, "unaligned floating-point load or store", address);
    for (uint32_t k = 0; k < words; k++, address += 4)
        if (!(load ? core_read(m, address, 4, &m->fp[first + k])
                   : core_write(m, address, 4, m->fp[first + k])))
            return false;
    return true;
}

/* VLDR, VSTR: P = 1, W = 0 */
static bool load_store_one(machine *m, uint32_t i)
{
    const bool load = bit(i, 20), is_d = is_double(i);
    const uint32_t rn = field(i, 19, 16), offset = field(i, 7, 0) * 4;
    const uint32_t base = rn == PC ? (m->r[PC] + 4) & ~3u : m->r[rn];
    const uint32_t first = is_d ? d_d(i) * 2 : s_d(i);

    if (rn == PC && !load)
        return unpredictable(m, i);
    if (first >= S_REGISTERS)
        return undefined(m);
    return transfer(m, load, bit(i, 23) ? base + offset : base - offset, first, is_d ? 2 : 1);
}

/* VLDM, VSTM, VPUSH, VPOP. An odd count for D registers is FLDMX, FSTMX, which move one word less
   but count it. */
static bool load_store_multiple(machine *m, uint32_t i)
{
    const bool load = bit(i, 20), before = bit(i, 24), write_back = bit(i, 21);
    const uint32_t rn = field(i, 19, 16), bytes = field(i, 7, 0) * 4;
    const uint32_t words = is_double(i) ? field(i, 7, 1) * 2 : field(i, 7, 0);
    const uint32_t first = is_double(i) ? d_d(i) * 2 : s_d(i);
    const uint32_t base = m->r[rn], start = before ? base - bytes : base;

    if (words == 0 || first + words > S_REGISTERS || rn == PC)
        return unpredictable(m, i);
    if (rn == SP && before && start < stack_limit(m))
        return fault(m, FAULT_STKOF, "floating-point push below the stack limit", start);
    if (!transfer(m, load, start, first, words))
        return false;
    if (write_back)
        m->r[rn] = before ? start : base + bytes;
    return true;
}

/* VMOV between two core registers and two S or one D register */
static bool move_two(machine *m, uint32_t i)
{
    const uint32_t rt = field(i, 15, 12), rt2 = field(i, 19, 16);
    const uint32_t first = is_double(i) ? d_m(i) * 2 : s_m(i);

    if (field(i, 7, 6) != 0 || !bit(i, 4))
        return undefined(m);
    if (first + 1 >= S_REGISTERS || rt >= SP || rt2 >= SP || (bit(i, 20) && rt == rt2))
        return unpredictable(m, i);
    if (bit(i, 20)) {
        m->r[rt] = m->fp[first];
        m->r[rt2] = m->fp[first + 1];
    } else {
        m->fp[first] = m->r[rt];
        m->fp[first + 1] = m->r[rt2];
    }
    return true;
}

static bool load_store(machine *m, uint32_t i)
{
    const bool before = bit(i, 24), up = bit(i, 23), write_back = bit(i, 21);

    if (!before && !up && !write_back)
        return bit(i, 22) ? move_two(m, i) : undefined(m);
    if (before && !write_back)
        return load_store_one(m, i);
    if (before == up)                  /* both: undefined; neither: VLLDM, VLSTM */
        return undefined(m);
    return load_store_multiple(m, i);
}

/* ---- moves between one core register and the FPU, C2.3.18 ---- */

enum { REG_FPSCR = 1 };

static bool move_fpscr(machine *m, uint32_t i)
{
    const uint32_t rt = field(i, 15, 12);

    if (field(i, 19, 16) != REG_FPSCR)
        return undefined(m);
    if (!bit(i, 20))
        m->fpscr = m->r[rt] & FPSCR_WRITABLE;
    else if (rt == PC)
        set_apsr(m, m->fpscr);
    else
        m->r[rt] = m->fpscr;
    return true;
}

static bool move_one(machine *m, uint32_t i)
{
    const uint32_t rt = field(i, 15, 12);
    const bool to_core = bit(i, 20);
    uint32_t *s = &m->fp[s_n(i)];

    if (is_double(i)) {                                    /* half of a D register below D16 */
        if (field(i, 23, 22) != 0 || field(i, 7, 5) != 0)
            return undefined(m);
        s = &m->fp[field(i, 19, 16) * 2 + bit(i, 21)];
    } else if (field(i, 23, 21) != 0 && field(i, 23, 21) != 7) {
        return undefined(m);
    }
    if (field(i, 6, 5) != 0 || field(i, 3, 0) != 0 || rt == SP)
        return unpredictable(m, i);
    if (!is_double(i) && field(i, 23, 21) == 7)
        return bit(i, 7) || (rt == PC && !to_core) ? unpredictable(m, i) : move_fpscr(m, i);
    if (rt == PC)
        return unpredictable(m, i);
    if (to_core)
        m->r[rt] = *s;
    else
        *s = m->r[rt];
    return true;
}

/* ---- data processing, C2.3.18 ---- */

static uint32_t negated(uint32_t value) { return value ^ (uint32_t)FP_SIGN; }

/* VFPExpandImm(): abcdefgh is sign, the exponent's lowest two bits of a range around 1, fraction */
static uint32_t expanded_immediate(uint32_t imm8)
{
    const uint32_t exponent = bit(imm8, 6) ? 0x7c | field(imm8, 5, 4) : 0x80 | field(imm8, 5, 4);
    return (uint32_t)bit(imm8, 7) << 31 | exponent << 23 | field(imm8, 3, 0) << 19;
}

static bool compare(machine *m, uint32_t a, uint32_t b, bool quiet_nan_is_invalid)
{
    const uint32_t flags = fp_compare(a, b, quiet_nan_is_invalid, &m->fpscr);

    m->fpscr = (m->fpscr & ~(0xfu << FPSCR_NZCV_SHIFT)) | flags << FPSCR_NZCV_SHIFT;
    return true;
}

/* VCVTB, VCVTT: the lower or upper half of an S register */
static bool convert_half(machine *m, uint32_t i)
{
    const uint32_t shift = bit(i, 7) ? 16 : 0, source = m->fp[s_m(i)];
    uint32_t *destination = &m->fp[s_d(i)];

    if (bit(i, 16))
        *destination = (*destination & ~(0xffffu << shift))
                       | (uint32_t)fp_to_half(source, &m->fpscr) << shift;
    else
        *destination = fp_from_half((uint16_t)(source >> shift), &m->fpscr);
    return true;
}

/* VCVT between floating point and fixed point, in place: to nearest on the way in, to zero out */
static bool convert_fixed(machine *m, uint32_t i)
{
    const uint32_t bits = bit(i, 7) ? 32 : 16, imm5 = field(i, 3, 0) << 1 | bit(i, 5);
    const bool is_signed = !bit(i, 16);
    uint32_t *s = &m->fp[s_d(i)];

    if (imm5 > bits)
        return unpredictable(m, i);
    if (bit(i, 18))
        *s = fp_to_fixed(*s, bits, bits - imm5, is_signed, FP_ZERO, &m->fpscr);
    else
        *s = fp_from_fixed(*s, bits, bits - imm5, is_signed, FP_TIE_EVEN, &m->fpscr);
    return true;
}

/* opc2 and opc3 of the manual's table: bits 19:16, and bit 7 */
static bool one_operand(machine *m, uint32_t i)
{
    const uint32_t opc2 = field(i, 19, 16), operand = m->fp[s_m(i)];
    const enum fp_rounding rounding = fp_rounding(m->fpscr);
    const bool high = bit(i, 7);
    uint32_t *d = &m->fp[s_d(i)], *fpscr = &m->fpscr;

    switch (opc2) {
    case 0: *d = high ? operand & ~(uint32_t)FP_SIGN : operand; return true;       /* VABS, VMOV */
    case 1: *d = high ? fp_sqrt(operand, fpscr) : negated(operand); return true;   /* VNEG */
    case 2: case 3: return convert_half(m, i);
    case 4: return compare(m, *d, operand, high);
    case 5: return field(i, 3, 0) == 0 && !bit(i, 5) ? compare(m, *d, 0, high) : undefined(m);
    case 6:                                                                 /* VRINTZ, VRINTR */
        *d = fp_round_to_integral(operand, high ? FP_ZERO : rounding, false, fpscr);
        return true;
    case 7:                                                                 /* VRINTX */
        if (high)
            return undefined(m);                                            /* to and from double */
        *d = fp_round_to_integral(operand, rounding, true, fpscr);
        return true;
    case 8: *d = fp_from_fixed(operand, 32, 0, high, rounding, fpscr); return true;
    case 12: case 13:                                                       /* VCVT, VCVTR */
        *d = fp_to_fixed(operand, 32, 0, opc2 & 1, high ? FP_ZERO : rounding, fpscr);
        return true;
    case 10: case 11: case 14: case 15: return convert_fixed(m, i);
    default: return undefined(m);
    }
}

/* Two operands: bits 23, 21, 20 and 6 */
static bool two_operands(machine *m, uint32_t i)
{
    const uint32_t n = m->fp[s_n(i)], o = m->fp[s_m(i)];
    const bool op = bit(i, 6);
    uint32_t *d = &m->fp[s_d(i)], *fpscr = &m->fpscr;
    uint32_t product;

    switch (bit(i, 23) << 2 | field(i, 21, 20)) {
    case 0:                                                                 /* VMLA, VMLS */
        product = fp_mul(n, o, fpscr);
        *d = fp_add(*d, op ? negated(product) : product, fpscr);
        return true;
    case 1:                                                                 /* VNMLS, VNMLA */
        product = fp_mul(n, o, fpscr);
        *d = fp_add(negated(*d), op ? negated(product) : product, fpscr);
        return true;
    case 2:                                                                 /* VMUL, VNMUL */
        product = fp_mul(n, o, fpscr);
        *d = op ? negated(product) : product;
        return true;
    case 3: *d = op ? fp_sub(n, o, fpscr) : fp_add(n, o, fpscr); return true;
    case 4:                                                                 /* VDIV */
        if (op)
            return undefined(m);
        *d = fp_div(n, o, fpscr);
        return true;
    case 5:                                                                 /* VFNMS, VFNMA */
        *d = fp_mul_add(negated(*d), op ? negated(n) : n, o, fpscr);
        return true;
    case 6:                                                                 /* VFMA, VFMS */
        *d = fp_mul_add(*d, op ? negated(n) : n, o, fpscr);
        return true;
    default:
        if (op)
            return one_operand(m, i);
        if (bit(i, 7) || bit(i, 5))
            return undefined(m);
        *d = expanded_immediate(field(i, 19, 16) << 4 | field(i, 3, 0));
        return true;
    }
}

/* VSEL: EQ, VS, GE, GT of the core's flags */
static bool select_condition(const machine *m, uint32_t cc)
{
    const bool negative = m->n >> 31, zero = m->z == 0, greater_or_equal = negative == (m->v != 0);

    switch (cc) {
    case 0: return zero;
    case 1: return m->v;
    case 2: return greater_or_equal;
    default: return !zero && greater_or_equal;
    }
}

/* VSEL, VMAXNM, VMINNM, VRINTA to VRINTM, VCVTA to VCVTM (RM: away, even, up, down) */
static bool data_processing_v8(machine *m, uint32_t i)
{
    static const enum fp_rounding directions[] = { FP_TIE_AWAY, FP_TIE_EVEN, FP_UP, FP_DOWN };
    const uint32_t n = m->fp[s_n(i)], o = m->fp[s_m(i)];
    const enum fp_rounding rounding = directions[field(i, 17, 16)];
    uint32_t *d = &m->fp[s_d(i)], *fpscr = &m->fpscr;

    if (!bit(i, 23) && !bit(i, 6)) {
        *d = select_condition(m, field(i, 21, 20)) ? n : o;
        return true;
    }
    if (bit(i, 23) && field(i, 21, 20) == 0) {
        *d = bit(i, 6) ? fp_min_num(n, o, fpscr) : fp_max_num(n, o, fpscr);
        return true;
    }
    if (bit(i, 23) && field(i, 21, 18) == 14 && field(i, 7, 6) == 1) {
        *d = fp_round_to_integral(o, rounding, false, fpscr);
        return true;
    }
    if (bit(i, 23) && field(i, 21, 18) == 15 && bit(i, 6)) {
        *d = fp_to_fixed(o, 32, 0, bit(i, 7), rounding, fpscr);
        return true;
    }
    return undefined(m);
}

/* 111T 110x: loads, stores, two registers; 111T 1110 with bit 4: one register; else arithmetic */
bool fpu_execute(machine *m, uint32_t instruction)
{
    const bool t = bit(instruction, 28);

    if (!check_context(m))
        return false;
    if (field(instruction, 27, 25) == 6)
        return t ? undefined(m) : load_store(m, instruction);
    if (field(instruction, 27, 24) != 14)
        return undefined(m);
    if (bit(instruction, 4))
        return t ? undefined(m) : move_one(m, instruction);
    if (is_double(instruction))
        return undefined(m);
    return t ? data_processing_v8(m, instruction) : two_operands(m, instruction);
}
