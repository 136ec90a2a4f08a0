/* SPDX-License-Identifier: Apache-2.0 */
/* The runner on the host: port.h over arrays, and the functions that the tests call through
 * ctypes. */
#include <string.h>

#include "kernels/requantize.h"
#include "port/cortex_m/extend.h"
#include "port/port.h"
#include "port/rp2/lines.h"
#include "runner/runner.h"
#include "runner/wire.h"

enum {
    FLASH_BYTES = 1 << 20,
    POOL_BYTES = 1 << 16,
    OUTPUT_BYTES = 1 << 20,
    IMAGE_BYTES = 512,
    RAM_CODE_BYTES = 64,
    CYCLES_OF_A_WINDOW = 1000,
    WARM_MAX = 8
};

static _Alignas(8) uint8_t flash[FLASH_BYTES];
static _Alignas(8) uint8_t pool[POOL_BYTES];
static uint8_t image[IMAGE_BYTES], ram_code[RAM_CODE_BYTES], ram_code_load[RAM_CODE_BYTES];
static uint8_t output[OUTPUT_BYTES];
static uint32_t output_length;
static struct mailbox_request mailbox;
static volatile struct mailbox_report report;
static const struct port_identity identity = {
    .chip = CHIP_RP2040, .clk_sys_hz = 125000000, .unique_id = {1, 2, 3, 4, 5, 6, 7, 8}};

const struct port_identity *port_identity(void) { return &identity; }
const struct mailbox_request *port_mailbox_request(void) { return &mailbox; }
volatile struct mailbox_report *port_mailbox_report(void) { return &report; }

struct port_memory port_pool(void)
{
    return (struct port_memory){pool, 0x20002000, POOL_BYTES};
}

struct port_memory port_image(void)
{
    return (struct port_memory){image, 0x10000000, IMAGE_BYTES};
}

struct port_memory port_ram_code(void)
{
    return (struct port_memory){ram_code, 0x20000100, RAM_CODE_BYTES};
}

const uint8_t *port_ram_code_load(void) { return ram_code_load; }

const uint8_t *port_flash(uint32_t address, uint32_t bytes)
{
    const uint64_t offset = (uint64_t)address - PORT_DEFAULT_PACK_ADDRESS;
    return offset <= FLASH_BYTES && bytes <= FLASH_BYTES - offset ? flash + offset : NULL;
}

uint32_t port_stack_bytes(void) { return 4096; }
uint32_t port_stack_peak(void) { return 256; }
uint32_t port_read(uint8_t *to, uint32_t bytes) { (void)to; return bytes & 0; }

uint32_t port_write(const uint8_t *from, uint32_t bytes)
{
    const uint32_t some = bytes > 7 ? 7 : bytes;  /* callers have to ask again for the rest */
    memcpy(output + output_length, from, some);
    output_length += some;
    return some;
}

void port_wait_readable(void) {}
void port_wait_writable(void) {}
void port_wait_written(void) {}
void port_flush_flash_cache(void) {}

static struct {
    uint32_t offset, bytes;                   /* offset: from the start of flash */
} warmed[WARM_MAX];
static uint32_t warm_count;

/* Keeps the ranges of the latest window. */
void port_window_begin(const struct port_conditions *conditions)
{
    warm_count = conditions->warm_ranges;
    for (uint32_t range = 0; range < warm_count && range < WARM_MAX; range++) {
        warmed[range].offset = (uint32_t)((const uint8_t *)conditions->warm[range].base - flash);
        warmed[range].bytes = conditions->warm[range].bytes;
    }
}

static uint32_t spoilt_from, spoilt_to;

void port_window_end(struct port_window *window)
{
    for (uint32_t offset = spoilt_from; offset < spoilt_to; offset++) {
        pool[offset] ^= 0x55;
    }
    *window = (struct port_window){.cycles = CYCLES_OF_A_WINDOW, .microseconds = 8};
}

void port_run_in_window(void (*run)(const struct op_call *), const struct op_call *call,
                        const struct port_conditions *conditions, struct port_window *window)
{
    port_window_begin(conditions);
    run(call);
    port_window_end(window);
}

/* ---- for the tests ---- */

void host_flash(const uint8_t *bytes, uint32_t count)
{
    memset(flash, 0xff, sizeof flash);
    memcpy(flash, bytes, count < FLASH_BYTES ? count : FLASH_BYTES);
}

/* From now on, each window ends with a change of these bytes of the pool, as if a kernel ran
 * wild. */
void host_spoil(uint32_t from, uint32_t to)
{
    spoilt_from = from;
    spoilt_to = to;
}

/* Ranges of flash that were warm in the latest window: offset and length of each. */
uint32_t host_warm(uint32_t *to)
{
    memcpy(to, warmed, sizeof warmed);
    return warm_count;
}

uint64_t host_extend_cycles(uint32_t remainder, uint32_t bits, uint64_t microseconds,
                            uint32_t clk_khz)
{
    return extend_cycles(remainder, bits, microseconds, clk_khz);
}

uint32_t host_next_line(uint32_t base, uint32_t offset, uint32_t line_bytes)
{
    return next_line(base, offset, line_bytes);
}

void host_mailbox(const struct mailbox_request *request) { mailbox = *request; }
uint8_t *host_pool(void) { return pool; }
uint8_t *host_image(void) { return image; }
uint8_t *host_ram_code(void) { return ram_code; }

/* Feeds the runner and returns the bytes that it answers with. */
uint32_t host_take(const uint8_t *bytes, uint32_t count, const uint8_t **answer)
{
    output_length = 0;
    for (uint32_t index = 0; index < count; index++) {
        runner_take(bytes[index]);
    }
    *answer = output;
    return output_length;
}

uint32_t host_fault(const struct fault_record *fault, const uint8_t **answer)
{
    output_length = 0;
    runner_send_fault(fault);
    *answer = output;
    return output_length;
}

static uint8_t *collected;

static void collect(const uint8_t *bytes, uint32_t count)
{
    memcpy(collected, bytes, count);
    collected += count;
}

uint32_t host_encode(uint8_t type, uint16_t sequence, uint32_t nonce, const uint8_t *payload,
                     uint32_t count, uint8_t *to)
{
    struct wire_sender sender = {.emit = collect, .sequence = sequence};
    collected = to;
    wire_send(&sender, (enum frame_type)type, nonce, payload, count);
    return (uint32_t)(collected - to);
}

/* Feeds a receiver; copies header and payload of each whole frame to `frames`, 64 bytes apart. */
uint32_t host_decode(const uint8_t *bytes, uint32_t count, uint8_t *frames, uint32_t *lengths,
                     uint32_t *dropped)
{
    struct wire_receiver receiver = {0};
    struct wire_request request;
    uint32_t found = 0;
    for (uint32_t index = 0; index < count; index++) {
        if (wire_receive(&receiver, bytes[index], &request)) {
            uint8_t *const frame = frames + 64 * found;
            memcpy(frame, &request.header, sizeof request.header);
            memcpy(frame + sizeof request.header, request.payload, request.payload_bytes);
            lengths[found++] = (uint32_t)sizeof request.header + request.payload_bytes;
        }
    }
    *dropped = receiver.dropped;
    return found;
}

static int32_t requantize_any(enum rounding rounding, int32_t x, int32_t multiplier, int32_t shift)
{
    return rounding == ROUNDING_TRUNCATE ? requantize_truncate(x, multiplier, shift)
                                         : requantize(rounding, x, multiplier, shift);
}

int32_t host_requantize(uint32_t rounding, int32_t x, int32_t multiplier, int32_t shift)
{
    return requantize_any((enum rounding)rounding, x, multiplier, shift);
}

int32_t host_output_stage(int32_t x, int32_t zero_point, int32_t low, int32_t high)
{
    return output_stage(x, zero_point, low - zero_point, high - zero_point);
}

void host_requantize_many(uint32_t rounding, const int32_t *x, uint32_t count, int32_t multiplier,
                          int32_t shift, int32_t *to)
{
    for (uint32_t index = 0; index < count; index++) {
        to[index] = requantize_any((enum rounding)rounding, x[index], multiplier, shift);
    }
}
