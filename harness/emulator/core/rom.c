/* SPDX-License-Identifier: Apache-2.0 */
/* A boot ROM of our own in the place of the RP2040's (data sheet 2.8): the same header and tables,
 * and stubs of BKPT that call C. A real image is not needed, and none is shipped.
 *
 * The boot path does what the real ROM does with core 0: clear the way for an entry through the
 * watchdog scratch registers, else read 256 bytes of flash, check their CRC, and enter them as the
 * second stage in SRAM; a wrong CRC ends in BOOTSEL, here a loop without its mass storage device.
 * The real ROM spends 38,789 cycles up to the second stage (measured with an image of it); the
 * 0.5 s of retries before BOOTSEL are left out. */
#include "chip.h"
#include <stdio.h>
#include <string.h>

enum {                                          /* data sheet 2.8.3, bootrom contents */
    ROM_MAGIC = 0x10, ROM_VERSION = 3,          /* the version that goes with silicon B2 */
    ROM_FUNCTION_TABLE = 0x14, ROM_DATA_TABLE = 0x16, ROM_LOOKUP = 0x18,
    FUNCTIONS_AT = 0x20, DATA_AT = 0xc0, CODE_AT = 0xe0, STUBS_AT = 0x100, STUBS = 0x80,
    FLOAT_TABLE_AT = 0x404, DOUBLE_TABLE_AT = 0x504
};
enum { CALL_LOOKUP = 0, CALL_BOOT = 1, CALL_BOOT_FLASH = 2 };
enum { SP_REGISTER = 13, LR_REGISTER = 14, PC_REGISTER = 15 };

enum { BOOT2_BYTES = 256, BOOT2_CRC_BYTES = 252, BOOT2_AT = SRAM_BASE + SRAM_BYTES - BOOT2_BYTES };
enum { BOOT_CYCLES = 38000, LOOKUP_CYCLES = 30 };
enum { SCRATCH_MAGIC_WORD = 4, SCRATCH_CHECK = 5, SCRATCH_SP = 6, SCRATCH_PC = 7 };
#define SCRATCH_MAGIC 0xb007c0d3u

/* ---- the image ---- */
enum code_offset { DEAD = 0, BOOT = 4, BOOTSEL = 6, ENTER_BOOT2 = 8, ENTER_SCRATCH = 18 };
static const uint16_t CODE[] = {
    [DEAD / 2] = 0xbf30,                        /* dead: wfi */
    0xe7fd,                                     /*       b dead */
    [BOOT / 2] = 0xbe00 | CALL_BOOT,
    [BOOTSEL / 2] = 0xe7fe,                     /* b . */
    [ENTER_BOOT2 / 2] = 0xf381, 0x8808,         /* msr msp, r1 */
    0x2200,                                     /* movs r2, #0 */
    0x4696,                                     /* mov lr, r2: boot2 is to go on by itself */
    0x4700,                                     /* bx r0 */
    [ENTER_SCRATCH / 2] = 0xf381, 0x8808,       /* msr msp, r1 */
    0x4780,                                     /* blx r0 */
    0xbe00 | CALL_BOOT_FLASH,                   /* it came back: boot from flash after all */
};

static void put_halfword(machine *m, uint32_t at, uint32_t value)
{
    m->rom[at] = (uint8_t)value;
    m->rom[at + 1] = (uint8_t)(value >> 8);
}

static void put_word(machine *m, uint32_t at, uint32_t value)
{
    put_halfword(m, at, value);
    put_halfword(m, at + 2, value >> 16);
}

static uint32_t stub(uint32_t number)
{
    return (STUBS_AT + 4 * number) | 1;
}

static uint32_t code(enum code_offset offset)
{
    return (CODE_AT + offset) | 1;
}

static uint32_t put_table_entry(machine *m, uint32_t at, const char name[2], uint32_t value)
{
    memcpy(m->rom + at, name, 2);
    put_halfword(m, at + 2, value);
    return at + 4;
}

static void put_tables(machine *m)
{
    uint32_t at = FUNCTIONS_AT;
    for (uint32_t i = 0; i < rom_functions(); i++) {
        char name[2];
        rom_function_code(ROM_FIRST_FUNCTION + i, name);
        at = put_table_entry(m, at, name, stub(ROM_FIRST_FUNCTION + i));
    }
    at = put_table_entry(m, DATA_AT, "SF", FLOAT_TABLE_AT);
    put_table_entry(m, at, "SD", DOUBLE_TABLE_AT);
    m->rom[FLOAT_TABLE_AT - 2] = ROM_FLOATS;
    m->rom[DOUBLE_TABLE_AT - 2] = ROM_FLOATS;
    for (uint32_t i = 0; i < ROM_FLOATS; i++) {
        put_word(m, FLOAT_TABLE_AT + 4 * i, stub(ROM_FIRST_FLOAT + i));
        put_word(m, DOUBLE_TABLE_AT + 4 * i, stub(ROM_FIRST_DOUBLE + i));
    }
}

void rom_build(machine *m)
{
    memset(m->rom, 0, ROM_BYTES);
    put_word(m, 0x00, BOOT2_AT);                /* vectors: SP, reset, NMI, HardFault */
    put_word(m, 0x04, code(BOOT));
    put_word(m, 0x08, code(DEAD));
    put_word(m, 0x0c, code(DEAD));
    m->rom[ROM_MAGIC] = 'M';
    m->rom[ROM_MAGIC + 1] = 'u';
    m->rom[ROM_MAGIC + 2] = 1;
    m->rom[ROM_MAGIC + 3] = ROM_VERSION;
    put_halfword(m, ROM_FUNCTION_TABLE, FUNCTIONS_AT);
    put_halfword(m, ROM_DATA_TABLE, DATA_AT);
    put_halfword(m, ROM_LOOKUP, stub(CALL_LOOKUP));
    put_tables(m);
    for (uint32_t i = 0; i < sizeof CODE / sizeof CODE[0]; i++)
        put_halfword(m, CODE_AT + 2 * i, CODE[i]);
    for (uint32_t number = 0; number < STUBS; number++) {
        put_halfword(m, STUBS_AT + 4 * number, 0xbe00 | number);
        put_halfword(m, STUBS_AT + 4 * number + 2, 0x4770);     /* bx lr */
    }
    code_changed(m, ROM_BASE, ROM_BYTES);
}

void rom_reset_vector(machine *m)
{
    uint32_t vectors[2];
    memcpy(vectors, m->rom, sizeof vectors);
    m->r[SP_REGISTER] = vectors[0];
    m->r[LR_REGISTER] = 0xffffffff;
    m->r[PC_REGISTER] = vectors[1] & ~1u;
    m->chip->in_bootsel = false;
    snprintf(m->chip->boot_state, sizeof m->chip->boot_state, "in the boot ROM");
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

/* Where a boot call goes on: the core takes up at lr after every ROM call. */
static void go_on_at(machine *m, enum code_offset offset)
{
    m->r[LR_REGISTER] = code(offset);
}

void rom_enter_bootsel(machine *m, const char *why)
{
    struct chip *c = m->chip;
    snprintf(c->boot_state, sizeof c->boot_state, "%s: a real RP2040 falls into BOOTSEL", why);
    c->in_bootsel = true;
    m->primask = 1;
    rp2040_reset_blocks(m, RESET_BITS_ALL & ~(1u << RESET_IO_QSPI | 1u << RESET_PADS_QSPI));
    usb_attachment_changed(m);
    go_on_at(m, BOOTSEL);
}

static void boot_flash(machine *m)
{
    struct chip *c = m->chip;
    uint32_t crc = crc32(m->flash, BOOT2_CRC_BYTES), stored;
    memcpy(&stored, m->flash + BOOT2_CRC_BYTES, sizeof stored);
    m->cycles += BOOT_CYCLES;
    resets_release(m, 1u << RESET_IO_QSPI | 1u << RESET_PADS_QSPI | 1u << RESET_TIMER);
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
    memcpy(m->sram + SRAM_BYTES - BOOT2_BYTES, m->flash, BOOT2_BYTES);
    code_changed(m, BOOT2_AT, BOOT2_BYTES);
    snprintf(c->boot_state, sizeof c->boot_state, "boot2 entered");
    m->r[0] = BOOT2_AT | 1;
    m->r[1] = BOOT2_AT;
    go_on_at(m, ENTER_BOOT2);
}

/* A program may ask, before it triggers the watchdog, to be entered again at an address. */
static bool boot_from_scratch(machine *m)
{
    uint32_t *scratch = m->chip->watchdog.scratch;
    uint32_t pc = scratch[SCRATCH_PC];
    if (scratch[SCRATCH_MAGIC_WORD] != SCRATCH_MAGIC
        || (scratch[SCRATCH_CHECK] ^ pc) + SCRATCH_MAGIC != 0)
        return false;
    scratch[SCRATCH_MAGIC_WORD] = 0;
    m->r[0] = pc;
    m->r[1] = scratch[SCRATCH_SP];
    snprintf(m->chip->boot_state, sizeof m->chip->boot_state, "entered through watchdog scratch");
    go_on_at(m, ENTER_SCRATCH);
    return true;
}

static void boot(machine *m)
{
    enum { IE = 1 << 6, GPIO26 = 0x6c / 4, GPIO29 = 0x78 / 4 };
    resets_release(m, 1u << RESET_PADS_BANK0);
    for (int pad = GPIO26; pad <= GPIO29; pad++)            /* the ADC inputs */
        m->chip->plain[PLAIN_PADS_BANK0][pad] &= ~(uint32_t)IE;
    if (!boot_from_scratch(m))
        boot_flash(m);
}

const char *emu_boot_state(machine *m)
{
    return m->chip->boot_state;
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

void chip_rom_call(machine *m, uint32_t number)
{
    switch (number) {
    case CALL_LOOKUP:
        lookup(m);
        break;
    case CALL_BOOT:
        boot(m);
        break;
    case CALL_BOOT_FLASH:
        boot_flash(m);
        break;
    default:
        rom_function(m, number);
    }
}
