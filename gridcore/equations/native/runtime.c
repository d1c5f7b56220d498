/* The inner loops of a time step: evaluate every kernel, form the residual, form the matrix, update.
 * native.py binds what is here by name; fallback.py has the same functions in numpy, for where there is no C compiler.
 * What a loop writes to belongs to its caller, so that threads may run the same loop on buffers of their own. */

#include <math.h>
#include <string.h>

typedef void (*kernel)(long, const double *, const int *, double *, const int *, const double *, const int *);

typedef struct {
    long count;
    kernel run;
    const int *gather, *scatter, *rows;
} batch;

typedef struct {
    long n, nnz, n_rhs, n_jac, n_linear;
    const batch *rhs, *jac;
    const int *linear_rows, *linear_ptr, *linear_cols; /* linear part of F as rows of a CSR matrix */
    const double *linear_values, *linear_constant;
    const int *row_of, *diagonal; /* row of each matrix entry; position of each diagonal entry */
    const double *linear_matrix;  /* linear part, in the pattern of the matrix */
    double *Z, *t, *F, *R, *A;
    const double *mass;
    double *c, *base, *minus_c;
    const double *scale, *noise; /* of each variable; and what round-off makes of its corrections */
} plan;

/* out += the outputs of all batches */
void gc_add(long count, const batch *b, const double *Z, double *out)
{
    for (; count--; ++b) b->run(b->count, Z, b->gather, out, b->scatter, 0, 0);
}

/* F = right-hand side at Z */
void gc_rhs(const plan *p)
{
    double *F = p->F;
    for (long i = 0; i <= p->n; ++i) F[i] = 0.0;
    gc_add(p->n_rhs, p->rhs, p->Z, F);
    for (long i = 0; i < p->n_linear; ++i) {
        double sum = p->linear_constant[i];
        for (int k = p->linear_ptr[i]; k < p->linear_ptr[i + 1]; ++k)
            sum += p->linear_values[k] * p->Z[p->linear_cols[k]];
        F[p->linear_rows[i]] += sum;
    }
}

/* R = base + c F(Z) - mass X: minus the residual of a step */
void gc_residual(const plan *p)
{
    gc_rhs(p);
    for (long i = 0; i < p->n; ++i) p->R[i] = p->base[i] + p->c[i] * p->F[i] - p->mass[i] * p->Z[i];
}

/* The sum of x y; eight sums side by side, for no compiler may change their order */
static inline double product(long n, const double *x, const double *y)
{
    double sum[8] = {0.0}, all = 0.0;
    for (; n >= 8; n -= 8, x += 8, y += 8)
        for (int j = 0; j < 8; ++j) sum[j] += x[j] * y[j];
    while (n--) all += *x++ * *y++;
    for (int j = 0; j < 8; ++j) all += sum[j];
    return all;
}

/* Whether all are finite, and not so large that their squares are not: who is told that they are not looks again */
#define all_finite(n, v) (product(n, v, v) < INFINITY)

/* A = diag(mass) - diag(c) dF/dX, in the fixed pattern; returns whether it is finite */
int gc_matrix(const plan *p)
{
    double *A = p->A;
    for (long i = 0; i < p->n; ++i) p->minus_c[i] = -p->c[i];
    for (long k = 0; k < p->nnz; ++k) A[k] = p->minus_c[p->row_of[k]] * p->linear_matrix[k];
    for (long i = 0; i < p->n; ++i) A[p->diagonal[i]] += p->mass[i];
    for (long k = 0; k < p->n_jac; ++k) {
        const batch *b = p->jac + k;
        b->run(b->count, p->Z, b->gather, A, b->scatter, p->minus_c, b->rows);
    }
    return all_finite(p->nnz, A);
}

/* out = dF/dX, in the fixed pattern */
void gc_jacobian(const plan *p, double *out)
{
    for (long k = 0; k <= p->nnz; ++k) out[k] = p->linear_matrix[k];
    gc_add(p->n_jac, p->jac, p->Z, out);
}

/* out = dF/dX as above, and behind it the `entries` that other batches add up */
void gc_linearise(const plan *p, long count, const batch *b, long entries, double *out)
{
    gc_jacobian(p, out);
    out += p->nnz + 1;
    for (long k = 0; k <= entries; ++k) out[k] = 0.0;
    gc_add(count, b, p->Z, out);
}

/* X += R; returns the largest (|R_i| - noise_i) / (scale_i + the lesser |X_i|), or 0, and the next residual unless that is
 * below tol. Numbers without a sign have the order of their bits, in which nan, of which fabs takes it, is the largest */
double gc_newton(const plan *p, double tol)
{
    long long largest = 0, part;
    double norm;
    for (long i = 0; i < p->n; ++i) {
        const double before = fabs(p->Z[i]), after = fabs(p->Z[i] += p->R[i]);
        const double size = p->scale[i] + (before < after ? before : after);
        const double moved = fabs(p->R[i] / size) - p->noise[i] / size;
        memcpy(&part, &moved, sizeof part);
        largest = part > largest ? part : largest;
    }
    memcpy(&norm, &largest, sizeof norm);
    if (!(norm <= tol)) gc_residual(p);
    return norm;
}

/* Anderson mixing of a correction g, in place, with the last `many` ones (MIXED at most): steps[j] is what was added when
 * g changed by changes[j] / weight, and that change; the newest goes to `row`, or is the first one where that is -1. What
 * the mixture leaves is least in the norm of the weights, by the normal equations with pivots down to this part of the largest. */
#define MIXED 5
#define NEAR 512 /* unknowns at a time, which stay in the nearest cache: memory is what takes the time */

void gc_mix(long n, long row, long many, double least, const double *weight, double *steps, double *changes,
            double *last, double *made, double *gram, double *g)
{
    double a[MIXED][MIXED], b[MIXED] = {0.0}, new[MIXED] = {0.0}, part[MIXED] = {0.0}, most = 0.0;
    int order[MIXED], rank = 0;
    for (long k = 0; k < n; k += NEAR) {
        const long end = n - k < NEAR ? n : k + NEAR;
        for (long i = k; row >= 0 && i < end; ++i) {
            const double change = g[i] - last[i];
            steps[row * n + i] = change + made[i];
            changes[row * n + i] = change * weight[i];
        }
        for (long i = k; i < end; ++i) made[i] = weight[i] * (last[i] = g[i]);
        for (long j = 0; j < many; ++j) {
            new[j] += product(end - k, changes + j * n + k, changes + row * n + k);
            b[j] += product(end - k, changes + j * n + k, made + k);
        }
    }
    for (long j = 0; j < many; ++j) gram[row * MIXED + j] = gram[j * MIXED + row] = new[j], order[j] = (int)j;
    for (long j = 0; j < many; ++j)
        for (long k = 0; k < many; ++k) a[j][k] = gram[j * MIXED + k];
    for (; rank < many; ++rank) {
        int best = rank;
        for (int j = rank + 1; j < many; ++j)
            if (a[order[j]][order[j]] > a[order[best]][order[best]]) best = j;
        const int p = order[best];
        order[best] = order[rank];
        order[rank] = p;
        if (rank == 0) most = a[p][p];
        if (!(a[p][p] > least * most)) break;
        for (int j = rank + 1; j < many; ++j) {
            const int q = order[j];
            const double factor = a[q][p] / a[p][p];
            for (int k = rank; k < many; ++k) a[q][order[k]] -= factor * a[p][order[k]];
            b[q] -= factor * b[p];
        }
    }
    while (rank--) {
        const int p = order[rank];
        double sum = b[p];
        for (int k = rank + 1; k < many; ++k) sum -= a[p][order[k]] * part[order[k]];
        part[p] = sum / a[p][p];
    }
    for (long k = 0; k < n; k += NEAR)
        for (long j = 0; j < many; ++j)
            for (long i = k; i < n && i < k + NEAR; ++i) g[i] -= part[j] * steps[j * n + i];
    for (long i = 0; i < n; ++i) made[i] = g[i];
}

/* ---- matrices of a step and their products with many rows at once: a block of rows is turned so that the innermost
 * loop runs over it ---- */

#define WIDTH 8

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__)
#define FAST __attribute__((optimize("O3"), target_clones("avx2", "default")))
#else
#define FAST
#endif

typedef struct {
    long n_rows, n_columns, entries, n_used, n_read, n_diagonal;
    const int *ptr, *row;              /* compressed by columns */
    const int *used, *read;            /* rows and columns that have entries */
    const int *row_ptr, *column, *place; /* the same by rows, with the place of each entry in the values */
    const int *at, *diagonal;
    double *values, *work;
} pattern;

/* values = diag(m) + diag(scale) J for the entries `at` of J, or all of them; returns whether they are finite */
int gc_shifted(const pattern *p, const double *m, const double *scale, const double *J)
{
    double *out = p->values;
    for (long k = 0; k < p->entries; ++k) out[k] = scale[p->row[k]] * J[p->at ? p->at[k] : k];
    for (long k = 0; k < p->n_diagonal; ++k) out[p->diagonal[k]] += m[p->row[p->diagonal[k]]];
    return all_finite(p->entries, out);
}

/* values = diag(s) U + diag(t) V */
void gc_sum(const pattern *p, const double *s, const double *U, const double *t, const double *V)
{
    for (long k = 0; k < p->entries; ++k) p->values[k] = s[p->row[k]] * U[k] + t[p->row[k]] * V[k];
}

/* out[i][q] = (add ? out[i][q] : 0) + sum_k value[place k] in[i][index k] over the entries k of row or column q, for all
 * q or those in a list. Of `in`, what is `read` has entries. */
static inline __attribute__((always_inline)) void products(
    long count, long n_in, long n_read, const int *read, long n_out, long n_list, const int *list, const int *ptr,
    const int *index, const int *place, const double *value, const double *in, double *out, double *work, int add)
{
    for (long i = 0; i < count; i += WIDTH) {
        const long rows = count - i < WIDTH ? count - i : WIDTH;
        for (long k = 0; k < n_read; ++k) {
            const long r = read[k];
            for (long b = 0; b < WIDTH; ++b) work[r * WIDTH + b] = b < rows ? in[(i + b) * n_in + r] : 0.0;
        }
        for (long l = 0; l < n_list; ++l) {
            const long q = list ? list[l] : l;
            if (add && ptr[q] == ptr[q + 1]) continue;
            double sum[WIDTH] = {0.0};
            for (int k = ptr[q]; k < ptr[q + 1]; ++k) {
                const double v = value[place ? place[k] : k], *w = work + (long)index[k] * WIDTH;
                for (int b = 0; b < WIDTH; ++b) sum[b] += v * w[b];
            }
            for (long b = 0; b < rows; ++b) {
                double *o = out + (i + b) * n_out + q;
                *o = (add ? *o : 0.0) + sum[b];
            }
        }
    }
}

/* out[i] = A^T in[i], or added to it */
FAST void gc_times_transposed(long count, const pattern *p, const double *value, const double *in, double *out, int add)
{
    if (count != 1) {
        products(count, p->n_rows, p->n_used, p->used, p->n_columns, p->n_columns, 0, p->ptr, p->row, 0, value,
                 in, out, p->work, add);
        return;
    }
    for (long j = 0; j < p->n_columns; ++j) {
        double sum = add ? out[j] : 0.0;
        for (int k = p->ptr[j]; k < p->ptr[j + 1]; ++k) sum += value[k] * in[p->row[k]];
        out[j] = sum;
    }
}

/* out[i] = A in[i], or added to it */
FAST void gc_times(long count, const pattern *p, const double *value, const double *in, double *out, int add)
{
    if (add)
        products(count, p->n_columns, p->n_read, p->read, p->n_rows, p->n_used, p->used, p->row_ptr, p->column,
                 p->place, value, in, out, p->work, 1);
    else
        products(count, p->n_columns, p->n_read, p->read, p->n_rows, p->n_rows, 0, p->row_ptr, p->column, p->place,
                 value, in, out, p->work, 0);
}

/* What native.py has to agree with: the sizes of the structs, the width of the blocks that work arrays hold, and
 * how many corrections are mixed */
void gc_sizes(long *sizes)
{
    sizes[0] = sizeof(batch), sizes[1] = sizeof(plan), sizes[2] = sizeof(pattern);
    sizes[3] = WIDTH, sizes[4] = MIXED;
}
