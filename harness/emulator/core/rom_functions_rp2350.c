/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of the RP2350's boot ROM that programs call (RP2350 data sheet 5.4.8), in C; those
 * of the flash are in rom_flash.c. What can be looked up but is not modelled stops when it is
 * called. */
#include "model.h"
#include "rom.h"

enum {                                          /* 5.4.3, return codes */
    OK = 0, INVALID_ARG = -5, INVALID_ADDRESS = -10, BAD_ALIGNMENT = -11, BUFFER_TOO_SMALL = -13
};

static void give(machine *m, int32_t result)
{
    m->r[0] = (uint32_t)result;
}

/* int bootrom_state_reset(uint32_t flags): nothing of what it resets is kept here */
static void state_reset(machine *m)
{
    enum { KNOWN_FLAGS = 7 };
    give(m, m->r[0] & ~(uint32_t)KNOWN_FLAGS ? INVALID_ARG : OK);
}

/* ---- int get_sys_info(uint32_t *buffer, uint32_t words, uint32_t flags) ---- */
enum { CHIP_INFO = 1 << 0, CPU_INFO = 1 << 2, PACKAGE_QFN60 = 1 };

/* Eight bytes of unique id, the first the most significant. */
static uint64_t unique_id(const machine *m)
{
    uint64_t id = 0;
    for (unsigned i = 0; i < sizeof m->chip->spi_flash.unique_id; i++)
        id = id << 8 | m->chip->spi_flash.unique_id[i];
    return id;
}

/* The flags that were answered, then the words of each, in the order of the flags. */
static void get_sys_info(machine *m)
{
    uint32_t buffer = m->r[0], room = m->r[1], flags = m->r[2], words[5] = {0}, count = 1;
    if (flags & ~(uint32_t)(CHIP_INFO | CPU_INFO)) {
        machine_strict(m, "boot ROM get_sys_info with flags 0x%x is not modelled",
                       (unsigned)flags);
        return;
    }
    words[0] = flags;
    if (flags & CHIP_INFO) {
        words[count++] = PACKAGE_QFN60;
        words[count++] = (uint32_t)unique_id(m);
        words[count++] = (uint32_t)(unique_id(m) >> 32);
    }
    if (flags & CPU_INFO)
        words[count++] = 0;                     /* Arm */
    if (count > room) {
        give(m, BUFFER_TOO_SMALL);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        bus_store(m, buffer + 4 * i, 4, words[i]);
    give(m, (int32_t)count);
}

/* ---- flash ---- */
/* int flash_op(uint32_t flags, uint32_t address, uint32_t bytes, uint8_t *buffer): erase, program
 * or read, with the set-up before and after it */
static void flash_op(machine *m)
{
    enum { OP_SHIFT = 16, OP_ERASE = 0, OP_PROGRAM = 1, OP_READ = 2, SECTOR = 4096, PAGE = 256,
           BLOCK = 65536 };
    uint32_t op = m->r[0] >> OP_SHIFT & 7, offset = m->r[1] - XIP_BASE, count = m->r[2];
    uint32_t buffer = m->r[3], unit = op == OP_ERASE ? SECTOR : op == OP_PROGRAM ? PAGE : 1;
    struct qmi_window saved = m->chip->qmi.window[0];
    if (op > OP_READ) {
        give(m, INVALID_ARG);
    } else if (offset > m->flash_bytes || count > m->flash_bytes - offset) {
        give(m, INVALID_ADDRESS);
    } else if (offset % unit || count % unit) {
        give(m, BAD_ALIGNMENT);
    } else if (op == OP_READ) {
        for (uint32_t i = 0; i < count; i++)
            bus_store(m, buffer + i, 1, m->flash[offset + i]);
        give(m, OK);
    } else {
        rom_flash_exit_xip(m);
        if (op == OP_ERASE)
            rom_flash_erase(m, offset, count, BLOCK);
        else
            rom_flash_program(m, offset, buffer, count);
        m->chip->qmi.window[0] = saved;
        rom_flash_flush_cache(m);
        m->chip->model->flash_pins_changed(m);
        give(m, OK);
    }
}

/* void flash_select_xip_read_mode(int mode, uint8_t clkdiv) */
static void select_xip_read_mode(machine *m)
{
    if (m->r[0] < XIP_READ_MODES)
        qmi_select_read_mode(m, (enum xip_read_mode)m->r[0], m->r[1]);
    else
        machine_strict(m, "boot ROM flash_select_xip_read_mode(%u): there are four modes",
                       (unsigned)m->r[0]);
}

/* ---- others ---- */
/* int reboot(uint32_t flags, uint32_t delay_ms, uint32_t p0, uint32_t p1) */
static void reboot(machine *m)
{
    enum { TYPE_MASK = 0xf, TYPE_NORMAL = 0, TYPE_BOOTSEL = 2, TO_ARM_OR_RISCV = 0x30 };
    uint32_t flags = m->r[0], type = flags & TYPE_MASK;
    if (flags & TO_ARM_OR_RISCV || (type != TYPE_NORMAL && type != TYPE_BOOTSEL)) {
        machine_strict(m, "boot ROM reboot with flags 0x%x is not modelled", (unsigned)flags);
        return;
    }
    m->cycles += (uint64_t)m->r[1] * chip_clk_sys_hz(m) / 1000;
    if (type == TYPE_BOOTSEL)
        rom_enter_bootsel(m, "the program called reboot to BOOTSEL");
    else
        machine_request_reset(m);
    give(m, OK);
}

static void not_modelled(machine *m)
{
    machine_strict(m, "this function of the boot ROM is not modelled (called from 0x%08x)",
                   (unsigned)(m->r[LR_REGISTER] & ~1u));
}

const struct rom_function ROM_RP2350_FUNCTIONS[] = {
    {"SR", state_reset}, {"GS", get_sys_info}, {"FO", flash_op}, {"XM", select_xip_read_mode},
    {"IF", rom_flash_connect}, {"EX", rom_flash_exit_xip}, {"RE", rom_flash_range_erase},
    {"RP", rom_flash_range_program}, {"FC", rom_flash_flush_cache},
    {"CX", rom_flash_enter_cmd_xip}, {"RB", reboot},
    {"OA", not_modelled}, {"GP", not_modelled}, {"LP", not_modelled}, {"AB", not_modelled},
    {"EB", not_modelled}, {"SS", not_modelled},
};
const uint32_t ROM_RP2350_FUNCTION_COUNT = sizeof ROM_RP2350_FUNCTIONS
                                           / sizeof ROM_RP2350_FUNCTIONS[0];
