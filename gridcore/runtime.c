/* The inner loops of a time step: evaluate every kernel, form the residual, form the matrix, update.
 * gridcore/assembly.py holds the same in numpy, for where there is no C compiler. */

#include <math.h>
#include <string.h>

typedef void (*kernel)(long, const double *, const int *, double *, const int *, const double *, const int *);

typedef struct {
    kernel run;
    long count;
    const int *gather, *scatter, *rows;
} batch;

typedef struct {
    long n, nnz, n_rhs, n_jac, n_linear;
    const batch *rhs, *jac;
    const int *linear_rows, *linear_ptr, *linear_cols; /* linear part of F as rows of a CSR matrix */
    const double *linear_values, *linear_constant;
    const int *row_of, *diagonal; /* row of each matrix entry; position of each diagonal entry */
    const double *linear_matrix;  /* linear part, in the pattern of the matrix */
    double *Z, *F, *R, *A;
    const double *mass, *c, *base;
    double *scale;
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

/* R = base + c F(Z) - mass X: minus the residual of a theta step */
void gc_residual(const plan *p)
{
    gc_rhs(p);
    for (long i = 0; i < p->n; ++i) p->R[i] = p->base[i] + p->c[i] * p->F[i] - p->mass[i] * p->Z[i];
}

/* A = diag(mass) - diag(c) dF/dX, in the fixed pattern */
void gc_matrix(const plan *p)
{
    double *A = p->A;
    for (long i = 0; i < p->n; ++i) p->scale[i] = -p->c[i];
    for (long k = 0; k < p->nnz; ++k) A[k] = p->scale[p->row_of[k]] * p->linear_matrix[k];
    for (long i = 0; i < p->n; ++i) A[p->diagonal[i]] += p->mass[i];
    for (long k = 0; k < p->n_jac; ++k) {
        const batch *b = p->jac + k;
        b->run(b->count, p->Z, b->gather, A, b->scatter, p->scale, b->rows);
    }
}

/* out = dF/dX, in the fixed pattern */
void gc_jacobian(const plan *p, double *out)
{
    for (long k = 0; k <= p->nnz; ++k) out[k] = p->linear_matrix[k];
    gc_add(p->n_jac, p->jac, p->Z, out);
}

/* X += R; returns the largest |R_i| / (1 + |X_i|), and the next residual unless that is below tol */
double gc_newton(const plan *p, double tol)
{
    double norm = 0.0;
    for (long i = 0; i < p->n; ++i) {
        double x = p->Z[i] += p->R[i];
        double size = fabs(p->R[i]) / (1.0 + fabs(x));
        if (!(size <= norm)) norm = size; /* a nan must show */
    }
    if (!(norm <= tol)) gc_residual(p);
    return norm;
}

/* ---- sparse matrices that a step is made of, compressed by columns ---- */

/* out = diag(m) + diag(scale) J for the entries of J listed in `at` (all, if that is null); `row` of each in out */
void gc_shifted(long count, const int *at, const int *row, const double *scale, const double *J, long n_diagonal,
                const int *diagonal, const double *m, double *out)
{
    for (long k = 0; k < count; ++k) out[k] = scale[row[k]] * J[at ? at[k] : k];
    for (long k = 0; k < n_diagonal; ++k) out[diagonal[k]] += m[row[diagonal[k]]];
}

/* out = diag(s) U + diag(t) V for two matrices of one pattern; `row` of each entry */
void gc_sum(long count, const int *row, const double *s, const double *U, const double *t, const double *V, double *out)
{
    for (long k = 0; k < count; ++k) out[k] = s[row[k]] * U[k] + t[row[k]] * V[k];
}

/* Products with many rows at once: a block of rows is turned so that the innermost loop runs over it. `used`: rows of
 * the matrix that have entries. out may not overlap in. */

#define WIDTH 8

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__)
#define FAST __attribute__((optimize("O3"), target_clones("avx2", "default")))
#else
#define FAST
#endif

/* out[i][j] = (add ? out[i][j] : 0) + sum_p value[p] in[i][row p] over the entries p of column j */
FAST void gc_times_transposed(long count, long n_rows, long n_cols, const int *ptr, const int *row,
                              const double *value, const double *in, double *out, int add, double *work,
                              long n_used, const int *used)
{
    if (count == 1) {
        for (long j = 0; j < n_cols; ++j) {
            double sum = add ? out[j] : 0.0;
            for (int p = ptr[j]; p < ptr[j + 1]; ++p) sum += value[p] * in[row[p]];
            out[j] = sum;
        }
        return;
    }
    for (long i = 0; i < count; i += WIDTH) {
        long rows = count - i < WIDTH ? count - i : WIDTH;
        for (long k = 0; k < n_used; ++k) {
            const long r = used[k];
            for (long b = 0; b < WIDTH; ++b) work[r * WIDTH + b] = b < rows ? in[(i + b) * n_rows + r] : 0.0;
        }
        for (long j = 0; j < n_cols; ++j) {
            if (add && ptr[j] == ptr[j + 1]) continue;
            double sum[WIDTH] = {0.0};
            for (int p = ptr[j]; p < ptr[j + 1]; ++p) {
                const double v = value[p], *w = work + (long)row[p] * WIDTH;
                for (int b = 0; b < WIDTH; ++b) sum[b] += v * w[b];
            }
            for (long b = 0; b < rows; ++b) {
                double *o = out + (i + b) * n_cols + j;
                *o = (add ? *o : 0.0) + sum[b];
            }
        }
    }
}

/* out[i][r] = (add ? out[i][r] : 0) + sum_p value[at p] in[i][column p] over the entries p of row r; the matrix is
 * given by rows here, `at` being the place of each entry in the values */
FAST void gc_times(long count, long n_rows, long n_cols, const int *ptr, const int *column, const int *at,
                   const double *value, const double *in, double *out, int add, double *work,
                   long n_used, const int *used)
{
    if (!add) memset(out, 0, sizeof(double) * count * n_rows);
    for (long i = 0; i < count; i += WIDTH) {
        long rows = count - i < WIDTH ? count - i : WIDTH;
        for (long j = 0; j < n_cols; ++j)
            for (long b = 0; b < WIDTH; ++b) work[j * WIDTH + b] = b < rows ? in[(i + b) * n_cols + j] : 0.0;
        for (long k = 0; k < n_used; ++k) {
            const long r = used[k];
            double sum[WIDTH] = {0.0};
            for (int p = ptr[r]; p < ptr[r + 1]; ++p) {
                const double v = value[at[p]], *w = work + (long)column[p] * WIDTH;
                for (int b = 0; b < WIDTH; ++b) sum[b] += v * w[b];
            }
            for (long b = 0; b < rows; ++b) out[(i + b) * n_rows + r] += sum[b];
        }
    }
}
