/* SPDX-License-Identifier: Apache-2.0 */
/* Priorities, preemption, order, masks, waking and stacks: every step leaves a letter in trace[]. With
 * an FPU also that a calculation survives a handler that calculates. */
#include <stdint.h>

#define REGISTER(address) (*(volatile uint32_t *)(address))
#define NVIC_ISER REGISTER(0xe000e100)
#define NVIC_ISPR REGISTER(0xe000e200)
#define NVIC_IPR0 REGISTER(0xe000e400)
#define ICSR REGISTER(0xe000ed04)
#define SHPR2 REGISTER(0xe000ed1c)
#define SHPR3 REGISTER(0xe000ed20)
#define SYST_CSR REGISTER(0xe000e010)
#define SYST_RVR REGISTER(0xe000e014)
#define SYST_CVR REGISTER(0xe000e018)
#define PENDSVSET (1u << 28)

volatile uint8_t trace[64];
volatile uint32_t traced;
static uint32_t process_stack[64];
extern uint32_t stack_top;

static void mark(char letter) { trace[traced++] = (uint8_t)letter; }

static void pend(int irq)
{
    NVIC_ISPR = 1u << irq;
    __asm volatile("dsb\n isb" ::: "memory");
}

#if __ARM_FP
#define CPACR REGISTER(0xe000ed88)
static volatile float doubled;
static void calculate(void) { doubled *= 2.0f; }

/* `kept` is in a register of the FPU while the interrupt is served. */
static void calculate_across_interrupts(void)
{
    float kept;

    CPACR = 0xfu << 20;
    __asm volatile("dsb\n isb" ::: "memory");
    doubled = 1.0f;
    kept = doubled + 0.25f;
    __asm volatile("" : "+t"(kept));
    pend(1);                                                   /* b B, then p c C */
    __asm volatile("" : "+t"(kept));
    mark(kept == 1.25f && doubled == 2.0f ? 'F' : 'x');
}
#else
static void calculate(void) {}
static void calculate_across_interrupts(void) {}
#endif

static void irq0(void) { mark('a'); pend(1); mark('A'); }      /* priority 0x80 */

static void irq1(void)                                         /* 0x40: preempts irq0 */
{
    mark('b');
    calculate();
    ICSR = PENDSVSET;
    pend(2);
    mark('B');
}

static void irq2(void) { mark('c'); mark('C'); }               /* 0xc0: after irq0 */
static void irq3(void) { mark('d'); }                          /* 0x40 */
static void svc(void) { mark('s'); pend(3); mark('S'); }       /* 0: irq3 has to wait */
static void pendsv(void) { mark('p'); }                        /* 0xc0: a lower number than irq2 */
static void systick(void) { SYST_CSR = 0; mark('k'); }
static void hard_fault(void) { mark('!'); __asm volatile("bkpt 9"); }

static void start_systick(uint32_t cycles)
{
    SYST_RVR = cycles;
    SYST_CVR = 0;
    SYST_CSR = 7;
}

void test(void)
{
    NVIC_IPR0 = 0x40u << 24 | 0xc0u << 16 | 0x40u << 8 | 0x80u;
    SHPR2 = 0;
    SHPR3 = 0xc0u << 24 | 0xc0u << 16;
    NVIC_ISER = 15;

    calculate_across_interrupts();
    pend(0);                                                   /* a b B A, then p before c */
    mark('.');
    __asm volatile("cpsid i");
    pend(0);
    mark('-');
    __asm volatile("wfi");                                     /* a masked interrupt wakes it */
    mark('w');
    __asm volatile("cpsie i\n isb");
    mark('.');
    __asm volatile("msr psp, %0\n movs r3, #2\n msr control, r3\n isb"
                   ::"r"(process_stack + 64) : "r3", "memory");
    __asm volatile("svc 0" ::: "memory");
    mark('.');
    start_systick(5000);
    __asm volatile("wfi");
    mark('.');
    __asm volatile("sev\n wfe");                               /* an event that was: no waiting */
    mark('e');
    start_systick(3000);
    __asm volatile("wfe");
    mark('.');
    __asm volatile("bkpt 1");
}

__attribute__((naked)) void reset(void) { __asm volatile("bl test\n b ."); }

__attribute__((section(".vectors"), used)) void *const vectors[20] = {
    &stack_top, (void *)reset, [3] = (void *)hard_fault, [11] = (void *)svc, [14] = (void *)pendsv,
    [15] = (void *)systick, [16] = (void *)irq0, (void *)irq1, (void *)irq2, (void *)irq3
};
