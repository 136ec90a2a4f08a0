/* SPDX-License-Identifier: Apache-2.0 */
/* A tensor to another place, which it may overlap in either direction: RiP's right shift.
 *
 * Upwards the last byte goes first, downwards the first one, so that nothing is overwritten before
 * it has been read. Where both addresses are multiples of 4, words are copied, WORDS of them read
 * before they are written, and bytes only behind the last whole word; otherwise bytes. Each byte is
 * written once and nothing else in the arena is. The addresses decide the order: the record says
 * row. There are no taps and no arithmetic: tap order and rounding say nothing. */
#include "kernels/plain/elementwise.h"
#include "runner/kernels.h"

enum { WORDS = 4, WORD = 4, GROUP = WORDS * WORD };

/* The tensors are bytes to everyone else. */
typedef uint32_t __attribute__((may_alias)) word;

/* GROUP bytes, and past them. gcc makes neither LDM nor STM of this in C. */
ALWAYS_INLINE void copy_group(word **to, const word **from)
{
#ifdef __arm__
    __asm volatile("ldmia %1!, {r3, r4, r5, r6}\n\tstmia %0!, {r3, r4, r5, r6}"
                   : "+l"(*to), "+l"(*from)
                   :
                   : "r3", "r4", "r5", "r6", "memory");
#else
    const word words[WORDS] = {(*from)[0], (*from)[1], (*from)[2], (*from)[3]};
    for (int32_t at = 0; at < WORDS; at++) {
        (*to)[at] = words[at];
    }
    *to += WORDS;
    *from += WORDS;
#endif
}

ALWAYS_INLINE void copy_down(int8_t *to, const int8_t *from, int32_t bytes, bool by_words)
{
    int32_t at = 0;
    if (by_words) {
        word *next_to = (word *)(void *)to;
        const word *next_from = (const word *)(const void *)from;
        at = bytes & -(2 * GROUP);
        const word *const end = (const word *)(const void *)(from + at);
        while (next_from != end) {
            copy_group(&next_to, &next_from);
            copy_group(&next_to, &next_from);
        }
        for (; bytes - at >= WORD; at += WORD) {
            *next_to++ = *next_from++;
        }
    }
    for (; at < bytes; at++) {
        to[at] = from[at];
    }
}

ALWAYS_INLINE void copy_up(int8_t *to, const int8_t *from, int32_t bytes, bool by_words)
{
    const int32_t bytes_from = by_words ? bytes & -WORD : 0;      /* words lie below it */
    int32_t at = bytes;
    for (; at > bytes_from; at--) {
        to[at - 1] = from[at - 1];
    }
    for (; (at & (2 * GROUP - 1)) != 0; at -= WORD) {
        *(word *)(void *)(to + at - WORD) = *(const word *)(const void *)(from + at - WORD);
    }
    if (at == 0) {
        return;
    }
    /* LDM and STM only go upwards: after each group, two groups back. */
    word *next_to = (word *)(void *)(to + at - GROUP);
    const word *next_from = (const word *)(const void *)(from + at - GROUP);
    const word *const last = (const word *)(const void *)from + WORDS;
    for (;;) {
        copy_group(&next_to, &next_from);
        next_to -= 2 * WORDS;
        next_from -= 2 * WORDS;
        copy_group(&next_to, &next_from);
        if (next_from == last) {
            return;
        }
        next_to -= 2 * WORDS;
        next_from -= 2 * WORDS;
    }
}

RAM_CODE("plain_move")
void plain_move(const struct op_call *call)
{
    const int32_t bytes = call->h_out * call->w_out * call->c_out;
    const bool by_words = (((uintptr_t)call->input | (uintptr_t)call->output) & (WORD - 1)) == 0;
    if (call->output > call->input) {
        copy_up(call->output, call->input, bytes, by_words);
    } else {
        copy_down(call->output, call->input, bytes, by_words);
    }
}
