/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_wire_main SEED STREAMS < pack: drawn streams of requests, most of them damaged, into the
 * receiver and into a whole runner. For builds with sanitizers.
 *
 * What must be delivered is worked out a second time from the stream itself, and for each request
 * that is delivered, what must be answered. Ends with 1 at the first difference; otherwise prints
 * its counts. */
#include "fuzz_requests.h"

void host_flash(const uint8_t *bytes, uint32_t count);
void host_mailbox(const struct mailbox_request *request);
uint8_t *host_pool(void);
uint32_t host_take(const uint8_t *bytes, uint32_t count, const uint8_t **answer);

/* What the runner must believe. */
static struct {
    uint32_t readable;
    uint16_t sequence;                        /* of its next frame */
    bool greeted;
} model;

/* ---- what must be delivered ---- */

static void deliverable(const struct fuzz_bytes *stream, struct requests *found, uint32_t *dropped)
{
    static struct fuzz_bytes frame;
    uint32_t begin = 0;
    for (uint32_t end = 0; end < stream->length; end++) {
        if (stream->data[end] != 0) {
            continue;
        }
        const uint32_t length = end - begin;
        const uint8_t *const piece = stream->data + begin;
        begin = end + 1;
        if (length == 0) {
            continue;
        }
        if (!fuzz_uncobs(&frame, piece, length) || frame.length > WIRE_REQUEST_MAX ||
            !fuzz_is_whole(&frame)) {
            (*dropped)++;
            continue;
        }
        struct request *const request = &found->all[found->count++];
        request->length = frame.length - 4;
        request->end = end;
        memcpy(request->bytes, frame.data, request->length);
    }
}

static void compare(const struct request *expected, const struct wire_request *got)
{
    FUZZ_CHECK(expected->length == sizeof got->header + got->payload_bytes, stream_number);
    FUZZ_CHECK(memcmp(expected->bytes, &got->header, sizeof got->header) == 0, stream_number);
    FUZZ_CHECK(memcmp(expected->bytes + sizeof got->header, got->payload, got->payload_bytes) == 0,
               stream_number);
    counts.delivered++;
    for (uint32_t index = 0; index < sent.count; index++) {
        if (sent.all[index].length == expected->length &&
            memcmp(sent.all[index].bytes, expected->bytes, expected->length) == 0) {
            counts.intact++;
            return;
        }
    }
    counts.collisions++;                      /* damaged, and its CRC is right all the same */
}

static void check_receiver(const struct fuzz_bytes *stream, const struct requests *expected,
                           uint32_t dropped)
{
    static struct wire_receiver receiver;
    const uint32_t before = receiver.dropped;
    struct wire_request got;
    uint32_t next = 0;
    for (uint32_t at = 0; at < stream->length; at++) {
        if (wire_receive(&receiver, stream->data[at], &got)) {
            FUZZ_CHECK(next < expected->count, stream_number);
            compare(&expected->all[next++], &got);
        }
    }
    FUZZ_CHECK(next == expected->count, stream_number);
    FUZZ_CHECK(receiver.dropped - before == dropped, stream_number);
    counts.dropped += dropped;
}

/* ---- what must be answered ---- */

struct answers {
    const uint8_t *bytes;
    uint32_t left;
    struct fuzz_bytes frame;
};

/* The next frame of the answers: whole, in turn, and of this type and payload length. */
static const uint8_t *take(struct answers *answers, enum frame_type type, uint32_t payload_bytes)
{
    struct frame_header header;
    uint32_t length = 0;
    for (; answers->left != 0 && *answers->bytes == 0; answers->left--) {
        answers->bytes++;
    }
    while (length < answers->left && answers->bytes[length] != 0) {
        length++;
    }
    FUZZ_CHECK(length < answers->left, stream_number);
    FUZZ_CHECK(fuzz_uncobs(&answers->frame, answers->bytes, length), stream_number);
    FUZZ_CHECK(fuzz_is_whole(&answers->frame), stream_number);
    answers->bytes += length + 1;
    answers->left -= length + 1;
    memcpy(&header, answers->frame.data, sizeof header);
    FUZZ_CHECK(header.type == type, stream_number);
    FUZZ_CHECK(header.reserved == 0 && header.nonce == NONCE, stream_number);
    FUZZ_CHECK(answers->frame.length == sizeof header + payload_bytes + 4, stream_number);
    model.sequence = type == FRAME_TYPE_HELLO ? 0 : model.sequence;
    FUZZ_CHECK(header.sequence == model.sequence++, stream_number);
    return answers->frame.data + sizeof header;
}

static void take_refusal(struct answers *answers, uint8_t type, enum refusal reason)
{
    struct refused refused;
    memcpy(&refused, take(answers, FRAME_TYPE_REFUSED, sizeof refused), sizeof refused);
    FUZZ_CHECK(refused.reason == reason, stream_number);
    FUZZ_CHECK(refused.request == type, stream_number);
    counts.refused[reason]++;
}

static void check_run(struct answers *answers, const struct run_request *run)
{
    struct case_verified verified;
    struct op_result op;
    struct run_result result;
    if (run->repeats == 0 || run->repeats > REPEATS_MAX || run->paint > 1 ||
        run->keep_interrupts > 1) {
        take_refusal(answers, FRAME_TYPE_RUN, REFUSAL_BAD_REQUEST);
        return;
    }
    model.readable = 0;
    if (!model.greeted) {
        take_refusal(answers, FRAME_TYPE_RUN, REFUSAL_IMAGE_CRC);
        return;
    }
    if (run->case_index >= pack.header->case_count) {
        take_refusal(answers, FRAME_TYPE_RUN, REFUSAL_CASE_INDEX);
        return;
    }
    if (run->ops > pack.ops[run->case_index]) {
        take_refusal(answers, FRAME_TYPE_RUN, REFUSAL_BAD_REQUEST);
        return;
    }
    const uint32_t ops = run->ops == 0 ? pack.ops[run->case_index] : run->ops;
    memcpy(&verified, take(answers, FRAME_TYPE_CASE, sizeof verified), sizeof verified);
    FUZZ_CHECK(verified.case_index == run->case_index && verified.seed == run->seed, stream_number);
    for (uint32_t repeat = 0; repeat < run->repeats; repeat++) {
        for (uint32_t index = 0; index < ops; index++) {
            memcpy(&op, take(answers, FRAME_TYPE_OP, sizeof op), sizeof op);
            FUZZ_CHECK(op.repeat == repeat && op.op_index == index, stream_number);
        }
        memcpy(&result, take(answers, FRAME_TYPE_RESULT, sizeof result), sizeof result);
        FUZZ_CHECK(result.repeat == repeat && result.outside_count == 0, stream_number);
        counts.results++;
    }
    counts.runs++;
    model.readable = pack.entries[run->case_index].arena_bytes;
}

static void check_read(struct answers *answers, const struct read_request *read)
{
    struct data_header header;
    uint32_t done = 0;
    if ((uint64_t)read->offset + read->length > model.readable) {
        take_refusal(answers, FRAME_TYPE_READ, REFUSAL_READ_RANGE);
        return;
    }
    do {
        const uint32_t rest = read->length - done;
        const uint32_t due = rest < DATA_MAX ? rest : DATA_MAX;
        const uint8_t *const payload =
            take(answers, FRAME_TYPE_DATA, (uint32_t)sizeof header + due);
        const uint8_t *const memory = host_pool() + ARENA_LEAD + read->offset + done;
        memcpy(&header, payload, sizeof header);
        FUZZ_CHECK(header.offset == read->offset + done && header.length == due, stream_number);
        FUZZ_CHECK(memcmp(payload + sizeof header, memory, due) == 0, stream_number);
        done += due;
        counts.data++;
    } while (done != read->length);
}

static void check_answer(struct answers *answers, const struct request *request)
{
    struct frame_header header;
    struct run_request run;
    struct read_request read;
    const uint8_t *const payload = request->bytes + sizeof header;
    const uint32_t bytes = request->length - (uint32_t)sizeof header;
    memcpy(&header, request->bytes, sizeof header);
    if (header.type != FRAME_TYPE_ASK_HELLO && header.nonce != NONCE) {
        return;                               /* silence */
    }
    if (header.type == FRAME_TYPE_ASK_HELLO && bytes == 0) {
        (void)take(answers, FRAME_TYPE_HELLO, sizeof(struct hello));
        model.greeted = true;
    } else if (header.type == FRAME_TYPE_RUN && bytes == sizeof run) {
        memcpy(&run, payload, sizeof run);
        check_run(answers, &run);
    } else if (header.type == FRAME_TYPE_READ && bytes == sizeof read) {
        memcpy(&read, payload, sizeof read);
        check_read(answers, &read);
    } else {
        take_refusal(answers, header.type, REFUSAL_BAD_REQUEST);
    }
}

/* The runner gets the stream piece by piece, so that READ can be compared with the pool as it is
 * then. */
static void check_runner(const struct fuzz_bytes *stream, const struct requests *expected)
{
    static struct answers answers;
    uint32_t begin = 0, next = 0;
    for (uint32_t end = 0; end < stream->length; end++) {
        if (stream->data[end] != 0) {
            continue;
        }
        answers.left = host_take(stream->data + begin, end + 1 - begin, &answers.bytes);
        if (next < expected->count && expected->all[next].end == end) {
            check_answer(&answers, &expected->all[next++]);
        }
        FUZZ_CHECK(answers.left == 0, stream_number);
        begin = end + 1;
    }
    FUZZ_CHECK(next == expected->count, stream_number);
}

static void fuzz_stream(void)
{
    static struct fuzz_bytes stream;
    static struct requests expected;
    uint32_t dropped = 0;
    stream.length = 0;
    sent.count = 0;
    expected.count = 0;
    for (uint32_t frames = 1 + fuzz_below(4); frames != 0; frames--) {
        put_frame(&stream);
    }
    fuzz_put_byte(&stream, 0);
    deliverable(&stream, &expected, &dropped);
    check_receiver(&stream, &expected, dropped);
    check_runner(&stream, &expected);
}

int main(int argc, char **argv)
{
    static _Alignas(8) uint8_t image[PACK_MAX];
    const struct mailbox_request mailbox = {
        .magic = MAILBOX_MAGIC, .version = PROTOCOL_VERSION, .nonce = NONCE,
        .pack_address = 0x10010000, .board = "fuzzed"};
    if (argc != 3) {
        return 2;
    }
    const uint32_t length = (uint32_t)fread(image, 1, sizeof image, stdin);
    pack.header = (const struct pack_header *)(const void *)image;
    pack.entries = (const struct case_entry *)(const void *)(image + pack.header->directory_offset);
    FUZZ_CHECK(pack.header->case_count <= sizeof pack.ops / sizeof pack.ops[0], length);
    for (uint32_t index = 0; index < pack.header->case_count; index++) {
        pack.ops[index] = pack.entries[index].ops.bytes / (uint32_t)sizeof(struct op_record);
    }
    host_flash(image, length);
    host_mailbox(&mailbox);
    fuzz_seed(strtoull(argv[1], NULL, 0));
    const unsigned long long frames = strtoull(argv[2], NULL, 0);
    for (; counts.frames < frames; stream_number++) {
        fuzz_stream();
    }
    printf("{\"frames\": %llu, \"damaged\": %llu, \"delivered\": %llu, \"intact\": %llu, "
           "\"dropped\": %llu, \"collisions\": %llu, \"runs\": %llu, \"results\": %llu, "
           "\"data\": %llu, \"refused\": {",
           counts.frames, counts.damaged, counts.delivered, counts.intact, counts.dropped,
           counts.collisions, counts.runs, counts.results, counts.data);
    for (uint32_t reason = 0; reason < 16; reason++) {
        printf("%s\"%u\": %llu", reason == 0 ? "" : ", ", (unsigned)reason, counts.refused[reason]);
    }
    printf("}}\n");
    return 0;
}
