/* LU by rows, with the pivots that KLU has found. A solve takes rows of one length together that do not wait for each
 * other, so that its loops have no ends to guess; a factorisation takes up to four rows of U at once whose patterns are
 * nested. by_rows.py binds this. */

#include <math.h>

typedef struct {
    long groups;
    int *length, *count; /* of each group of rows, in the order of a solve */
    int *row;            /* the rows, group after group */
    int *begin, *size;   /* of each row, in the order of pivots: where its entries are, and how many */
    int *column;         /* of each entry, in rising order; without the diagonal */
} triangle;

typedef struct {
    long n;
    const int *P, *Q;          /* row and column of the matrix by the order of pivots */
    int *ptr, *column, *place; /* the matrix by rows, rows and columns in that order; where its values are */
    int *nested;               /* how many rows of U begin here, each of which is the next one and its entries */
    triangle lower, upper;
    double *w, *x; /* w is zero wherever nobody is at work */
} pivots;

typedef struct {
    double *lower, *upper, *inverse, *scale; /* `inverse` of U's diagonal; `scale` of the matrix's rows */
} values;

/* out = in, or 0, 1, .. n - 1, in the order of its keys */
static void sort(long n, const int *key, const int *in, int *out, int *first)
{
    for (long i = 0; i <= n; ++i) first[i] = 0;
    for (long i = 0; i < n; ++i) ++first[key[i] + 1];
    for (long i = 0; i < n; ++i) first[i + 1] += first[i];
    for (long i = 0; i < n; ++i) {
        const int k = in ? in[i] : (int)i;
        out[first[key[k]]++] = k;
    }
}

/* Columns ptr + begin to ptr + 1 - end of L or U, by rows; `step` is the direction of a solve */
static void arrange(long n, const int *ptr, const int *index, int begin, int end, int step, triangle *t, int *work)
{
    int *level = work, *by_size = work + n, *first = work + 2 * n, at = 0;
    for (long k = 0; k < n; ++k) level[k] = t->size[k] = 0;
    for (long j = step > 0 ? 0 : n - 1; j >= 0 && j < n; j += step)
        for (int p = ptr[j] + begin; p < ptr[j + 1] - end; ++p) {
            const int i = index[p];
            ++t->size[i];
            if (level[i] <= level[j]) level[i] = level[j] + 1;
        }
    sort(n, t->size, 0, by_size, first);
    sort(n, level, by_size, t->row, first);
    t->groups = 0;
    for (long q = 0; q < n; ++q) {
        const int k = t->row[q], before = q ? t->row[q - 1] : k;
        if (!q || t->size[k] != t->size[before] || level[k] != level[before]) {
            t->length[t->groups] = t->size[k];
            t->count[t->groups++] = 0;
        }
        ++t->count[t->groups - 1];
        t->begin[k] = at;
        at += t->size[k];
    }
    for (long k = 0; k < n; ++k) first[k] = t->begin[k];
    for (long j = 0; j < n; ++j)
        for (int p = ptr[j] + begin; p < ptr[j + 1] - end; ++p) t->column[first[index[p]]++] = (int)j;
}

/* What is the same for all matrices with these pivots, from KLU's L and U by columns; returns the operations of a
 * factorisation. `work` has 3 n + 1 numbers. */
double rows_arrange(pivots *p, const int *Lp, const int *Li, const int *Up, const int *Ui, const int *indptr,
                    const int *indices, int *work)
{
    const long n = p->n;
    int *of_row = work, *next = work + n;
    double operations = 0.0;
    arrange(n, Lp, Li, 1, 0, 1, &p->lower, work);
    arrange(n, Up, Ui, 0, 1, -1, &p->upper, work);
    for (long k = 0; k < n; ++k) operations += (Lp[k + 1] - Lp[k] - 1) * (2.0 * p->upper.size[k] + 1.0);
    for (long k = n - 1; k >= 0; --k) {
        const int size = p->upper.size[k], *row = p->upper.column + p->upper.begin[k];
        int same = k + 1 < n && size == p->upper.size[k + 1] + 1 && row[0] == k + 1;
        for (int q = 1; same && q < size; ++q) same = row[q] == p->upper.column[p->upper.begin[k + 1] + q - 1];
        p->nested[k] = same ? p->nested[k + 1] + 1 : 1;
    }
    for (long k = 0; k < n; ++k) of_row[p->P[k]] = (int)k;
    for (long k = 0; k <= n; ++k) p->ptr[k] = 0;
    for (int q = 0; q < indptr[n]; ++q) ++p->ptr[of_row[indices[q]] + 1];
    for (long k = 0; k < n; ++k) next[k] = p->ptr[k + 1] += p->ptr[k];
    for (long k = n - 1; k >= 0; --k)
        for (int q = indptr[p->Q[k]]; q < indptr[p->Q[k] + 1]; ++q) {
            const int at = --next[of_row[indices[q]]];
            p->column[at] = (int)k;
            p->place[at] = q;
        }
    return operations;
}

/* Factors of the matrix with the values A, rows scaled to a largest entry of one. Returns the ratio of the extreme pivots;
 * 0, and no factors, where one is zero or no number. */
double rows_refactor(const pivots *p, const double *A, const values *v)
{
    const int *begin = p->upper.begin, *size = p->upper.size, *column = p->upper.column;
    double *restrict w = p->w, *restrict upper = v->upper, *restrict lower = v->lower, least = INFINITY, most = 0.0;
    for (long k = 0; k < p->n; ++k) {
        double largest = 0.0;
        for (int q = p->ptr[k]; q < p->ptr[k + 1]; ++q) {
            const double entry = fabs(A[p->place[q]]);
            largest = entry > largest ? entry : largest;
        }
        const double scale = v->scale[k] = largest > 0.0 ? 1.0 / largest : 1.0;
        for (int q = p->ptr[k]; q < p->ptr[k + 1]; ++q) w[p->column[q]] = scale * A[p->place[q]];
        const int *at = p->lower.column + p->lower.begin[k], left = p->lower.size[k];
        double *restrict l = lower + p->lower.begin[k];
        for (int q = 0; q < left;) {
            const int j = at[q];
            const double *u0 = upper + begin[j], l0 = l[q++] = w[j] * v->inverse[j];
            w[j] = 0.0;
            if (p->nested[j] < 2 || q >= left || at[q] != j + 1) {
                const int *c = column + begin[j];
                for (int i = 0; i < size[j]; ++i) w[c[i]] -= l0 * u0[i];
                continue;
            }
            const double *u1 = upper + begin[j + 1], l1 = l[q++] = (w[j + 1] - l0 * u0[0]) * v->inverse[j + 1];
            w[j + 1] = 0.0;
            if (p->nested[j] < 4 || q + 1 >= left || at[q] != j + 2 || at[q + 1] != j + 3) {
                const int *c = column + begin[j + 1];
                for (int i = 0; i < size[j + 1]; ++i) w[c[i]] -= l0 * u0[i + 1] + l1 * u1[i];
                continue;
            }
            const double *u2 = upper + begin[j + 2], *u3 = upper + begin[j + 3];
            const double l2 = l[q++] = (w[j + 2] - l0 * u0[1] - l1 * u1[0]) * v->inverse[j + 2];
            const double l3 = l[q++] = (w[j + 3] - l0 * u0[2] - l1 * u1[1] - l2 * u2[0]) * v->inverse[j + 3];
            w[j + 2] = w[j + 3] = 0.0;
            const int *c = column + begin[j + 3];
            for (int i = 0; i < size[j + 3]; ++i) w[c[i]] -= l0 * u0[i + 3] + l1 * u1[i + 2] + l2 * u2[i + 1] + l3 * u3[i];
        }
        const double pivot = w[k], pivot_size = fabs(pivot);
        w[k] = 0.0;
        const int *c = column + begin[k];
        double *restrict u = upper + begin[k];
        for (int i = 0; i < size[k]; ++i) {
            u[i] = w[c[i]];
            w[c[i]] = 0.0;
        }
        if (!(pivot_size > 0.0)) return 0.0;
        v->inverse[k] = 1.0 / pivot;
        if (pivot_size < least) least = pivot_size;
        if (pivot_size > most) most = pivot_size;
    }
    return least / most;
}

static inline double larger(double a, double b) { return a > b ? a : b; }

/* The smallest ratio, over columns, of the largest entry of the matrix to that of U, as klu_rgrowth's; 1 at most, and 0
 * where an entry of U is not finite */
double rows_growth(const pivots *p, const double *A, const values *v)
{
    double *matrix = p->x, *factor = p->w, ratio = 1.0, nothing = 0.0;
    for (long k = 0; k < p->n; ++k) matrix[k] = 0.0;
    for (long k = 0; k < p->n; ++k) {
        for (int q = p->ptr[k]; q < p->ptr[k + 1]; ++q)
            matrix[p->column[q]] = larger(matrix[p->column[q]], fabs(v->scale[k] * A[p->place[q]]));
        factor[k] = larger(factor[k], fabs(1.0 / v->inverse[k]));
        const int *c = p->upper.column + p->upper.begin[k];
        const double *u = v->upper + p->upper.begin[k];
        for (int i = 0; i < p->upper.size[k]; ++i) {
            factor[c[i]] = larger(factor[c[i]], fabs(u[i]));
            nothing += 0.0 * u[i];
        }
    }
    for (long k = 0; k < p->n; ++k) {
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
    double *x = p->x;
    for (; count--; b += p->n) {
        for (long k = 0; k < p->n; ++k) x[k] = v->scale[k] * b[p->P[k]];
        substitute(&p->lower, v->lower, 0, x);
        substitute(&p->upper, v->upper, v->inverse, x);
        for (long k = 0; k < p->n; ++k) b[p->Q[k]] = x[k];
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
    double *x = p->x;
    for (; count--; b += p->n) {
        for (long k = 0; k < p->n; ++k) x[k] = b[p->Q[k]];
        for (long k = 0; k < p->n; ++k) {
            x[k] *= v->inverse[k];
            spread(&p->upper, v->upper, k, x);
        }
        for (long k = p->n - 1; k >= 0; --k) {
            spread(&p->lower, v->lower, k, x);
            b[p->P[k]] = v->scale[k] * x[k];
        }
    }
}
