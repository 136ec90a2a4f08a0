/* SPDX-License-Identifier: Apache-2.0 */
/* The boot ROM of the RP2350, Arm side (RP2350 data sheet 5): its look-up and its boot path.
 *
 * The boot path does what the real ROM does with core 0 and no OTP setting: clear the way for an
 * entry through the watchdog scratch registers, else connect the flash, read it with EBh at a
 * third of clk_sys, look for an image definition (rom_image_def.c) and enter the image, secure,
 * with its stack limit, vector table and stack pointer set. Without an image it ends in BOOTSEL.
 * What the real ROM spends on it is not known here; BOOT_CYCLES is an estimate. */
#include "model.h"
#include "rom.h"
#include <stdio.h>
#include <string.h>

enum {                                          /* 5.4.1, bootrom constants */
    ROM_GENERATION = 2, ROM_VERSION = 2,
    ROM_FUNCTION_TABLE = 0x14, ROM_LOOKUP = 0x16
};
enum { RESTORE_XIP = ROM_STUBS - 1, BOOT_CYCLES = 50000, LOOKUP_CYCLES = 60 };
enum { XIP_CLKDIV = 3 };
enum { XIP_SETUP_CODE = 0, FLASH_DEVINFO = 0x1fc };     /* in BOOTRAM; where is up to the ROM */
#define BOOTRAM_BASE 0x400e0000u
#define FLASH_DEVINFO_DEFAULT 0x0c00            /* without OTP: CS0 16 MB, CS1 none, no D8h */
enum { DATA_AT = ROM_STUBS_AT + 4 * ROM_STUBS };
#define SALT 0x5a17ba5eba11c0deull

/* ---- the image ---- */
enum { AFTER_IMAGE = 16 };
static const uint16_t CODE[] = {
    [ROM_DEAD / 2] = 0xbf30,                    /* dead: wfi */
    0xe7fd,                                     /*       b dead */
    [ROM_BOOT / 2] = 0xbe00 | ROM_CALL_BOOT,
    [ROM_BOOTSEL / 2] = 0xe7fe,                 /* b . */
    [ROM_ENTER / 2] = 0xf381, 0x8808,           /* msr msp, r1 */
    0x4780,                                     /* blx r0 */
    0xbe00 | ROM_CALL_BOOT_FLASH,               /* it came back from an entry through scratch */
    [AFTER_IMAGE / 2] = 0xe7f6,                 /* b dead: an image is not to come back */
};

void rom_rp2350_build(machine *m)
{
    rom_put_base(m, SRAM_BASE + m->sram_bytes, ROM_GENERATION, ROM_VERSION);
    rom_put_halfword(m, ROM_FUNCTION_TABLE, ROM_STUBS_AT);
    rom_put_halfword(m, ROM_LOOKUP, rom_stub(ROM_CALL_LOOKUP));
    rom_put_word(m, DATA_AT, BOOTRAM_BASE + FLASH_DEVINFO);
    rom_put_code(m, CODE, sizeof CODE / sizeof CODE[0]);
}

/* ---- boot ---- */
static void set_up_xip(machine *m)
{
    qmi_select_read_mode(m, XIP_EBH_QUAD, XIP_CLKDIV);
}

/* A function in BOOTRAM that puts XIP back as it was at boot: pico-sdk programs copy it and call
 * the copy after they have used the flash by hand. Here it jumps to a stub of the ROM. */
static void put_xip_setup_code(machine *m)
{
    const uint32_t code[2] = {0x47184b00, rom_stub(RESTORE_XIP)};   /* ldr r3, [pc]; bx r3 */
    memset(m->chip->bootram.bytes, 0, BOOTRAM_BYTES);
    memcpy(m->chip->bootram.bytes + XIP_SETUP_CODE, code, sizeof code);
}

/* FLASH_DEVINFO16: what the flash functions know of the parts, for programs to read and change. */
static void put_flash_devinfo(machine *m)
{
    const uint16_t info = FLASH_DEVINFO_DEFAULT;
    memcpy(m->chip->bootram.bytes + FLASH_DEVINFO, &info, sizeof info);
}

static void boot_flash(machine *m)
{
    struct chip *c = m->chip;
    struct image_entry image;
    char problem[120];
    m->cycles += BOOT_CYCLES;
    rom_flash_connect(m);
    rom_flash_exit_xip(m);
    set_up_xip(m);
    rom_flash_flush_cache(m);
    if (!rom_find_image(m, &image, problem, sizeof problem)) {
        rom_enter_bootsel(m, problem);
        return;
    }
    put_xip_setup_code(m);
    put_flash_devinfo(m);
    m->vtor = image.vector_table;
    m->msplim = image.sp_limit;
    m->r[0] = image.pc;
    m->r[1] = image.sp;
    snprintf(c->boot_state, sizeof c->boot_state, "image entered at 0x%08x", (unsigned)image.pc);
    rom_go_on_at(m, ROM_ENTER);
}

static void boot(machine *m)
{
    m->chip->rcp = (struct rcp){.salt = SALT, .has_salt = true};
    if (!rom_boot_from_scratch(m, ROM_ENTER))
        boot_flash(m);
}

/* ---- calls ---- */
/* void *lookup(uint32_t code, uint32_t mask), 5.4.2: mask says what may be found. The only data
 * here is FD, and what is found is a word of the ROM that points to it. */
static void lookup(machine *m)
{
    enum { SECURE_ARM = 1 << 2, DATA = 1 << 6 };
    uint32_t code = m->r[0] & 0xffff, mask = m->r[1];
    m->cycles += LOOKUP_CYCLES;
    m->r[0] = 0;
    for (uint32_t i = 0; i < ROM_RP2350_FUNCTION_COUNT; i++) {
        const char *name = ROM_RP2350_FUNCTIONS[i].code;
        if (code == ((uint32_t)name[0] | (uint32_t)name[1] << 8) && (mask & SECURE_ARM))
            m->r[0] = rom_stub(ROM_FIRST_FUNCTION + i);
    }
    if (code == ('F' | 'D' << 8) && (mask & DATA))
        m->r[0] = DATA_AT;
    if (!m->r[0])
        machine_strict(m, "boot ROM lookup of '%c%c' with mask 0x%x: no such function in this ROM",
                       (int)(code & 0xff), (int)(code >> 8), (unsigned)mask);
}

void rom_rp2350_call(machine *m, uint32_t number)
{
    switch (number) {
    case ROM_CALL_LOOKUP:
        lookup(m);
        return;
    case ROM_CALL_BOOT:
        boot(m);
        return;
    case ROM_CALL_BOOT_FLASH:
        boot_flash(m);
        return;
    case RESTORE_XIP:
        m->cycles += ROM_FUNCTION_CYCLES;
        set_up_xip(m);
        return;
    default:
        m->cycles += ROM_FUNCTION_CYCLES;
        if (number - ROM_FIRST_FUNCTION < ROM_RP2350_FUNCTION_COUNT)
            ROM_RP2350_FUNCTIONS[number - ROM_FIRST_FUNCTION].call(m);
        else
            machine_strict(m, "boot ROM entered at stub %u: no function is there",
                           (unsigned)number);
    }
}
