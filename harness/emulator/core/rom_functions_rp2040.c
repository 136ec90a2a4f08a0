/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of the RP2040's boot ROM that programs call (data sheet 2.8.3.1), in C; those of
 * the flash are in rom_flash.c, those of floating point in rom_float.c. Each costs about what its
 * instructions would. */
#include "rom.h"

/* ---- bits (2.8.3.1.2) ---- */
static void popcount32(machine *m)
{
    m->r[0] = (uint32_t)__builtin_popcount(m->r[0]);
}

static void reverse32(machine *m)
{
    uint32_t reversed = 0;
    for (int bit = 0; bit < 32; bit++)
        reversed |= (m->r[0] >> bit & 1) << (31 - bit);
    m->r[0] = reversed;
}

static void clz32(machine *m)
{
    m->r[0] = m->r[0] ? (uint32_t)__builtin_clz(m->r[0]) : 32;
}

static void ctz32(machine *m)
{
    m->r[0] = m->r[0] ? (uint32_t)__builtin_ctz(m->r[0]) : 32;
}

/* ---- memory (2.8.3.1.3); both return their first argument ---- */
static void fill(machine *m)
{
    for (uint32_t i = 0; i < m->r[2]; i++)
        bus_store(m, m->r[0] + i, 1, m->r[1] & 0xff);
    m->cycles += m->r[2] / 2;                   /* stmia of four words in eight cycles */
}

static void copy(machine *m)
{
    uint32_t to = m->r[0], from = m->r[1], length = m->r[2];
    if ((to ^ from) & 3) {                      /* from the end, byte by byte, seven cycles each */
        for (uint32_t i = length; i-- > 0;)
            bus_store(m, to + i, 1, bus_load(m, from + i, 1));
        m->cycles += 7 * (uint64_t)length;
    } else {
        for (uint32_t i = 0; i < length; i++)
            bus_store(m, to + i, 1, bus_load(m, from + i, 1));
        m->cycles += 13 * (uint64_t)length / 16;
    }
}

/* ---- others (2.8.3.1.5) ---- */
static void reset_usb_boot(machine *m)
{
    rom_enter_bootsel(m, "the program called reset_usb_boot");
}

const struct rom_function ROM_RP2040_FUNCTIONS[] = {
    {"P3", popcount32}, {"R3", reverse32}, {"L3", clz32}, {"T3", ctz32},
    {"MS", fill}, {"S4", fill}, {"MC", copy}, {"C4", copy},
    {"UB", reset_usb_boot},
    {"IF", rom_flash_connect}, {"EX", rom_flash_exit_xip}, {"RE", rom_flash_range_erase},
    {"RP", rom_flash_range_program}, {"FC", rom_flash_flush_cache},
    {"CX", rom_flash_enter_cmd_xip},
};
const uint32_t ROM_RP2040_FUNCTION_COUNT = sizeof ROM_RP2040_FUNCTIONS
                                           / sizeof ROM_RP2040_FUNCTIONS[0];
