/* SPDX-License-Identifier: Apache-2.0 */
/* Standard input to the runner, for builds with sanitizers: any number of (pack length, pack), each
 * taken as flash and answered with the first byte of every frame of one RUN of cases 0 to 2. */
#include <stdio.h>

#include "ripbench_schema.h"

void host_flash(const uint8_t *bytes, uint32_t count);
uint32_t host_take(const uint8_t *bytes, uint32_t count, const uint8_t **answer);
uint32_t host_encode(uint8_t type, uint16_t sequence, uint32_t nonce, const uint8_t *payload,
                     uint32_t count, uint8_t *to);

static uint8_t pack[1 << 20];

static void request(enum frame_type type, const void *payload, size_t bytes)
{
    uint8_t frame[128];
    const uint8_t *answer;
    const uint32_t length =
        host_encode((uint8_t)type, 0, 0, (const uint8_t *)payload, (uint32_t)bytes, frame);
    const uint32_t answered = host_take(frame, length, &answer);
    fwrite(&answered, sizeof answered, 1, stdout);
    fwrite(answer, 1, answered, stdout);
}

int main(void)
{
    uint32_t length;
    while (fread(&length, sizeof length, 1, stdin) == 1) {
        if (length > sizeof pack || fread(pack, 1, length, stdin) != length) {
            return 2;
        }
        host_flash(pack, length);
        request(FRAME_TYPE_ASK_HELLO, NULL, 0);
        for (uint32_t index = 0; index < 3; index++) {
            const struct run_request run = {.case_index = index, .seed = 7, .repeats = 1};
            request(FRAME_TYPE_RUN, &run, sizeof run);
        }
    }
    return 0;
}
