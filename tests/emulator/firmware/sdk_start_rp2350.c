/* SPDX-License-Identifier: Apache-2.0 */
/* What the start-up code of a pico-sdk 2.2 program does to an RP2350 and what it must read back, in our
 * own words: resets, crystal, PLLs, clocks, ticks, boot lock 7, ROM look-ups, vectors in SRAM,
 * coprocessors, software spin locks, an alarm. `results` is read by test_sdk_start.py. */
#include <stdint.h>

#define REGISTER(address) (*(volatile uint32_t *)(address))
enum { SET = 0x2000, CLEAR = 0x3000 };

#define SIO_CPUID REGISTER(0xd0000000u)
#define RESETS_RESET 0x40020000u
#define RESETS_RESET_DONE REGISTER(0x40020008u)
enum { ALL_BLOCKS = 0x1fffffff, KEPT_IN_PLACE = 0x1010c480, NEED_CLOCKS = 0x1c0c0009 };
#define XOSC_CTRL REGISTER(0x40048000u)
#define XOSC_CTRL_SET REGISTER(0x40048000u + SET)
#define XOSC_STATUS REGISTER(0x40048004u)
#define XOSC_STARTUP REGISTER(0x4004800cu)
#define CLOCK(index, offset) REGISTER(0x40010000u + 12u * (index) + (offset))
enum { CLK_REF = 4, CLK_SYS = 5, CLK_PERI = 6, CLK_HSTX = 7, CLK_USB = 8, CLK_ADC = 9 };
enum { CTRL = 0, DIV = 4, SELECTED = 8, ENABLE = 1 << 11, DIV_1 = 1 << 16 };
#define PLL(base, offset) REGISTER((base) + (offset))
enum { PLL_SYS = 0x40050000, PLL_USB = 0x40058000 };
#define TICK(index, offset) REGISTER(0x40108000u + 12u * (index) + (offset))
enum { TICK_GENERATORS = 6, CYCLES = 4 };
#define BOOTLOCK(n) REGISTER(0x400e080cu + 4u * (n))
#define TIMER_ALARM3 REGISTER(0x400b001cu)
#define TIMER_ARMED REGISTER(0x400b0020u)
#define TIMERAWH REGISTER(0x400b0024u)
#define TIMERAWL REGISTER(0x400b0028u)
#define TIMER_INTR REGISTER(0x400b003cu)
#define TIMER_INTE_SET REGISTER(0x400b0040u + SET)
#define VTOR REGISTER(0xe000ed08u)
#define CPACR REGISTER(0xe000ed88u)
#define ACTLR REGISTER(0xe000e008u)
#define NVIC_ISER REGISTER(0xe000e100u)
#define NVIC_ICPR REGISTER(0xe000e280u)
#define NVIC_IPR(n) REGISTER(0xe000e400u + 4u * (n))
#define DEMCR REGISTER(0xe000edfcu)
#define DWT_CTRL REGISTER(0xe0001000u)
#define DWT_CYCCNT REGISTER(0xe0001004u)
enum { VECTORS = 68, TIMER0_IRQ_3 = 3, ALARM_3 = 1 << 3, ALARM_US = 1000 };

extern const uint16_t ROM_TABLE_LOOKUP;
typedef uintptr_t (*lookup)(uint32_t code, uint32_t mask);
typedef int (*get_sys_info)(uint32_t *words, uint32_t count, uint32_t flags);

volatile struct {
    uint32_t done, cpu, reset_done, xosc, clk_ref, clk_sys, pll_sys, pll_usb, bootlock, vtor, cpacr,
        actlr, priorities, spin_lock, spin_lock_again, secure, id_low, id_high, alarms, waited_us,
        armed, product, cycles;
} results;

static uint32_t ram_vectors[VECTORS] __attribute__((aligned(512)));
static volatile uint8_t lock;

static void configure(uint32_t clock, uint32_t control)
{
    CLOCK(clock, DIV) = DIV_1;
    CLOCK(clock, CTRL) = control;
    CLOCK(clock, CTRL + SET) = ENABLE;
}

static void start_pll(uint32_t base, uint32_t feedback, uint32_t post_dividers)
{
    const uint32_t block = base == PLL_SYS ? 1u << 14 : 1u << 15;
    REGISTER(RESETS_RESET + SET) = block;
    REGISTER(RESETS_RESET + CLEAR) = block;
    while ((RESETS_RESET_DONE & block) == 0) {
    }
    PLL(base, 0x0) = 1;                       /* CS.REFDIV */
    PLL(base, 0x8) = feedback;
    PLL(base, 0x4 + CLEAR) = 0x21;            /* PWR.PD, VCOPD */
    while ((PLL(base, 0x0) & 0x80000000u) == 0) {
    }
    PLL(base, 0xc) = post_dividers;
    PLL(base, 0x4 + CLEAR) = 0x8;             /* PWR.POSTDIVPD */
}

static void start_clocks(void)
{
    CLOCK(11, 0) = 0;                         /* CLK_SYS_RESUS_CTRL */
    XOSC_CTRL = 0xaa0;
    XOSC_STARTUP = 0x11a;
    XOSC_CTRL_SET = 0xfab000;
    while ((XOSC_STATUS & 0x80000000u) == 0) {
    }
    CLOCK(CLK_SYS, CTRL + CLEAR) = 1;
    while (CLOCK(CLK_SYS, SELECTED) != 1) {
    }
    CLOCK(CLK_REF, CTRL + CLEAR) = 3;
    while (CLOCK(CLK_REF, SELECTED) != 1) {
    }
    start_pll(PLL_SYS, 125, 0x52000);
    start_pll(PLL_USB, 100, 0x55000);
    CLOCK(CLK_REF, DIV) = DIV_1;
    CLOCK(CLK_REF, CTRL) = 2;
    while (CLOCK(CLK_REF, SELECTED) != 4) {
    }
    CLOCK(CLK_SYS, DIV) = DIV_1;
    CLOCK(CLK_SYS, CTRL) = 1;
    while (CLOCK(CLK_SYS, SELECTED) != 2) {
    }
    configure(CLK_USB, 0);
    configure(CLK_ADC, 0);
    configure(CLK_PERI, 0);
    configure(CLK_HSTX, 0);
    for (uint32_t n = 0; n < TICK_GENERATORS; n++) {
        TICK(n, CYCLES) = 12;
        TICK(n, CTRL) = 1;
    }
}

/* SDK software locks: a byte each, by exclusive accesses of Armv8-M. */
static uint32_t try_lock(void)
{
    uint32_t held, refused = 1;
    __asm volatile("ldaexb %0, %2\n"
                   "cmp %0, #0\n"
                   "bne 1f\n"
                   "movs %0, #1\n"
                   "strexb %1, %0, %2\n"
                   "1: dmb"
                   : "=&r"(held), "+&r"(refused), "+Q"(lock)::"cc", "memory");
    return refused;
}

static void unlock(void)
{
    __asm volatile("stlb %1, %0" : "=Q"(lock) : "r"(0) : "memory");
}

static void read_chip_id(void)
{
    uint32_t words[4] = {0};
    const lookup look_up = (lookup)(uintptr_t)ROM_TABLE_LOOKUP;
    const get_sys_info info = (get_sys_info)look_up('G' | 'S' << 8, 4);
    info(words, 4, 1);
    results.id_low = words[2];
    results.id_high = words[3];
}

static void on_alarm(void)
{
    TIMER_INTR = ALARM_3;
    results.alarms++;
}

static uint64_t microseconds(void)
{
    for (;;) {
        const uint32_t high = TIMERAWH, low = TIMERAWL;
        if (TIMERAWH == high) {
            return (uint64_t)high << 32 | low;
        }
    }
}

static void wait_for_an_alarm(void)
{
    NVIC_ICPR = 1u << TIMER0_IRQ_3;
    NVIC_ISER = 1u << TIMER0_IRQ_3;
    TIMER_INTE_SET = ALARM_3;
    const uint64_t start = microseconds();
    TIMER_ALARM3 = (uint32_t)start + ALARM_US;
    results.armed = TIMER_ARMED;
    while (results.alarms == 0) {
        __asm volatile("wfe");
    }
    results.waited_us = (uint32_t)(microseconds() - start);
}

/* In C as `x * y` with the FPU enabled. */
static float multiply(volatile const float *x, volatile const float *y)
{
    return *x * *y;
}

__attribute__((section(".start"), noreturn)) void start(void)
{
    results.cpu = SIO_CPUID;
    REGISTER(RESETS_RESET + SET) = ALL_BLOCKS & ~KEPT_IN_PLACE;
    REGISTER(RESETS_RESET + CLEAR) = ALL_BLOCKS & ~NEED_CLOCKS;
    while ((~RESETS_RESET_DONE & ALL_BLOCKS & ~NEED_CLOCKS) != 0) {
    }
    start_clocks();
    REGISTER(RESETS_RESET + CLEAR) = ALL_BLOCKS;
    while (RESETS_RESET_DONE != ALL_BLOCKS) {
    }
    results.reset_done = RESETS_RESET_DONE;
    results.xosc = XOSC_STATUS;
    results.clk_ref = CLOCK(CLK_REF, SELECTED);
    results.clk_sys = CLOCK(CLK_SYS, SELECTED);
    results.pll_sys = PLL(PLL_SYS, 0x0);
    results.pll_usb = PLL(PLL_USB, 0x0);

    for (uint32_t n = 0; n < 8; n++) {
        BOOTLOCK(n) = 0;
    }
    results.bootlock = BOOTLOCK(7);

    const uint32_t *flash_vectors = (const uint32_t *)(uintptr_t)VTOR;
    for (uint32_t n = 0; n < VECTORS; n++) {
        ram_vectors[n] = flash_vectors[n];
    }
    ram_vectors[16 + TIMER0_IRQ_3] = (uint32_t)(uintptr_t)on_alarm;
    VTOR = (uint32_t)(uintptr_t)ram_vectors;
    results.vtor = VTOR == (uint32_t)(uintptr_t)ram_vectors;
    for (uint32_t n = 0; n < 13; n++) {
        NVIC_IPR(n) = 0x80808080;
    }
    results.priorities = NVIC_IPR(12);

    CPACR |= 0x00300303;                      /* CP10 and 11, CP4, CP0 */
    __asm volatile("dsb\n isb");
    results.cpacr = CPACR;
    ACTLR |= 0x20000000;                      /* EXTEXCLALL */
    results.actlr = ACTLR;
    results.spin_lock = try_lock();
    results.spin_lock_again = try_lock();
    unlock();
    uint32_t target = (uint32_t)(uintptr_t)ram_vectors;
    __asm volatile("tt %0, %0" : "+r"(target));
    results.secure = target >> 22 & 1;

    read_chip_id();
    wait_for_an_alarm();

    static const float x = 1.5f, y = 2.25f;
    union { float value; uint32_t bits; } product = {multiply(&x, &y)};
    results.product = product.bits;

    DEMCR |= 0x01000000;
    DWT_CYCCNT = 0;
    DWT_CTRL |= 1;
    results.cycles = DWT_CYCCNT;
    results.done = 1;
    for (;;) {
        __asm volatile("wfi");
    }
}
