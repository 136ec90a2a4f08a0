/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of the boot ROM that programs call (RP2040 data sheet 2.8.3.1), in C.
 *
 * Cycles: the short functions cost about what their instructions would. flash_exit_xip contains
 * two delay loops of 2,048 turns. Erase and program take the typical times of a W25Q16JV (its data
 * sheet, 9.6): 45 ms a 4 KB sector, 150 ms a block of 64 KB (other block sizes in proportion), 0.4
 * ms a page of 256 bytes. They pass in one step, with interrupts held off as long as that.
 * The floating-point functions can be looked up, as a pico-sdk program does, but not called. */
#include "chip.h"
#include <string.h>

enum { CALL_CYCLES = 20, CONNECT_CYCLES = 100, EXIT_XIP_CYCLES = 13000, FLUSH_CYCLES = 1100,
       ENTER_CMD_XIP_CYCLES = 50 };
enum { FLASH_SECTOR = 4096, FLASH_BLOCK = 65536, FLASH_PAGE = 256 };
static const uint64_t SECTOR_ERASE_NS = 45000000, BLOCK_ERASE_NS = 150000000,
                      PAGE_PROGRAM_NS = 400000, NS_PER_SECOND = 1000000000;

enum { PADS_SD0 = 0x08, PADS_SD1 = 0x0c, PADS_SD2 = 0x10, PADS_SD3 = 0x14 };
enum { PAD_PUE = 1 << 3, PAD_PDE = 1 << 2 };

static void spend_ns(machine *m, uint64_t ns)
{
    m->cycles += (uint64_t)((uint128)ns * chip_clk_sys_hz(m) / NS_PER_SECOND);
}

/* ---- bits (2.8.3.1.2) ---- */
static void popcount32(machine *m)
{
    m->r[0] = (uint32_t)__builtin_popcount(m->r[0]);
}

static void reverse32(machine *m)
{
    uint32_t reversed = 0;
    for (int bit = 0; bit < 32; bit++)
        reversed |= (m->r[0] >> bit & 1) << (31 - bit);
    m->r[0] = reversed;
}

static void clz32(machine *m)
{
    m->r[0] = m->r[0] ? (uint32_t)__builtin_clz(m->r[0]) : 32;
}

static void ctz32(machine *m)
{
    m->r[0] = m->r[0] ? (uint32_t)__builtin_ctz(m->r[0]) : 32;
}

/* ---- memory (2.8.3.1.3); both return their first argument ---- */
static void fill(machine *m)
{
    for (uint32_t i = 0; i < m->r[2]; i++)
        bus_store(m, m->r[0] + i, 1, m->r[1] & 0xff);
    m->cycles += m->r[2] / 2;                   /* stmia of four words in eight cycles */
}

static void copy(machine *m)
{
    uint32_t to = m->r[0], from = m->r[1], length = m->r[2];
    if ((to ^ from) & 3) {                      /* from the end, byte by byte, seven cycles each */
        for (uint32_t i = length; i-- > 0;)
            bus_store(m, to + i, 1, bus_load(m, from + i, 1));
        m->cycles += 7 * (uint64_t)length;
    } else {
        for (uint32_t i = 0; i < length; i++)
            bus_store(m, to + i, 1, bus_load(m, from + i, 1));
        m->cycles += 13 * (uint64_t)length / 16;
    }
}

/* ---- flash (2.8.3.1.4) ---- */
void rom_flash_connect(machine *m)
{
    uint32_t blocks = 1u << RESET_IO_QSPI | 1u << RESET_PADS_QSPI;
    rp2040_reset_blocks(m, blocks);
    resets_release(m, blocks);
    for (int pin = 0; pin < 6; pin++)           /* FUNCSEL: XIP */
        m->chip->plain[PLAIN_IO_QSPI][2 * pin + 1] = 0;
    ssi_pins_changed(m);
    m->cycles += CONNECT_CYCLES;
}

void rom_flash_exit_xip(machine *m)
{
    uint32_t *pads = m->chip->plain[PLAIN_PADS_QSPI];
    uint32_t pulled_up = (pads[PADS_SD0 / 4] & ~(uint32_t)PAD_PDE) | PAD_PUE;
    pads[PADS_SD1 / 4] = pads[PADS_SD0 / 4];
    pads[PADS_SD2 / 4] = pads[PADS_SD3 / 4] = pulled_up;
    m->chip->spi_flash.continuous = 0;
    ssi_init_spi(m);
    m->cycles += EXIT_XIP_CYCLES;
}

void rom_flash_flush_cache(machine *m)
{
    enum { SS_CTRL = 0x0c };
    m->chip->plain[PLAIN_IO_QSPI][SS_CTRL / 4] = 0;     /* chip select as the SSI drives it */
    ssi_pins_changed(m);
    xip_ctrl_flush(m);
    m->cycles += FLUSH_CYCLES;
}

static void flash_enter_cmd_xip(machine *m)
{
    ssi_enter_cmd_xip(m);
    m->cycles += ENTER_CMD_XIP_CYCLES;
}

static bool range_is_wrong(machine *m, const char *what, uint32_t offset, uint32_t count,
                           uint32_t unit)
{
    if (!ssi_serial_ready(m))
        machine_strict(m, "%s without connect_internal_flash and flash_exit_xip before it", what);
    else if (offset % unit || count % unit || offset > m->flash_bytes
             || count > m->flash_bytes - offset)
        machine_strict(m, "%s(0x%x, %u): not whole units of %u bytes within the flash of %u", what,
                       (unsigned)offset, (unsigned)count, (unsigned)unit, (unsigned)m->flash_bytes);
    else
        return false;
    return true;
}

static void forget_flash(machine *m, uint32_t offset, uint32_t count)
{
    code_changed(m, XIP_BASE + offset, count);
}

/* r2, r3: block size and the command that erases one, for the parts of the range that hold one */
static uint64_t erase_ns(uint32_t offset, uint32_t count, uint32_t block_size)
{
    uint64_t ns = 0;
    for (uint32_t end = offset + count; offset < end;) {
        bool block = block_size > FLASH_SECTOR && !(offset & (block_size - 1))
                     && end - offset >= block_size;
        ns += block ? BLOCK_ERASE_NS * block_size / FLASH_BLOCK : SECTOR_ERASE_NS;
        offset += block ? block_size : FLASH_SECTOR;
    }
    return ns;
}

static void flash_range_erase(machine *m)
{
    uint32_t offset = m->r[0], count = m->r[1];
    if (range_is_wrong(m, "flash_range_erase", offset, count, FLASH_SECTOR))
        return;
    memset(m->flash + offset, 0xff, count);
    forget_flash(m, offset, count);
    spend_ns(m, erase_ns(offset, count, m->r[2]));
}

static void flash_range_program(machine *m)
{
    uint32_t offset = m->r[0], from = m->r[1], count = m->r[2];
    if (range_is_wrong(m, "flash_range_program", offset, count, FLASH_PAGE))
        return;
    for (uint32_t i = 0; i < count; i++)
        m->flash[offset + i] &= (uint8_t)bus_load(m, from + i, 1);
    forget_flash(m, offset, count);
    spend_ns(m, count / FLASH_PAGE * PAGE_PROGRAM_NS);
}

/* ---- others (2.8.3.1.5) ---- */
static void reset_usb_boot(machine *m)
{
    rom_enter_bootsel(m, "the program called reset_usb_boot");
}

static const struct { char code[3]; void (*call)(machine *m); } FUNCTIONS[] = {
    {"P3", popcount32}, {"R3", reverse32}, {"L3", clz32}, {"T3", ctz32},
    {"MS", fill}, {"S4", fill}, {"MC", copy}, {"C4", copy},
    {"UB", reset_usb_boot},
    {"IF", rom_flash_connect}, {"EX", rom_flash_exit_xip}, {"RE", flash_range_erase},
    {"RP", flash_range_program}, {"FC", rom_flash_flush_cache}, {"CX", flash_enter_cmd_xip},
};

uint32_t rom_functions(void)
{
    return sizeof FUNCTIONS / sizeof FUNCTIONS[0];
}

void rom_function_code(uint32_t number, char code[2])
{
    memcpy(code, FUNCTIONS[number - ROM_FIRST_FUNCTION].code, 2);
}

void rom_function(machine *m, uint32_t number)
{
    uint32_t index = number - ROM_FIRST_FUNCTION;
    m->cycles += CALL_CYCLES;
    if (index < rom_functions())
        FUNCTIONS[index].call(m);
    else if (number >= ROM_FIRST_FLOAT && number < ROM_FIRST_DOUBLE + ROM_FLOATS)
        machine_strict(m, "boot ROM %s function %u (table offset 0x%02x) is not modelled",
                       number < ROM_FIRST_DOUBLE ? "float" : "double",
                       (unsigned)(number % ROM_FLOATS), (unsigned)(number % ROM_FLOATS * 4));
    else
        machine_strict(m, "boot ROM entered at stub %u: no function is there", (unsigned)number);
}
