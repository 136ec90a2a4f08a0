/* SPDX-License-Identifier: Apache-2.0 */
/* All that the runner knows of the chip it runs on. Each chip's folder implements this, and so does
 * the host port of the tests. */
#ifndef PORT_H
#define PORT_H

#include <stdbool.h>
#include <stdint.h>

#include "port/placement.h"
#include "ripbench_schema.h"

/* What the image on the board is. */
struct port_identity {
    uint32_t chip;            /* enum chip */
    uint32_t clk_sys_hz;      /* measured */
    uint32_t reset_reason;    /* of the chip's reset registers, as they are */
    uint8_t unique_id[8];
    uint8_t build_id[8];
};
const struct port_identity *port_identity(void);

/* The two halves of the mailbox. */
const struct mailbox_request *port_mailbox_request(void);
volatile struct mailbox_report *port_mailbox_report(void);

/* A range of memory. */
struct port_memory {
    uint8_t *base;
    uint32_t address;         /* as the chip and the host's harness see it */
    uint32_t bytes;
};
struct port_memory port_pool(void);           /* arena, scratch and guards; 8-byte aligned */
struct port_memory port_image(void);          /* the runner in flash, RAM code included */
struct port_memory port_ram_code(void);       /* in SRAM */
const uint8_t *port_ram_code_load(void);      /* what it was copied from */
/* Flash behind the runner: NULL unless all of [address, address + bytes) may be read. */
const uint8_t *port_flash(uint32_t address, uint32_t bytes);
enum { PORT_DEFAULT_PACK_ADDRESS = 0x10010000 };

uint32_t port_stack_bytes(void);
uint32_t port_stack_peak(void);               /* most bytes in use since start */

/* The serial port. Neither call waits; both return the number of bytes taken or given. When nobody
 * listens (not configured, or the host closed the port) writes are taken and dropped. */
uint32_t port_read(uint8_t *to, uint32_t bytes);
uint32_t port_write(const uint8_t *from, uint32_t bytes);
/* Sleep until there may be bytes to read, or room to write. May return early. */
void port_wait_readable(void);
void port_wait_writable(void);
void port_wait_written(void);                 /* until nothing is on its way to the host any more */

void port_flush_flash_cache(void);

/* A measured window. Between begin and end no interrupt is taken, unless keep_interrupts: then the
 * cycles of the serial port's interrupts are counted and taken off.
 * The flash cache is in a defined state when the window opens, whatever ran before it: empty, and
 * then, for each of the `warm` ranges of flash, read through once. */
struct port_window {
    uint64_t cycles;          /* of clk_sys, less interrupts and the window's own */
    uint64_t microseconds;
    uint64_t interrupt_cycles;
    uint32_t interrupts;
    uint32_t xip_accesses;
    uint32_t xip_hits;
    uint32_t breaches;        /* of enum breach, bits: what ran inside left something else behind */
};
struct port_range {
    const void *base;
    uint32_t bytes;
};
enum { PORT_WARM_MAX = 3 };
struct port_conditions {
    bool keep_interrupts;
    struct port_range warm[PORT_WARM_MAX];
    uint32_t warm_ranges;
};
void port_window_begin(const struct port_conditions *conditions);
void port_window_end(struct port_window *window);

struct op_call;
/* Calls `run` in a window, which holds nothing but that. Of the breaches, those of registers are
 * seen here, all others by the window. */
void port_run_in_window(void (*run)(const struct op_call *), const struct op_call *call,
                        const struct port_conditions *conditions, struct port_window *window);

#endif
