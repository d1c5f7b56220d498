/* LU factors with many right-hand sides: A x = b for WIDE of them at a time. many_rhs.py binds this, and says WIDE. */

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__)
#define FAST __attribute__((optimize("O3"), target_clones("avx2", "default")))
#else
#define FAST
#endif

typedef struct {
    long n, n_blocks;
    const int *Lp, *Li;
    const double *Lx; /* the unit diagonal comes first in each column */
    const int *Up, *Ui;
    const double *Ux; /* the diagonal comes last */
    const int *Fp, *Fi;
    const double *Fx;
    const int *P, *Q;
    const double *Rs;
    const int *R; /* where blocks begin */
    double *work;
} factors;

/* work[k] = in[i][order k] / scale[k] for WIDE rows i, the missing ones zero; and back */
static inline void read_rows(long n, long rows, const double *in, const int *order, const double *scale, double *work)
{
    for (long k = 0; k < n; ++k) {
        const double f = scale ? 1.0 / scale[k] : 1.0, *from = in + order[k];
        for (long b = 0; b < WIDE; ++b) work[k * WIDE + b] = b < rows ? f * from[b * n] : 0.0;
    }
}

static inline void write_rows(long n, long rows, const double *work, const int *order, const double *scale, double *out)
{
    for (long k = 0; k < n; ++k) {
        const double f = scale ? 1.0 / scale[k] : 1.0;
        double *to = out + order[k];
        for (long b = 0; b < rows; ++b) to[b * n] = f * work[k * WIDE + b];
    }
}

/* x[i] -= value x[k], for WIDE of them */
#define TAKE(i, value, k)                                                          \
    do {                                                                           \
        double *restrict to_ = x + (long)(i) * WIDE;                               \
        const double v_ = (value), *restrict from_ = x + (long)(k) * WIDE;         \
        for (int b_ = 0; b_ < WIDE; ++b_) to_[b_] -= v_ * from_[b_];               \
    } while (0)

#define DIVIDE(k, value)                                                           \
    do {                                                                           \
        const double f_ = 1.0 / (value);                                           \
        for (int b_ = 0; b_ < WIDE; ++b_) x[(long)(k) * WIDE + b_] *= f_;          \
    } while (0)

/* A x = b for each of the rows of b, in place */
FAST void many_solve(long count, const factors *f, double *b)
{
    const long n = f->n;
    double *x = f->work;
    for (long i = 0; i < count; i += WIDE, b += WIDE * n) {
        const long rows = count - i < WIDE ? count - i : WIDE;
        read_rows(n, rows, b, f->P, f->Rs, x);
        for (long block = f->n_blocks - 1; block >= 0; --block) {
            const int k1 = f->R[block], k2 = f->R[block + 1];
            for (int k = k1; k < k2; ++k)
                for (int p = f->Lp[k] + 1; p < f->Lp[k + 1]; ++p) TAKE(f->Li[p], f->Lx[p], k);
            for (int k = k2 - 1; k >= k1; --k) {
                const int last = f->Up[k + 1] - 1;
                DIVIDE(k, f->Ux[last]);
                for (int p = f->Up[k]; p < last; ++p) TAKE(f->Ui[p], f->Ux[p], k);
            }
            for (int k = k1; k < k2; ++k)
                for (int p = f->Fp[k]; p < f->Fp[k + 1]; ++p) TAKE(f->Fi[p], f->Fx[p], k);
        }
        write_rows(n, rows, x, f->Q, 0, b);
    }
}

/* A^T x = b for each of the rows of b, in place */
FAST void many_tsolve(long count, const factors *f, double *b)
{
    const long n = f->n;
    double *x = f->work;
    for (long i = 0; i < count; i += WIDE, b += WIDE * n) {
        const long rows = count - i < WIDE ? count - i : WIDE;
        read_rows(n, rows, b, f->Q, 0, x);
        for (long block = 0; block < f->n_blocks; ++block) {
            const int k1 = f->R[block], k2 = f->R[block + 1];
            for (int k = k1; k < k2; ++k)
                for (int p = f->Fp[k]; p < f->Fp[k + 1]; ++p) TAKE(k, f->Fx[p], f->Fi[p]);
            for (int k = k1; k < k2; ++k) {
                const int last = f->Up[k + 1] - 1;
                for (int p = f->Up[k]; p < last; ++p) TAKE(k, f->Ux[p], f->Ui[p]);
                DIVIDE(k, f->Ux[last]);
            }
            for (int k = k2 - 1; k >= k1; --k)
                for (int p = f->Lp[k] + 1; p < f->Lp[k + 1]; ++p) TAKE(k, f->Lx[p], f->Li[p]);
        }
        write_rows(n, rows, x, f->P, f->Rs, b);
    }
}
