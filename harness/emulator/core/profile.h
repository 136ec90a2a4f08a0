/* SPDX-License-Identifier: Apache-2.0 */
/* The profile (emu.h, emu_profile_...): cycles, instructions and XIP misses by the address of the
 * instruction that they belong to, while a window is open.
 *
 * PROFILE_AT() says that all that happens from here on belongs to the instruction at `pc`. It
 * stands where an instruction begins and, before that, where the wait for its cache line does; what
 * it counts are differences of the core's own counters, so the sum over a window is its length,
 * whatever the instruction. Like the macros of witness.h those below are empty but in
 * execute_profile.c and execute_v8m_profile.c, which emu_run() takes while there is a profile. */
#ifndef PROFILE_H
#define PROFILE_H
#include "core.h"

struct profile_entry {
    uint64_t cycles, instructions;
    uint32_t misses, pc;
    bool seen;
};

struct profile {
    struct profile_entry *entries;             /* one for each halfword of ROM, flash and SRAM */
    uint32_t *seen;                            /* the entries of the open window that have a count */
    uint32_t seen_count, seen_capacity;
    bool open, lost;                           /* lost: there was no memory for all of it */
    uint32_t begin, end, awaited;              /* pcs, as of struct witness */
    struct profile_entry *at;                  /* of the instruction that runs */
    uint64_t since_cycles, since_instructions, since_misses;
    uint64_t opened;
    struct emu_profile_window *windows;        /* the closed ones, oldest first */
    uint32_t count, capacity;
};

/* execute_profile.c, execute_v8m_profile.c */
void execute_profile(machine *m);
void execute_v8m_profile(machine *m);

/* profile.c */
void profile_reached(machine *m);              /* the core is at p->awaited */
void profile_see(machine *m, struct profile_entry *entry, uint32_t pc);
void profile_reset(machine *m);                /* the core was reset: an open window is dropped */
void profile_free(machine *m);

/* Entry of an instruction. Mirrors of the flash share theirs, as they share what is decoded. */
static inline struct profile_entry *profile_entry_of(machine *m, uint32_t pc)
{
    struct profile_entry *const entries = m->profile->entries;

    if (pc - SRAM_BASE < m->sram_bytes)
        return entries + ((pc - SRAM_BASE) >> 1);
    if (in_xip_windows(pc))
        return entries + (m->sram_bytes >> 1) + ((pc & (m->flash_bytes - 1)) >> 1);
    return entries + ((m->sram_bytes + m->flash_bytes + (pc & (m->rom_bytes - 1))) >> 1);
}

/* What happened since the last call is its instruction's; from here on it is that of `pc`. */
static inline void profile_at(machine *m, uint32_t pc, uint64_t cycles, uint64_t instructions)
{
    struct profile *const p = m->profile;
    struct profile_entry *const at = p->at;

    at->cycles += cycles - p->since_cycles;
    at->instructions += instructions - p->since_instructions;
    at->misses += (uint32_t)(m->xip_misses - p->since_misses);
    p->since_cycles = cycles;
    p->since_instructions = instructions;
    p->since_misses = m->xip_misses;
    p->at = profile_entry_of(m, pc);
    if (!p->at->seen)
        profile_see(m, p->at, pc);
}

#ifdef PROFILE
#define PROFILE_AT()                                                   \
    do {                                                               \
        if (m->profile->open)                                          \
            profile_at(m, pc, cycles, instructions);                   \
    } while (0)

#define PROFILE_BRANCH()                                               \
    do {                                                               \
        if (__builtin_expect(pc == m->profile->awaited, 0)) {          \
            PUBLISH();                                                 \
            profile_reached(m);                                        \
        }                                                              \
    } while (0)
#else
#define PROFILE_AT() ((void)0)
#define PROFILE_BRANCH() ((void)0)
#endif
#endif
