/* SPDX-License-Identifier: Apache-2.0 */
/* The runner: answers requests on the serial port for ever. */
#ifndef RUNNER_RUNNER_H
#define RUNNER_RUNNER_H

#include "ripbench_schema.h"
#include "runner/case.h"

void runner_main(void) __attribute__((noreturn));

/* One byte from the host. Answers when it completes a request. */
void runner_take(uint8_t byte);

/* From the fault handler: the report as a frame of its own, whatever was being sent before. */
void runner_send_fault(const struct fault_record *fault);

#endif
