/* SPDX-License-Identifier: Apache-2.0 */
/* The bus: ROM, the four XIP windows, SRAM and the PPB here, everything else at the chip. The
 * core's accesses are checked, take time and may fault; those of the debug port and of ROM
 * functions take none.
 *
 * Flash smaller than a window repeats in it, as on the board: the flash chip ignores the
 * address bits that it does not have. (The cache does see them: each mirror has its own lines.) */
#include "core.h"
#include "xip.h"
#include <string.h>

enum { PPB_BASE = 0xe0000000, PPB_BYTES = 0x00100000, APB_REGION = 4 };

/* ---- memories ---- */

uint8_t *memory_at(const machine *m, uint32_t address, uint32_t *available)
{
    if (address - SRAM_BASE < SRAM_BYTES) {
        *available = SRAM_BASE + SRAM_BYTES - address;
        return m->sram + (address - SRAM_BASE);
    }
    if (in_xip_windows(address)) {
        const uint32_t offset = address & (m->flash_bytes - 1);
        *available = m->flash_bytes - offset;
        return m->flash + offset;
    }
    if (address < ROM_BYTES) {
        *available = ROM_BYTES - address;
        return m->rom + address;
    }
    return NULL;
}

bool is_writable(uint32_t address)
{
    return address - SRAM_BASE < SRAM_BYTES;
}

/* ---- the core's accesses ---- */

static bool fault(machine *m, const char *cause, uint32_t address)
{
    m->fault_cause = cause;
    m->fault_address = address;
    return false;
}

static bool is_ppb(uint32_t address) { return address - PPB_BASE < PPB_BYTES; }

bool core_read(machine *m, uint32_t address, int size, uint32_t *value)
{
    uint32_t available;
    const uint8_t *memory;

    if (address & (uint32_t)(size - 1))
        return fault(m, "unaligned load", address);
    memory = memory_at(m, address, &available);
    if (memory) {
        *value = 0;
        memcpy(value, memory, (size_t)size);
        if (in_xip_windows(address))
            m->cycles += xip_window_access(m, address);
        return true;
    }
    if (is_ppb(address))
        return ppb_read(m, address, size, BY_CORE, value);
    if (address >> 28 == APB_REGION)
        m->cycles += CYCLES_APB;
    return chip_read(m, address, size, value)
           || fault(m, "load from an address that nothing answers", address);
}

bool core_write(machine *m, uint32_t address, int size, uint32_t value)
{
    uint32_t available;
    uint8_t *memory;

    if (address & (uint32_t)(size - 1))
        return fault(m, "unaligned store", address);
    memory = memory_at(m, address, &available);
    if (memory) {
        if (is_writable(address)) {
            memcpy(memory, &value, (size_t)size);
            forget_code(m, address - SRAM_BASE);
        } else {
            m->dropped_writes++;       /* ROM and flash ignore it; TinyUSB stores to address 0 */
        }
        return true;
    }
    if (is_ppb(address))
        return ppb_write(m, address, size, BY_CORE, value);
    if (address >> 28 == APB_REGION)
        m->cycles += CYCLES_APB;
    return chip_write(m, address, size, value)
           || fault(m, "store to an address that nothing answers", address);
}

/* ---- accesses that take no time ---- */

uint32_t bus_load(machine *m, uint32_t address, int size)
{
    uint32_t value = 0;

    return emu_bus_read(m, address, size, &value) == 0 ? value : 0;
}

void bus_store(machine *m, uint32_t address, int size, uint32_t value)
{
    emu_bus_write(m, address, size, value);
}

/* ---- predecoded code ---- */

decoded *code_slot(machine *m, uint32_t pc)
{
    if (pc - SRAM_BASE < SRAM_BYTES)
        return m->sram_code + ((pc - SRAM_BASE) >> 1);
    if (in_xip_windows(pc))
        return m->flash_code + ((pc & (m->flash_bytes - 1)) >> 1);
    return pc < ROM_BYTES ? m->rom_code + (pc >> 1) : NULL;
}

uint16_t fetch_halfword(const machine *m, uint32_t pc)
{
    uint32_t available;
    const uint8_t *memory = memory_at(m, pc, &available);
    uint16_t halfword = 0;

    if (memory)
        memcpy(&halfword, memory, sizeof halfword);
    return halfword;
}

/* From the entry before (it may be a 32-bit instruction that ends here) to the last touched
   one. */
static void forget_entries(decoded *code, uint32_t bytes, uint32_t offset, uint32_t length)
{
    const uint32_t first = offset >= 2 ? (offset >> 1) - 1 : 0;
    const uint32_t end = length < bytes - offset ? (offset + length + 1) >> 1 : bytes >> 1;

    memset(code + first, 0, (end - first) * sizeof *code);
}

void code_changed(machine *m, uint32_t address, uint32_t length)
{
    if (length == 0)
        return;
    if (address - SRAM_BASE < SRAM_BYTES)
        forget_entries(m->sram_code, SRAM_BYTES, address - SRAM_BASE, length);
    else if (in_xip_windows(address))
        forget_entries(m->flash_code, m->flash_bytes, address & (m->flash_bytes - 1), length);
    else if (address < ROM_BYTES)
        forget_entries(m->rom_code, ROM_BYTES, address, length);
}
