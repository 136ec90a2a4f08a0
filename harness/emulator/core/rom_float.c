/* SPDX-License-Identifier: Apache-2.0 */
/* rom_float.h: operands and results in their registers, the basic operations and conversions.
 *
 * Both precisions are computed in double: of two floats, a sum, product, quotient or square root
 * that is rounded to double first rounds to the same float as it would at once. What the data sheet
 * leaves open is decided here: an invalid operation (inf - inf, 0 / 0, ...) gives +infinity, the
 * square root and the logarithm of a negative number -infinity. The scientific functions exist for
 * floats only; those of doubles, fsincos and angles beyond the documented range stop. */
#include "rom_float.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum { COMPARE_CYCLES = 30, CONVERT_CYCLES = 45, FLOAT_CYCLES = 70, DOUBLE_CYCLES = 130,
       SCIENTIFIC_CYCLES = 550 };               /* rough averages */
enum precision { SINGLE, DOUBLE };
#define FLOAT_ANGLES 128.0

/* ---- numbers: denormals are zeros, NaNs are infinities ---- */
static double normal(double value, double least)
{
    if (isnan(value))
        return copysign(INFINITY, value);
    return fabs(value) < least ? copysign(0, value) : value;
}

static double operand(const machine *m, enum precision precision, int first)
{
    double wide;
    float narrow;
    if (precision == SINGLE) {
        memcpy(&narrow, &m->r[first], sizeof narrow);
        return normal(narrow, FLT_MIN);
    }
    uint64_t bits = (uint64_t)m->r[first + 1] << 32 | m->r[first];
    memcpy(&wide, &bits, sizeof wide);
    return normal(wide, DBL_MIN);
}

static void give_integer(machine *m, uint64_t value)
{
    m->r[0] = (uint32_t)value;
    m->r[1] = (uint32_t)(value >> 32);
}

/* The sign of a NaN is the host's: it must not get out. */
static void give(machine *m, enum precision precision, double value)
{
    uint64_t bits;
    if (isnan(value))
        value = INFINITY;
    if (precision == SINGLE) {
        float narrow = (float)normal((float)value, FLT_MIN);
        memcpy(&m->r[0], &narrow, sizeof narrow);
        return;
    }
    value = normal(value, DBL_MIN);
    memcpy(&bits, &value, sizeof bits);
    give_integer(m, bits);
}

/* ---- the basic operations ---- */
static double square_root(double x)
{
    return x < 0 ? -INFINITY : sqrt(x);         /* that of -0 is -0 */
}

static bool arithmetic(machine *m, enum precision p, enum rom_float_function function)
{
    double x = operand(m, p, 0), y = operand(m, p, p == SINGLE ? 1 : 2);
    m->cycles += p == SINGLE ? FLOAT_CYCLES : DOUBLE_CYCLES;
    switch (function) {
    case ROM_ADD: give(m, p, x + y); return true;
    case ROM_SUB: give(m, p, x - y); return true;
    case ROM_MUL: give(m, p, x * y); return true;
    case ROM_DIV: give(m, p, x / y); return true;
    case ROM_SQRT: give(m, p, square_root(x)); return true;
    default: return false;
    }
}

/* -1, 0 or 1, and the flags of its comparison with 0. */
static bool compare(machine *m, enum precision p)
{
    double x = operand(m, p, 0), y = operand(m, p, p == SINGLE ? 1 : 2);
    m->cycles += COMPARE_CYCLES;
    m->r[0] = m->n = m->z = (uint32_t)((x > y) - (x < y));
    m->c = 1;
    m->v = 0;
    return true;
}

/* ---- conversions ---- */
/* Rounded once: scaling is exact. */
static void from_integer(machine *m, enum precision p, uint64_t value, bool is_signed,
                         int32_t points)
{
    enum { ALL_GONE = 4000 };                   /* points beyond it make 0 or infinity */
    int scale = points < -ALL_GONE ? ALL_GONE : -points;
    double converted;
    if (p == SINGLE)
        converted = is_signed ? (float)(int64_t)value : (float)value;
    else
        converted = is_signed ? (double)(int64_t)value : (double)value;
    give(m, p, ldexp(converted, scale));
}

static bool from_fixed(machine *m, enum precision p, enum rom_float_function function)
{
    uint64_t pair = (uint64_t)m->r[1] << 32 | m->r[0];
    uint64_t extended = (uint64_t)(int64_t)(int32_t)m->r[0];
    int32_t points = (int32_t)m->r[1], points_of_64 = (int32_t)m->r[2];
    m->cycles += CONVERT_CYCLES;
    switch (function) {
    case ROM_FROM_INT: from_integer(m, p, extended, true, 0); return true;
    case ROM_FROM_FIX: from_integer(m, p, extended, true, points); return true;
    case ROM_FROM_UINT: from_integer(m, p, m->r[0], false, 0); return true;
    case ROM_FROM_UFIX: from_integer(m, p, m->r[0], false, points); return true;
    case ROM_FROM_INT64: from_integer(m, p, pair, true, 0); return true;
    case ROM_FROM_FIX64: from_integer(m, p, pair, true, points_of_64); return true;
    case ROM_FROM_UINT64: from_integer(m, p, pair, false, 0); return true;
    case ROM_FROM_UFIX64: from_integer(m, p, pair, false, points_of_64); return true;
    default: return false;
    }
}

/* Towards minus infinity, to the nearest that fits. */
static uint64_t to_signed(double value, int bits)
{
    double limit = ldexp(1, bits - 1);
    uint64_t most = (UINT64_C(1) << (bits - 1)) - 1;
    return value >= limit ? most : value < -limit ? ~most : (uint64_t)(int64_t)floor(value);
}

static uint64_t to_unsigned(double value, int bits)
{
    return value >= ldexp(1, bits) ? UINT64_MAX : value < 0 ? 0 : (uint64_t)floor(value);
}

static bool to_fixed(machine *m, enum precision p, enum rom_float_function function)
{
    double x = operand(m, p, 0);
    double scaled = ldexp(x, (int32_t)m->r[p == SINGLE ? 1 : 2]);
    m->cycles += CONVERT_CYCLES;
    switch (function) {
    case ROM_TO_INT: m->r[0] = (uint32_t)to_signed(x, 32); return true;
    case ROM_TO_FIX: m->r[0] = (uint32_t)to_signed(scaled, 32); return true;
    case ROM_TO_UINT: m->r[0] = (uint32_t)to_unsigned(x, 32); return true;
    case ROM_TO_UFIX: m->r[0] = (uint32_t)to_unsigned(scaled, 32); return true;
    case ROM_TO_INT64: give_integer(m, to_signed(x, 64)); return true;
    case ROM_TO_FIX64: give_integer(m, to_signed(scaled, 64)); return true;
    case ROM_TO_UINT64: give_integer(m, to_unsigned(x, 64)); return true;
    case ROM_TO_UFIX64: give_integer(m, to_unsigned(scaled, 64)); return true;
    default: return false;
    }
}

static bool to_other(machine *m, enum precision p)
{
    m->cycles += CONVERT_CYCLES;
    give(m, p == SINGLE ? DOUBLE : SINGLE, operand(m, p, 0));
    return true;
}

/* ---- scientific functions of floats ---- */
static double logarithm(double x)
{
    return x <= 0 ? -INFINITY : isinf(x) ? x : rom_ln(x);
}

/* A sine comes with the cosine in r1: the pico-sdk's sincosf counts on it. */
static void sine(machine *m, double x)
{
    give(m, SINGLE, rom_cos(x));
    m->r[1] = m->r[0];
    give(m, SINGLE, rom_sin(x));
}

static bool scientific(machine *m, enum rom_float_function function)
{
    double x = operand(m, SINGLE, 0);
    bool is_angle = function == ROM_COS || function == ROM_SIN || function == ROM_TAN;
    m->cycles += SCIENTIFIC_CYCLES;
    if (is_angle && fabs(x) >= FLOAT_ANGLES) {
        machine_strict(m, "boot ROM float function 0x%02x of an angle that is not within -128 to "
                          "128", (unsigned)function * 4);
        return true;
    }
    switch (function) {
    case ROM_COS: give(m, SINGLE, rom_cos(x)); return true;
    case ROM_SIN: sine(m, x); return true;
    case ROM_TAN: give(m, SINGLE, rom_sin(x) / rom_cos(x)); return true;
    case ROM_EXP: give(m, SINGLE, rom_exp(x)); return true;
    case ROM_LN: give(m, SINGLE, logarithm(x)); return true;
    case ROM_ATAN2: give(m, SINGLE, rom_atan2(x, operand(m, SINGLE, 1))); return true;
    default: return false;
    }
}

/* ---- calls ---- */
static bool call(machine *m, enum precision p, enum rom_float_function function)
{
    switch (function) {
    case ROM_ADD: case ROM_SUB: case ROM_MUL: case ROM_DIV: case ROM_SQRT:
        return arithmetic(m, p, function);
    case ROM_CMP_FAST: case ROM_CMP_FAST_FLAGS: case ROM_CMP:
        return compare(m, p);
    case ROM_FROM_INT: case ROM_FROM_FIX: case ROM_FROM_UINT: case ROM_FROM_UFIX:
    case ROM_FROM_INT64: case ROM_FROM_FIX64: case ROM_FROM_UINT64: case ROM_FROM_UFIX64:
        return from_fixed(m, p, function);
    case ROM_TO_INT: case ROM_TO_FIX: case ROM_TO_UINT: case ROM_TO_UFIX:
    case ROM_TO_INT64: case ROM_TO_FIX64: case ROM_TO_UINT64: case ROM_TO_UFIX64:
        return to_fixed(m, p, function);
    case ROM_TO_OTHER:
        return to_other(m, p);
    default:
        return p == SINGLE && scientific(m, function);
    }
}

bool rom_float_call(machine *m, enum rom_float_function function)
{
    return call(m, SINGLE, function);
}

bool rom_double_call(machine *m, enum rom_float_function function)
{
    return call(m, DOUBLE, function);
}
