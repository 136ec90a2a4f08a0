/* SPDX-License-Identifier: Apache-2.0 */
/* The boot ROM of the RP2040 (data sheet 2.8): its tables, its look-up and its boot path.
 *
 * The boot path does what the real ROM does with core 0: clear the way for an entry through the
 * watchdog scratch registers, else read 256 bytes of flash, check their CRC, and enter them as the
 * second stage in SRAM; a wrong CRC ends in BOOTSEL. The real ROM spends 38,789 cycles up to the
 * second stage (measured with an image of it); the 0.5 s of retries before BOOTSEL are left out. */
#include "model.h"
#include "rom.h"
#include "rom_float.h"
#include <stdio.h>
#include <string.h>

enum {                                          /* data sheet 2.8.3, bootrom contents */
    ROM_GENERATION = 1, ROM_VERSION = 3,        /* the version that goes with silicon B2 */
    ROM_FUNCTION_TABLE = 0x14, ROM_DATA_TABLE = 0x16, ROM_LOOKUP = 0x18,
    FUNCTIONS_AT = 0x20, DATA_AT = 0xc0, FLOAT_TABLE_AT = 0x404, DOUBLE_TABLE_AT = 0x504
};
enum { BOOT2_BYTES = 256, BOOT2_CRC_BYTES = 252 };
enum { BOOT_CYCLES = 38000, LOOKUP_CYCLES = 30 };

/* ---- the image ---- */
enum { ENTER_BOOT2 = ROM_ENTER, ENTER_SCRATCH = 18 };
static const uint16_t CODE[] = {
    [ROM_DEAD / 2] = 0xbf30,                    /* dead: wfi */
    0xe7fd,                                     /*       b dead */
    [ROM_BOOT / 2] = 0xbe00 | ROM_CALL_BOOT,
    [ROM_BOOTSEL / 2] = 0xe7fe,                 /* b . */
    [ENTER_BOOT2 / 2] = 0xf381, 0x8808,         /* msr msp, r1 */
    0x2200,                                     /* movs r2, #0 */
    0x4696,                                     /* mov lr, r2: boot2 is to go on by itself */
    0x4700,                                     /* bx r0 */
    [ENTER_SCRATCH / 2] = 0xf381, 0x8808,       /* msr msp, r1 */
    0x4780,                                     /* blx r0 */
    0xbe00 | ROM_CALL_BOOT_FLASH,               /* it came back: boot from flash after all */
};

static uint32_t put_table_entry(machine *m, uint32_t at, const char *name, uint32_t value)
{
    memcpy(m->rom + at, name, 2);
    rom_put_halfword(m, at + 2, value);
    return at + 4;
}

static void put_tables(machine *m)
{
    uint32_t at = FUNCTIONS_AT;
    for (uint32_t i = 0; i < ROM_RP2040_FUNCTION_COUNT; i++)
        at = put_table_entry(m, at, ROM_RP2040_FUNCTIONS[i].code,
                             rom_stub(ROM_FIRST_FUNCTION + i));
    at = put_table_entry(m, DATA_AT, "SF", FLOAT_TABLE_AT);
    put_table_entry(m, at, "SD", DOUBLE_TABLE_AT);
    m->rom[FLOAT_TABLE_AT - 2] = ROM_FLOATS;
    m->rom[DOUBLE_TABLE_AT - 2] = ROM_FLOATS;
    for (uint32_t i = 0; i < ROM_FLOATS; i++) {
        rom_put_word(m, FLOAT_TABLE_AT + 4 * i, rom_stub(ROM_FIRST_FLOAT + i));
        rom_put_word(m, DOUBLE_TABLE_AT + 4 * i, rom_stub(ROM_FIRST_DOUBLE + i));
    }
}

/* The second stage runs in the last bytes of SRAM, below them is the ROM's stack. */
static uint32_t boot2_at(const machine *m)
{
    return SRAM_BASE + m->sram_bytes - BOOT2_BYTES;
}

void rom_rp2040_build(machine *m)
{
    rom_put_base(m, boot2_at(m), ROM_GENERATION, ROM_VERSION);
    rom_put_halfword(m, ROM_FUNCTION_TABLE, FUNCTIONS_AT);
    rom_put_halfword(m, ROM_DATA_TABLE, DATA_AT);
    rom_put_halfword(m, ROM_LOOKUP, rom_stub(ROM_CALL_LOOKUP));
    put_tables(m);
    rom_put_code(m, CODE, sizeof CODE / sizeof CODE[0]);
}

/* ---- boot ---- */
/* CRC-32 with the most significant bit first, nothing reflected, no final xor (2.8.1.3.1). */
static uint32_t crc32(const uint8_t *data, uint32_t length)
{
    uint32_t crc = 0xffffffff;
    for (uint32_t i = 0; i < length; i++) {
        crc ^= (uint32_t)data[i] << 24;
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 0x80000000u ? crc << 1 ^ 0x04c11db7 : crc << 1;
    }
    return crc;
}

static void boot_flash(machine *m)
{
    const struct model *model = m->chip->model;
    struct chip *c = m->chip;
    uint32_t crc = crc32(m->flash, BOOT2_CRC_BYTES), stored;
    memcpy(&stored, m->flash + BOOT2_CRC_BYTES, sizeof stored);
    m->cycles += BOOT_CYCLES;
    resets_release(m, 1u << model->reset_io_qspi | 1u << model->reset_pads_qspi
                          | 1u << model->reset_timer[0]);
    rom_flash_connect(m);
    rom_flash_exit_xip(m);
    if (crc != stored) {
        char why[80];
        snprintf(why, sizeof why, "boot2 CRC is %08x, word 63 says %08x", (unsigned)crc,
                 (unsigned)stored);
        rom_enter_bootsel(m, why);
        return;
    }
    rom_flash_flush_cache(m);
    memcpy(m->sram + (boot2_at(m) - SRAM_BASE), m->flash, BOOT2_BYTES);
    code_changed(m, boot2_at(m), BOOT2_BYTES);
    snprintf(c->boot_state, sizeof c->boot_state, "boot2 entered");
    m->r[0] = boot2_at(m) | 1;
    m->r[1] = boot2_at(m);
    rom_go_on_at(m, ENTER_BOOT2);
}

static void boot(machine *m)
{
    enum { IE = 1 << 6, GPIO26 = 0x6c / 4, GPIO29 = 0x78 / 4, RESET_PADS_BANK0 = 8 };
    resets_release(m, 1u << RESET_PADS_BANK0);
    for (int pad = GPIO26; pad <= GPIO29; pad++)            /* the ADC inputs */
        m->chip->plain[PLAIN_PADS_BANK0][pad] &= ~(uint32_t)IE;
    if (!rom_boot_from_scratch(m, ENTER_SCRATCH))
        boot_flash(m);
}

/* ---- calls ---- */
/* void *lookup(uint16_t *table, uint32_t code), 2.8.3.1.1 */
static void lookup(machine *m)
{
    uint32_t table = m->r[0], wanted = m->r[1] & 0xffff, entry;
    m->cycles += LOOKUP_CYCLES;
    while ((entry = bus_load(m, table, 2)) != 0 && entry != wanted)
        table += 4;
    m->r[0] = entry ? bus_load(m, table + 2, 2) : 0;
    if (!entry)
        machine_strict(m, "boot ROM lookup of '%c%c': no such function in this ROM",
                       (int)(wanted & 0xff), (int)(wanted >> 8));
}

static void call_float(machine *m, uint32_t number)
{
    bool is_double = number >= ROM_FIRST_DOUBLE;
    uint32_t function = number - (is_double ? ROM_FIRST_DOUBLE : ROM_FIRST_FLOAT);
    if (!(is_double ? rom_double_call : rom_float_call)(m, function))
        machine_strict(m, "boot ROM %s function %u (table offset 0x%02x) is not modelled",
                       is_double ? "double" : "float", (unsigned)function,
                       (unsigned)function * 4);
}

static void call_function(machine *m, uint32_t number)
{
    uint32_t index = number - ROM_FIRST_FUNCTION;
    if (number >= ROM_FIRST_FLOAT && number < ROM_FIRST_DOUBLE + ROM_FLOATS) {
        call_float(m, number);
        return;
    }
    m->cycles += ROM_FUNCTION_CYCLES;
    if (index < ROM_RP2040_FUNCTION_COUNT)
        ROM_RP2040_FUNCTIONS[index].call(m);
    else
        machine_strict(m, "boot ROM entered at stub %u: no function is there", (unsigned)number);
}

void rom_rp2040_call(machine *m, uint32_t number)
{
    switch (number) {
    case ROM_CALL_LOOKUP:
        lookup(m);
        break;
    case ROM_CALL_BOOT:
        boot(m);
        break;
    case ROM_CALL_BOOT_FLASH:
        boot_flash(m);
        break;
    default:
        call_function(m, number);
    }
}
