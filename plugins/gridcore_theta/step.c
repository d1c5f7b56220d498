/* The loops of a theta step; predictor.py binds them, and has the same in numpy for where there is no C compiler. */

#include <math.h>

#define PAST 3

typedef struct {
    long n;
    void (*rhs)(const void *), (*residual)(const void *); /* of a workspace: F at Z; R = base + c F - mass X */
    const void *plan;                                     /* their argument */
    double *Z, *t;                                        /* of the workspace: X is the beginning of Z */
    const double *F, *mass;
    double *c, *base;
    double *X0, *f0;      /* variables and right-hand side at the start of the present step */
    double *slopes, *lengths; /* of the last PAST steps: rows, in a ring, from the latest to the one before it and on */
    long *count;              /* how many are known, the row of the latest, and how many steps slopes have not jumped since */
    double *first;            /* slopes where they jumped last */
    const double *scale;
    double *wrong;            /* room for an error */
    double theta, tiny, begun;     /* of steps one after the other: where the last one began; */
    double too_large, small, most; /* errors, relative to scale + |X|, of which `most` is the largest */
    long remembered, due, every;   /* how many were remembered; in how many the next one is estimated */
} path;

/* The equations of a step of length h, and their residual: c = h theta or -1, base = mass (X0 + h (1 - theta) f0);
 * mass is 1 or 0 */
void theta_equations(const path *p, double h, double theta)
{
    const double implicit = h * theta, early = h * (1 - theta);
    for (long i = 0; i < p->n; ++i) {
        p->c[i] = p->mass[i] ? implicit : -1.0;
        p->base[i] = p->mass[i] * (p->X0[i] + early * p->f0[i]);
    }
    p->residual(p->plan);
}

/* Weights of the slopes of the last steps: how far h leads on the polynomial through their ends */
static void weights(double h, long known, const double *lengths, double *a)
{
    a[0] = a[1] = a[2] = 0.0;
    if (known == 1) a[0] = h;
    if (known < 2) return;
    const double h1 = lengths[0], h2 = lengths[1], second = h * (h + h1) / (h1 + h2);
    a[0] = h + second;
    a[1] = -second;
    if (known == 2) return;
    const double h3 = lengths[2], third = h * (h + h1) * (h + h1 + h2) / (h1 + h2 + h3);
    a[2] = third / (h2 + h3);
    a[0] += third / (h1 + h2);
    a[1] = a[1] - third / (h1 + h2) - a[2];
}

/* A step of length h to time t begins: X0 = X, f0 = F(X) if the step needs it, or the estimate of its error does; X moves
 * on by the weighted slopes of the last steps, where the equations are set */
void theta_begin(const path *p, double t, double h, double theta)
{
    const long n = p->n, known = p->count[0], latest = p->count[1];
    const int needed = theta != 1 || known < PAST - 1;
    const double *s[PAST];
    double lengths[PAST], a[PAST];
    for (long j = 0; j < PAST; ++j) {
        s[j] = p->slopes + (latest + j) % PAST * n;
        lengths[j] = p->lengths[(latest + j) % PAST];
    }
    weights(h, known, lengths, a);
    if (needed) p->rhs(p->plan);
    for (long i = 0; i < n; ++i) {
        p->X0[i] = p->Z[i];
        if (needed) p->f0[i] = p->F[i];
        if (a[0]) p->Z[i] += a[0] * s[0][i];
        if (a[1]) p->Z[i] += a[1] * s[1][i];
        if (a[2]) p->Z[i] += a[2] * s[2][i];
    }
    *p->t = t;
    theta_equations(p, h, theta);
}

/* A step of length h has been made: its slope is the latest */
void theta_end(const path *p, double h)
{
    const long n = p->n, latest = p->count[1] = (p->count[1] + PAST - 1) % PAST;
    double *slope = p->slopes + latest * n;
    const int begins = !p->count[2]++;
    for (long i = 0; i < n; ++i) {
        slope[i] = (p->Z[i] - p->X0[i]) / h;
        if (begins) p->first[i] = p->f0[i];
    }
    p->lengths[latest] = h;
    if (p->count[0] < PAST) ++p->count[0];
}

/* Weights of the slopes of the last three steps: predictor.py says of what */
static void error_weights(double theta, double h1, double h2, double h3, double *a)
{
    const double second = (1 - 2 * theta) * h1 * h1, third = (1 - 3 * theta) * h1 * h1 * h1 / (h1 + h2 + h3);
    a[0] = (second + third) / (h1 + h2);
    a[2] = third / (h2 + h3);
    a[1] = -a[0] - a[2];
}

/* By how much the present step of length h is wrong, in differential rows */
void theta_local_error(const path *p, double h, double theta, double *out)
{
    const long n = p->n, latest = p->count[1], before = (latest + 1) % PAST, since = p->count[2];
    const double *s = p->slopes + latest * n, *r = p->slopes + before * n;
    const int by_three = p->count[0] >= PAST - 1, by_first = since == 1 && theta == 0.5;
    const int by_euler = !by_first && (!by_three || (!since && theta != 1));
    double a[3] = {0.0}, b[3] = {0.0};
    if (by_three) error_weights(theta, h, p->lengths[latest], p->lengths[before], a);
    if (by_first) error_weights(theta, h, p->lengths[latest], 0.0, b);
    for (long i = 0; i < n; ++i) {
        const double slope = (p->Z[i] - p->X0[i]) / h, one = a[0] * slope + a[1] * s[i] + a[2] * r[i];
        const double other = by_first ? b[0] * slope + b[1] * s[i] + b[2] * p->first[i] : h * (slope - p->f0[i]);
        out[i] = !by_three || ((by_first || by_euler) && !(fabs(one) < fabs(other))) ? other : one;
    }
}

/* As gridcore_stretch asks; algebraic variables follow the differential ones */
long theta_error(const path *p, double *out)
{
    theta_local_error(p, *p->t - p->begun, p->theta, out);
    for (long i = 0; i < p->n; ++i) out[i] = p->mass[i] ? out[i] : 0.0;
    return p->theta == 0.5 ? -2 : -1;
}

/* The largest part of scale + |X| by which the present step of length h is wrong; nan where one is no number */
static double largest_error(const path *p, double h)
{
    double largest = 0.0, all = 0.0;
    theta_local_error(p, h, p->theta, p->wrong);
    for (long i = 0; i < p->n; ++i) {
        const double part = fabs(p->wrong[i]) * p->mass[i] / (p->scale[i] + fabs(p->Z[i]));
        largest = part > largest ? part : largest;
        all += part;
    }
    return isnan(all) ? all : largest;
}

/* As gridcore_stretch asks: the step from t to an end, after the last one was remembered; one whose slope says nothing
 * beside the next, or whose error is too large, is not for here */
double theta_go(path *p, double t, double end, long follows, long stage)
{
    (void)stage;
    if (follows) {
        if (t - p->begun <= p->tiny * (end - t)) return 0.0;
        if (p->due <= 1) {
            const double now = largest_error(p, t - p->begun);
            if (!(now <= p->too_large)) return 0.0;
            p->most = now > p->most ? now : p->most;
            p->due = 1 + (now < p->small ? p->every : 1);
        }
        --p->due;
        theta_end(p, t - p->begun);
        ++p->remembered;
    }
    p->begun = t;
    theta_begin(p, end, end - t, p->theta);
    return end - t;
}

double theta_ended(const path *p, double t)
{
    *p->t = t;
    theta_equations(p, t - p->begun, p->theta);
    return t - p->begun;
}
