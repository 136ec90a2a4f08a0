/* SPDX-License-Identifier: Apache-2.0 */
/* What the core does to SRAM while a window is open: emu.h says what is asked, witness.h where it
 * comes from. Exact by construction: every byte of SRAM has its flags, nothing is sampled. */
#include "witness.h"
#include <stdlib.h>
#include <string.h>

#define NOWHERE UINT32_MAX                     /* no pc is odd */

/* ---- one access ---- */

static uint32_t zone_of(uint8_t flags) { return flags & SHADOW_ZONE; }

/* What an exception handler does outside the named zones is not the window's business. */
static bool of_a_handler(const machine *m, uint8_t flags)
{
    return m->ipsr != 0 && zone_of(flags) == 0;
}

static struct emu_witness_access access_of(const struct witness *w, uint32_t pc, uint64_t cycle,
                                           uint32_t offset)
{
    return (struct emu_witness_access) {
        .cycle = cycle, .progress = w->progress, .address = SRAM_BASE + offset, .pc = pc
    };
}

static void extend(struct emu_witness_extent *extent, uint32_t address)
{
    if (extent->count == 0 || address < extent->first)
        extent->first = address;
    if (extent->count == 0 || address >= extent->end)
        extent->end = address + 1;
    extent->count++;
}

/* A load of an input byte that is overwritten: of all bytes that this happens to, the one
   overwritten first is reported, with its latest load. */
static void collide(struct witness *w, struct emu_witness_access load)
{
    struct overwriting *const o = &w->overwriting[load.address - SRAM_BASE];
    const bool first = w->now.collisions == 0 || o->order < w->collision_order;

    w->now.collisions += !o->collided;
    o->collided = true;
    if (first) {
        w->collision_order = o->order;
        w->now.overwritten = o->store;
    }
    if (first || o->order == w->collision_order)
        w->now.last_read = load;
}

void witness_load(machine *m, uint32_t pc, uint64_t cycle, uint32_t offset, uint32_t bytes)
{
    struct witness *const w = m->witness;

    for (const uint32_t end = offset + bytes; offset < end; offset++) {
        uint8_t *const flags = &w->shadow[offset];
        if (of_a_handler(m, *flags))
            continue;
        if (*flags & SHADOW_OVERWRITTEN) {
            collide(w, access_of(w, pc, cycle, offset));
        } else if (!(*flags & (SHADOW_INPUT | SHADOW_WRITTEN | SHADOW_READ))) {
            struct emu_witness_zone *const zone = &w->now.zones[zone_of(*flags)];
            if (zone->unwritten.count == 0)
                zone->first_unwritten = access_of(w, pc, cycle, offset);
            extend(&zone->unwritten, SRAM_BASE + offset);
        }
        *flags |= SHADOW_READ;
    }
}

void witness_store(machine *m, uint32_t pc, uint64_t cycle, uint32_t offset, uint32_t bytes)
{
    struct witness *const w = m->witness;

    if (m->r[SP] < w->now.lowest_sp)
        w->now.lowest_sp = m->r[SP];
    w->stores++;
    for (const uint32_t end = offset + bytes; offset < end; offset++) {
        uint8_t *const flags = &w->shadow[offset];
        if (of_a_handler(m, *flags))
            continue;
        if (!(*flags & SHADOW_WRITTEN)) {
            struct emu_witness_zone *const zone = &w->now.zones[zone_of(*flags)];
            if (zone->written.count == 0)
                zone->first_store = access_of(w, pc, cycle, offset);
            extend(&zone->written, SRAM_BASE + offset);
            if (*flags & SHADOW_INPUT) {
                w->overwriting[offset] = (struct overwriting) {
                    .store = access_of(w, pc, cycle, offset), .order = w->stores
                };
                *flags |= SHADOW_OVERWRITTEN;
            }
            *flags |= SHADOW_WRITTEN;
        }
        w->last_writer[offset] = (struct emu_witness_writer) { .cycle = cycle, .pc = pc };
        w->progress += (*flags & SHADOW_OUTPUT) != 0;
    }
}

/* ---- windows ---- */

static void open_window(machine *m)
{
    struct witness *const w = m->witness;

    for (uint32_t offset = 0; offset < m->sram_bytes; offset++)
        w->shadow[offset] &= (uint8_t)~SHADOW_HAPPENED;
    memcpy(w->at_open, m->sram, m->sram_bytes);
    w->stores = w->progress = w->watched = 0;
    w->now = (struct emu_witness_window) { .opened = m->cycles, .lowest_sp = m->r[SP] };
    w->open = true;
    w->awaited = w->end;
}

static void compare_with_opening(machine *m)
{
    const struct witness *const w = m->witness;

    for (uint32_t offset = 0; offset < m->sram_bytes; offset++) {
        struct emu_witness_zone *const zone = &m->witness->now.zones[zone_of(w->shadow[offset])];
        if (m->sram[offset] == w->at_open[offset])
            continue;
        extend(&zone->changed, SRAM_BASE + offset);
        zone->unexplained += !(w->shadow[offset] & SHADOW_WRITTEN);
    }
}

static bool make_room(struct witness *w)
{
    const uint32_t capacity = w->capacity ? 2 * w->capacity : 16;
    struct emu_witness_window *windows;

    if (w->count < w->capacity)
        return true;
    windows = realloc(w->windows, capacity * sizeof *windows);
    if (!windows)
        return false;
    w->windows = windows;
    w->capacity = capacity;
    return true;
}

static void close_window(machine *m)
{
    struct witness *const w = m->witness;

    compare_with_opening(m);
    w->now.closed = m->cycles;
    w->open = false;
    w->awaited = w->begin;
    if (make_room(w))
        w->windows[w->count++] = w->now;
}

/* `begin` is awaited, then the address that it returns to, then `end`. */
void witness_reached(machine *m)
{
    struct witness *const w = m->witness;

    if (w->open)
        close_window(m);
    else if (w->awaited == w->begin)
        w->awaited = m->r[LR] & ~1u;
    else
        open_window(m);
}

void witness_reset(machine *m)
{
    if (!m->witness)
        return;
    m->witness->open = false;
    m->witness->awaited = m->witness->begin;
}

/* ---- emu.h ---- */

void witness_free(machine *m)
{
    struct witness *const w = m->witness;

    if (!w)
        return;
    free(w->shadow);
    free(w->at_open);
    free(w->last_writer);
    free(w->overwriting);
    free(w->windows);
    free(w);
    m->witness = NULL;
}

static struct witness *new_witness(uint32_t bytes)
{
    struct witness *const w = calloc(1, sizeof *w);

    if (!w)
        return NULL;
    w->shadow = calloc(bytes, sizeof *w->shadow);
    w->at_open = calloc(bytes, sizeof *w->at_open);
    w->last_writer = calloc(bytes, sizeof *w->last_writer);
    w->overwriting = calloc(bytes, sizeof *w->overwriting);
    return w;
}

int emu_witness_start(machine *m, uint32_t begin, uint32_t end)
{
    if (m->profile)
        return -1;
    if (!m->witness) {
        m->witness = new_witness(m->sram_bytes);
        forget_all_code(m);
    }

    struct witness *const w = m->witness;
    if (!w || !w->shadow || !w->at_open || !w->last_writer || !w->overwriting) {
        witness_free(m);
        return -1;
    }
    memset(w->shadow, 0, m->sram_bytes);
    w->count = 0;
    w->watching = false;
    w->begin = begin ? begin & ~1u : NOWHERE;
    w->end = end ? end & ~1u : NOWHERE;
    witness_reset(m);
    return 0;
}

void emu_witness_stop(machine *m)
{
    if (!m->witness)
        return;
    witness_free(m);
    forget_all_code(m);
}

/* Replaces the bits of `mask` in the flags of a range, as far as it is SRAM. */
static void set_flags(machine *m, uint32_t address, uint32_t length, uint8_t mask, uint8_t flags)
{
    const uint32_t offset = address - SRAM_BASE;

    if (!m->witness || offset >= m->sram_bytes)
        return;
    if (length > m->sram_bytes - offset)
        length = m->sram_bytes - offset;
    for (uint8_t *byte = m->witness->shadow + offset; length > 0; byte++, length--)
        *byte = (uint8_t)((*byte & ~mask) | flags);
}

void emu_witness_zone(machine *m, int zone, uint32_t address, uint32_t length)
{
    set_flags(m, address, length, SHADOW_ZONE, zone & SHADOW_ZONE);
}

void emu_witness_role(machine *m, uint32_t address, uint32_t length, int roles)
{
    const uint8_t flags = (uint8_t)((roles & EMU_WITNESS_INPUT ? SHADOW_INPUT : 0)
                                    | (roles & EMU_WITNESS_OUTPUT ? SHADOW_OUTPUT : 0));

    set_flags(m, address, length, flags, flags);
}

void emu_witness_watch(machine *m, uint32_t address, uint32_t window, uint32_t store)
{
    struct witness *const w = m->witness;

    if (!w)
        return;
    w->watching = true;
    w->watch_address = address;
    w->watch_window = window;
    w->watch_store = store;
}

uint32_t emu_witness_watched(const machine *m) { return m->witness ? m->witness->watched : 0; }

void emu_witness_open(machine *m)
{
    if (m->witness && !m->witness->open)
        open_window(m);
}

void emu_witness_close(machine *m)
{
    if (emu_witness_is_open(m))
        close_window(m);
}

int emu_witness_is_open(const machine *m) { return m->witness && m->witness->open; }
uint32_t emu_witness_windows(const machine *m) { return m->witness ? m->witness->count : 0; }
uint8_t *emu_witness_shadow(machine *m) { return m->witness ? m->witness->shadow : NULL; }

const struct emu_witness_window *emu_witness_window(const machine *m, uint32_t number)
{
    return number < emu_witness_windows(m) ? &m->witness->windows[number] : NULL;
}

const struct emu_witness_writer *emu_witness_writer(const machine *m, uint32_t address)
{
    const uint32_t offset = address - SRAM_BASE;

    if (!m->witness || offset >= m->sram_bytes || !(m->witness->shadow[offset] & SHADOW_WRITTEN))
        return NULL;
    return &m->witness->last_writer[offset];
}
