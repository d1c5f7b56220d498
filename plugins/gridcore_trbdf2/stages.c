/* The stages of steps whose ends are known, solved again: each from where the second formula says that it was. stages.py
 * binds this. */

#include <math.h>
#include <string.h>

#define ITERATIONS 30

typedef struct {
    long n;
    /* of a workspace, whose equations are R = base + c F - mass X */
    void (*rhs)(const void *), (*residual)(const void *);
    int (*matrix)(const void *);
    double (*newton)(const void *, double);
    const void *plan;
    double *Z, *t, *R, *c, *base;
    const double *F, *A, *mass;
    /* of factors */
    double (*refactor)(const void *, const double *, const void *);
    void (*solve)(const void *, const void *, long, double *);
    const void *pivots, *values;
    double singular, enough, floor, fast; /* the ratio of pivots; how short the last correction is, and how they shrink */
    double gamma, alpha, a;
} stages;

/* F at a point */
static void evaluate(const stages *s, double t, const double *X)
{
    memcpy(s->Z, X, (size_t)s->n * sizeof(double));
    *s->t = t;
    s->rhs(s->plan);
}

/* Newton's iteration from the guess that stands there; whether it converges as it should */
static int converges(const stages *s)
{
    double before = INFINITY;
    s->residual(s->plan);
    if (!s->matrix(s->plan) || !(s->refactor(s->pivots, s->A, s->values) > s->singular)) return 0;
    for (int k = 0; k < ITERATIONS; ++k) {
        s->solve(s->pivots, s->values, 1, s->R);
        const double norm = s->newton(s->plan, s->enough);
        if (norm <= s->enough) return 1;
        if (!(norm <= s->fast * before)) return norm <= s->floor; /* what has not shrunk may be round-off */
        before = norm;
    }
    return 0;
}

/* Of so many steps, between these times and states, to `out`, (steps, n): of how many */
long stages_go(const stages *s, long count, const double *t, const double *X, double *out)
{
    for (long k = 0; k < count; ++k, out += s->n) {
        const double h = t[k + 1] - t[k], implicit = s->alpha * h, *X0 = X + k * s->n, *X2 = X0 + s->n;
        evaluate(s, t[k + 1], X2);
        for (long i = 0; i < s->n; ++i)
            out[i] = s->mass[i] ? (X2[i] - (1 - s->a) * X0[i] - implicit * s->F[i]) / s->a
                                : X0[i] + s->gamma * (X2[i] - X0[i]);
        evaluate(s, t[k], X0);
        for (long i = 0; i < s->n; ++i) {
            s->c[i] = s->mass[i] ? implicit : -1.0;
            s->base[i] = s->mass[i] * (X0[i] + implicit * s->F[i]);
        }
        memcpy(s->Z, out, (size_t)s->n * sizeof(double));
        *s->t = t[k] + s->gamma * h;
        if (!converges(s)) return k;
        memcpy(out, s->Z, (size_t)s->n * sizeof(double));
    }
    return count;
}
