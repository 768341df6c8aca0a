/* Work from calls: flops, bytes, extents. */
#include "model.h"

/* A call with the operands that the wrapper of the operation would give it. */
struct row {
    const char *name;
    char letter, side, uplo, trans;
    int64_t m, n, k;
    double beta;
    double flops, in, out, extent[3]; /* expected; bytes in elements */
};

static const struct row rows[] = {
    {"gemm", 'd', 0, 0, 'N', 3, 4, 5, 1, 120, 15 + 20 + 12, 12, {3, 4, 5}},
    {"gemm", 'd', 0, 0, 'N', 3, 4, 5, 0, 120, 15 + 20, 12, {3, 4, 5}},
    {"gemm", 's', 0, 0, 'N', 3, 4, 5, NAN, 120, 15 + 20 + 12, 12, {3, 4, 5}},
    {"gemm", 'c', 0, 0, 'N', 3, 4, 5, 0, 480, 15 + 20, 12, {3, 4, 5}},
    {"gemm", 'z', 0, 0, 'N', 1, 1, 1, 2, 8, 3, 1, {1, 1, 1}},
    {"gemm", 'd', 0, 0, 'N', 0, 4, 5, 1, 0, 0, 0, {4, 4, 5}},
    {"gemm", 'd', 0, 0, 'N', -3, -4, 5, 1, 0, 0, 0, {0, 0, 5}},
    {"symm", 'd', 'L', 'U', 0, 3, 4, 0, 0, 72, 6 + 12, 12, {3, 4, 3}},
    {"symm", 'd', 'R', 'U', 0, 3, 4, 0, 0, 96, 10 + 12, 12, {4, 3, 4}},
    {"symm", 's', 'R', 'L', 0, 3, 4, 0, 1, 96, 10 + 12 + 12, 12, {4, 3, 4}},
    {"syrk", 'd', 0, 'L', 'N', 0, 4, 3, 0, 60, 12, 10, {4, 4, 3}},
    {"syrk", 'd', 0, 'L', 'N', 0, 4, 3, 1, 60, 12 + 10, 10, {4, 4, 3}},
    {"herk", 'z', 0, 'U', 'N', 0, 4, 3, 0, 240, 12, 10, {4, 4, 3}},
    {"herk", 'c', 0, 'U', 'N', 0, 4, 3, 1, 240, 12 + 10, 10, {4, 4, 3}},
    {"syr2k", 'd', 0, 'L', 'N', 0, 4, 3, 0, 120, 24, 10, {4, 4, 3}},
    {"trmm", 'd', 'L', 'U', 0, 3, 4, 0, 0, 36, 6 + 12, 12, {3, 4, 3}},
    {"trsm", 'd', 'R', 'L', 0, 3, 4, 0, 0, 48, 10 + 12, 12, {4, 3, 4}},
};

static void set_beta(struct ofl_call *call, double beta)
{
    switch (call->precision) {
    case OFL_S:
    case OFL_C:
        call->beta.s = (float)beta;
        break;
    default:
        call->beta.d = beta;
    }
}

static struct ofl_buffer operand(int64_t r, int64_t c, uint32_t size, enum ofl_access access, enum ofl_region region)
{
    return (struct ofl_buffer){NULL, r, c, r > 0 ? r : 1, size, access, region};
}

static struct ofl_call make_call(const struct row *row)
{
    struct ofl_call call = {.side = row->side, .uplo = row->uplo, .trans = row->trans};
    call.operation = ofl_operation_find(row->name, strlen(row->name));
    call.precision = (enum ofl_precision)(strchr("sdcz", row->letter) - "sdcz");
    call.m = row->m, call.n = row->n, call.k = row->k;
    set_beta(&call, row->beta);
    uint32_t size = (uint32_t)ofl_precision_bytes(call.precision);
    enum ofl_region triangle = row->uplo == 'U' ? OFL_UPPER : OFL_LOWER;
    int64_t order = row->side == 'R' ? row->n : row->m;
    switch (call.operation) {
    case OFL_OP_gemm:
        call.operand[call.operands++] = operand(row->m, row->k, size, OFL_READ, OFL_GENERAL);
        call.operand[call.operands++] = operand(row->k, row->m > 0 ? row->n : 0, size, OFL_READ, OFL_GENERAL);
        call.operand[call.operands++] = operand(row->m, row->n, size, OFL_ADD, OFL_GENERAL);
        break;
    case OFL_OP_symm:
        call.operand[call.operands++] = operand(order, order, size, OFL_READ, triangle);
        call.operand[call.operands++] = operand(row->m, row->n, size, OFL_READ, OFL_GENERAL);
        call.operand[call.operands++] = operand(row->m, row->n, size, OFL_ADD, OFL_GENERAL);
        break;
    case OFL_OP_syr2k:
        call.operand[call.operands++] = operand(row->n, row->k, size, OFL_READ, OFL_GENERAL);
        /* fall through */
    case OFL_OP_syrk:
    case OFL_OP_herk:
        call.operand[call.operands++] = operand(row->n, row->k, size, OFL_READ, OFL_GENERAL);
        call.operand[call.operands++] = operand(row->n, row->n, size, OFL_ADD, triangle);
        break;
    default:
        call.operand[call.operands++] = operand(order, order, size, OFL_READ, triangle);
        call.operand[call.operands++] = operand(row->m, row->n, size, OFL_UPDATE, OFL_GENERAL);
    }
    return call;
}

static void test_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ofl_call call = make_call(&rows[i]);
        struct ofl_work work;
        ofl_work_from_call(&call, &work);
        double size = ofl_precision_bytes(call.precision);
        assert_case(i, work.operation == call.operation && work.precision == call.precision);
        assert_case(i, work.flops == rows[i].flops);
        assert_case(i, work.bytes_in == rows[i].in * size);
        assert_case(i, work.bytes_out == rows[i].out * size);
        for (int j = 0; j < 3; j++) {
            assert_case(i, work.extent[j] == rows[i].extent[j]);
        }
        assert_case(i, work.pieces == 1 && !work.pinned && work.bytes_resident == 0 && work.credit == 0);
    }
}

/* For every operation that a device may run flops are proportional to the extents' product: what the shapes rely
 * on. */
static void test_extents_measure_flops(void **state)
{
    (void)state;
    for (int operation = 0; operation < OFL_OPERATION_COUNT; operation++) {
        double ratio[4];
        if (!ofl_operation_offloaded((enum ofl_operation)operation)) {
            continue;
        }
        for (int i = 0; i < 4; i++) {
            int64_t size = 500 << i;
            struct ofl_call call = {.operation = (enum ofl_operation)operation, .precision = OFL_D, .side = 'L'};
            call.m = call.n = call.k = call.nrhs = size;
            call.k = ofl_operation_takes((enum ofl_operation)operation, "k") ? size : 0;
            call.uplo = 'U', call.transa = call.transb = call.trans = 'N';
            struct ofl_work work;
            ofl_work_from_call(&call, &work);
            assert_case(operation, work.flops > 0);
            ratio[i] = work.flops / (work.extent[0] * work.extent[1] * work.extent[2]);
        }
        assert_case(operation, fabs(ratio[3] / ratio[2] - 1) < 0.01);
    }
}

/* Drivers are made of what LAPACK makes them of, and the parts' flops are theirs. */
static void test_parts(void **state)
{
    static const struct {
        enum ofl_operation whole;
        enum ofl_precision precision;
        int64_t m, n, nrhs;
        int parts;
        enum ofl_operation part[OFL_WORK_PARTS];
        double flops[OFL_WORK_PARTS], extent[OFL_WORK_PARTS][3];
    } drivers[] = {
        {OFL_OP_gesv,
         OFL_D,
         0,
         300,
         7,
         2,
         {OFL_OP_getrf, OFL_OP_getrs},
         {18e6, 1.26e6},
         {{300, 300, 300}, {300, 300, 7}}},
        {OFL_OP_gesv,
         OFL_Z,
         0,
         300,
         7,
         2,
         {OFL_OP_getrf, OFL_OP_getrs},
         {72e6, 5.04e6},
         {{300, 300, 300}, {300, 300, 7}}},
        {OFL_OP_posv,
         OFL_S,
         0,
         300,
         1,
         2,
         {OFL_OP_potrf, OFL_OP_potrs},
         {9e6, 0.18e6},
         {{300, 300, 300}, {300, 300, 1}}},
        {OFL_OP_gels,
         OFL_D,
         600,
         300,
         2,
         3,
         {OFL_OP_geqrf, OFL_OP_ormqr, OFL_OP_trsm},
         {90e6, 1.08e6, 0.18e6},
         {{600, 300, 300}, {600, 2, 300}, {300, 2, 300}}},
        {OFL_OP_gels,
         OFL_C,
         600,
         300,
         2,
         3,
         {OFL_OP_geqrf, OFL_OP_unmqr, OFL_OP_trsm},
         {360e6, 4.32e6, 0.72e6},
         {{600, 300, 300}, {600, 2, 300}, {300, 2, 300}}},
        {.whole = OFL_OP_gels, .precision = OFL_D, .m = 300, .n = 600, .nrhs = 2},
        {.whole = OFL_OP_gesv, .precision = OFL_D, .n = 0, .nrhs = 2},
        {.whole = OFL_OP_getrf, .precision = OFL_D, .m = 300, .n = 300},
    };
    (void)state;
    for (size_t i = 0; i < sizeof drivers / sizeof *drivers; i++) {
        struct ofl_call call = {.operation = drivers[i].whole, .precision = drivers[i].precision};
        struct ofl_work work;
        call.m = drivers[i].m, call.n = drivers[i].n, call.nrhs = drivers[i].nrhs;
        ofl_work_from_call(&call, &work);
        assert_case(i, work.parts == drivers[i].parts);
        for (int j = 0; j < work.parts; j++) {
            assert_case(i, work.part[j].operation == drivers[i].part[j]);
            assert_case(i, fabs(work.part[j].flops / drivers[i].flops[j] - 1) < 0.01);
            for (int k = 0; k < 3; k++) {
                assert_case(i, work.part[j].extent[k] == drivers[i].extent[j][k]);
            }
        }
    }
}

/* Parts have the flags that they are called with. */
static void test_flags_of_parts(void **state)
{
    static const struct {
        enum ofl_operation whole;
        enum ofl_precision precision;
        char uplo, trans, flags[OFL_WORK_PARTS][4]; /* side, uplo, trans of each part; . for none */
    } cases[] = {
        {OFL_OP_posv, OFL_D, 'L', 0, {".L.", ".L."}},        {OFL_OP_posv, OFL_D, 'U', 0, {".U.", ".U."}},
        {OFL_OP_gesv, OFL_D, 0, 0, {"...", "..."}},          {OFL_OP_gels, OFL_D, 0, 'N', {"...", "L.T", "LUN"}},
        {OFL_OP_gels, OFL_D, 0, 'T', {"...", "L.N", "LUT"}}, {OFL_OP_gels, OFL_Z, 0, 'C', {"...", "L.N", "LUC"}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ofl_call call = {.operation = cases[i].whole, .precision = cases[i].precision, .n = 50, .nrhs = 2};
        struct ofl_work work;
        call.m = call.operation == OFL_OP_gels ? 60 : 0;
        call.uplo = cases[i].uplo, call.trans = cases[i].trans;
        ofl_work_from_call(&call, &work);
        assert_true(work.parts > 0);
        for (int j = 0; j < work.parts; j++) {
            const char flags[] = {work.part[j].side, work.part[j].uplo, work.part[j].trans};
            for (int k = 0; k < 3; k++) {
                assert_case(i, flags[k] == (cases[i].flags[j][k] == '.' ? 0 : cases[i].flags[j][k]));
            }
        }
    }
}

static void test_complex_beta(void **state)
{
    (void)state;
    struct ofl_work work;
    struct ofl_call call = {.operation = OFL_OP_gemm, .precision = OFL_Z, .m = 2, .n = 2, .k = 2, .operands = 1};
    call.operand[0] = operand(2, 2, 16, OFL_ADD, OFL_GENERAL);
    ofl_work_from_call(&call, &work);
    assert_true(work.bytes_in == 0);
    call.beta.z[1] = 1;
    ofl_work_from_call(&call, &work);
    assert_true(work.bytes_in == 64);
    /* herk's beta is real: what lies behind it is not part of it. */
    call.operation = OFL_OP_herk;
    ofl_work_from_call(&call, &work);
    assert_true(work.bytes_in == 0);
    call.beta.d = -0.0;
    ofl_work_from_call(&call, &work);
    assert_true(work.bytes_in == 0);
}

static void test_trapezoids(void **state)
{
    (void)state;
    static const struct {
        enum ofl_region region;
        int64_t rows, columns;
        double elements;
    } cases[] = {
        {OFL_LOWER, 3, 3, 6},    {OFL_UPPER, 3, 3, 6},  {OFL_LOWER, 5, 3, 12}, {OFL_UPPER, 5, 3, 6},
        {OFL_LOWER, 3, 5, 6},    {OFL_UPPER, 3, 5, 12}, {OFL_LOWER, 1, 1, 1},  {OFL_UPPER, 0, 3, 0},
        {OFL_GENERAL, 3, 5, 15}, {OFL_LOWER, -1, 3, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ofl_call call = {.operation = OFL_OP_trsm, .precision = OFL_S, .operands = 1};
        struct ofl_work work;
        call.operand[0] = operand(cases[i].rows, cases[i].columns, 4, OFL_UPDATE, cases[i].region);
        ofl_work_from_call(&call, &work);
        assert_case(i, work.bytes_in == 4 * cases[i].elements && work.bytes_out == work.bytes_in);
    }
}

static void test_names(void **state)
{
    (void)state;
    for (int i = 0; i < OFL_OPERATION_COUNT; i++) {
        const char *name = ofl_operation_name((enum ofl_operation)i);
        assert_int_equal(ofl_operation_find(name, strlen(name)), i);
        assert_int_equal(ofl_operation_find(name, strlen(name) - 1) == (enum ofl_operation)i, false);
        bool any = false;
        for (int p = 0; p < OFL_PRECISION_COUNT; p++) {
            any = any || ofl_operation_has((enum ofl_operation)i, (enum ofl_precision)p);
        }
        assert_true(any);
    }
    assert_int_equal(ofl_operation_find("", 0), OFL_OPERATION_COUNT);
    assert_string_equal(ofl_operation_name(OFL_OPERATION_COUNT), "?");
    assert_int_equal(ofl_precision_letter(OFL_Z), 'z');
    assert_int_equal(ofl_precision_letter(OFL_PRECISION_COUNT), '?');
    assert_true(ofl_operation_has(OFL_OP_gemm, OFL_S) && !ofl_operation_has(OFL_OP_herk, OFL_S));
    assert_int_equal(ofl_library_of(OFL_OP_gemm), OFL_LIBRARY_BLAS);
    assert_int_equal(ofl_library_of(OFL_OP_gemmt), OFL_LIBRARY_BLAS);
    assert_int_equal(ofl_library_of(OFL_OP_potrf), OFL_LIBRARY_SOLVER);
    assert_true(ofl_operation_takes(OFL_OP_getrs, "nrhs") && !ofl_operation_takes(OFL_OP_gemm, "nrhs"));
    assert_true(ofl_operation_takes(OFL_OP_orgqr, "k") && !ofl_operation_takes(OFL_OP_orgqr, "q"));
    assert_true(ofl_operation_offloaded(OFL_OP_gemm) && !ofl_operation_offloaded(OFL_OP_gemv));
}

/* A times A moves A once; A times its neighbour, or into A, does not. */
static void test_same_operand(void **state)
{
    (void)state;
    static double memory[64];
    struct ofl_call call = {.operation = OFL_OP_gemm, .precision = OFL_D, .m = 4, .n = 4, .k = 4, .operands = 3};
    struct ofl_work work;
    for (int i = 0; i < 3; i++) {
        call.operand[i] = operand(4, 4, 8, i < 2 ? OFL_READ : OFL_ADD, OFL_GENERAL);
        call.operand[i].address = i < 2 ? memory : memory + 32;
    }
    ofl_work_from_call(&call, &work);
    assert_close(work.bytes_in, 128);
    assert_close(work.bytes_out, 128);
    assert_close(work.device_bytes, 256);
    call.operand[1].address = memory + 16;
    ofl_work_from_call(&call, &work);
    assert_close(work.bytes_in, 256);
    call.operand[1].address = memory;
    call.operand[1].ld = 8;
    ofl_work_from_call(&call, &work);
    assert_close(work.bytes_in, 256);
    call.operand[1].ld = 4;
    call.operand[1].access = OFL_UPDATE;
    ofl_work_from_call(&call, &work);
    assert_close(work.bytes_in, 256);
}

const struct CMUnitTest work_tests[] = {
    cmocka_unit_test(test_same_operand),
    cmocka_unit_test(test_table),
    cmocka_unit_test(test_extents_measure_flops),
    cmocka_unit_test(test_parts),
    cmocka_unit_test(test_flags_of_parts),
    cmocka_unit_test(test_complex_beta),
    cmocka_unit_test(test_trapezoids),
    cmocka_unit_test(test_names),
};
const size_t work_test_count = sizeof work_tests / sizeof *work_tests;
