/* Chunks of blocks: factored, and solved with. Behind blocks.c; arrange.c is next. */

typedef double pack __attribute__((vector_size(8 * PACK), aligned(8), may_alias));
typedef struct {
    pack a, b;
} lanes;

/* x - y z */
static inline lanes less(lanes x, lanes y, lanes z) { return (lanes){x.a - y.a * z.a, x.b - y.b * z.b}; }

static inline lanes times(lanes x, lanes y) { return (lanes){x.a * y.a, x.b * y.b}; }

typedef struct {
    double least, most; /* of the pivots, without their sign */
} extremes;

static inline void meet(extremes *e, double pivot)
{
    const double size = fabs(pivot);
    if (!(size >= e->least)) e->least = size > 0.0 ? size : 0.0;
    if (size > e->most) e->most = size;
}

/* Eliminate the pivots of a chunk, and add what that changes beyond to numbers of the rest */
static void eliminate_chunk(const form *f, int some, double *value, const double *scale, const int *sum, double *rest,
                            extremes *met)
{
    const int *step = STEPS(f) + f->step_pivots;
    lanes *number = (lanes *)value, *pivot = number + f->pivots;
    for (int k = 0; k < f->size; ++k) {
        const int length = *step++, below = *step++;
        const lanes *u = number + *step++;
        for (int l = 0; l < LANES; ++l) meet(met, value[LANES * (f->pivots + k) + l] * scale[LANES * k + l]);
        const lanes of = pivot[k] = (lanes){1.0 / pivot[k].a, 1.0 / pivot[k].b};
        for (int i = 0; i < below; ++i) {
            const lanes l = number[*step] = times(number[*step], of);
            ++step;
            for (int j = 0; j < length; ++j, ++step) number[*step] = less(number[*step], l, u[j]);
        }
    }
    for (int i = LANES * f->sums; i < LANES * f->pivots; i += LANES, sum += LANES)
        for (int l = 0; l < some; ++l) rest[sum[l]] += value[i + l];
}

/* Of chunk after chunk: x = x - L x, from b by the rows P, and what that changes beyond */
static void lower_blocks(const blocks *blocks, const double *value, const int *P, const double *b, double *x,
                         double *rest)
{
    const int *beyond = blocks->beyond;
    for (long chunk = 0; chunk < blocks->chunks; ++chunk) {
        const form *f = FORM(blocks, chunk);
        const int *step = STEPS(f), inside = LANES * f->size;
        const lanes *number = (const lanes *)value;
        lanes *own = (lanes *)x;
        for (int i = 0; i < inside; ++i) x[i] = b[P[i]];
        memset(x + inside, 0, LANES * f->beyond * sizeof *x);
        for (int i = 0; i < f->size + f->beyond; ++i) {
            lanes sum = own[i];
            for (int count = *step++; count; --count) sum = less(sum, *number++, own[*step++]);
            own[i] = sum;
        }
        for (int i = 0; i < f->beyond; ++i, beyond += LANES)
            for (int l = 0; l < blocks->some[chunk]; ++l) rest[beyond[l]] += x[inside + LANES * i + l];
        x += inside + LANES * f->beyond;
        P += inside + LANES * f->beyond;
        value += LANES * f->numbers;
    }
}

/* Of chunk after chunk: x = diag(inverse) (x - U x), to b by the columns Q */
static void upper_blocks(const blocks *blocks, const double *value, const int *Q, const double *rest, double *x,
                         double *b)
{
    const int *beyond = blocks->beyond;
    for (long chunk = 0; chunk < blocks->chunks; ++chunk) {
        const form *f = FORM(blocks, chunk);
        const int *step = STEPS(f) + f->step_upper, inside = LANES * f->size;
        const lanes *number = (const lanes *)value + f->upper, *inverse = (const lanes *)value + f->pivots;
        lanes *own = (lanes *)x;
        for (int i = 0; i < LANES * f->beyond; ++i) x[inside + i] = rest[*beyond++];
        for (int i = f->size - 1; i >= 0; --i) {
            lanes sum = own[i];
            for (int count = *step++; count; --count) sum = less(sum, *number++, own[*step++]);
            own[i] = times(sum, inverse[i]);
        }
        for (int i = 0; i < inside; ++i) b[Q[i]] = x[i];
        x += inside + LANES * f->beyond;
        Q += inside + LANES * f->beyond;
        value += LANES * f->numbers;
    }
}

/* Of the rows of L, or of U if `inverse` is given: x[column] -= value x[row], from the row that was written last */
static void spread_rows(const int *step, int rows, const lanes *number, const lanes *inverse, lanes *x)
{
    const int *begin[ALL];
    for (int r = 0; r < rows; ++r, step += *step + 1) number += *(begin[r] = step);
    for (int r = rows - 1; r >= 0; --r) {
        const int i = inverse ? rows - 1 - r : r;
        if (inverse) x[i] = times(x[i], inverse[i]);
        number -= *begin[r];
        for (int e = 0; e < *begin[r]; ++e) x[begin[r][1 + e]] = less(x[begin[r][1 + e]], number[e], x[i]);
    }
}

/* Of chunk after chunk: x = U^-T x, from b by the columns Q, and what that changes beyond */
static void upper_transposed(const blocks *blocks, const double *value, const int *Q, const double *b, double *x,
                             double *rest)
{
    const int *beyond = blocks->beyond;
    for (long chunk = 0; chunk < blocks->chunks; ++chunk) {
        const form *f = FORM(blocks, chunk);
        const int inside = LANES * f->size;
        const lanes *number = (const lanes *)value;
        for (int i = 0; i < inside; ++i) x[i] = b[Q[i]];
        memset(x + inside, 0, LANES * f->beyond * sizeof *x);
        spread_rows(STEPS(f) + f->step_upper, f->size, number + f->upper, number + f->pivots, (lanes *)x);
        for (int i = 0; i < f->beyond; ++i, beyond += LANES)
            for (int l = 0; l < blocks->some[chunk]; ++l) rest[beyond[l]] += x[inside + LANES * i + l];
        x += inside + LANES * f->beyond;
        Q += inside + LANES * f->beyond;
        value += LANES * f->numbers;
    }
}

/* Of chunk after chunk: x = L^-T x, to b by the rows P */
static void lower_transposed(const blocks *blocks, const double *value, const int *P, const double *rest, double *x,
                             double *b)
{
    const int *beyond = blocks->beyond;
    for (long chunk = 0; chunk < blocks->chunks; ++chunk) {
        const form *f = FORM(blocks, chunk);
        const int inside = LANES * f->size;
        for (int i = 0; i < LANES * f->beyond; ++i) x[inside + i] = rest[*beyond++];
        spread_rows(STEPS(f), f->size + f->beyond, (const lanes *)value, 0, (lanes *)x);
        for (int i = 0; i < inside; ++i)
            if (i % LANES < blocks->some[chunk]) b[P[i]] = x[i]; /* others lack what is beyond in L */
        x += inside + LANES * f->beyond;
        P += inside + LANES * f->beyond;
        value += LANES * f->numbers;
    }
}

static inline double larger(double a, double b) { return a > b ? a : b; }

/* The largest entries of columns of U, each times the scale of its row; adds to `nothing` what is not finite */
static void largest_in_blocks(const blocks *blocks, const double *value, const double *scale, double *inside,
                              double *rest, double *nothing)
{
    const int *beyond = blocks->beyond;
    for (long chunk = 0; chunk < blocks->chunks; ++chunk) {
        const form *f = FORM(blocks, chunk);
        const int *step = STEPS(f) + f->step_upper;
        const double *u = value + LANES * f->upper, *inverse = value + LANES * f->pivots;
        for (int i = 0; i < LANES * f->size; ++i) inside[i] = larger(inside[i], fabs(scale[i] / inverse[i]));
        for (int i = f->size - 1; i >= 0; --i)
            for (int count = *step++; count; --count, ++step)
                for (int l = 0; l < LANES; ++l) {
                    double *largest = inside + LANES * *step + l;
                    if (*step >= f->size) largest = rest + beyond[LANES * (*step - f->size) + l];
                    *largest = larger(*largest, fabs(scale[LANES * i + l] * *u));
                    *nothing += 0.0 * *u++;
                }
        beyond += LANES * f->beyond;
        inside += LANES * (f->size + f->beyond);
        scale += LANES * (f->size + f->beyond);
        value += LANES * f->numbers;
    }
}
