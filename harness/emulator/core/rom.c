/* SPDX-License-Identifier: Apache-2.0 */
/* What both boot ROMs share (RP2040 data sheet 2.8, RP2350 data sheet 5): the frame of the image,
 * the entry through watchdog scratch, and BOOTSEL, here a loop without its mass storage device. */
#include "model.h"
#include "rom.h"
#include <stdio.h>
#include <string.h>

enum { SCRATCH_MAGIC_WORD = 4, SCRATCH_CHECK = 5, SCRATCH_SP = 6, SCRATCH_PC = 7 };
#define SCRATCH_MAGIC 0xb007c0d3u

/* ---- the image ---- */
void rom_put_halfword(machine *m, uint32_t at, uint32_t value)
{
    m->rom[at] = (uint8_t)value;
    m->rom[at + 1] = (uint8_t)(value >> 8);
}

void rom_put_word(machine *m, uint32_t at, uint32_t value)
{
    rom_put_halfword(m, at, value);
    rom_put_halfword(m, at + 2, value >> 16);
}

uint32_t rom_stub(uint32_t number)
{
    return (ROM_STUBS_AT + 4 * number) | 1;
}

uint32_t rom_code(uint32_t offset)
{
    return (ROM_CODE_AT + offset) | 1;
}

/* Vectors (SP, reset, NMI, HardFault), magic, and a stub for each number. */
void rom_put_base(machine *m, uint32_t stack, uint8_t generation, uint8_t version)
{
    memset(m->rom, 0, m->rom_bytes);
    rom_put_word(m, 0x00, stack);
    rom_put_word(m, 0x04, rom_code(ROM_BOOT));
    rom_put_word(m, 0x08, rom_code(ROM_DEAD));
    rom_put_word(m, 0x0c, rom_code(ROM_DEAD));
    m->rom[ROM_MAGIC] = 'M';
    m->rom[ROM_MAGIC + 1] = 'u';
    m->rom[ROM_MAGIC + 2] = generation;
    m->rom[ROM_MAGIC + 3] = version;
    for (uint32_t number = 0; number < ROM_STUBS; number++) {
        rom_put_halfword(m, ROM_STUBS_AT + 4 * number, 0xbe00 | number);
        rom_put_halfword(m, ROM_STUBS_AT + 4 * number + 2, 0x4770);     /* bx lr */
    }
}

void rom_put_code(machine *m, const uint16_t *code, uint32_t halfwords)
{
    for (uint32_t i = 0; i < halfwords; i++)
        rom_put_halfword(m, ROM_CODE_AT + 2 * i, code[i]);
    code_changed(m, ROM_BASE, m->rom_bytes);
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
/* Where a boot call goes on: the core takes up at lr after every ROM call. */
void rom_go_on_at(machine *m, uint32_t offset)
{
    m->r[LR_REGISTER] = rom_code(offset);
}

void rom_enter_bootsel(machine *m, const char *why)
{
    struct chip *c = m->chip;
    const struct model *model = c->model;
    snprintf(c->boot_state, sizeof c->boot_state, "%s: a real %s falls into BOOTSEL", why,
             model->name);
    c->in_bootsel = true;
    m->primask = 1;
    chip_reset_blocks(m, model->reset_bits_all
                             & ~(1u << model->reset_io_qspi | 1u << model->reset_pads_qspi));
    usb_attachment_changed(m);
    rom_go_on_at(m, ROM_BOOTSEL);
}

/* A program may ask, before it triggers the watchdog, to be entered again at an address. */
bool rom_boot_from_scratch(machine *m, uint32_t enter)
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
    rom_go_on_at(m, enter);
    return true;
}

const char *emu_boot_state(machine *m)
{
    return m->chip->boot_state;
}

void chip_rom_call(machine *m, uint32_t number)
{
    m->chip->model->rom_call(m, number);
}
