/* LU by rows, with the pivots that KLU has found. A solve takes rows of one length together that do not wait for each
 * other, so that its loops have no ends to guess. A factorisation does so with pivots whose rows of U are short; then it
 * takes the other rows one after the other, with up to four rows of U at once whose patterns are nested. by_rows.py binds
 * this. */

#include <math.h>
#include <string.h>

#define SHORT 16

typedef struct {
    long groups;
    int *length, *count; /* of each group of rows, in the order of a solve */
    int *row;            /* the rows, group after group */
    int *begin, *size;   /* of each row, in the order of pivots: where its entries are, and how many */
    int *column;         /* of each entry; without the diagonal */
} triangle;

typedef struct {
    long groups, late, numbers;
    int *length, *below, *count; /* of each group: entries in a row of U and in a column of L, and pivots */
    int *row;   /* the pivots that are not in groups, and come after them */
    int *ahead; /* how many entries of each row of L are of pivots in groups: they come first */
    int *at;    /* of each pivot in a group: it and where its row of U is; of each entry of its column of L, its place and
                 * those of the entries that change with it */
} eliminations;

typedef struct {
    long n;
    const int *P, *Q;         /* row and column of the matrix by the order of pivots */
    int *row, *ptr;           /* rows of the matrix in that order, those with fewer entries first; where they begin */
    int *column, *place, *to; /* of their entries: columns in that order; where their values are, and where in factors */
    int *nested;              /* how many rows of U begin here, each of which is the next one and its entries */
    triangle lower, upper;
    eliminations early;
    double *w, *x; /* w is zero wherever nobody is at work */
} pivots;

typedef struct {
    double *lower, *upper, *inverse; /* one behind the other; `inverse` of U's diagonal */
    double *scale;                   /* of the matrix's rows, to a largest entry of one: pivots are told so */
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

/* The matrix by rows */
static void arrange_matrix(pivots *p, const int *indptr, const int *indices, int *work)
{
    const long n = p->n;
    int *of_row = work, *more = work + n, *next = work + 2 * n; /* `more` entries than one */
    for (long k = 0; k < n; ++k) of_row[p->P[k]] = (int)k, more[k] = -1;
    for (int q = 0; q < indptr[n]; ++q) ++more[of_row[indices[q]]];
    sort(n, more, 0, p->row, next);
    p->ptr[0] = 0;
    for (long q = 0; q < n; ++q) p->ptr[q + 1] = p->ptr[q] + more[p->row[q]] + 1;
    for (long q = 0; q < n; ++q) next[p->row[q]] = p->ptr[q];
    for (long k = 0; k < n; ++k)
        for (int q = indptr[p->Q[k]]; q < indptr[p->Q[k] + 1]; ++q) {
            const int at = next[of_row[indices[q]]]++;
            p->column[at] = (int)k;
            p->place[at] = q;
        }
}

/* The level of a pivot that also waits for one of this level; -1 is none, of pivots that come after all groups */
static int waits(int level, int of)
{
    return level < 0 || of < 0 ? -1 : level > of ? level : of + 1;
}

/* Which pivots come in groups; `begin` of each is where its numbers are, or -1 */
static void arrange_early(pivots *p, const int *Lp, const int *Up, const int *Ui, int *begin, int *work)
{
    const long n = p->n;
    const int *length = p->upper.size;
    int *level = work, *below = work + n, *order = work + 2 * n, *early = work + 3 * n, *first = work + 4 * n;
    eliminations *e = &p->early;
    long count = 0;
    for (long k = 0; k < n; ++k) { /* after all that change its row or its column, if they are in groups */
        const int *column = p->lower.column + p->lower.begin[k];
        level[k] = length[k] <= SHORT ? 0 : -1;
        for (int q = 0; q < p->lower.size[k]; ++q) level[k] = waits(level[k], level[column[q]]);
        for (int q = Up[k]; q < Up[k + 1] - 1; ++q) level[k] = waits(level[k], level[Ui[q]]);
        begin[k] = level[k] < 0 ? 0 : level[k];
        below[k] = Lp[k + 1] - Lp[k] - 1;
    }
    sort(n, below, 0, early, first);
    sort(n, length, early, order, first);
    sort(n, begin, order, early, first);
    e->groups = e->late = e->numbers = 0;
    for (long q = 0; q < n; ++q) {
        const int k = early[q], before = count ? early[count - 1] : k;
        begin[k] = -1;
        if (level[k] < 0) continue;
        if (!count || level[k] != level[before] || below[k] != below[before] || length[k] != length[before]) {
            e->length[e->groups] = length[k];
            e->below[e->groups] = below[k];
            e->count[e->groups++] = 0;
        }
        ++e->count[e->groups - 1];
        early[count++] = k;
        begin[k] = (int)e->numbers;
        e->numbers += 2 + below[k] * (1 + length[k]);
    }
    for (long k = 0; k < n; ++k) {
        int *column = p->lower.column + p->lower.begin[k], left = 0;
        if (level[k] < 0) e->row[e->late++] = (int)k;
        e->ahead[k] = 0;
        for (int q = 0; q < p->lower.size[k]; ++q) /* those of groups first, each sort in rising order */
            if (level[column[q]] < 0) order[left++] = column[q];
            else column[e->ahead[k]++] = column[q];
        for (int q = 0; q < left; ++q) column[e->ahead[k] + q] = order[q];
    }
}

/* What is the same for all matrices with these pivots, from KLU's L and U by columns, but for `early.at` and `to`; returns
 * the operations of a factorisation. `work` has 6 n + 1 numbers, of which rows_places reads the first n. */
double rows_arrange(pivots *p, const int *Lp, const int *Li, const int *Up, const int *Ui, const int *indptr,
                    const int *indices, int *work)
{
    const long n = p->n;
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
    arrange_matrix(p, indptr, indices, work);
    arrange_early(p, Lp, Up, Ui, work, work + n);
    return operations;
}

/* The places in the factors: of the matrix's entries, and in the numbers of pivots in groups, for which there is room now */
void rows_places(const pivots *p, int *work)
{
    const triangle *L = &p->lower, *U = &p->upper;
    const long n = p->n;
    int *next = work, *where = work + n, upper = 0, inverse;
    for (long k = 0; k < n; ++k) upper += L->size[k];
    inverse = upper;
    for (long k = 0; k < n; ++k) inverse += U->size[k];
    for (long k = 0; k < n; ++k) {
        if (next[k] < 0) continue;
        int *at = p->early.at + next[k];
        at[0] = (int)k;
        at[1] = upper + U->begin[k];
        next[k] += 2;
    }
    for (long r = 0; r < n; ++r) {
        const int k = p->row[r], *l = L->column + L->begin[k], *u = U->column + U->begin[k];
        for (int q = 0; q < L->size[k]; ++q) where[l[q]] = L->begin[k] + q;
        for (int q = 0; q < U->size[k]; ++q) where[u[q]] = upper + U->begin[k] + q;
        where[k] = inverse + k;
        for (int q = p->ptr[r]; q < p->ptr[r + 1]; ++q) p->to[q] = where[p->column[q]];
        for (int q = 0; q < p->early.ahead[k]; ++q) {
            const int j = l[q], size = U->size[j], *changed = U->column + U->begin[j];
            int *at = p->early.at + next[j];
            at[0] = where[j];
            for (int i = 0; i < size; ++i) at[1 + i] = where[changed[i]];
            next[j] += 1 + size;
        }
    }
}

typedef struct {
    double least, most; /* of the pivots, without their sign */
} extremes;

static inline void meet(extremes *e, double pivot)
{
    const double size = fabs(pivot);
    if (!(size >= e->least)) e->least = size > 0.0 ? size : 0.0;
    if (size > e->most) e->most = size;
}

/* Pivots of one shape that do not wait for each other */
#define PIVOTS(length)                                                               \
    case length:                                                                     \
        for (int q = 0; q < count; ++q) {                                            \
            double u[length + 1], *pivot = v->inverse + at[0];                       \
            for (int i = 0; i < length; ++i) u[i] = value[at[1] + i];                \
            meet(&met, *pivot * v->scale[at[0]]);                                    \
            const double of = *pivot = 1.0 / *pivot;                                 \
            at += 2;                                                                 \
            for (int j = 0; j < below; ++j, at += 1 + length) {                      \
                const double l = value[at[0]] *= of;                                 \
                for (int i = 0; i < length; ++i) value[at[1 + i]] -= l * u[i];       \
            }                                                                        \
        }                                                                            \
        break;

static extremes eliminate_early(const eliminations *e, const values *v)
{
    extremes met = {INFINITY, 0.0};
    double *value = v->lower;
    const int *at = e->at;
    for (long g = 0; g < e->groups; ++g) {
        const int below = e->below[g], count = e->count[g];
        switch (e->length[g]) {
            PIVOTS(0) PIVOTS(1) PIVOTS(2) PIVOTS(3) PIVOTS(4) PIVOTS(5) PIVOTS(6) PIVOTS(7) PIVOTS(8) PIVOTS(9) PIVOTS(10)
            PIVOTS(11) PIVOTS(12) PIVOTS(13) PIVOTS(14) PIVOTS(15) PIVOTS(16)
        }
    }
    return met;
}

/* Factors of the matrix with the values A. Returns the ratio of the extreme pivots, as if rows were scaled; 0, and no
 * factors, where one is zero or no number. */
double rows_refactor(const pivots *p, const double *A, const values *v)
{
    const int *begin = p->upper.begin, *size = p->upper.size, *column = p->upper.column;
    double *restrict w = p->w, *upper = v->upper, *lower = v->lower, *inverse = v->inverse;
    memset(lower, 0, (inverse + p->n - lower) * sizeof *lower);
    for (long r = 0; r < p->n; ++r) {
        double largest = 0.0;
        for (int q = p->ptr[r]; q < p->ptr[r + 1]; ++q) {
            const double entry = lower[p->to[q]] = A[p->place[q]], size = fabs(entry);
            largest = size > largest ? size : largest;
        }
        v->scale[p->row[r]] = largest > 0.0 ? 1.0 / largest : 1.0;
    }
    extremes met = eliminate_early(&p->early, v);
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
        meet(&met, pivot * v->scale[k]);
        inverse[k] = 1.0 / pivot;
    }
    return met.least > 0.0 ? met.least / met.most : 0.0;
}

static inline double larger(double a, double b) { return a > b ? a : b; }

/* The smallest ratio, over columns, of the largest entry of the matrix to that of U, as klu_rgrowth's; 1 at most, and 0
 * where an entry of U is not finite */
double rows_growth(const pivots *p, const double *A, const values *v)
{
    double *matrix = p->x, *factor = p->w, ratio = 1.0, nothing = 0.0;
    for (long k = 0; k < p->n; ++k) matrix[k] = 0.0;
    for (long r = 0; r < p->n; ++r)
        for (int q = p->ptr[r]; q < p->ptr[r + 1]; ++q)
            matrix[p->column[q]] = larger(matrix[p->column[q]], fabs(v->scale[p->row[r]] * A[p->place[q]]));
    for (long k = 0; k < p->n; ++k) {
        factor[k] = larger(factor[k], fabs(v->scale[k] / v->inverse[k]));
        const int *c = p->upper.column + p->upper.begin[k];
        const double *u = v->upper + p->upper.begin[k];
        for (int i = 0; i < p->upper.size[k]; ++i) {
            factor[c[i]] = larger(factor[c[i]], fabs(v->scale[k] * u[i]));
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
        for (long k = 0; k < p->n; ++k) x[k] = b[p->P[k]];
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
            b[p->P[k]] = x[k];
        }
    }
}
