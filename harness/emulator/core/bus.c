/* SPDX-License-Identifier: Apache-2.0 */
/* The bus: ROM, the four XIP windows, SRAM and the PPB here, everything else at the chip. The
 * core's accesses are checked, take time and may fault; those of the debug port and of ROM
 * functions take none.
 *
 * Flash smaller than a window repeats in it, as on the board: the flash chip ignores the
 * address bits that it does not have. (The cache does see them: each mirror has its own lines.) */
#include "core.h"
#include "cycles_v8m.h"
#include "witness.h"
#include "xip.h"
#include <string.h>

enum { PPB_BASE = 0xe0000000, PPB_BYTES = 0x00100000, APB_REGION = 4 };
enum { PERIPHERALS = 2, DEVICES = 5 };     /* bits 31:29 of the default memory map; 5 and above */

/* ---- memories ---- */

uint8_t *memory_at(const machine *m, uint32_t address, uint32_t *available)
{
    if (address - SRAM_BASE < m->sram_bytes) {
        *available = SRAM_BASE + m->sram_bytes - address;
        return m->sram + (address - SRAM_BASE);
    }
    if (in_xip_windows(address)) {
        const uint32_t offset = address & (m->flash_bytes - 1);
        *available = m->flash_bytes - offset;
        return m->flash + offset;
    }
    if (address < m->rom_bytes) {
        *available = m->rom_bytes - address;
        return m->rom + address;
    }
    return NULL;
}

bool is_writable(uint32_t address)
{
    return address - SRAM_BASE < MAX_SRAM_BYTES;
}

/* ---- the core's accesses ---- */

static bool fault(machine *m, enum v8m_fault_kind kind, const char *cause, uint32_t address)
{
    m->fault_kind = kind;
    m->fault_cause = cause;
    m->fault_address = address;
    return false;
}

static bool is_ppb(uint32_t address) { return address - PPB_BASE < PPB_BYTES; }

/* ARMv8-M allows an unaligned access to what the default memory map calls normal memory, unless
   CCR.UNALIGN_TRP is set (B8.1, B7.7). It is made a byte at a time; cycles_v8m.h has its cost. */
static bool may_be_unaligned(const machine *m, uint32_t address)
{
    const uint32_t region = address >> 29;

    return m->architecture == ARMV8M && !(m->ccr & CCR_UNALIGN_TRP) && region != PERIPHERALS
           && region < DEVICES;
}

static bool read_unaligned(machine *m, uint32_t address, int size, uint32_t *value)
{
    uint32_t byte;

    if (!may_be_unaligned(m, address))
        return fault(m, FAULT_UNALIGNED, "unaligned load", address);
    *value = 0;
    for (int k = 0; k < size; k++) {
        if (!core_read(m, address + (uint32_t)k, 1, &byte))
            return false;
        *value |= byte << 8 * k;
    }
    m->cycles += m33_cycles[COST_UNALIGNED][m->m33_timing];
    return true;
}

static bool write_unaligned(machine *m, uint32_t address, int size, uint32_t value)
{
    if (!may_be_unaligned(m, address))
        return fault(m, FAULT_UNALIGNED, "unaligned store", address);
    for (int k = 0; k < size; k++)
        if (!core_write(m, address + (uint32_t)k, 1, value >> 8 * k & 0xff))
            return false;
    m->cycles += m33_cycles[COST_UNALIGNED][m->m33_timing];
    return true;
}

bool core_read(machine *m, uint32_t address, int size, uint32_t *value)
{
    uint32_t available;
    const uint8_t *memory;

    if (address & (uint32_t)(size - 1))
        return read_unaligned(m, address, size, value);
    memory = memory_at(m, address, &available);
    if (memory) {
        *value = 0;
        memcpy(value, memory, (size_t)size);
        witness_bus_load(m, address, size);
        if (in_xip_windows(address))
            m->cycles += xip_window_access(m, address);
        return true;
    }
    m->fault_kind = FAULT_PRECISERR;
    if (is_ppb(address))
        return ppb_read(m, address, size, BY_CORE, value);
    if (address >> 28 == APB_REGION)
        m->cycles += CYCLES_APB;
    return chip_read(m, address, size, value)
           || fault(m, FAULT_PRECISERR, "load from an address that nothing answers", address);
}

bool core_write(machine *m, uint32_t address, int size, uint32_t value)
{
    uint32_t available;
    uint8_t *memory;

    if (address & (uint32_t)(size - 1))
        return write_unaligned(m, address, size, value);
    memory = memory_at(m, address, &available);
    if (memory) {
        if (is_writable(address)) {
            memcpy(memory, &value, (size_t)size);
            witness_bus_store(m, address, size);
            forget_code(m, address - SRAM_BASE);
        } else {
            m->dropped_writes++;       /* ROM and flash ignore it; TinyUSB stores to address 0 */
        }
        return true;
    }
    m->fault_kind = FAULT_PRECISERR;
    if (is_ppb(address))
        return ppb_write(m, address, size, BY_CORE, value);
    if (address >> 28 == APB_REGION)
        m->cycles += CYCLES_APB;
    return chip_write(m, address, size, value)
           || fault(m, FAULT_PRECISERR, "store to an address that nothing answers", address);
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
    if (pc - SRAM_BASE < m->sram_bytes)
        return m->sram_code + ((pc - SRAM_BASE) >> 1);
    if (in_xip_windows(pc))
        return m->flash_code + ((pc & (m->flash_bytes - 1)) >> 1);
    return pc < m->rom_bytes ? m->rom_code + (pc >> 1) : NULL;
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

/* From the first entry that depends on a touched halfword (see forget_code) to the last touched
   one. */
static void forget_entries(decoded *code, uint32_t bytes, uint32_t offset, uint32_t length)
{
    const uint32_t first = offset >= 6 ? (offset >> 1) - 3 : 0;
    const uint32_t end = length < bytes - offset ? (offset + length + 1) >> 1 : bytes >> 1;

    memset(code + first, 0, (end - first) * sizeof *code);
}

void code_changed(machine *m, uint32_t address, uint32_t length)
{
    if (length == 0)
        return;
    if (address - SRAM_BASE < m->sram_bytes)
        forget_entries(m->sram_code, m->sram_bytes, address - SRAM_BASE, length);
    else if (in_xip_windows(address))
        forget_entries(m->flash_code, m->flash_bytes, address & (m->flash_bytes - 1), length);
    else if (address < m->rom_bytes)
        forget_entries(m->rom_code, m->rom_bytes, address, length);
}

/* What is decoded names handlers of execute(), of execute_witness() or of execute_profile(), each by
   its own offsets. */
void forget_all_code(machine *m)
{
    code_changed(m, ROM_BASE, m->rom_bytes);
    code_changed(m, XIP_BASE, m->flash_bytes);
    code_changed(m, SRAM_BASE, m->sram_bytes);
}
