/* SPDX-License-Identifier: Apache-2.0 */
/* Where code lies. Start-up copies RAM_CODE functions to SRAM: they never miss in the flash cache,
 * and run while the flash cannot be read. A helper of theirs has to be ALWAYS_INLINE: if the
 * compiler made a function of it, that would lie in flash. */
#ifndef PORT_PLACEMENT_H
#define PORT_PLACEMENT_H

#ifdef __arm__
#define RAM_CODE(name) __attribute__((noinline, section(".ram_code." name)))
#else
#define RAM_CODE(name)
#endif
#define ALWAYS_INLINE static inline __attribute__((always_inline))

#endif
