/* SPDX-License-Identifier: Apache-2.0 */
/* USB controller in device mode: registers and DPRAM (RP2040 data sheet 4.1, RP2350 data sheet
 * 12.7). What happens on the bus is in usb_bus.c. Host mode and the bit-level PHY registers are
 * storage without effect. */
#include "model.h"
#include "usb.h"
#include <stdio.h>
#include <string.h>

enum {
    ADDR_ENDP = 0x00, ADDR_ENDP15 = 0x3c, MAIN_CTRL = 0x40, SOF_WR = 0x44, SOF_RD = 0x48,
    SIE_CTRL = 0x4c, SIE_STATUS = 0x50, INT_EP_CTRL = 0x54, BUFF_STATUS = 0x58,
    BUFF_CPU_SHOULD_HANDLE = 0x5c, EP_ABORT = 0x60, EP_ABORT_DONE = 0x64, EP_STALL_ARM = 0x68,
    NAK_POLL = 0x6c, EP_STATUS_STALL_NAK = 0x70, USB_MUXING = 0x74, USB_PWR = 0x78,
    USBPHY_DIRECT = 0x7c, USBPHY_DIRECT_OVERRIDE = 0x80, USBPHY_TRIM = 0x84,
    LINESTATE_TUNING = 0x88, INTR = 0x8c,
    INTE = 0x90, INTF = 0x94, INTS = 0x98
};
enum {
    MAIN_CTRL_CONTROLLER_EN = 1 << 0, MAIN_CTRL_HOST_NDEVICE = 1 << 1, MAIN_CTRL_PHY_ISO = 1 << 2,
    SIE_CTRL_PULLUP_EN = 1 << 16, SIE_CTRL_TRANSCEIVER_PD = 1 << 18,
    MUXING_TO_PHY = 1 << 0, MUXING_TO_DIGITAL_PAD = 1 << 2,
    PWR_VBUS_DETECT = 1 << 2, PWR_VBUS_DETECT_OVERRIDE_EN = 1 << 3,
    USBPHY_TRIM_RESET = 0x1f1f, NAK_POLL_RESET = 0x100010,
    LINE_STATE_SHIFT = 2, LINE_STATE_J = 1, STATUS_VBUS_DETECTED = 1 << 0
};
#define SIE_STATUS_CLEARABLE 0xff0e0800u
enum { CLK_USB_HZ = 48000000, CLK_USB_TOLERANCE_HZ = CLK_USB_HZ / 400 };

/* ---- is there a device at the cable's end ---- */
static bool vbus_detected(const struct usb *u)
{
    return (u->usb_pwr & PWR_VBUS_DETECT) && (u->usb_pwr & PWR_VBUS_DETECT_OVERRIDE_EN);
}

static const char *wrong_clock(machine *m)
{
    struct chip *c = m->chip;
    uint64_t usb_hz = clocks_hz(m, c->model->clk_usb), sys_hz = c->clocks.sys_hz;
    if (usb_hz < CLK_USB_HZ - CLK_USB_TOLERANCE_HZ || usb_hz > CLK_USB_HZ + CLK_USB_TOLERANCE_HZ)
        snprintf(c->why_not, sizeof c->why_not, "clk_usb is %llu Hz, not 48 MHz",
                 (unsigned long long)usb_hz);
    else if (sys_hz < CLK_USB_HZ)
        snprintf(c->why_not, sizeof c->why_not, "clk_sys is %llu Hz, USB needs at least 48 MHz",
                 (unsigned long long)sys_hz);
    else
        return NULL;
    return c->why_not;
}

/* The first condition of an attached device that is not met, or NULL. */
static const char *missing(machine *m)
{
    const struct usb *u = &m->chip->usb;
    if (m->chip->in_bootsel)
        return m->chip->boot_state;
    if (resets_held(m, m->chip->model->reset_usbctrl))
        return "USBCTRL is held in reset";
    const char *clock = wrong_clock(m);
    if (clock)
        return clock;
    if (!(u->usb_muxing & (MUXING_TO_PHY | MUXING_TO_DIGITAL_PAD)))
        return "USB_MUXING does not connect the controller to the PHY";
    if (u->main_ctrl & MAIN_CTRL_PHY_ISO)
        return "MAIN_CTRL.PHY_ISO is 1: the PHY is isolated";
    if (!(u->main_ctrl & MAIN_CTRL_CONTROLLER_EN))
        return "MAIN_CTRL.CONTROLLER_EN is 0";
    if (u->main_ctrl & MAIN_CTRL_HOST_NDEVICE)
        return "MAIN_CTRL.HOST_NDEVICE is 1: the controller is a host";
    if (!vbus_detected(u))
        return "VBUS is not detected: USB_PWR needs VBUS_DETECT and VBUS_DETECT_OVERRIDE_EN";
    if (u->sie_ctrl & SIE_CTRL_TRANSCEIVER_PD)
        return "SIE_CTRL.TRANSCEIVER_PD is 1";
    if (!(u->sie_ctrl & SIE_CTRL_PULLUP_EN))
        return "SIE_CTRL.PULLUP_EN is 0";
    return NULL;
}

int emu_usb_attached(machine *m)
{
    return missing(m) == NULL;
}

const char *emu_usb_why_not(machine *m)
{
    const char *why_not = missing(m);
    return why_not ? why_not : "";
}

void usb_attachment_changed(machine *m)
{
    struct usb *u = &m->chip->usb;
    bool attached = missing(m) == NULL;
    if (attached == u->attached)
        return;
    u->attached = attached;
    if (!attached)
        u->bus_reset = false;
    else if (m->chip->model->device_attached)
        m->chip->model->device_attached(m);
    usb_notice(m, attached ? EMU_USB_ATTACH : EMU_USB_DETACH);
}

/* ---- interrupts ---- */
static uint32_t raw_interrupts(const struct usb *u)
{
    return (u->buff_status ? 1u << 4 : 0) | (u->sie_status & SIE_DATA_SEQ_ERROR ? 1u << 5 : 0)
           | (u->sie_status & SIE_RX_OVERFLOW ? 1u << 7 : 0)
           | (vbus_detected(u) ? 1u << 11 : 0)
           | (u->sie_status & SIE_BUS_RESET ? 1u << 12 : 0)
           | (u->sie_status & SIE_SETUP_REC ? 1u << 16 : 0) | (u->dev_sof ? USB_INT_DEV_SOF : 0)
           | (u->ep_abort_done ? 1u << 18 : 0) | (u->ep_status_stall_nak ? 1u << 19 : 0);
}

static uint32_t interrupts(const struct usb *u)
{
    return (raw_interrupts(u) & u->inte) | u->intf;
}

bool usb_irq_line(const machine *m)
{
    return interrupts(&m->chip->usb) != 0;
}

/* ---- registers ---- */
static uint32_t *storage(machine *m, uint32_t offset, uint32_t *bits)
{
    const struct usb_facts *f = m->chip->model->usb;
    struct usb *u = &m->chip->usb;
    if (offset <= ADDR_ENDP15) {
        *bits = offset == ADDR_ENDP ? 0x000f007f : 0x060f007f;
        return &u->addr_endp[offset / 4];
    }
    switch (offset) {
    case MAIN_CTRL: *bits = f->main_ctrl_bits; return &u->main_ctrl;
    case SOF_WR: *bits = 0x7ff; return &u->sof_wr;
    case SIE_CTRL: *bits = f->sie_ctrl_bits; return &u->sie_ctrl;
    case INT_EP_CTRL: *bits = 0xfffe; return &u->int_ep_ctrl;
    case EP_ABORT: *bits = 0xffffffff; return &u->ep_abort;
    case EP_STALL_ARM: *bits = 3; return &u->ep_stall_arm;
    case NAK_POLL: *bits = 0x03ff03ff; return &u->nak_poll;
    case USB_MUXING: *bits = f->muxing_bits; return &u->usb_muxing;
    case USB_PWR: *bits = 0x3f; return &u->usb_pwr;
    case USBPHY_DIRECT: *bits = f->direct_bits; return &u->usbphy_direct;
    case USBPHY_DIRECT_OVERRIDE:
        *bits = f->direct_override_bits;
        return &u->usbphy_direct_override;
    case USBPHY_TRIM: *bits = 0x1f1f; return &u->usbphy_trim;
    case LINESTATE_TUNING:
        *bits = f->linestate_tuning_bits;
        return *bits ? &u->linestate_tuning : NULL;
    case INTE: *bits = f->interrupt_bits; return &u->inte;
    case INTF: *bits = f->interrupt_bits; return &u->intf;
    default: return NULL;
    }
}

static uint32_t *flags(struct usb *u, uint32_t offset, uint32_t *clearable)
{
    *clearable = 0xffffffff;
    switch (offset) {
    case SIE_STATUS: *clearable = SIE_STATUS_CLEARABLE; return &u->sie_status;
    case BUFF_STATUS: return &u->buff_status;
    case EP_ABORT_DONE: return &u->ep_abort_done;
    case EP_STATUS_STALL_NAK: return &u->ep_status_stall_nak;
    default: return NULL;
    }
}

static uint32_t read_sof(machine *m)
{
    m->chip->usb.dev_sof = false;       /* reading clears the interrupt */
    machine_irq_changed(m);
    return m->chip->usb.sof_rd;
}

static uint32_t read_sie_status(const struct usb *u)
{
    uint32_t line = u->attached && !u->bus_reset ? LINE_STATE_J : 0;
    return u->sie_status | line << LINE_STATE_SHIFT | (vbus_detected(u) ? STATUS_VBUS_DETECTED : 0);
}

bool usb_read(machine *m, const block *b, uint32_t offset, uint32_t *value)
{
    struct usb *u = &m->chip->usb;
    uint32_t bits, *reg = storage(m, offset, &bits);
    (void)b;
    if (!reg && offset != SIE_STATUS)
        reg = flags(u, offset, &bits);
    if (reg) {
        *value = *reg;
        return true;
    }
    switch (offset) {
    case SOF_RD:
        *value = read_sof(m);
        return true;
    case SIE_STATUS:
        *value = read_sie_status(u);
        return true;
    case BUFF_CPU_SHOULD_HANDLE:
        *value = u->buff_cpu_should_handle;
        return true;
    case INTR:
        *value = raw_interrupts(u);
        return true;
    case INTS:
        *value = interrupts(u);
        return true;
    default:
        return false;
    }
}

bool usb_write(machine *m, const block *b, uint32_t offset, uint32_t value, enum alias alias)
{
    struct usb *u = &m->chip->usb;
    uint32_t bits, old_arm = u->ep_stall_arm;
    uint32_t *reg = storage(m, offset, &bits), *flag = reg ? NULL : flags(u, offset, &bits);
    (void)b;
    if (reg)
        *reg = register_write(*reg, value, alias, bits);
    else if (flag)
        *flag = flags_write(*flag, value, alias, bits);
    else
        return offset == SOF_RD || offset == BUFF_CPU_SHOULD_HANDLE || offset == INTR
               || offset == INTS;       /* read only */
    if (offset == EP_ABORT)
        u->ep_abort_done |= u->ep_abort;        /* no transaction is ever half way through here */
    if (offset == EP_STALL_ARM)
        usb_stall_armed(m, u->ep_stall_arm & ~old_arm);
    if (offset == INTE)
        machine_usb_noticed(m);         /* SOF may be asked for: an idle host must send it */
    usb_attachment_changed(m);
    machine_irq_changed(m);
    return true;
}

void usb_reset(machine *m, const block *b)
{
    const struct usb_facts *f = m->chip->model->usb;
    struct usb *u = &m->chip->usb, old = *u;
    (void)b;
    *u = (struct usb){.main_ctrl = f->main_ctrl_reset, .sie_ctrl = f->sie_ctrl_reset,
                      .usb_muxing = f->muxing_reset,
                      .linestate_tuning = f->linestate_tuning_reset,
                      .nak_poll = NAK_POLL_RESET, .usbphy_trim = USBPHY_TRIM_RESET,
                      .attached = old.attached, .events = old.events,
                      .event_cycle = old.event_cycle};
    memcpy(u->dpram, old.dpram, sizeof u->dpram);
    usb_attachment_changed(m);
}

/* ---- DPRAM: bytes can be accessed, and there are no atomic aliases (4.1.2.5) ---- */
static bool dpram_read(machine *m, uint32_t offset, int size, uint32_t *value)
{
    *value = 0;
    memcpy(value, m->chip->usb.dpram + offset, (size_t)size);
    return true;
}

static bool dpram_write(machine *m, uint32_t offset, int size, uint32_t value)
{
    struct usb *u = &m->chip->usb;
    bool is_buffer_control = offset >= DPRAM_BUFFER_CONTROL && offset < DPRAM_BUFFER_CONTROL_END;
    uint32_t old = is_buffer_control ? usb_dpram_word(u, offset & ~3u) : 0;
    memcpy(u->dpram + offset, &value, (size_t)size);
    if (is_buffer_control)
        usb_buffer_written(m, (offset - DPRAM_BUFFER_CONTROL) / 4, old);
    return true;
}

const struct memory USB_DPRAM = {USB_DPRAM_BYTES, dpram_read, dpram_write};
