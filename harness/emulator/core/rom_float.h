/* SPDX-License-Identifier: Apache-2.0 */
/* The floating-point functions of the RP2040's boot ROM (data sheet 2.8.3.2), by their place in the
 * tables SF and SD. What they keep to: denormals are zeros and NaNs infinities, going in and coming
 * out; the five basic operations and the conversions round to nearest even, conversions to integers
 * towards minus infinity, clamping. All of it is computed with the basic operations of IEEE 754,
 * which every host does alike, and none of the host's mathematical library that rounds. */
#ifndef ROM_FLOAT_H
#define ROM_FLOAT_H
#include "rom.h"

enum rom_float_function {                       /* 2.8.3.2.2, in words */
    ROM_ADD, ROM_SUB, ROM_MUL, ROM_DIV, ROM_CMP_FAST, ROM_CMP_FAST_FLAGS, ROM_SQRT,
    ROM_TO_INT, ROM_TO_FIX, ROM_TO_UINT, ROM_TO_UFIX,
    ROM_FROM_INT, ROM_FROM_FIX, ROM_FROM_UINT, ROM_FROM_UFIX,
    ROM_COS, ROM_SIN, ROM_TAN, ROM_SINCOS, ROM_EXP, ROM_LN, ROM_CMP, ROM_ATAN2,
    ROM_FROM_INT64, ROM_FROM_FIX64, ROM_FROM_UINT64, ROM_FROM_UFIX64,
    ROM_TO_INT64, ROM_TO_FIX64, ROM_TO_UINT64, ROM_TO_UFIX64, ROM_TO_OTHER
};

/* false: not modelled. */
bool rom_float_call(machine *m, enum rom_float_function function);
bool rom_double_call(machine *m, enum rom_float_function function);

/* rom_float_scientific.c: good to about 1e-15, so that a float rounded from it is the nearest one
 * or, once in many millions, its neighbour. Angles in radians, of a magnitude below 128. */
double rom_sin(double x);
double rom_cos(double x);
double rom_exp(double x);
double rom_ln(double x);
double rom_atan2(double y, double x);
#endif
