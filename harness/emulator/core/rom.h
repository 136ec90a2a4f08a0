/* SPDX-License-Identifier: Apache-2.0 */
/* Boot ROMs of our own in the place of the chips': the same header and tables, and stubs of BKPT
 * that call C. A real image is not needed, and none is shipped. rom.c and rom_flash.c are of both
 * chips; the others are of the one in their name. */
#ifndef ROM_H
#define ROM_H
#include "chip.h"

enum { SP_REGISTER = 13, LR_REGISTER = 14, PC_REGISTER = 15 };
enum {                          /* where both ROMs have what they share */
    ROM_MAGIC = 0x10, ROM_CODE_AT = 0xe0, ROM_DEAD = 0, ROM_BOOT = 4, ROM_BOOTSEL = 6,
    ROM_ENTER = 8,
    ROM_STUBS_AT = 0x100, ROM_STUBS = 0x80
};
enum {                          /* BKPT numbers of the stubs */
    ROM_CALL_LOOKUP = 0, ROM_CALL_BOOT = 1, ROM_CALL_BOOT_FLASH = 2, ROM_FIRST_FUNCTION = 0x10,
    ROM_FIRST_FLOAT = 0x40, ROM_FIRST_DOUBLE = 0x60, ROM_FLOATS = 0x20
};
void rom_put_halfword(machine *m, uint32_t at, uint32_t value);
void rom_put_word(machine *m, uint32_t at, uint32_t value);
void rom_put_base(machine *m, uint32_t stack, uint8_t generation, uint8_t version);
void rom_put_code(machine *m, const uint16_t *code, uint32_t halfwords);
uint32_t rom_stub(uint32_t number);                         /* address to call */
uint32_t rom_code(uint32_t offset);
void rom_go_on_at(machine *m, uint32_t offset);             /* after this call */
void rom_enter_bootsel(machine *m, const char *why);
bool rom_boot_from_scratch(machine *m, uint32_t enter);
/* A function of a ROM, by its two letters. */
struct rom_function { char code[3]; void (*call)(machine *m); };
extern const struct rom_function ROM_RP2040_FUNCTIONS[], ROM_RP2350_FUNCTIONS[];
extern const uint32_t ROM_RP2040_FUNCTION_COUNT, ROM_RP2350_FUNCTION_COUNT;
enum { ROM_FUNCTION_CYCLES = 20 };
void rom_flash_connect(machine *m);                         /* IF */
void rom_flash_exit_xip(machine *m);                        /* EX */
void rom_flash_flush_cache(machine *m);                     /* FC */
void rom_flash_enter_cmd_xip(machine *m);                   /* CX */
void rom_flash_range_erase(machine *m);                     /* RE */
void rom_flash_range_program(machine *m);                   /* RP */
void rom_flash_erase(machine *m, uint32_t offset, uint32_t count, uint32_t block_size);
void rom_flash_program(machine *m, uint32_t offset, uint32_t from, uint32_t count);
/* rom_image_def.c: how to enter the image in flash. false: why not is in `problem`. */
struct image_entry { uint32_t pc, sp, sp_limit, vector_table; };
bool rom_find_image(machine *m, struct image_entry *entry, char *problem, size_t problem_bytes);
#endif
