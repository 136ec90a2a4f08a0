/* SPDX-License-Identifier: Apache-2.0 */
/* Whose cycles they are: emu.h says what is asked, profile.h how it is counted. */
#include "profile.h"
#include <stdlib.h>
#include <string.h>

#define NOWHERE UINT32_MAX                     /* no pc is odd */

/* ---- entries ---- */

/* Room for one more of `size` bytes in an array; false: there is no memory. */
static bool make_room(void **array, uint32_t count, uint32_t *capacity, size_t size)
{
    const uint32_t more = *capacity ? 2 * *capacity : 64;
    void *grown;

    if (count < *capacity)
        return true;
    grown = realloc(*array, more * size);
    if (!grown)
        return false;
    *array = grown;
    *capacity = more;
    return true;
}

void profile_see(machine *m, struct profile_entry *entry, uint32_t pc)
{
    struct profile *const p = m->profile;
    void *seen = p->seen;

    if (!make_room(&seen, p->seen_count, &p->seen_capacity, sizeof *p->seen)) {
        p->lost = true;
        return;
    }
    p->seen = seen;
    p->seen[p->seen_count++] = (uint32_t)(entry - p->entries);
    entry->seen = true;
    entry->pc = pc;
}

static void forget_entries(struct profile *p)
{
    for (uint32_t k = 0; k < p->seen_count; k++)
        p->entries[p->seen[k]] = (struct profile_entry) { .seen = false };
    p->seen_count = 0;
}

/* ---- windows ---- */

static void open_window(machine *m)
{
    struct profile *const p = m->profile;

    forget_entries(p);
    p->opened = p->since_cycles = m->cycles;
    p->since_instructions = m->instructions;
    p->since_misses = m->xip_misses;
    p->at = profile_entry_of(m, m->r[PC]);
    profile_see(m, p->at, m->r[PC]);
    p->open = true;
    p->awaited = p->end;
}

/* A copy of the counts; NULL where there is no memory. */
static struct emu_profile_count *counts_of(const struct profile *p)
{
    struct emu_profile_count *const counts = calloc(p->seen_count, sizeof *counts);

    for (uint32_t k = 0; counts && k < p->seen_count; k++) {
        const struct profile_entry *const entry = &p->entries[p->seen[k]];
        counts[k] = (struct emu_profile_count) {
            .cycles = entry->cycles, .instructions = entry->instructions, .pc = entry->pc,
            .misses = entry->misses
        };
    }
    return counts;
}

static void close_window(machine *m)
{
    struct profile *const p = m->profile;
    void *windows = p->windows;
    struct emu_profile_count *counts;

    profile_at(m, m->r[PC], m->cycles, m->instructions);
    p->open = false;
    p->awaited = p->begin;
    counts = counts_of(p);
    if (!counts || !make_room(&windows, p->count, &p->capacity, sizeof *p->windows)) {
        free(counts);
        p->lost = true;
        return;
    }
    p->windows = windows;
    p->windows[p->count++] = (struct emu_profile_window) {
        .opened = p->opened, .closed = m->cycles, .counts = counts, .count = p->seen_count,
        .miss_cycles = m->xip_miss_cycles
    };
}

/* `begin` is awaited, then the address that it returns to, then `end`. */
void profile_reached(machine *m)
{
    struct profile *const p = m->profile;

    if (p->open)
        close_window(m);
    else if (p->awaited == p->begin)
        p->awaited = m->r[LR] & ~1u;
    else
        open_window(m);
}

void profile_reset(machine *m)
{
    if (!m->profile)
        return;
    m->profile->open = false;
    m->profile->awaited = m->profile->begin;
}

/* ---- emu.h ---- */

static void free_windows(struct profile *p)
{
    for (uint32_t k = 0; k < p->count; k++)
        free((void *)p->windows[k].counts);
    p->count = 0;
}

void profile_free(machine *m)
{
    struct profile *const p = m->profile;

    if (!p)
        return;
    free_windows(p);
    free(p->windows);
    free(p->seen);
    free(p->entries);
    free(p);
    m->profile = NULL;
}

int emu_profile_start(machine *m, uint32_t begin, uint32_t end)
{
    const uint32_t halfwords = (m->sram_bytes + m->flash_bytes + m->rom_bytes) >> 1;

    if (m->witness)
        return -1;
    if (!m->profile) {
        m->profile = calloc(1, sizeof *m->profile);
        if (m->profile)
            m->profile->entries = calloc(halfwords, sizeof *m->profile->entries);
        forget_all_code(m);
    }

    struct profile *const p = m->profile;
    if (!p || !p->entries) {
        profile_free(m);
        return -1;
    }
    free_windows(p);
    p->lost = false;
    p->begin = begin & ~1u;
    p->end = end ? end & ~1u : NOWHERE;
    profile_reset(m);
    return 0;
}

void emu_profile_stop(machine *m)
{
    if (!m->profile)
        return;
    profile_free(m);
    forget_all_code(m);
}

int emu_profile_lost(const machine *m) { return m->profile && m->profile->lost; }
uint32_t emu_profile_windows(const machine *m) { return m->profile ? m->profile->count : 0; }

const struct emu_profile_window *emu_profile_window(const machine *m, uint32_t number)
{
    return number < emu_profile_windows(m) ? &m->profile->windows[number] : NULL;
}
