/* libFuzzer target: whatever the bytes are, the trace reader ends, with records that are safe to use.
 *
 * A header is 64 KiB of mostly nothing, so the input is a header's first bytes and then, from byte 512 on, the
 * blocks; the rest of the header is valid. */
#include "model/work.h"
#include "trace/reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD = 512, MOST = OFL_TRACE_HEADER_SIZE + 3 * OFL_TRACE_BLOCK_SIZE };

static void require(bool condition)
{
    if (!condition) {
        abort();
    }
}

static void use(const struct ofl_trace_record *record)
{
    struct ofl_trace_text text;
    require(record->kind < OFL_TRACE_KIND_COUNT);
    if (ofl_trace_text_of(record, &text)) {
        require(memchr(text.text, '\0', sizeof text.text) != NULL);
        return;
    }
    require(record->operation <= OFL_OPERATION_COUNT && record->precision < OFL_PRECISION_COUNT);
    require(record->reason < OFL_REASON_COUNT && record->buffers <= OFL_TRACE_BUFFERS);
    require(isfinite(record->flops) && isfinite(record->compute));
    struct ofl_call call = {.operation = (enum ofl_operation)record->operation,
                            .precision = (enum ofl_precision)record->precision,
                            .m = record->m,
                            .n = record->n,
                            .k = record->k};
    struct ofl_work work;
    ofl_work_from_call(&call, &work);
    require(isfinite(work.flops) && work.flops >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned char file[MOST];
    struct ofl_trace_header *header = (struct ofl_trace_header *)(void *)file;
    char explanation[200] = "";
    size_t head = size < HEAD ? size : HEAD, blocks = size - head;
    memset(file, 0, sizeof file);
    *header = (struct ofl_trace_header){.version = OFL_TRACE_VERSION,
                                        .byte_order = OFL_TRACE_BYTE_ORDER,
                                        .header_size = OFL_TRACE_HEADER_SIZE,
                                        .record_size = sizeof(struct ofl_trace_record)};
    memcpy(header->magic, OFL_TRACE_MAGIC, sizeof header->magic);
    strcpy(header->operations, "gemm trsm something");
    /* The first byte says whether the header is the input's as well. */
    if (head > 1 && (data[0] & 1) != 0) {
        memcpy(file, data + 1, head - 1);
    }
    blocks = blocks < sizeof file - OFL_TRACE_HEADER_SIZE ? blocks : sizeof file - OFL_TRACE_HEADER_SIZE;
    memcpy(file + OFL_TRACE_HEADER_SIZE, data + head, blocks);
    FILE *stream = fmemopen(file, OFL_TRACE_HEADER_SIZE + blocks, "rb");
    require(stream != NULL);
    struct ofl_trace_reader *reader = ofl_trace_open_stream(stream, explanation, sizeof explanation);
    if (reader == NULL) {
        require(explanation[0] != '\0');
        return 0;
    }
    size_t count;
    struct ofl_trace_record *records = ofl_trace_read_all(reader, &count);
    require(records != NULL);
    for (size_t i = 0; i < count; i++) {
        use(&records[i]);
        require(i == 0 || records[i - 1].start <= records[i].start);
    }
    free(records);
    ofl_trace_close(reader);
    return 0;
}
