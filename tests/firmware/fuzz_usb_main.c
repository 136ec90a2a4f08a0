/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_usb_main SEED TRANSFERS: drawn control transfers, ended at any stage, with bulk traffic in
 * between, into the USB device code over a controller that is two arrays. For builds with
 * sanitizers. Ends with 1 at the first thing that a USB host would not accept; otherwise prints its
 * counts.
 *
 * Requests of the standard and of CDC that the device has to know must be answered with the right
 * bytes, those that it cannot know must be stalled. What lies between may be either; then only the
 * rules of a transfer hold: never more than asked for, packets of 64 bytes but for the last,
 * toggles in turn. */
#include "fuzz_usb_requests.h"

enum { LIVELY_EVERY = 64 };                   /* transfers between two that must all succeed */

/* ---- transfers ---- */

static void bus_reset(void)
{
    pending = 0;
    model.configuration = 0;
    model.address = 0;
    close_port();
    counts.resets++;
    serve(SIE_STATUS_BUS_RESET);
    FUZZ_CHECK(USB_ADDR_ENDP == 0, counts.transfers);
}

static bool is_stalled(void)
{
    const bool both = (*buffer_control(EP0_IN) & *buffer_control(EP0_OUT) & BUF_CTRL_STALL) != 0;
    return both && (USB_EP_STALL_ARM_SET & STALL_ARMS) == STALL_ARMS;
}

static void send_setup(const struct setup *setup)
{
    const uint8_t bytes[8] = {
        setup->type, setup->request,
        (uint8_t)setup->value, (uint8_t)(setup->value >> 8),
        (uint8_t)setup->index, (uint8_t)(setup->index >> 8),
        (uint8_t)setup->length, (uint8_t)(setup->length >> 8)};
    for (uint32_t at = 0; at < sizeof bytes; at++) {
        dpram(DPRAM_SETUP)[at] = bytes[at];
    }
    USB_EP_STALL_ARM_SET = 0;                 /* a SETUP disarms it */
    serve(SIE_STATUS_SETUP_REC);
    FUZZ_CHECK(USB_SIE_STATUS == SIE_STATUS_SETUP_REC, counts.transfers);
}

/* Whether to leave off here, and let the next SETUP come. */
static bool abandon(bool thorough)
{
    const bool leave = !thorough && fuzz_below(12) == 0;
    counts.abandoned += leave;
    return leave;
}

/* The data stage to the host, and its status stage. False: left off. */
static bool data_in(const struct setup *setup, struct fuzz_bytes *got, bool thorough)
{
    uint8_t packet[USB_PACKET];
    bool due = true, data1 = false;
    int32_t length;
    got->length = 0;
    do {
        if (abandon(thorough)) {
            return false;
        }
        length = in_token(EP0_IN, packet, &data1);
        FUZZ_CHECK(length >= 0 && data1 == due, counts.transfers);
        due = !due;
        fuzz_put(got, packet, (uint32_t)length);
        FUZZ_CHECK(got->length <= setup->length, counts.transfers);
        if (abandon(thorough)) {
            return false;                     /* its completion comes with the next SETUP */
        }
        serve(0);
    } while (length == USB_PACKET && got->length < setup->length);
    if (abandon(thorough)) {
        return false;
    }
    FUZZ_CHECK(out_token(EP0_OUT, packet, 0) == 0, counts.transfers);
    serve(0);
    return true;
}

static bool status_in(bool thorough)
{
    uint8_t packet[USB_PACKET];
    bool data1 = false;
    if (abandon(thorough)) {
        return false;
    }
    FUZZ_CHECK(in_token(EP0_IN, packet, &data1) == 0 && data1, counts.transfers);
    serve(0);
    return true;
}

static void set_line_coding(bool thorough)
{
    uint8_t coding[USB_PACKET];
    const uint32_t length = thorough || fuzz_below(4) != 0 ? 7 : fuzz_below(USB_PACKET + 1);
    for (uint32_t at = 0; at < length; at++) {
        coding[at] = (uint8_t)fuzz_next();
    }
    if (abandon(thorough)) {
        return;
    }
    FUZZ_CHECK(out_token(EP0_OUT, coding, length) == (int32_t)length, counts.transfers);
    serve(0);
    if (length != 7) {
        FUZZ_CHECK(is_stalled(), counts.transfers);
        counts.stalled++;
        return;
    }
    memcpy(model.line_coding, coding, sizeof model.line_coding);
    counts.acknowledged += status_in(thorough);
}

static void check_bytes(const struct setup *setup, const struct fuzz_bytes *answer,
                        const struct fuzz_bytes *got)
{
    const uint32_t due = answer->length < setup->length ? answer->length : setup->length;
    FUZZ_CHECK(got->length == due && memcmp(got->data, answer->data, due) == 0, counts.transfers);
}

static void transfer(const struct setup *setup, bool thorough)
{
    static struct fuzz_bytes answer, got;
    const enum duty duty = duty_of(setup, &answer);
    const uint32_t address = USB_ADDR_ENDP;
    counts.transfers++;
    if (duty == MUST_ACKNOWLEDGE) {
        expect_effect(setup);
    }
    send_setup(setup);
    if (is_stalled()) {
        FUZZ_CHECK(duty == MUST_STALL || duty == EITHER, counts.transfers);
        counts.stalled++;
        return;
    }
    FUZZ_CHECK(duty != MUST_STALL, counts.transfers);
    if ((setup->type & 0x80) != 0) {
        if (data_in(setup, &got, thorough)) {
            counts.answered++;
            if (duty == MUST_ANSWER) {
                check_bytes(setup, &answer, &got);
            }
        }
    } else if (setup->length != 0) {
        set_line_coding(thorough);
    } else if (status_in(thorough)) {
        counts.acknowledged++;
        if (setup->type == 0 && setup->request == 5) {
            model.address = setup->value & 0x7f;
            FUZZ_CHECK(model.address == 0 || USB_ADDR_ENDP == model.address, counts.transfers);
            return;
        }
    }
    FUZZ_CHECK(USB_ADDR_ENDP == address, counts.transfers);
}

/* ---- bulk traffic ---- */

static void program_writes(uint32_t bytes)
{
    uint8_t data[512];
    const uint32_t room = TRANSMIT_RING - model.to_host.count;
    const bool kept = model.configuration != 0 && model.listening;
    const uint32_t due = !kept || bytes < room ? bytes : room;
    for (uint32_t at = 0; at < bytes; at++) {
        data[at] = (uint8_t)fuzz_next();
        if (kept && at < due) {
            queue_put(&model.to_host, data[at]);
        }
    }
    FUZZ_CHECK(usb_write(data, bytes) == due, counts.transfers);
    observe();
}

static void program_reads(uint32_t bytes)
{
    uint8_t data[512];
    const uint32_t due = bytes < model.to_program.count ? bytes : model.to_program.count;
    FUZZ_CHECK(usb_readable() == (model.to_program.count != 0), counts.transfers);
    FUZZ_CHECK(usb_read(data, bytes) == due, counts.transfers);
    for (uint32_t at = 0; at < due; at++) {
        FUZZ_CHECK(data[at] == queue_take(&model.to_program), counts.transfers);
    }
}

static int32_t host_writes(uint32_t bytes)
{
    uint8_t packet[USB_PACKET];
    for (uint32_t at = 0; at < bytes; at++) {
        packet[at] = (uint8_t)fuzz_next();
    }
    const int32_t taken = out_token(EP2_OUT, packet, bytes);
    FUZZ_CHECK((taken == STALLED) == model.halted[EP2_OUT], counts.transfers);
    for (uint32_t at = 0; taken > 0 && at < bytes; at++) {
        queue_put(&model.to_program, packet[at]);
    }
    if (taken >= 0) {
        model.listening = true;
        counts.bytes_out += bytes;
        serve(0);
    }
    return taken;
}

/* What it reads was compared when it appeared in the buffer. */
static int32_t host_reads(void)
{
    uint8_t packet[USB_PACKET];
    bool data1;
    const int32_t length = in_token(EP2_IN, packet, &data1);
    model.in_flight = model.in_flight && length < 0;
    FUZZ_CHECK((length == STALLED) == model.halted[EP2_IN], counts.transfers);
    if (length >= 0) {
        counts.bytes_in += (uint32_t)length;
        serve(0);
    }
    return length;
}

static void bulk(void)
{
    for (uint32_t turns = fuzz_below(4); turns != 0; turns--) {
        switch (fuzz_below(4)) {
        case 0:
            program_writes(fuzz_below(300));
            break;
        case 1:
            program_reads(fuzz_below(300));
            break;
        case 2:
            (void)host_writes(fuzz_below(USB_PACKET + 1));
            break;
        default:
            (void)host_reads();
            break;
        }
    }
}

/* Completions of buffers that nobody had given, with lengths that no buffer has. Only memory is
 * checked; a bus reset puts things right. */
static void spurious(void)
{
    uint8_t data[USB_PACKET];
    for (uint32_t turns = 1 + fuzz_below(6); turns != 0; turns--) {
        const enum usb_pipe pipe = (enum usb_pipe)fuzz_below(USB_PIPES);
        *buffer_control(pipe) = (uint32_t)fuzz_next() & 0xffff;
        USB_SIE_STATUS = fuzz_below(3) == 0 ? SIE_STATUS_SETUP_REC : 0;
        USB_BUFF_STATUS = (uint32_t)fuzz_next();
        for (uint32_t at = 0; at < 8; at++) {
            dpram(DPRAM_SETUP)[at] = (uint8_t)(fuzz_below(2) == 0 ? fuzz_next() : fuzz_below(10));
        }
        usb_service();
        (void)usb_read(data, sizeof data);
        (void)usb_write(data, sizeof data);
    }
    counts.spurious++;
    bus_reset();
    /* a line coding may have been taken: read what it is now */
    transfer(&(struct setup){0x00, 9, 1, 0, 0}, true);
    send_setup(&(struct setup){0xa1, 0x21, 0, 0, 7});
    static struct fuzz_bytes got;
    FUZZ_CHECK(data_in(&(struct setup){0xa1, 0x21, 0, 0, 7}, &got, true) && got.length == 7,
               counts.transfers);
    memcpy(model.line_coding, got.data, sizeof model.line_coding);
}

/* From any state: enumeration as hosts do it, and bytes both ways. */
static void prove_alive(void)
{
    static const struct setup setups[] = {
        {0x80, 6, 0x100, 0, 64}, {0x00, 5, 5, 0, 0},        {0x80, 6, 0x100, 0, 18},
        {0x80, 6, 0x200, 0, 9},  {0x80, 6, 0x200, 0, 75},   {0x80, 6, 0x303, 0x409, 255},
        {0x00, 9, 1, 0, 0},      {0x21, 0x20, 0, 0, 7},     {0xa1, 0x21, 0, 0, 7},
        {0x21, 0x22, 1, 0, 0}};
    bus_reset();
    for (uint32_t index = 0; index < sizeof setups / sizeof setups[0]; index++) {
        const unsigned long long stalled = counts.stalled;
        transfer(&setups[index], true);
        FUZZ_CHECK(counts.stalled == stalled, counts.transfers);
    }
    FUZZ_CHECK(host_writes(USB_PACKET) == USB_PACKET, counts.transfers);
    program_reads(USB_PACKET);
    program_writes(USB_PACKET);
    FUZZ_CHECK(host_reads() == USB_PACKET, counts.transfers);
    FUZZ_CHECK(usb_write_idle(), counts.transfers);
    counts.alive++;
}

int main(int argc, char **argv)
{
    static const uint8_t unique_id[8] = {0xe6, 0x61, 0x64, 0x07, 0xe3, 0x64, 0x6b, 0x29};
    static const uint8_t line_coding[7] = {0x00, 0xc2, 0x01, 0x00, 0, 0, 8};
    if (argc != 3) {
        return 2;
    }
    fuzz_seed(strtoull(argv[1], NULL, 0));
    usb_start(unique_id);
    memcpy(model.line_coding, line_coding, sizeof line_coding);
    for (uint32_t offset = 0; offset < DPRAM_BYTES; offset++) {
        mock_dpram[offset] = is_unused(offset) ? CANARY : mock_dpram[offset];
    }
    const unsigned long long transfers = strtoull(argv[2], NULL, 0);
    while (counts.transfers < transfers) {
        struct setup setup;
        draw_setup(&setup);
        transfer(&setup, false);
        bulk();
        if (fuzz_below(200) == 0) {
            bus_reset();
        }
        if (fuzz_below(100) == 0) {
            spurious();
        }
        if (fuzz_below(LIVELY_EVERY) == 0) {
            prove_alive();
            check_canaries();
        }
    }
    check_canaries();
    printf("{\"transfers\": %llu, \"answered\": %llu, \"acknowledged\": %llu, \"stalled\": %llu, "
           "\"abandoned\": %llu, \"resets\": %llu, \"spurious\": %llu, \"bytes_out\": %llu, "
           "\"bytes_in\": %llu, \"alive\": %llu}\n",
           counts.transfers, counts.answered, counts.acknowledged, counts.stalled, counts.abandoned,
           counts.resets, counts.spurious, counts.bytes_out, counts.bytes_in, counts.alive);
    return 0;
}
