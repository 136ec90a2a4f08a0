/* SPDX-License-Identifier: Apache-2.0 */
/* Endpoint 0: control transfers (USB 2.0 chapters 8.5.3, 9.4; CDC PSTN 1.2 chapter 6.3).
 *
 * A transfer is SETUP, an optional data stage, and a status stage in the other direction. The
 * controller leaves the buffers of an unfinished transfer with us when a new SETUP arrives, so each
 * SETUP begins by taking both back. */
#include <stddef.h>

#include "port/port.h"
#include "port/usb/descriptors.h"
#include "port/usb/device.h"

enum {
    TYPE_IN = 0x80,                           /* bmRequestType: device to host */
    TYPE_CLASS = 0x20,
    TYPE_RECIPIENT = 0x1f,
    TO_DEVICE = 0, TO_INTERFACE = 1, TO_ENDPOINT = 2,

    GET_STATUS = 0, CLEAR_FEATURE = 1, SET_FEATURE = 3, SET_ADDRESS = 5, GET_DESCRIPTOR = 6,
    GET_CONFIGURATION = 8, SET_CONFIGURATION = 9, GET_INTERFACE = 10, SET_INTERFACE = 11,
    SET_LINE_CODING = 0x20, GET_LINE_CODING = 0x21, SET_CONTROL_LINE_STATE = 0x22,

    FEATURE_ENDPOINT_HALT = 0,
    INTERFACES = 2, LINE_CODING_BYTES = 7
};

struct setup {
    uint32_t type, request, value, index, length;
};

static struct {
    const uint8_t *data;                      /* IN data stage: what is left to send */
    uint32_t left;
    bool short_packet_due;                    /* a zero-length packet must end the data stage */
    bool line_coding_due;                     /* the OUT data stage of SET_LINE_CODING */
    uint8_t new_address;                      /* takes effect after the status stage; 0: none */
    uint8_t configuration;
    uint8_t answer[2];
    uint8_t line_coding[LINE_CODING_BYTES];
} control = {.line_coding = {0x00, 0xc2, 0x01, 0x00, 0, 0, 8}};  /* 115200 8N1; it has no effect */

static bool halted[USB_PIPES];

static void unhalt(void)
{
    halted[EP1_IN] = halted[EP2_IN] = halted[EP2_OUT] = false;
}

void control_bus_reset(void)
{
    pipe_take_back(EP0_IN);
    pipe_take_back(EP0_OUT);
    control.left = 0;
    control.short_packet_due = false;
    control.line_coding_due = false;
    control.new_address = 0;
    control.configuration = 0;
    unhalt();
}

static void send_packet(void)
{
    const uint32_t length = control.left < USB_PACKET ? control.left : USB_PACKET;
    for (uint32_t byte = 0; byte < length; byte++) {
        dpram(DPRAM_EP0_BUFFER)[byte] = control.data[byte];
    }
    control.data += length;
    control.left -= length;
    pipe_give(EP0_IN, BUF_CTRL_FULL | length);
}

static void refuse(void)
{
    USB_EP_STALL_ARM_SET = EP_STALL_ARM_EP0_IN | EP_STALL_ARM_EP0_OUT;
    pipe_stall(EP0_IN);
    pipe_stall(EP0_OUT);
}

/* Status stage of a request without data, or with data from the host. */
static void acknowledge(void)
{
    pipe_reset_toggle(EP0_IN, true);
    pipe_give(EP0_IN, BUF_CTRL_FULL);
}

/* Data stage to the host. The status stage's OUT is given at once: the host may end early. */
static void answer(const struct setup *setup, const uint8_t *data, uint32_t length)
{
    control.data = data;
    control.left = length < setup->length ? length : setup->length;
    control.short_packet_due = length < setup->length && length % USB_PACKET == 0;
    send_packet();
    pipe_give(EP0_OUT, 0);
}

static bool find_pipe(uint32_t index, enum usb_pipe *pipe)
{
    switch (index) {
    case 0x81:
        *pipe = EP1_IN;
        return true;
    case 0x82:
        *pipe = EP2_IN;
        return true;
    case 0x02:
        *pipe = EP2_OUT;
        return true;
    default:
        return false;
    }
}

static void configure(uint32_t configuration)
{
    control.configuration = (uint8_t)configuration;
    unhalt();
    cdc_stop();
    if (configuration != 0) {
        cdc_start();
        port_mailbox_report()->stage = BOOT_STAGE_CONFIGURED;
    }
}

static bool set_halt(uint32_t index, bool halt)
{
    enum usb_pipe pipe;
    if (control.configuration == 0 || !find_pipe(index, &pipe)) {
        return (index & 0x7f) == 0;           /* endpoint 0 never stays halted */
    }
    halted[pipe] = halt;
    cdc_set_halt(pipe, halt);
    return true;
}

static bool get_status(const struct setup *setup)
{
    enum usb_pipe pipe;
    const uint32_t recipient = setup->type & TYPE_RECIPIENT;
    control.answer[0] = 0;
    control.answer[1] = 0;
    if (recipient > TO_ENDPOINT) {
        return false;
    }
    if (recipient == TO_ENDPOINT && find_pipe(setup->index, &pipe)) {
        control.answer[0] = halted[pipe];
    } else if (recipient == TO_ENDPOINT && (setup->index & 0x7f) != 0) {
        return false;
    } else if (recipient == TO_INTERFACE && setup->index >= INTERFACES) {
        return false;
    }
    answer(setup, control.answer, 2);
    return true;
}

static bool request_in(const struct setup *setup)
{
    const uint32_t recipient = setup->type & TYPE_RECIPIENT;
    switch (setup->request) {
    case GET_STATUS:
        return get_status(setup);
    case GET_DESCRIPTOR: {
        if (recipient != TO_DEVICE) {
            return false;
        }
        const struct descriptor found =
            descriptor_find(setup->value >> 8, setup->value & 0xff);
        if (found.bytes == NULL) {
            return false;
        }
        answer(setup, found.bytes, found.length);
        return true;
    }
    case GET_CONFIGURATION:
        if (recipient != TO_DEVICE) {
            return false;
        }
        answer(setup, &control.configuration, 1);
        return true;
    case GET_INTERFACE:
        if (recipient != TO_INTERFACE || control.configuration == 0 ||
            setup->index >= INTERFACES) {
            return false;
        }
        control.answer[0] = 0;
        answer(setup, control.answer, 1);
        return true;
    default:
        return false;
    }
}

static bool request_out(const struct setup *setup)
{
    const uint32_t recipient = setup->type & TYPE_RECIPIENT;
    switch (setup->request) {
    case CLEAR_FEATURE:
    case SET_FEATURE:
        return recipient == TO_ENDPOINT && setup->value == FEATURE_ENDPOINT_HALT &&
               set_halt(setup->index, setup->request == SET_FEATURE);
    case SET_ADDRESS:
        if (recipient != TO_DEVICE) {
            return false;
        }
        control.new_address = (uint8_t)(setup->value & 0x7f);
        return true;
    case SET_CONFIGURATION:
        if (recipient != TO_DEVICE || setup->value > 1) {
            return false;
        }
        configure(setup->value);
        return true;
    case SET_INTERFACE:
        return recipient == TO_INTERFACE && control.configuration != 0 &&
               setup->index < INTERFACES && setup->value == 0;
    default:
        return false;
    }
}

/* False: stall. Sets up the data stage where there is one. */
static bool class_request(const struct setup *setup)
{
    if ((setup->type & TYPE_RECIPIENT) != TO_INTERFACE || setup->index != 0) {
        return false;
    }
    if ((setup->type & TYPE_IN) != 0) {       /* else the host would wait for data for ever */
        if (setup->request != GET_LINE_CODING) {
            return false;
        }
        answer(setup, control.line_coding, LINE_CODING_BYTES);
        return true;
    }
    if (setup->request == SET_LINE_CODING && setup->length == LINE_CODING_BYTES) {
        control.line_coding_due = true;
        pipe_give(EP0_OUT, USB_PACKET);
        return true;
    }
    if (setup->request == SET_CONTROL_LINE_STATE && setup->length == 0) {
        cdc_line_state((setup->value & 1) != 0);
        acknowledge();
        return true;
    }
    return false;
}

static bool standard_request(const struct setup *setup)
{
    if ((setup->type & TYPE_IN) != 0) {
        return request_in(setup);
    }
    if (setup->length != 0 || !request_out(setup)) {
        return false;
    }
    acknowledge();
    return true;
}

void control_setup(void)
{
    const volatile uint8_t *const packet = dpram(DPRAM_SETUP);
    const struct setup setup = {
        .type = packet[0],
        .request = packet[1],
        .value = (uint32_t)packet[2] | (uint32_t)packet[3] << 8,
        .index = (uint32_t)packet[4] | (uint32_t)packet[5] << 8,
        .length = (uint32_t)packet[6] | (uint32_t)packet[7] << 8,
    };
    pipe_take_back(EP0_IN);
    pipe_take_back(EP0_OUT);
    pipe_reset_toggle(EP0_IN, true);          /* the data stage begins with DATA1, as does status */
    pipe_reset_toggle(EP0_OUT, true);
    control.left = 0;
    control.short_packet_due = false;
    control.line_coding_due = false;
    control.new_address = 0;

    bool known = false;
    if ((setup.type & 0x60) == 0) {
        known = standard_request(&setup);
    } else if ((setup.type & 0x60) == TYPE_CLASS) {
        known = class_request(&setup);
    }
    if (!known) {
        refuse();
    }
}

void control_in_done(void)
{
    if (control.new_address != 0) {
        usb_set_address(control.new_address);
        control.new_address = 0;
    } else if (control.left != 0) {
        send_packet();
    } else if (control.short_packet_due) {
        control.short_packet_due = false;
        send_packet();
    }
}

void control_out_done(void)
{
    if (!control.line_coding_due) {
        return;                               /* the status stage of an IN transfer */
    }
    control.line_coding_due = false;
    if (pipe_received(EP0_OUT) != LINE_CODING_BYTES) {
        refuse();
        return;
    }
    for (uint32_t byte = 0; byte < LINE_CODING_BYTES; byte++) {
        control.line_coding[byte] = dpram(DPRAM_EP0_BUFFER)[byte];
    }
    acknowledge();
}
