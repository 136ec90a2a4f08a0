/* SPDX-License-Identifier: Apache-2.0 */
/* FC0, the frequency counter of CLOCKS (RP2040 data sheet 2.15.6.2, RP2350 data sheet 8.1.5.2).
 *
 * The result is exact, in 1/32 kHz, where silicon counts edges for a time that it derives from
 * clk_ref, which it takes for REF_KHZ. DELAY is storage: clocks here start at once. */
#include "model.h"

enum { REF_KHZ, MIN_KHZ, MAX_KHZ, DELAY, INTERVAL, SRC, STATUS, RESULT };       /* in words */
enum { PASS = 1 << 0, DONE = 1 << 4, RUNNING = 1 << 8, FAIL = 1 << 16, SLOW = 1 << 20,
       FAST = 1 << 24, DIED = 1 << 28 };
enum { RESULT_FRACTION_BITS = 5, RESULT_BITS = 0x3fffffff, INTERVAL_NS = 1000 };
static const uint32_t WRITABLE[FREQUENCY_COUNTER_WORDS] = {
    [REF_KHZ] = 0xfffff, [MIN_KHZ] = 0x1ffffff, [MAX_KHZ] = 0x1ffffff, [DELAY] = 7,
    [INTERVAL] = 0xf, [SRC] = 0xff};

/* Hz of what SRC names; false: not modelled. */
static bool source_hz(const machine *m, uint32_t src, uint64_t *hz)
{
    enum { PLL_SYS_OUT = 1, PLL_USB_OUT = 2, ROSC = 3, XOSC = 5, OF_REF = 8, OF_SYS = 9,
           OF_PERI = 10 };
    static const enum clock_source SOURCES[OF_PERI] = {
        [PLL_SYS_OUT] = SOURCE_PLL_SYS, [PLL_USB_OUT] = SOURCE_PLL_USB, [ROSC] = SOURCE_ROSC,
        [XOSC] = SOURCE_XOSC, [OF_REF] = SOURCE_CLK_REF, [OF_SYS] = SOURCE_CLK_SYS};
    if (src >= OF_PERI + COUNTED_CLOCKS || (src < OF_PERI && SOURCES[src] == SOURCE_NONE))
        return false;
    *hz = src < OF_PERI ? clocks_source_hz(m, SOURCES[src])
                        : clocks_hz(m, m->chip->model->clocks->counted[src - OF_PERI]);
    return true;
}

static bool start(machine *m, uint32_t src)
{
    struct frequency_counter *f = &m->chip->clocks.counter;
    uint64_t hz = 0, ref_khz = f->words[REF_KHZ], ref_hz = m->chip->clocks.ref_hz;
    f->words[SRC] = src;
    f->words[STATUS] = f->words[RESULT] = 0;
    if (src == 0)
        return true;
    if (!source_hz(m, src, &hz))
        return false;
    uint64_t units = ref_hz ? (hz * ref_khz << RESULT_FRACTION_BITS) / ref_hz : 0;
    uint64_t khz = units >> RESULT_FRACTION_BITS;
    f->words[RESULT] = units > RESULT_BITS ? RESULT_BITS : (uint32_t)units;
    f->words[STATUS] = DONE | (khz < f->words[MIN_KHZ]   ? FAIL | SLOW
                               : khz > f->words[MAX_KHZ] ? FAIL | FAST
                                                         : PASS);
    if (hz == 0)
        f->words[STATUS] = DONE | FAIL | DIED;
    f->done_ns = chip_time_ns(m) + ((uint64_t)INTERVAL_NS << f->words[INTERVAL]);
    return true;
}

void frequency_counter_reset(struct frequency_counter *f)
{
    *f = (struct frequency_counter){.words = {[MAX_KHZ] = 0x1ffffff, [DELAY] = 1, [INTERVAL] = 8}};
}

uint32_t frequency_counter_read(const machine *m, uint32_t word)
{
    const struct frequency_counter *f = &m->chip->clocks.counter;
    bool running = f->words[STATUS] && chip_time_ns(m) < f->done_ns;
    if (running && word >= STATUS)
        return word == STATUS ? RUNNING : 0;
    return f->words[word];
}

bool frequency_counter_write(machine *m, uint32_t word, uint32_t value, enum alias alias)
{
    uint32_t *old = &m->chip->clocks.counter.words[word];
    uint32_t written = register_write(*old, value, alias, WRITABLE[word]);
    if (word == SRC)
        return start(m, written);
    *old = written;
    return true;
}
