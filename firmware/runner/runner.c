/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/runner.h"

#include <stddef.h>

#include "port/port.h"
#include "runner/crc.h"
#include "runner/memory.h"
#include "runner/wire.h"

enum { REPEATS_MAX = 100 };

static void emit(const uint8_t *bytes, uint32_t count);

static struct wire_receiver receiver;
static struct wire_sender sender = {.emit = emit};
static struct case_run run;
static uint32_t arena_readable;               /* bytes of the latest case; 0: none ran */
static uint32_t stated_image_crc;             /* of the latest HELLO */

static void emit(const uint8_t *bytes, uint32_t count)
{
    while (count != 0) {
        const uint32_t taken = port_write(bytes, count);
        bytes += taken;
        count -= taken;
        if (count != 0) {
            port_wait_writable();
        }
    }
}

static bool mailbox_is_written(void)
{
    const struct mailbox_request *const mailbox = port_mailbox_request();
    return mailbox->magic == MAILBOX_MAGIC && mailbox->version == PROTOCOL_VERSION;
}

static uint32_t nonce(void)
{
    return mailbox_is_written() ? port_mailbox_request()->nonce : 0;
}

static uint32_t pack_address(void)
{
    return mailbox_is_written() ? port_mailbox_request()->pack_address : PORT_DEFAULT_PACK_ADDRESS;
}

static void send(enum frame_type type, const void *payload, size_t bytes)
{
    wire_send(&sender, type, nonce(), payload, (uint32_t)bytes);
}

static void refuse(enum frame_type request, enum status status, const struct problem *problem)
{
    const struct refused refused = {
        .reason = (uint16_t)status,
        .request = (uint8_t)request,
        .detail = problem->detail,
        .expected = problem->expected,
        .seen = problem->seen,
    };
    send(FRAME_TYPE_REFUSED, &refused, sizeof refused);
}

static uint32_t crc_of(struct port_memory memory)
{
    return crc32(0, memory.base, memory.bytes);
}

static void hello(void)
{
    const struct port_identity *const identity = port_identity();
    const struct port_memory pool = port_pool();
    struct pack pack;
    struct problem problem;
    struct hello hello = {
        .protocol = PROTOCOL_VERSION,
        .chip = (uint16_t)identity->chip,
        .clk_sys_hz = identity->clk_sys_hz,
        .image_bytes = port_image().bytes,
        .ram_code_crc = crc_of(port_ram_code()),
        .pack_address = pack_address(),
        .pool_address = pool.address,
        .pool_bytes = pool.bytes,
        .stack_bytes = port_stack_bytes(),
        .reset_reason = identity->reset_reason,
    };
    port_flush_flash_cache();
    hello.image_crc = crc_of(port_image());
    stated_image_crc = hello.image_crc;
    if (pack_open(&pack, pack_address(), &problem) == STATUS_OK) {
        hello.pack_bytes = pack.header->pack_bytes;
        hello.pack_header_crc = pack.header_crc;
    }
    memcpy(hello.unique_id, identity->unique_id, sizeof hello.unique_id);
    memcpy(hello.build_id, identity->build_id, sizeof hello.build_id);
    if (mailbox_is_written()) {
        memcpy(hello.board, port_mailbox_request()->board, sizeof hello.board);
    }
    wire_break(&sender);                      /* ends what an earlier listener left unread */
    sender.sequence = 0;
    send(FRAME_TYPE_HELLO, &hello, sizeof hello);
}

/* The program itself: what HELLO stated must still be in flash, and what runs from SRAM must be
 * what flash holds. */
static enum status verify_program(struct case_verified *verified, struct problem *problem)
{
    const struct port_memory ram_code = port_ram_code();
    const uint8_t *const load = port_ram_code_load();
    verified->image_crc = crc_of(port_image());
    if (verified->image_crc != stated_image_crc) {
        return fail(STATUS_IMAGE_CRC, problem, 0, stated_image_crc, verified->image_crc);
    }
    verified->ram_code_crc = crc_of(ram_code);
    for (uint32_t byte = 0; byte < ram_code.bytes; byte++) {
        if (ram_code.base[byte] != load[byte]) {
            return fail(STATUS_RAM_CODE, problem, byte, load[byte], ram_code.base[byte]);
        }
    }
    return STATUS_OK;
}

static void run_once(const struct run_request *request, uint16_t repeat)
{
    struct run_result result;
    port_wait_written();
    case_execute(&run, request, repeat == 0, &result);
    result.repeat = repeat;
    for (uint32_t index = 0; index < case_ops(&run, request); index++) {
        struct op_result op = *case_op_result(index);
        op.repeat = repeat;
        send(FRAME_TYPE_OP, &op, sizeof op);
    }
    send(FRAME_TYPE_RESULT, &result, sizeof result);
}

static enum status run_case(const struct run_request *request, struct problem *problem)
{
    if (request->repeats < 1 || request->repeats > REPEATS_MAX || request->paint > 1 ||
        request->keep_interrupts > 1) {
        return fail(STATUS_BAD_REQUEST, problem, 1, REPEATS_MAX, request->repeats);
    }
    port_flush_flash_cache();                 /* the CRCs are of what is in flash now */
    arena_readable = 0;
    enum status status = verify_program(&run.verified, problem);
    if (status == STATUS_OK) {
        status = case_prepare(&run, pack_address(), request->case_index, problem);
    }
    if (status == STATUS_OK && request->ops > case_op_count(&run)) {
        status = fail(STATUS_BAD_REQUEST, problem, 2, case_op_count(&run), request->ops);
    }
    if (status != STATUS_OK) {
        return status;
    }
    run.verified.seed = request->seed;
    send(FRAME_TYPE_CASE, &run.verified, sizeof run.verified);
    runner_position.case_index = (uint16_t)request->case_index;
    for (uint16_t repeat = 0; repeat < request->repeats; repeat++) {
        run_once(request, repeat);
    }
    runner_position = (struct position){0xffff, 0xffff};
    arena_readable = run.memory.arena_end - run.memory.arena;
    return STATUS_OK;
}

static enum status read_arena(const struct read_request *request, struct problem *problem)
{
    if (request->offset > arena_readable || request->length > arena_readable - request->offset) {
        return fail(STATUS_READ_RANGE, problem, request->offset, arena_readable, request->length);
    }
    const uint8_t *const arena = port_pool().base + run.memory.arena;
    struct data_header header = {.offset = request->offset};
    uint32_t left = request->length;
    do {
        header.length = left < DATA_MAX ? left : DATA_MAX;
        wire_begin(&sender, FRAME_TYPE_DATA, nonce());
        wire_put(&sender, &header, sizeof header);
        wire_put(&sender, arena + header.offset, header.length);
        wire_end(&sender);
        header.offset += header.length;
        left -= header.length;
    } while (left != 0);
    return STATUS_OK;
}

static enum status answer(const struct wire_request *request, struct problem *problem)
{
    const uint32_t bytes = request->payload_bytes;
    uint32_t expected = 0;
    switch (request->header.type) {
    case FRAME_TYPE_ASK_HELLO:
        if (bytes == 0) {
            hello();
            return STATUS_OK;
        }
        break;
    case FRAME_TYPE_RUN: {
        struct run_request run_request;
        expected = sizeof run_request;
        if (bytes == expected) {
            memcpy(&run_request, request->payload, sizeof run_request);
            return run_case(&run_request, problem);
        }
        break;
    }
    case FRAME_TYPE_READ: {
        struct read_request read_request;
        expected = sizeof read_request;
        if (bytes == expected) {
            memcpy(&read_request, request->payload, sizeof read_request);
            return read_arena(&read_request, problem);
        }
        break;
    }
    default:
        break;
    }
    return fail(STATUS_BAD_REQUEST, problem, 0, expected, bytes);
}

void runner_take(uint8_t byte)
{
    struct wire_request request;
    struct problem problem;
    if (!wire_receive(&receiver, byte, &request)) {
        return;
    }
    if (request.header.type != FRAME_TYPE_ASK_HELLO && request.header.nonce != nonce()) {
        return;                               /* from before the last reset, or for another board */
    }
    port_mailbox_report()->stage = BOOT_STAGE_SERVING;
    const enum status status = answer(&request, &problem);
    if (status != STATUS_OK) {
        refuse((enum frame_type)request.header.type, status, &problem);
    }
}

void runner_main(void)
{
    for (;;) {
        uint8_t bytes[64];
        const uint32_t count = port_read(bytes, sizeof bytes);
        for (uint32_t index = 0; index < count; index++) {
            runner_take(bytes[index]);
        }
        if (count == 0) {
            port_wait_readable();
        }
    }
}

void runner_send_fault(const struct fault_record *fault)
{
    wire_break(&sender);
    send(FRAME_TYPE_FAULT, fault, sizeof *fault);
}
