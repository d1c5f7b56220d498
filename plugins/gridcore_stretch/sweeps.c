/* Tangents and adjoints over steps in which nothing happens, each of which is a sum of where it and those before it began,
 * and of slopes at its two ends: x1 = sum(beta_j x_-j) + early f0 + implicit f1. sweeps.py binds this. */

#include <math.h>
#include <string.h>

/* The growth is not looked at again while the ratio of pivots is the same to this factor, but for so many times at most */
#define ALIKE 2.0
#define UNSEEN 16

typedef struct {
    long n, entries, entries_p, rows; /* variables, entries of F_X and of F_p; tangents or adjoints side by side */
    /* of the points' workspace: F_X and F_p at its Z; and of matrices of a step, their products with rows */
    void (*linearise)(const void *, long, const void *, long, double *);
    int (*shifted)(const void *, const double *, const double *, const double *);
    void (*sum)(const void *, const double *, const double *, const double *, const double *);
    void (*times)(long, const void *, const double *, const double *, double *, int);
    void (*times_transposed)(long, const void *, const double *, const double *, double *, int);
    const void *plan, *table;
    long batches;
    const void *A, *B, *C;
    const double *of_A, *of_B, *of_C; /* their values */
    double *Z, *t;
    void (*rhs)(const void *); /* the slopes F there */
    const double *F;
    /* of factors; the ratio of pivots up to which they are singular, the least growth that is good enough */
    double (*refactor)(const void *, const double *, const void *);
    void (*solve)(const void *, const void *, long, double *), (*tsolve)(const void *, const void *, long, double *);
    double (*growth)(const void *, const double *, const void *);
    const void *pivots, *factors;
    double singular, least;
    double seen; /* the ratio of pivots when the growth was looked at last, 0 where it was not */
    long unseen; /* and for how many factors it was not */
    double *m, *c, *minus_c, *early; /* of a step: its differential rows are those in which m is one */
    double *here, *there;            /* F_X, and F_p behind it, at its start and at its end */
    double *w, *cw, *X, *P;          /* (rows, n) both; what is carried, (rows, n) and (rows, parameters) */
    long points;                     /* at which the steps of a sum began, at most */
    double *behind;                  /* (points, rows, n): adjoints of these, of point k in row k modulo points */
    const double *moves; /* how beta and implicit move with the distance of a point, (steps, points + 1); or NULL */
    double *T;           /* (rows,) tangents or adjoints of its time */
    /* of objectives: how many derivatives they have at a point, and which of them are added where to X and to P */
    long sources, n_x, n_p;
    const long *from_x, *to_x, *from_p, *to_p;
} sweeps;

/* The coefficients of a step to what is `there`, and factors of its matrix; whether there are any to be trusted */
static int factor(sweeps *s, double implicit, double early)
{
    for (long i = 0; i < s->n; ++i) {
        s->c[i] = s->m[i] ? implicit : -1.0;
        s->minus_c[i] = -s->c[i];
        s->early[i] = early * s->m[i];
    }
    if (!s->shifted(s->A, s->m, s->minus_c, s->there)) return 0;
    const double ratio = s->refactor(s->pivots, s->of_A, s->factors);
    if (!(ratio > s->singular)) return 0;
    if (++s->unseen < UNSEEN && ratio < ALIKE * s->seen && ratio * ALIKE > s->seen) return 1;
    s->seen = ratio;
    s->unseen = 0;
    return s->growth(s->pivots, s->of_A, s->factors) > s->least;
}

static void linearise(const sweeps *s, double t, const double *X, double *out)
{
    memcpy(s->Z, X, (size_t)s->n * sizeof(double));
    *s->t = t;
    s->linearise(s->plan, s->batches, s->table, s->entries_p, out);
}

static void swap(sweeps *s)
{
    double *const here = s->here;
    s->here = s->there;
    s->there = here;
}

/* Each row times these numbers */
static void scale(const sweeps *s, const double *by, const double *rows, double *to)
{
    for (long row = 0; row < s->rows; ++row, rows += s->n, to += s->n)
        for (long i = 0; i < s->n; ++i) to[i] = by[i] * rows[i];
}

/* How the end of step k moves with the distance of the point that moves: its differential rows, to `out`, where the
 * workspace stands at that end and the step began in the state X, behind those before it; whether it does */
static int moves(const sweeps *s, long k, const double *X, double *out)
{
    if (!s->moves) return 0;
    const double *of = s->moves + k * (s->points + 1);
    if (of[s->points] == 0.0) return 0;
    s->rhs(s->plan);
    for (long i = 0; i < s->n; ++i) {
        double sum = 0.0;
        for (long j = 1; j < s->points; ++j)
            if (of[j] != 0.0) sum += of[j] * (X[i - j * s->n] - X[i]);
        out[i] = s->m[i] * (sum + of[s->points] * s->F[i]);
    }
    return 1;
}

/* Move numbers, which leaves zeros */
static void take(double *to, double *from, long count)
{
    memcpy(to, from, (size_t)count * sizeof(double));
    for (long i = 0; i < count; ++i) from[i] = 0.0;
}

/* Adjoints over so many steps, the last of them first, that begin at times t in the states X, where objectives have
 * derivatives unless they are nothing. Over how many: fewer where factors are not to be trusted */
long sweeps_transpose(sweeps *s, long count, const double *implicit, const double *early, const double *beta,
                      const double *t, const double *X, const double *derivatives, const char *nonzero)
{
    const long size = s->rows * s->n;
    if (s->moves) X += s->points * s->n;
    for (long k = count - 1; k >= 0; --k) {
        if (!factor(s, implicit[k], early[k])) return count - 1 - k;
        memcpy(s->w, s->X, (size_t)size * sizeof(double));
        s->tsolve(s->pivots, s->factors, s->rows, s->w);
        if (moves(s, k, X + k * s->n, s->cw))
            for (long row = 0; row < s->rows; ++row)
                for (long i = 0; i < s->n; ++i) s->T[row] -= s->cw[i] * s->w[row * s->n + i];
        linearise(s, t[k], X + k * s->n, s->here);
        scale(s, s->m, s->w, s->X);
        scale(s, s->c, s->w, s->cw);
        s->times_transposed(s->rows, s->C, s->there + s->entries + 1, s->cw, s->P, 1);
        if (early[k] != 0) {
            scale(s, s->early, s->w, s->w);
            s->times_transposed(s->rows, s->A, s->here, s->w, s->X, 1);
            s->times_transposed(s->rows, s->C, s->here + s->entries + 1, s->w, s->P, 1);
        }
        for (long j = 0; s->points > 1 && j < s->points; ++j) {
            double *to = s->behind + (k + s->points - j) % s->points * size;
            for (long i = 0; i < size; ++i) to[i] += beta[k * s->points + j] * s->X[i];
        }
        if (s->points > 1) take(s->X, s->behind + k % s->points * size, size);
        if (nonzero[k]) {
            const double *of = derivatives + k * s->sources;
            for (long i = 0; i < s->n_x; ++i) s->X[s->to_x[i]] += of[s->from_x[i]];
            for (long i = 0; i < s->n_p; ++i) s->P[s->to_p[i]] += of[s->from_p[i]];
        }
        swap(s);
    }
    return count;
}

/* Tangents over so many steps, that end at times t in the states X: to `out`, (steps, rows, n), before which are those
 * where the steps of the first sum began. Over how many, as above */
long sweeps_forward(sweeps *s, long count, const double *implicit, const double *early, const double *beta,
                    const double *t, const double *X, double *out)
{
    const long size = s->rows * s->n;
    if (s->moves) X += s->points * s->n;
    for (long k = 0; k < count; ++k, out += size) {
        linearise(s, t[k], X + k * s->n, s->there);
        if (!factor(s, implicit[k], early[k])) return k;
        for (long i = 0; i < size; ++i) s->w[i] = 0.0;
        for (long j = 0; j < s->points; ++j)
            for (long i = 0; i < size; ++i) s->w[i] += beta[k * s->points + j] * out[i - (j + 1) * size];
        s->shifted(s->B, s->m, s->early, s->here);
        s->times(s->rows, s->B, s->of_B, s->w, out, 0);
        s->sum(s->C, s->early, s->here + s->entries + 1, s->c, s->there + s->entries + 1);
        s->times(s->rows, s->C, s->of_C, s->P, out, 1);
        if (moves(s, k, X + (k - 1) * s->n, s->cw))
            for (long row = 0; row < s->rows; ++row)
                for (long i = 0; i < s->n; ++i) out[row * s->n + i] -= s->cw[i] * s->T[row];
        s->solve(s->pivots, s->factors, s->rows, out);
        swap(s);
    }
    return count;
}

/* What sweeps.py has to agree with */
long sweeps_size(void) { return sizeof(sweeps); }
