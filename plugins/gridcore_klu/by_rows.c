/* LU by rows, with the pivots that KLU has found. Chunks of blocks come first (blocks.c, chunks.c). Of the rest, a solve
 * takes rows of one length together that do not wait for each other, so that its loops have no ends to guess. A
 * factorisation does so with pivots whose rows of U are short; then it takes the other rows one after the other, with up
 * to four rows of U at once whose patterns are nested. by_rows.py binds this, behind arrange.c. */

/* Pivots of one shape that do not wait for each other */
#define PIVOTS(length)                                                               \
    case length:                                                                     \
        for (int q = 0; q < count; ++q) {                                            \
            double u[length + 1], *pivot = v->inverse + at[0];                       \
            for (int i = 0; i < length; ++i) u[i] = value[at[1] + i];                \
            meet(met, *pivot * scale[at[0]]);                                          \
            const double of = *pivot = 1.0 / *pivot;                                 \
            at += 2;                                                                 \
            for (int j = 0; j < below; ++j, at += 1 + length) {                      \
                const double l = value[at[0]] *= of;                                 \
                for (int i = 0; i < length; ++i) value[at[1 + i]] -= l * u[i];       \
            }                                                                        \
        }                                                                            \
        break;

static void eliminate_early(const eliminations *e, const values *v, const double *scale, extremes *met)
{
    double *value = v->lower;
    const int *at = e->at;
    for (long g = 0; g < e->groups; ++g) {
        const int below = e->below[g], count = e->count[g];
        switch (e->length[g]) {
            PIVOTS(0) PIVOTS(1) PIVOTS(2) PIVOTS(3) PIVOTS(4) PIVOTS(5) PIVOTS(6) PIVOTS(7) PIVOTS(8) PIVOTS(9) PIVOTS(10)
            PIVOTS(11) PIVOTS(12) PIVOTS(13) PIVOTS(14) PIVOTS(15) PIVOTS(16)
        }
    }
}

/* Take rows of the matrix with the values A, and their scale */
static inline void load(const pivots *p, long row, long end, const double *A, const values *v)
{
    for (; row < end; ++row) {
        double largest = 0.0;
        for (int q = p->ptr[row]; q < p->ptr[row + 1]; ++q) {
            const double entry = v->lower[p->to[q]] = A[p->place[q]], size = fabs(entry);
            largest = size > largest ? size : largest;
        }
        v->scale[p->row[row]] = largest > 0.0 ? 1.0 / largest : 1.0;
    }
}

/* Factors of the matrix with the values A. Returns the ratio of the extreme pivots, as if rows were scaled; 0, and no
 * factors, where one is zero or no number. */
double rows_refactor(const pivots *p, const double *A, const values *v)
{
    const int *begin = p->upper.begin, *size = p->upper.size, *column = p->upper.column, *sum = p->blocks.sum;
    double *restrict w = p->w, *upper = v->upper, *lower = v->lower, *inverse = v->inverse, *number = v->numbers;
    const double *scale = v->scale;
    extremes met = {INFINITY, 0.0};
    memset(lower, 0, (number + p->blocks.numbers - lower) * sizeof *lower);
    load(p, p->blocks.pivots, p->rows, A, v);
    for (long chunk = 0, row = 0; chunk < p->blocks.chunks; ++chunk) {
        const form *f = FORM(&p->blocks, chunk);
        load(p, row, row + LANES * f->size, A, v);
        eliminate_chunk(f, p->blocks.some[chunk], number, scale, sum, lower, &met);
        row += LANES * f->size;
        scale += LANES * (f->size + f->beyond);
        sum += LANES * (f->pivots - f->sums);
        number += LANES * f->numbers;
    }
    eliminate_early(&p->early, v, scale, &met);
    for (long r = 0; r < p->early.late && met.least > 0.0; ++r) {
        const int k = p->early.row[r], ahead = p->early.ahead[k], left = p->lower.size[k] - ahead;
        const int *at = p->lower.column + p->lower.begin[k] + ahead, *own = column + begin[k];
        double *restrict l = lower + p->lower.begin[k] + ahead, *restrict u = upper + begin[k];
        for (int q = 0; q < left; ++q) w[at[q]] = l[q];
        for (int i = 0; i < size[k]; ++i) w[own[i]] = u[i];
        w[k] = inverse[k];
        for (int q = 0; q < left;) {
            const int j = at[q];
            const double *u0 = upper + begin[j], l0 = l[q++] = w[j] * inverse[j];
            w[j] = 0.0;
            if (p->nested[j] < 2 || q >= left || at[q] != j + 1) {
                const int *c = column + begin[j];
                for (int i = 0; i < size[j]; ++i) w[c[i]] -= l0 * u0[i];
                continue;
            }
            const double *u1 = upper + begin[j + 1], l1 = l[q++] = (w[j + 1] - l0 * u0[0]) * inverse[j + 1];
            w[j + 1] = 0.0;
            if (p->nested[j] < 4 || q + 1 >= left || at[q] != j + 2 || at[q + 1] != j + 3) {
                const int *c = column + begin[j + 1];
                for (int i = 0; i < size[j + 1]; ++i) w[c[i]] -= l0 * u0[i + 1] + l1 * u1[i];
                continue;
            }
            const double *u2 = upper + begin[j + 2], *u3 = upper + begin[j + 3];
            const double l2 = l[q++] = (w[j + 2] - l0 * u0[1] - l1 * u1[0]) * inverse[j + 2];
            const double l3 = l[q++] = (w[j + 3] - l0 * u0[2] - l1 * u1[1] - l2 * u2[0]) * inverse[j + 3];
            w[j + 2] = w[j + 3] = 0.0;
            const int *c = column + begin[j + 3];
            for (int i = 0; i < size[j + 3]; ++i) w[c[i]] -= l0 * u0[i + 3] + l1 * u1[i + 2] + l2 * u2[i + 1] + l3 * u3[i];
        }
        const double pivot = w[k];
        w[k] = 0.0;
        for (int i = 0; i < size[k]; ++i) {
            u[i] = w[own[i]];
            w[own[i]] = 0.0;
        }
        meet(&met, pivot * scale[k]);
        inverse[k] = 1.0 / pivot;
    }
    return met.least > 0.0 ? met.least / met.most : 0.0;
}

/* The smallest ratio, over columns, of the largest entry of the matrix to that of U, as klu_rgrowth's; 1 at most, and 0
 * where an entry of U is not finite */
double rows_growth(const pivots *p, const double *A, const values *v)
{
    const long before = p->blocks.places, places = before + p->n;
    double *matrix = p->x, *factor = p->w, *rest = factor + before, ratio = 1.0, nothing = 0.0;
    for (long k = 0; k < places; ++k) matrix[k] = 0.0;
    for (long r = 0; r < p->rows; ++r)
        for (int q = p->ptr[r]; q < p->ptr[r + 1]; ++q)
            matrix[p->column[q]] = larger(matrix[p->column[q]], fabs(v->scale[p->row[r]] * A[p->place[q]]));
    largest_in_blocks(&p->blocks, v->numbers, v->scale, factor, rest, &nothing);
    for (long k = 0; k < p->n; ++k) {
        const double scale = v->scale[before + k], *u = v->upper + p->upper.begin[k];
        const int *c = p->upper.column + p->upper.begin[k];
        rest[k] = larger(rest[k], fabs(scale / v->inverse[k]));
        for (int i = 0; i < p->upper.size[k]; ++i) {
            rest[c[i]] = larger(rest[c[i]], fabs(scale * u[i]));
            nothing += 0.0 * u[i];
        }
    }
    for (long k = 0; k < places; ++k) {
        if (matrix[k] < ratio * factor[k]) ratio = matrix[k] / factor[k];
        factor[k] = 0.0;
    }
    return nothing == 0.0 ? ratio : 0.0;
}

/* x = diag(inverse) (x - T x), row after row */
#define ROWS(length)                                                                  \
    case length:                                                                      \
        for (int q = 0; q < count; ++q, ++row, column += length, value += length) {   \
            double sum = x[*row];                                                     \
            for (int i = 0; i < length; ++i) sum -= value[i] * x[column[i]];          \
            x[*row] = inverse ? sum * inverse[*row] : sum;                            \
        }                                                                             \
        break;

static inline void substitute(const triangle *t, const double *value, const double *inverse, double *x)
{
    const int *row = t->row, *column = t->column;
    for (long g = 0; g < t->groups; ++g) {
        const int length = t->length[g], count = t->count[g];
        switch (length) {
            ROWS(0) ROWS(1) ROWS(2) ROWS(3) ROWS(4) ROWS(5) ROWS(6) ROWS(7) ROWS(8) ROWS(9) ROWS(10) ROWS(11) ROWS(12)
        default:
            for (int q = 0; q < count; ++q, ++row, column += length, value += length) {
                double sum[4] = {0.0}, all = x[*row];
                int i = 0;
                for (; i + 4 <= length; i += 4)
                    for (int j = 0; j < 4; ++j) sum[j] += value[i + j] * x[column[i + j]];
                for (; i < length; ++i) all -= value[i] * x[column[i]];
                all -= (sum[0] + sum[1]) + (sum[2] + sum[3]);
                x[*row] = inverse ? all * inverse[*row] : all;
            }
        }
    }
}

/* A x = b for each of the rows of b, in place */
void rows_solve(const pivots *p, const values *v, long count, double *b)
{
    const long n = p->n, before = p->blocks.places;
    const int *P = p->P + before, *Q = p->Q + before;
    double *x = p->x, *rest = x + before;
    for (; count--; b += p->unknowns) {
        for (long k = 0; k < n; ++k) rest[k] = b[P[k]];
        lower_blocks(&p->blocks, v->numbers, p->P, b, x, rest);
        substitute(&p->lower, v->lower, 0, rest);
        substitute(&p->upper, v->upper, v->inverse, rest);
        upper_blocks(&p->blocks, v->numbers, p->Q, rest, x, b);
        for (long k = 0; k < n; ++k) b[Q[k]] = rest[k];
    }
}

/* x[column] -= value x[k] for the entries of row k */
static inline void spread(const triangle *t, const double *value, long k, double *restrict x)
{
    const int *column = t->column + t->begin[k];
    const double of = x[k];
    value += t->begin[k];
    for (int i = 0; i < t->size[k]; ++i) x[column[i]] -= of * value[i];
}

/* A^T x = b for each of the rows of b, in place */
void rows_tsolve(const pivots *p, const values *v, long count, double *b)
{
    const long n = p->n, before = p->blocks.places;
    const int *P = p->P + before, *Q = p->Q + before;
    double *x = p->x, *rest = x + before;
    for (; count--; b += p->unknowns) {
        for (long k = 0; k < n; ++k) rest[k] = b[Q[k]];
        upper_transposed(&p->blocks, v->numbers, p->Q, b, x, rest);
        for (long k = 0; k < n; ++k) {
            rest[k] *= v->inverse[k];
            spread(&p->upper, v->upper, k, rest);
        }
        for (long k = n - 1; k >= 0; --k) {
            spread(&p->lower, v->lower, k, rest);
            b[P[k]] = rest[k];
        }
        lower_transposed(&p->blocks, v->numbers, p->P, rest, x, b);
    }
}
