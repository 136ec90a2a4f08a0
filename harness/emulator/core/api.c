/* SPDX-License-Identifier: Apache-2.0 */
/* emu.h, but for registers (special.c, special_v8m.c), and USB, which the chip implements. */
#include "core.h"
#include "profile.h"
#include "witness.h"
#include "xip.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CODE_TAIL = 2, SRAM_STEP = 4096 };
#define LEAST_SRAM_BYTES (72u << 10)

static const struct chip_kind {
    const char *name;
    enum architecture architecture;
    uint32_t rom_bytes, sram_bytes, irqs, coprocessors;
} CHIPS[] = {
    { "rp2040", ARMV6M, ROM_BYTES, SRAM_BYTES, 32, 0 },
    { "rp2350", ARMV8M, RP2350_ROM_BYTES, RP2350_SRAM_BYTES, 52, /* GPIO, DCP, DCP, RCP */
      1 << 0 | 1 << 4 | 1 << 5 | 1 << 7 },
};

/* ---- life ---- */

static decoded *new_code(uint32_t bytes)
{
    return calloc(bytes / 2 + CODE_TAIL, sizeof(decoded));
}

static const struct chip_kind *find_chip(const char *name)
{
    for (size_t k = 0; k < sizeof CHIPS / sizeof *CHIPS; k++)
        if (strcmp(name, CHIPS[k].name) == 0)
            return &CHIPS[k];
    return NULL;
}

/* The chip's own for 0. More or less of it is memory that no such chip has; an RP2350 has the most. */
static uint32_t sram_of(const struct chip_kind *kind, uint32_t wanted)
{
    if (wanted == 0 || wanted == kind->sram_bytes)
        return kind->sram_bytes;
    const bool can_be = kind->sram_bytes < MAX_SRAM_BYTES && wanted >= LEAST_SRAM_BYTES
        && wanted <= MAX_SRAM_BYTES && wanted % SRAM_STEP == 0;
    return can_be ? wanted : 0;
}

machine *emu_new(const char *chip, uint32_t flash_bytes, uint32_t sram_bytes)
{
    const struct chip_kind *kind = find_chip(chip);
    machine *m;

    if (!kind || flash_bytes == 0 || flash_bytes > XIP_BYTES
        || flash_bytes & (flash_bytes - 1) || sram_of(kind, sram_bytes) == 0)
        return NULL;
    m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    m->architecture = kind->architecture;
    m->rom_bytes = kind->rom_bytes;
    m->sram_bytes = sram_of(kind, sram_bytes);
    m->irqs = kind->irqs;
    m->coprocessors = kind->coprocessors;
    m->m33_timing = M33_CONSERVATIVE;
    m->flash_bytes = flash_bytes;
    m->rom = calloc(1, m->rom_bytes);
    m->flash = malloc(flash_bytes);
    m->sram = calloc(1, m->sram_bytes);
    m->rom_code = new_code(m->rom_bytes);
    m->flash_code = new_code(flash_bytes);
    m->sram_code = new_code(m->sram_bytes);
    m->chip = chip_new(m);
    if (!m->rom || !m->flash || !m->sram || !m->rom_code || !m->flash_code || !m->sram_code
        || !m->chip) {
        emu_free(m);
        return NULL;
    }
    memset(m->flash, 0xff, flash_bytes);
    emu_power_on(m);
    return m;
}

void emu_free(machine *m)
{
    if (!m)
        return;
    if (m->chip)
        chip_free(m->chip);
    witness_free(m);
    profile_free(m);
    free(m->rom);
    if (!m->flash_is_lent)
        free(m->flash);
    free(m->sram);
    free(m->rom_code);
    free(m->flash_code);
    free(m->sram_code);
    free(m);
}

void emu_lend_flash(machine *m, uint8_t *bytes)
{
    if (!m->flash_is_lent)
        free(m->flash);
    m->flash = bytes;
    m->flash_is_lent = true;
    emu_memory_changed(m, XIP_BASE, m->flash_bytes);
}

/* What power-on and system reset have in common. The processor reads SP and PC from the ROM. */
static void core_reset(machine *m)
{
    memset(m->r, 0, sizeof m->r);
    m->r[LR] = UINT32_MAX;
    m->n = m->c = m->v = 0;
    m->z = 1;
    m->primask = m->control = m->ipsr = m->other_sp = 0;
    m->q = m->ge = m->itstate = m->basepri = m->faultmask = m->msplim = m->psplim = 0;
    m->exclusive = false;
    memset(m->fp, 0, sizeof m->fp);
    m->fpscr = 0;
    m->fault_kind = FAULT_NONE;
    m->stop = EMU_RAN;
    m->sleeping = m->event = m->in_wfe = false;
    m->next_event = 0;
    scs_reset(m);
    xip_flush(m);
    witness_reset(m);
    profile_reset(m);
}

static void fetch_reset_vector(machine *m)
{
    uint32_t vector[2];

    code_changed(m, ROM_BASE, m->rom_bytes);
    memcpy(vector, m->rom, sizeof vector);
    m->r[SP] = vector[0] & ~3u;
    m->r[PC] = vector[1] & ~1u;
    m->thumb = vector[1] & 1;
    debug_reset(m);
}

void emu_power_on(machine *m)
{
    m->cycles = m->instructions = m->exceptions = 0;
    m->xip_accesses = m->xip_misses = m->dropped_writes = 0;
    m->message[0] = m->last_fault[0] = '\0';
    memset(m->sram, 0, m->sram_bytes);
    code_changed(m, SRAM_BASE, m->sram_bytes);
    debug_power_on(m);
    core_reset(m);
    chip_power_on(m);
    fetch_reset_vector(m);
}

void emu_reset(machine *m)
{
    core_reset(m);
    chip_reset(m);
    fetch_reset_vector(m);
}

/* ---- running ---- */

/* A halted core does not move, and neither does time: on the RP2040 a debug halt stops its
   timers too. In lock-up time passes, because a watchdog may end it, but the call in which it
   happens says so at once. A wanted reset is told again until it happens, other reasons to stop
   once. */
int emu_run(machine *m, uint64_t until)
{
    int stop;

    m->until = until < NEVER / 2 ? until : NEVER / 2;
    if (m->stop == EMU_RAN && !m->halted && m->cycles < m->until) {
        if (m->locked_up)
            idle_in_lock_up(m);
        else if (m->architecture == ARMV8M)
            (m->witness ? execute_v8m_witness : m->profile ? execute_v8m_profile : execute_v8m)(m);
        else
            (m->witness ? execute_witness : m->profile ? execute_profile : execute)(m);
    }
    stop = m->stop;
    if (stop != EMU_RESET)
        m->stop = EMU_RAN;
    if (stop == EMU_RAN && m->locked_up)
        return EMU_LOCKUP;
    return stop == EMU_RAN && m->halted ? EMU_HALTED : stop;
}

/* Of a reset and a strictness error the first one wins: a core about to be reset does no more harm,
   and an error is not to vanish in a reset. */
static void want_stop(machine *m, enum emu_stop stop)
{
    if (m->stop != EMU_RESET && m->stop != EMU_STRICT)
        m->stop = stop;
    m->next_event = 0;
}

void machine_strict(machine *m, const char *format, ...)
{
    va_list arguments;
    size_t length;

    want_stop(m, EMU_STRICT);
    if (m->message[0])
        return;
    va_start(arguments, format);
    vsnprintf(m->message, sizeof m->message, format, arguments);
    va_end(arguments);
    length = strlen(m->message);
    snprintf(m->message + length, sizeof m->message - length, " (pc %#010x, cycle %llu)", m->r[PC],
             (unsigned long long)m->cycles);
}

void machine_request_reset(machine *m)
{
    want_stop(m, EMU_RESET);
}

void machine_irq_changed(machine *m)
{
    m->next_event = 0;
}

void machine_usb_noticed(machine *m)
{
    if (m->stop_on_usb)
        want_stop(m, EMU_USB);
}

/* m33_timing: enum m33_timing. Others are the chip's. */
void emu_set_switch(machine *m, const char *name, uint32_t value)
{
    if (strcmp(name, "m33_timing") == 0 && m->architecture == ARMV8M) {
        m->m33_timing = value != M33_OPTIMISTIC;
        code_changed(m, ROM_BASE, m->rom_bytes);           /* entries hold the cycles */
        code_changed(m, XIP_BASE, m->flash_bytes);
        code_changed(m, SRAM_BASE, m->sram_bytes);
    } else if (!chip_set_switch(m, name, value))
        machine_strict(m, "there is no switch named %s", name);
}

void emu_stop_on_usb(machine *m, int on) { m->stop_on_usb = on; }
const char *emu_message(const machine *m) { return m->message; }
void emu_clear_message(machine *m) { m->message[0] = '\0'; }
const char *emu_last_fault(const machine *m) { return m->last_fault; }

uint64_t emu_counter(const machine *m, int which)
{
    switch (which) {
    case EMU_CYCLES: return m->cycles;
    case EMU_INSTRUCTIONS: return m->instructions;
    case EMU_XIP_ACCESSES: return m->xip_accesses;
    case EMU_XIP_MISSES: return m->xip_misses;
    case EMU_EXCEPTIONS: return m->exceptions;
    case EMU_CLK_SYS_HZ: return chip_clk_sys_hz(m);
    case EMU_XIP_MISS_CYCLES: return m->xip_miss_cycles;
    case EMU_SLEEPING: return m->sleeping;
    case EMU_PC: return m->r[PC];
    case EMU_DROPPED_WRITES: return m->dropped_writes;
    case EMU_TIME_NS: return chip_time_ns(m);
    case EMU_FLASH_PAGES: return chip_flash_pages(m);
    case EMU_FLASH_ERASES: return chip_flash_erases(m);
    default: return 0;
    }
}

/* ---- memories ---- */

uint8_t *emu_flash(machine *m) { return m->flash; }
uint8_t *emu_sram(machine *m) { return m->sram; }
uint8_t *emu_rom(machine *m) { return m->rom; }

void emu_memory_changed(machine *m, uint32_t address, uint32_t length)
{
    code_changed(m, address, length);
}

/* ---- the bus from the debug port ---- */

static bool is_ppb(uint32_t address) { return address >> 20 == 0xe00; }

int emu_bus_read(machine *m, uint32_t address, int size, uint32_t *value)
{
    uint32_t available;
    const uint8_t *memory = memory_at(m, address, &available);

    *value = 0;
    if (address & (uint32_t)(size - 1))
        return -1;
    if (memory) {
        memcpy(value, memory, (size_t)size);
        return 0;
    }
    if (is_ppb(address))
        return ppb_read(m, address, size, BY_DEBUGGER, value) ? 0 : -1;
    return chip_read(m, address, size, value) ? 0 : -1;
}

int emu_bus_write(machine *m, uint32_t address, int size, uint32_t value)
{
    uint32_t available;
    uint8_t *memory = memory_at(m, address, &available);

    if (address & (uint32_t)(size - 1))
        return -1;
    if (memory) {
        if (is_writable(address)) {
            memcpy(memory, &value, (size_t)size);
            code_changed(m, address, (uint32_t)size);
        } else {
            m->dropped_writes++;
        }
        return 0;
    }
    if (is_ppb(address))
        return ppb_write(m, address, size, BY_DEBUGGER, value) ? 0 : -1;
    return chip_write(m, address, size, value) ? 0 : -1;
}

/* Outside the memories a block goes by words as far as alignment and length allow, else by
   bytes. */
static int unit(uint32_t address, uint32_t length)
{
    return address % 4 == 0 && length >= 4 ? 4 : 1;
}

int emu_bus_read_block(machine *m, uint32_t address, uint8_t *to, uint32_t length)
{
    while (length > 0) {
        uint32_t step;
        const uint8_t *memory = memory_at(m, address, &step);

        if (memory) {
            step = step < length ? step : length;
            memcpy(to, memory, step);
        } else {
            uint32_t value;
            step = (uint32_t)unit(address, length);
            if (emu_bus_read(m, address, (int)step, &value))
                return -1;
            memcpy(to, &value, step);
        }
        address += step;
        to += step;
        length -= step;
    }
    return 0;
}

int emu_bus_write_block(machine *m, uint32_t address, const uint8_t *from, uint32_t length)
{
    while (length > 0) {
        uint32_t step;
        uint8_t *memory = memory_at(m, address, &step);

        if (memory && is_writable(address)) {
            step = step < length ? step : length;
            memcpy(memory, from, step);
            code_changed(m, address, step);
        } else {
            uint32_t value = 0;
            step = (uint32_t)unit(address, length);
            memcpy(&value, from, step);
            if (emu_bus_write(m, address, (int)step, value))
                return -1;
        }
        address += step;
        from += step;
        length -= step;
    }
    return 0;
}
