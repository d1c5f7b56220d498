/* The equations of a step on the points before it; past.py binds this, and has the same in numpy for where there is no C
 * compiler. */

#include <math.h>
#include <string.h>

#define MOST 6 /* points that lead: one more than the highest order */

/* As orders.py has them and says what they are */
#define STABLE 2
#define EVERY 6
#define FAST 0.7
#define SLOW 0.6
#define OFTEN 3
#define GROWN 1.3
#define LONGER 2.0
#define TOLD 1e-11

/* The order of a step at most: orders.py says how it is chosen. Changes of it, so many, are at times and to orders */
typedef struct {
    long order, chooses, changes, at; /* of changes: the next one, where it is not chosen */
    long steps, looks;                /* since the last look; looks in a row that found a frequency too fast */
    double began, length;             /* when the history began; the step at the first of these looks */
    double fast[MOST];                /* of orders, the frequency that was too fast for them, 0 while there was none */
    double *times;
    long *orders;
} orders;

typedef struct {
    long n, highest, start; /* the highest order: there is room for one point more; that of the first step */
    double near;            /* part of a step: points that are nearer to the next are passed over */
    double far;             /* algebraic variables follow where they are off by so many times what the others are */
    void (*rhs)(const void *), (*residual)(const void *); /* of a workspace: F at Z; R = base + c F - mass X */
    const void *plan;                                     /* their argument */
    double *Z, *t;                                        /* of the workspace: X is the beginning of Z */
    const double *F, *mass;
    double *c, *base;
    double *points, *led; /* (highest + 1, n): points at which steps began; where they lead */
    double *slope, *bend; /* of variables where a history begins; and how that changes, 0 where it is not known */
    double *times;        /* of these rows */
    long *rows;           /* their numbers, latest first; behind them how many there are */
    const double *scale;  /* of variables */
    orders *of;
    const double *least;  /* part of what they are off that counts then, at least */
    double *made;         /* b, the distance of what only the polynomial that leads knows, the order, whether it is a slope */
} path;

/* The product of d_j / (d_j - d_i) over all j but i */
static double weight(const double *d, long count, long i)
{
    double product = 1.0;
    for (long j = 0; j < count; ++j)
        if (j != i) product *= d[j] / (d[j] - d[i]);
    return product;
}

/* Which of the points are far enough apart, latest first, one more than the order at most: their distances from t, and
 * their rows; how many */
static long chosen(const path *p, double t, double *d, long *rows)
{
    double latest = p->times[p->rows[0]], gap = 0.0;
    long count = 1;
    rows[0] = p->rows[0];
    d[0] = t - latest;
    for (long k = 1; k < p->rows[p->highest + 1] && count <= p->of->order && d[0] != 0; ++k) {
        const double time = p->times[p->rows[k]], before = latest - time;
        if (!(before > p->near * gap)) continue;
        gap = before;
        rows[count] = p->rows[k];
        d[count++] = t - (latest = time);
    }
    return count;
}

/* How much the second point counts, 0 to 1 */
static double share(const path *p, long count, const double *d)
{
    if (count == 1) return 0.0;
    const double u = (d[1] / d[0] - 1) / p->near - 1;
    return u <= 0 ? 0.0 : u >= 1 ? 1.0 : u * u * (3 - 2 * u);
}

/* Leave out the second point; returns how many are left */
static long without_second(long count, double *d, long *rows)
{
    for (long k = 1; k < count - 1; ++k) {
        d[k] = d[k + 1];
        rows[k] = rows[k + 1];
    }
    return count > 1 ? count - 1 : count;
}

/* Add a part of the formula on points that all count: to b, and to the beta of their rows */
static double formula(double part, long count, const double *d, const long *rows, double *beta)
{
    double all = 0.0;
    for (long i = 0; i < count; ++i) all += 1 / d[i];
    const double b = count > 1 ? 1 / all : d[0];
    for (long i = 0; i < count; ++i) beta[rows[i]] += part * (count > 1 ? b / d[i] * weight(d, count, i) : 1.0);
    return part * b;
}

/* Weights of points of the polynomial that has a given slope at the nearest one, too; returns that of the slope */
static double with_slope(const double *d, long count, double *w)
{
    const double h = d[0];
    double along = h, own = 0.0;
    for (long j = 1; j < count; ++j) {
        along *= d[j] / (d[j] - h);
        own += 1 / (d[j] - h);
    }
    w[0] = weight(d, count, 0) - along * own;
    for (long i = 1; i < count; ++i) {
        double slope = 1 / (h - d[i]);
        for (long j = 1; j < count; ++j)
            if (j != i) slope *= (d[j] - h) / (d[j] - d[i]);
        w[i] = weight(d, count, i) - along * slope;
    }
    return along;
}

/* Points, as many as there may be, with weights of some rows: of the others zero */
typedef struct {
    const double *x[MOST];
    double w[MOST];
} weighted;

static weighted of_rows(const path *p, long count, const double *w, const long *rows)
{
    weighted points;
    for (long k = 0; k < MOST; ++k) {
        points.x[k] = p->points + (k <= p->highest ? k * p->n : 0);
        points.w[k] = 0.0;
    }
    for (long k = 0; k < count; ++k) points.w[rows[k]] = w[k];
    return points;
}

/* Their sum, of one variable */
static inline double sum(const weighted *p, long i)
{
    return p->w[0] * p->x[0][i] + p->w[1] * p->x[1][i] + p->w[2] * p->x[2][i] + p->w[3] * p->x[3][i]
           + p->w[4] * p->x[4][i] + p->w[5] * p->x[5][i];
}

/* Where the points lead at t: of differential variables, if they have no point more than the formula, with the slope at
 * the start, which stands in the workspace; or on a parabola from where the history `starts` */
static void lead(const path *p, long count, const double *d, const long *rows, int starts)
{
    double w[MOST];
    for (long i = 0; i < count; ++i) w[i] = weight(d, count, i);
    const weighted points = of_rows(p, count, w, rows);
    for (long i = 0; i < p->n; ++i) p->led[i] = sum(&points, i);
    p->made[1] = d[count - 1];
    p->made[3] = count <= p->of->order;
    if (!p->made[3]) return;
    p->made[1] = d[0];
    if (starts) {
        for (long i = 0; i < p->n; ++i)
            if (p->mass[i]) p->led[i] += d[0] * (p->slope[i] + d[0] / 2 * p->bend[i]);
        return;
    }
    const double along = with_slope(d, count, w);
    const weighted others = of_rows(p, count, w, rows);
    p->rhs(p->plan);
    for (long i = 0; i < p->n; ++i)
        if (p->mass[i]) p->led[i] = along * p->F[i] + sum(&others, i);
}

/* How far what stands in the workspace is off the polynomial through so many points: the largest part of scale + |X|.
 * Numbers without a sign have the order of their bits */
static double off(const path *p, long count, const double *d)
{
    double w[MOST], off;
    long long largest = 0, bits;
    for (long k = 0; k < count; ++k) w[k] = weight(d, count, k);
    const weighted points = of_rows(p, count, w, p->rows);
    for (long i = 0; i < p->n; ++i) {
        const double part = fabs(p->Z[i] - sum(&points, i)) / (p->scale[i] + fabs(p->Z[i]));
        memcpy(&bits, &part, sizeof bits);
        largest = bits > largest ? bits : largest;
    }
    memcpy(&off, &largest, sizeof off);
    return off;
}

/* The error of a formula of this order at the end of the last step */
static double error(const path *p, long order, const double *d)
{
    double all = 0.0;
    for (long k = 0; k < order; ++k) all += 1 / d[k];
    return off(p, order + 1, d) / all / d[order];
}

/* From the step on that begins at t the order is another */
static void change(orders *of, double t, long order)
{
    of->times[of->changes] = t;
    of->orders[of->changes++] = of->order = order;
}

/* Whether a higher order allows much longer steps by its error, for which it is stable; it is taken then */
static int longer(const path *p, double t, const double *d)
{
    orders *of = p->of;
    const double now = error(p, of->order, d);
    double longest = LONGER;
    long better = 0;
    for (long q = of->order + 1; q <= p->highest; ++q) {
        const double of_order = error(p, q, d), by = of_order > 0 ? pow(now / of_order, 1.0 / (q + 1)) : 0.0;
        if (!(by > longest && d[0] * by * of->fast[q] < SLOW)) continue;
        longest = by;
        better = q;
    }
    if (better) change(of, t, better);
    return better > 0;
}

/* The order of the step that begins at t: as it was chosen, or is chosen by the points before it */
static void decide(const path *p, double t, long known)
{
    orders *of = p->of;
    double d[MOST];
    if (known == 0) {
        of->order = p->highest;
        for (long q = 0; q < MOST; ++q) of->fast[q] = 0.0;
        of->at = of->steps = of->looks = 0;
        of->began = t;
        return;
    }
    if (!of->chooses) {
        for (; of->at < of->changes && of->times[of->at] <= t; ++of->at)
            if (of->times[of->at] > of->began) of->order = of->orders[of->at];
        return;
    }
    if (known <= p->highest || p->highest <= STABLE || ++of->steps < EVERY) return;
    of->steps = 0;
    for (long k = 0; k < known; ++k) d[k] = t - p->times[p->rows[k]];
    if (of->order < p->highest && longer(p, t, d)) return;
    const long q = of->order;
    const double before = q > STABLE ? off(p, q - 1, d) : 0.0;
    const double fast = before > TOLD ? sqrt((q + 1) * q * off(p, q + 1, d) / (before * d[q] * d[q - 1])) : 0.0;
    if (!(d[0] * fast > FAST && (of->looks == 0 || d[0] < GROWN * of->length))) {
        of->looks = 0;
        return;
    }
    if (of->looks == 0) of->length = d[0];
    if (++of->looks < OFTEN) return;
    of->looks = 0;
    of->fast[q] = fast;
    change(of, t, STABLE);
}

/* A step begins at time t, at what stands in the workspace */
void bdf_remember(const path *p, double t)
{
    long known = p->rows[p->highest + 1], row = known;
    decide(p, t, known);
    if (known > p->highest) row = p->rows[--known];
    for (long k = known; k > 0; --k) p->rows[k] = p->rows[k - 1];
    p->rows[0] = row;
    p->rows[p->highest + 1] = known + 1;
    p->times[row] = t;
    for (long i = 0; i < p->n; ++i) p->points[row * p->n + i] = p->Z[i];
    if (known > 0 || p->start == 1) return;
    p->rhs(p->plan);
    for (long i = 0; i < p->n; ++i) p->slope[i] = p->F[i];
}

/* The formula of the step to t: beta of rows, b, and what the slope counts with which the history begins. The points that
 * lead: how many, their distances and rows; whether that `starts` them, by the trapezoidal rule from the first there is */
static long coefficients(const path *p, double t, double *d, long *rows, double *beta, double *b, double *along,
                         int *starts)
{
    long count = chosen(p, t, d, rows);
    const long known = p->rows[p->highest + 1], order = p->of->order;
    const double part = share(p, count, d);
    *starts = p->start == 2 && known <= 2 && count == known && part < 1;
    *b = *along = 0.0;
    for (long k = 0; k < MOST; ++k) beta[k] = 0.0;
    if (part > 0) *b += formula(part, count < order ? count : order, d, rows, beta);
    if (*starts) {
        d[0] = d[count - 1];
        rows[0] = rows[count - 1];
        *b += *along = (1 - part) * d[0] / 2;
        beta[rows[0]] += 1 - part;
        return 1;
    }
    if (part < 1) {
        count = without_second(count, d, rows);
        *b += formula(1 - part, count < order ? count : order, d, rows, beta);
    }
    return count;
}

/* Derivatives of a formula on points that all count, of which rows say how many came after them, in the distance of the
 * last one: of beta, by these numbers, and behind it of b */
static void slopes(long count, const double *d, const long *rows, double *out)
{
    double all = 0.0, others = 0.0;
    const double last = d[count - 1];
    for (long i = 0; i < count; ++i) all += 1 / d[i];
    const double b = 1 / all, of_b = b / last * b / last;
    for (long i = 0; i < count - 1; ++i) {
        out[rows[i]] = b / d[i] * weight(d, count, i) * (of_b / b + 1 / last - 1 / (last - d[i]));
        others += 1 / (d[i] - last);
    }
    out[rows[count - 1]] = b / last * weight(d, count, count - 1) * (of_b / b - 1 / last + others);
    out[MOST] = of_b;
}

/* Formulas of steps between so many times and the next ones, of each of which so many points are known: b, what the slope
 * counts at the first of these, and beta of the points, (steps, MOST), latest first. And how they move with the distance
 * of the first point that is known: beta and b, (steps, MOST + 1), which is no number where only a part of points counts */
void bdf_formulas(long highest, long start, double near, long count, const double *times, const long *known,
                  const long *order, double *b, double *along, double *beta, double *moves)
{
    long rows[MOST + 1], taken[MOST];
    double d[MOST], of_rows[MOST];
    int starts;
    for (long k = 0; k < count; ++k, beta += MOST, moves += MOST + 1) {
        orders of = {.order = order[k]};
        const path p = {.highest = highest, .start = start, .near = near, .rows = rows, .of = &of,
                        .times = (double *)times + k + 1 - known[k]};
        for (long j = 0; j < known[k]; ++j) rows[j] = known[k] - 1 - j;
        rows[highest + 1] = known[k];
        const double part = share(&p, chosen(&p, times[k + 1], d, taken), d);
        const long used = coefficients(&p, times[k + 1], d, taken, of_rows, b + k, along + k, &starts);
        for (long j = 0; j < MOST; ++j) beta[j] = j < known[k] ? of_rows[known[k] - 1 - j] : 0.0;
        for (long j = 0; j <= MOST; ++j) moves[j] = 0.0;
        if (starts || (part > 0 && part < 1)) moves[MOST] = NAN;
        else if (used > 1 && used <= order[k] && taken[used - 1] == 0) {
            for (long i = 0; i < used; ++i) taken[i] = known[k] - 1 - taken[i];
            slopes(used, d, taken, moves);
        }
    }
}

/* The equations of the step to t, and their residual; `leads`: at where the points before it lead, but for the first */
void bdf_equations(const path *p, double t, long leads)
{
    double d[MOST], beta[MOST], b, along;
    long rows[MOST], all[MOST];
    int starts;
    const long known = p->rows[p->highest + 1], count = coefficients(p, t, d, rows, beta, &b, &along, &starts);
    for (long k = 0; k < MOST; ++k) all[k] = k;
    if (leads) {
        lead(p, count, d, rows, starts);
        for (long i = 0; known > 1 && i < p->n; ++i) p->Z[i] = p->led[i];
    }
    *p->t = t;
    p->made[0] = b;
    p->made[2] = starts ? 2 : count < p->of->order ? count : p->of->order;
    const weighted points = of_rows(p, known, beta, all);
    for (long i = 0; i < p->n; ++i) {
        const double known_part = sum(&points, i);
        p->c[i] = p->mass[i] > 0 ? b : -1.0;
        p->base[i] = p->mass[i] * (starts ? known_part + along * p->slope[i] : known_part);
    }
    p->residual(p->plan);
}

/* As gridcore_stretch asks: the step from t to an end, and how far it is off where it was led to, by its part */
double bdf_go(const path *p, double t, double end, long follows, long stage)
{
    (void)follows, (void)stage;
    if (!p->rows[p->highest + 1] || t != p->times[p->rows[0]]) bdf_remember(p, t);
    bdf_equations(p, end, 1);
    return p->made[0];
}

double bdf_ended(const path *p, double t)
{
    bdf_equations(p, t, 0);
    return p->made[0];
}

/* As gridcore_stretch asks: by what is off where it was led to, of which past.py says what counts */
long bdf_error(const path *p, double *out)
{
    const double part = p->made[0] / (p->made[0] + p->made[1]);
    const long order = (long)p->made[2];
    double largest[2] = {0.0, 0.0}; /* of algebraic variables, and of the others */
    for (long i = 0; i < p->n; ++i) {
        out[i] = (p->Z[i] - p->led[i]) * part;
        const double off = fabs(out[i]) / (p->scale[i] + fabs(p->Z[i]));
        double *most = largest + (p->mass[i] > 0);
        *most = off > *most ? off : *most;
    }
    const double own = p->made[3] ? 0.0 : !largest[0] ? 1.0 : fmax(*p->least, p->far * largest[1] / largest[0]);
    if (!(own < 1)) return order;
    for (long i = 0; i < p->n; ++i) out[i] *= p->mass[i] > 0 ? 1 : own;
    return -order;
}
