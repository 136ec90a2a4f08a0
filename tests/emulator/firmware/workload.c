/* SPDX-License-Identifier: Apache-2.0 */
/* A bit of everything that takes time: code and tables in flash, data in SRAM, calls, multiplications,
   SysTick interrupts that come in the middle, and waiting. Ends in BKPT with a checksum in result. */
#include <stdint.h>

#define REGISTER(address) (*(volatile uint32_t *)(address))
#define SYST_CSR REGISTER(0xe000e010)
#define SYST_RVR REGISTER(0xe000e014)
#define SYST_CVR REGISTER(0xe000e018)

enum { WORDS = 4096, ROUNDS = 3 };
#define ROW(x) (x) * 2654435761u, (x) ^ 0x9e3779b9u, ~(x), (x) * 40503u
#define ROWS(x) ROW(x), ROW((x) + 1), ROW((x) + 2), ROW((x) + 3)

static const uint32_t table[WORDS] = { ROWS(1), ROWS(77), ROWS(12345), [2048] = 1, [4095] = 99 };
static uint32_t line[WORDS / 4];
volatile uint32_t ticks, result;
extern uint32_t stack_top;

static void systick(void) { ticks++; }

__attribute__((noinline)) static uint32_t mix(uint32_t a, uint32_t b) { return (a ^ b) * 16777619u; }

void test(void)
{
    uint32_t sum = 2166136261u;

    SYST_RVR = 1536;
    SYST_CVR = 0;
    SYST_CSR = 7;
    for (int round = 0; round < ROUNDS; round++) {
        for (int k = 0; k < WORDS; k++) {
            line[k % (WORDS / 4)] += table[k];
            sum = mix(sum, line[(k * 7) % (WORDS / 4)]);
        }
        __asm volatile("wfi");
        sum += sum / (uint32_t)(round + 3);
    }
    result = sum;
    __asm volatile("bkpt 1");
}

__attribute__((naked)) void reset(void) { __asm volatile("bl test\n b ."); }

__attribute__((section(".vectors"), used)) void *const vectors[16] = {
    &stack_top, (void *)reset, [15] = (void *)systick
};
