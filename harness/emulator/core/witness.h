/* SPDX-License-Identifier: Apache-2.0 */
/* The witness (emu.h, emu_witness_...): a shadow of SRAM that every load and store of the core
 * passes by while a window is open.
 *
 * threaded.h calls the three macros at the end of this file wherever an instruction reaches SRAM
 * in line or changes the flow, bus.c its two functions for the rest: exception frames, the FPU,
 * unaligned accesses. The macros are empty in execute() and execute_v8m(); execute_witness.c and
 * execute_v8m_witness.c compile the same instructions a second time with WITNESS defined, and
 * emu_run() takes these while there is a witness. So a core without one pays nothing, and neither
 * way to run can count other cycles than the other. */
#ifndef WITNESS_H
#define WITNESS_H
#include "core.h"
#include <string.h>

/* The shadow's flags of one byte. What it is stays for all windows, what happened to it begins anew
   with each. */
enum {
    SHADOW_ZONE = 7,                           /* number of the zone that it belongs to */
    SHADOW_INPUT = 1 << 3,                     /* holds a value when a window opens */
    SHADOW_OUTPUT = 1 << 4,                    /* of the output: stores to it are progress */
    SHADOW_READ = 1 << 5,
    SHADOW_WRITTEN = 1 << 6,
    SHADOW_OVERWRITTEN = 1 << 7,               /* an input byte, written */
    SHADOW_HAPPENED = SHADOW_READ | SHADOW_WRITTEN | SHADOW_OVERWRITTEN
};

/* The first store to an input byte, should a later load still want what was there. */
struct overwriting {
    struct emu_witness_access store;
    uint64_t order;                            /* of the window's stores to SRAM */
    bool collided;                             /* counted */
};

struct witness {
    /* one each for every byte of SRAM */
    uint8_t *shadow;
    uint8_t *at_open;                          /* SRAM as it was when the window opened */
    struct emu_witness_writer *last_writer;    /* valid where SHADOW_WRITTEN is set */
    struct overwriting *overwriting;           /* valid where SHADOW_OVERWRITTEN is set */
    bool open;
    uint32_t begin, end, awaited;              /* pcs; awaited: where something happens next */
    uint64_t stores, progress, collision_order;
    uint32_t watch_address, watch_window, watch_store, watched;     /* of emu_witness_watch() */
    bool watching;
    struct emu_witness_window now;             /* the window that is open */
    struct emu_witness_window *windows;        /* the closed ones, oldest first */
    uint32_t count, capacity;
};

/* execute_witness.c, execute_v8m_witness.c */
void execute_witness(machine *m);
void execute_v8m_witness(machine *m);

/* witness.c */
void witness_reached(machine *m);              /* the core is at w->awaited */
void witness_load(machine *m, uint32_t pc, uint64_t cycle, uint32_t offset, uint32_t bytes);
void witness_store(machine *m, uint32_t pc, uint64_t cycle, uint32_t offset, uint32_t bytes);
void witness_reset(machine *m);                /* the core was reset: an open window is dropped */
void witness_free(machine *m);

/* For bus.c: accesses that are not in line in threaded.h. */
static inline void witness_bus_load(machine *m, uint32_t address, int size)
{
    if (m->witness && m->witness->open && address - SRAM_BASE < m->sram_bytes)
        witness_load(m, m->r[PC], m->cycles, address - SRAM_BASE, (uint32_t)size);
}

static inline void witness_bus_store(machine *m, uint32_t address, int size)
{
    if (m->witness && m->witness->open && address - SRAM_BASE < m->sram_bytes)
        witness_store(m, m->r[PC], m->cycles, address - SRAM_BASE, (uint32_t)size);
}

/* A store is to reach the watched byte. Is it the one to halt at? It begins anew afterwards, and is
   counted once more then. */
static inline bool witness_watched(struct witness *w)
{
    return w->open && ++w->watched == w->watch_store && w->count == w->watch_window;
}

#ifdef WITNESS
/* All of the bytes read before, and none an overwritten input? */
static inline bool is_known_load(const struct witness *w, uint32_t offset, uint32_t bytes)
{
    const uint32_t each = UINT32_C(0x01010101) >> (32 - 8 * bytes);
    uint32_t flags = 0;

    memcpy(&flags, w->shadow + offset, bytes);
    return (flags & each * (SHADOW_READ | SHADOW_OVERWRITTEN)) == each * SHADOW_READ;
}

#define WITNESS_BRANCH()                                               \
    do {                                                               \
        if (unlikely(pc == m->witness->awaited)) {                     \
            PUBLISH();                                                 \
            witness_reached(m);                                        \
        }                                                              \
    } while (0)

/* A load that repeats an earlier one, of bytes that are no overwritten input, says nothing new. */
#define WITNESS_LOAD(type, offset)                                     \
    do {                                                               \
        if (m->witness->open && !is_known_load(m->witness, (offset), sizeof(type))) \
            witness_load(m, pc, cycles, (offset), sizeof(type));       \
    } while (0)

#define WITNESS_STORE(type, offset)                                    \
    do {                                                               \
        if (m->witness->open)                                          \
            witness_store(m, pc, cycles, (offset), sizeof(type));      \
    } while (0)
/* Ahead of a store: is it the one to halt at? */
#define WITNESS_WATCH(type, address)                                   \
    do {                                                               \
        if (unlikely(m->witness->watching)                             \
            && m->witness->watch_address - (address) < sizeof(type)    \
            && witness_watched(m->witness))                            \
            goto op_WATCHPOINT;                                        \
    } while (0)
#else
#define WITNESS_WATCH(type, address) ((void)0)
#define WITNESS_BRANCH() ((void)0)
#define WITNESS_LOAD(type, offset) ((void)0)
#define WITNESS_STORE(type, offset) ((void)0)
#endif
#endif
