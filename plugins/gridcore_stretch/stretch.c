/* Steps in which nothing happens, one after the other: no guard fires, the iteration converges as it should. The first
 * one in which a guard fires is left where it ended, and where steps are chosen the one to the first of the ends; any
 * other that is not such a step is undone; one whose error is not tolerated is made again. And a step that ends where a
 * guard is zero. stretch.py binds this. */

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ITERATIONS 30
#define SLOW 2     /* corrections that have not shrunk, behind which those of round-off will do where a step is ended */
#define ALONG 0.01 /* of scale + |X|, by which the fastest variable moves where the bend of slopes is looked at */

typedef struct {
    long n, most;                 /* unknowns; steps, for which there is room */
    /* of a workspace, whose equations are R = base + c F - mass X */
    void (*rhs)(const void *);
    int (*matrix)(const void *);
    double (*newton)(const void *, double);
    void (*add)(long, const void *, const double *, double *);
    const void *plan;
    double *Z, *t, *R, *c;
    const double *F, *A, *mass, *scale;
    /* of a method: the equations of a step from t to an end, at a first guess, and their residual, of each of its stages;
     * `follows` if the step before was made here and this is the first attempt at the next; it returns what factors
     * depend on, or 0 where it has none. Where steps are chosen: the error of that step, and its order, less than zero
     * where it is to be solved with the matrix, and algebraic variables follow so, where it has no more of them, or all
     * variables are `filtered` */
    double (*begin)(void *, double, double, long follows, long stage);
    long (*error)(void *, double *);
    double (*ended)(void *, double); /* the step that began last, with another end: its equations and their residual */
    void *method;
    double *bend; /* where it is to be left how the slopes change where the first step begins, if anywhere */
    long stages, filtered, starts; /* the last: the order of the first step */
    /* of factors */
    double (*refactor)(const void *, const double *, const void *);
    void (*solve)(const void *, const void *, long, double *);
    const void *pivots, *values;
    double singular, worth; /* ratio of pivots; iterations that cost as much as factors */
    /* guards, and the signs that they have */
    long batches, guards;
    const void *table;
    double *gamma;
    const double *sides;
    /* tolerances of the iteration and of lengths */
    double remains, enough, floor, fast, telling, same, astray;
    /* what is chosen */
    double rtol, atol, share, least, shortest, safety, of_error, of_before, of_start, trend, shrink, growth, longest, h,
        before;
    const double *in_time; /* the slope of the equations in time, if they read it */
    /* what is left for the next stretch, and counted */
    double coefficient, first, rate, moved; /* the last: by the last correction */
    long fresh, ahead, iterations, solves, factorisations, rejections;
    double *along, *wrong, *followed, *times, *states; /* of points one more than of steps */
} stretch;

static int factor(stretch *s, double coefficient)
{
    s->fresh = 0;
    if (!s->matrix(s->plan)) return 0;
    ++s->factorisations;
    if (!(s->refactor(s->pivots, s->A, s->values) > s->singular)) return 0;
    s->coefficient = coefficient;
    return s->fresh = 1;
}

/* The last correction of an iteration, how short one ends it, and how many there were */
typedef struct {
    double before, enough;
    long count;
} corrections;

/* How short the next correction is that leaves so much: shorter by as much as this one was, or at the rate of this one */
static double leaves(const corrections *c, double norm, double remains)
{
    return fmax(sqrt(remains * norm), c->count ? remains * c->before / norm : 0.0);
}

/* Whether a correction is the last one; -1 where it has not shrunk as it should */
static int ends(stretch *s, corrections *c, double norm)
{
    s->moved = norm;
    if (norm <= c->enough) {
        s->moved = fmin(norm, s->enough); /* it leaves far less than it was */
        return 1;
    }
    if (!(c->count ? norm <= s->fast * c->before : norm < s->astray)) return -1;
    c->enough = fmax(fmin(leaves(c, norm, s->remains), s->enough), fmin(leaves(c, norm, DBL_EPSILON), s->floor));
    c->before = norm;
    return ++c->count < ITERATIONS ? 0 : -1;
}

/* Whether there are factors for this coefficient */
static int same(const stretch *s, double coefficient)
{
    return s->fresh && fabs(coefficient - s->coefficient) <= s->same * fabs(s->coefficient);
}

static void solve(stretch *s, double *b)
{
    s->solve(s->pivots, s->values, 1, b);
    ++s->solves;
}

/* Iterate from the residual that stands there; whether it converges fast enough to the end */
static int converges(stretch *s, double coefficient)
{
    const int old = same(s, coefficient) && s->first * pow(s->rate, 1 + s->worth) <= s->remains;
    if (!old && !factor(s, coefficient)) return 0;
    corrections c = {0.0, s->remains, 0};
    int ended = 0;
    while (!ended) {
        solve(s, s->R);
        const double norm = s->newton(s->plan, c.enough);
        ++s->iterations;
        if (c.count == 0) s->first = norm;
        if (c.count == 1 && old && c.before > s->telling) s->rate = norm / c.before;
        ended = ends(s, &c, norm);
    }
    return ended > 0;
}

static void evaluate(const stretch *s)
{
    for (long i = 0; i < s->guards; ++i) s->gamma[i] = 0.0;
    s->add(s->batches, s->table, s->Z, s->gamma);
}

static int fires(const stretch *s)
{
    evaluate(s);
    for (long i = 0; i < s->guards; ++i)
        if (!(s->gamma[i] * s->sides[i] >= 0.0)) return 1;
    return 0;
}

/* The error of the step that was made, of what is tolerated, infinite where it is no number; and one more than its order.
 * Numbers without a sign have the order of their bits, in which nan is the largest */
static double measured(stretch *s, double *power)
{
    const double *mass = s->mass, *X = s->Z;
    double *wrong = s->wrong, error;
    long long largest = 0, bits;
    const long order = s->error(s->method, wrong);
    if (order < 0) {
        for (long i = 0; i < s->n; ++i) s->followed[i] = wrong[i] * mass[i];
        solve(s, s->followed);
        for (long i = 0; i < s->n; ++i)
            if (s->filtered || !(mass[i] || fabs(s->followed[i]) < fabs(wrong[i]))) wrong[i] = s->followed[i];
    }
    for (long i = 0; i < s->n; ++i) {
        const double part = fabs(wrong[i] / (s->share * (s->atol * s->scale[i] + s->rtol * fabs(X[i]))));
        memcpy(&bits, &part, sizeof bits);
        largest = bits > largest ? bits : largest;
    }
    memcpy(&error, &largest, sizeof error);
    *power = (double)(labs(order) + 1);
    return isnan(error) ? INFINITY : error;
}

/* The length of the next step, after one of length h: control.py says how */
static void propose(stretch *s, double h, double error, double k, int rejected)
{
    error = fmax(error, s->least);
    const double pi = isnan(s->before) ? pow(error, -1 / k)
                                       : pow(error, -(s->of_error + s->of_before) / k) * pow(s->before, s->of_before / k);
    const double factor = fmin(fmax(s->safety * pi, s->shrink), rejected ? 1.0 : s->growth);
    const int cut_off = h < s->h * (1 - s->same);
    s->h = fmin(fmax(h * factor, cut_off ? s->h : 0.0), s->longest);
    s->before = fmax(error, s->trend);
}

/* The length of a first step to an end, at what stands there, by the size of a second derivative: of the slope along the
 * tangent. control.py says how; 0 where there is none to be had */
static double first_length(stretch *s, double t, double end)
{
    const double *mass = s->mass;
    double *X = s->Z, *rates = s->along, *bend = s->wrong, *from = s->followed, speed = 0.0, all = 0.0;
    s->rhs(s->plan);
    for (long i = 0; i < s->n; ++i) {
        from[i] = X[i];
        s->c[i] = mass[i] ? 0.0 : 1.0;
        rates[i] = mass[i] ? s->F[i] : s->in_time ? s->in_time[i] : 0.0;
    }
    if (!factor(s, 0.0)) return 0.0; /* which serve no step */
    solve(s, rates);
    for (long i = 0; i < s->n; ++i) {
        const double part = fabs(rates[i]) / (s->scale[i] + fabs(X[i]));
        speed = part > speed ? part : speed;
        all += part;
    }
    const double h = speed > 0.0 ? fmin(end - t, ALONG / speed) : end - t;
    for (long i = 0; i < s->n; ++i) X[i] += h * rates[i];
    *s->t = t + h;
    s->rhs(s->plan);
    double most = pow(100 * h, -3); /* of lengths the inverse cubes, so that roots of one are enough */
    for (long i = 0; i < s->n; ++i) {
        const double slope = mass[i] ? rates[i] : 0.0;
        const double tolerated = s->share * (s->atol * s->scale[i] + s->rtol * fabs(from[i]));
        bend[i] = mass[i] ? (s->F[i] - slope) / h : 0.0;
        const double bent = fabs(bend[i] / tolerated), steep = fabs(slope / tolerated) + sqrt(DBL_MIN);
        const double larger = (bent > steep ? bent : steep) / (2 * s->of_start);
        const double by_bend = bent / (6 * s->of_start * steep) * bent;
        double each = larger * sqrt(larger);
        if (s->starts > 1 && by_bend < each) each = by_bend; /* the bend changes in the time in which the slope does */
        most = each > most ? each : most;
        all += bent;
        X[i] = from[i];
    }
    *s->t = t;
    if (s->bend) memcpy(s->bend, bend, (size_t)s->n * sizeof(double));
    return all < INFINITY ? fmax(pow(most, -1.0 / 3), s->shortest) : 0.0;
}

/* From time t to the ends in order; or if steps are chosen as long as is tolerated, as far as the first of them. Returns
 * how many steps were made: the point where they begin and their ends, and the states there, but for one `ahead`. */
long stretch_go(stretch *s, double t, const double *ends, long count, long chosen)
{
    const size_t size = (size_t)s->n * sizeof(double);
    long made = 0;
    int rejected = 0;
    s->ahead = 0;
    s->times[0] = t;
    memcpy(s->states, s->Z, size);
    if (chosen && !(s->h > 0.0) && !((s->h = fmin(first_length(s, t, ends[0]), s->longest)) > 0.0)) return 0;
    while (made < s->most && (chosen || made < count)) {
        double end = chosen ? ends[0] : ends[made];
        if (chosen) {
            const double parts = ceil((end - t) / s->h);
            if (parts > 1) end = t + (parts > 2 ? s->h : (end - t) / 2);
        }
        const double h = end - t;
        double error = 0.0, power = 1.0;
        long stage = 0;
        for (; stage < s->stages; ++stage) {
            const double coefficient = s->begin(s->method, t, end, made > 0 && !rejected, stage);
            if (!(coefficient > 0.0) || !converges(s, coefficient)) break;
        }
        if (stage < s->stages || (chosen && (error = measured(s, &power)) > 1.0)) {
            memcpy(s->Z, s->states + made * s->n, size);
            *s->t = t;
            if (stage < s->stages || !(h > s->shortest)) break;
            s->h = h * fmax(s->shrink, s->safety * pow(error, -1 / power));
            ++s->rejections;
            rejected = 1;
            continue;
        }
        if (chosen) propose(s, h, error, power, rejected);
        rejected = 0;
        if ((s->ahead = (chosen && end == ends[0]) || (s->guards && fires(s)))) break;
        s->times[++made] = t = end;
        memcpy(s->states + made * s->n, s->Z, size);
    }
    return made;
}

/* The end between low and high of the step that began last, where a guard is zero, near t, and X there, near what stands
 * there: Newton's iteration of both. X goes `along` with the end as the equations say, then as it was seen to go; how fast
 * the guard goes is seen over a `little` time; it is `unsure` by so much. Not a number where it does not converge as it
 * should, or the guard does not go to this side. */
double stretch_end_at_zero(stretch *s, long guard, double t, double low, double high, double side, double little,
                           double unsure)
{
    const double width = high - low;
    double *X = s->Z, *R = s->R, *along = s->along, *from = s->wrong, moved = 0.0;
    corrections c = {0.0, s->remains, 0};
    s->ended(s->method, t + width);
    memcpy(along, R, (size_t)s->n * sizeof(double));
    const double coefficient = s->ended(s->method, t);
    for (long i = 0; i < s->n; ++i) along[i] = (along[i] - R[i]) / width;
    if (!same(s, coefficient) && !factor(s, coefficient)) return NAN;
    solve(s, along);
    int ended = 0, slow = 0;
    while (!ended) {
        solve(s, R);
        for (long i = 0; i < s->n; ++i) {
            if (fabs(moved) > little) along[i] += R[i] / moved;
            from[i] = X[i];
            X[i] += R[i];
        }
        evaluate(s);
        const double gamma = s->gamma[guard];
        for (long i = 0; i < s->n; ++i) X[i] += little * along[i];
        *s->t = t + little;
        evaluate(s);
        const double speed = (s->gamma[guard] - gamma) / little;
        moved = -gamma / speed;
        if (!(speed * side > 0.0 && low < t + moved && t + moved < high)) return NAN;
        for (long i = 0; i < s->n; ++i) {
            X[i] = from[i];
            R[i] += moved * along[i];
        }
        const double of_X = s->newton(s->plan, INFINITY), of_t = (fabs(moved) - unsure / fabs(speed)) / width;
        const double norm = of_t > of_X ? of_t : of_X; /* also what is no number */
        ++s->iterations;
        s->ended(s->method, t += moved);
        ended = ends(s, &c, norm);
        if (ended < 0 && norm <= s->floor) { /* what no longer shrinks may be round-off */
            s->moved = of_X;
            ended = norm <= s->enough || ++slow > SLOW;
        }
    }
    return ended > 0 ? t : NAN;
}

/* What stretch.py has to agree with */
long stretch_size(void) { return sizeof(stretch); }
