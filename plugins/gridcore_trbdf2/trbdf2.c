/* The stages of a step of TR-BDF2, for many steps at once; many.py binds this, stepper.py has the same in numpy. */

typedef struct {
    long n;
    void (*rhs)(const void *), (*residual)(const void *); /* of a workspace: F at Z; R = base + c F - mass X */
    const void *plan;                                     /* their argument */
    double *Z, *t;                                        /* of the workspace: X is the beginning of Z */
    const double *F, *mass;
    double *c, *base;
    double *X0, *X1, *f0, *ahead; /* start, stage and slope at the start of the step; where it is led to */
    double begun, reached;        /* where the last step began and ended; */
    double gamma, alpha, a, farthest, error[3];
    double more; /* how much of the stage is added to where the end is led to */
} step;

/* How many times the error of the parabola through a step, at the stage of one s times as long, is that at its end */
static double growth(const step *p, double s)
{
    const double u = p->gamma * s;
    return s * (s + 1 - p->gamma) * (s + 1) / (u * (u + 1 - p->gamma) * (u + 1));
}

/* The parabola through start, stage and end of the last step, s of its lengths beyond its end */
static double parabola(const step *p, double x0, double x1, double x2, double s)
{
    const double slope = (x2 - x1) / (1 - p->gamma), early = (x1 - x0) / p->gamma;
    return x2 + s * slope + s * (s + 1 - p->gamma) * (slope - early);
}

static void first_stage(step *p, double t, double end)
{
    const double h = end - t, last = p->reached - p->begun, s = h / last, implicit = p->alpha * h;
    const int leads = t == p->reached && h <= p->farthest * last;
    p->more = leads ? growth(p, s) : 1 / p->gamma;
    p->rhs(p->plan);
    for (long i = 0; i < p->n; ++i) {
        const double x = p->Z[i];
        const double guess = leads ? parabola(p, p->X0[i], p->X1[i], x, p->gamma * s) : x;
        const double far = leads ? parabola(p, p->X0[i], p->X1[i], x, s) : x;
        p->ahead[i] = far - p->more * guess;
        p->X0[i] = x;
        p->f0[i] = p->F[i];
        p->Z[i] = guess;
        p->c[i] = p->mass[i] ? implicit : -1.0;
        p->base[i] = p->mass[i] * (x + implicit * p->f0[i]);
    }
    p->begun = t;
    p->reached = end;
    *p->t = t + p->gamma * h;
}

static void second_stage(step *p, double end)
{
    for (long i = 0; i < p->n; ++i) {
        p->X1[i] = p->Z[i];
        p->base[i] = p->mass[i] * (p->a * p->X1[i] + (1 - p->a) * p->X0[i]);
        p->Z[i] = p->ahead[i] + p->more * p->X1[i];
    }
    *p->t = end;
}

/* As gridcore_stretch asks */
double trbdf2_go(step *p, double t, double end, long follows, long stage)
{
    (void)follows;
    if (stage) second_stage(p, end);
    else first_stage(p, t, end);
    p->residual(p->plan);
    return p->alpha * (end - t);
}

/* By the embedded formula, with slopes as the stages have them; to be solved with their matrix */
long trbdf2_error(const step *p, double *out)
{
    const double h = p->reached - p->begun, implicit = p->alpha * h, *e = p->error;
    for (long i = 0; i < p->n; ++i) {
        const double stage = (p->X1[i] - p->X0[i]) / implicit - p->f0[i];
        const double end = (p->Z[i] - p->a * p->X1[i] - (1 - p->a) * p->X0[i]) / implicit;
        out[i] = h * (e[0] * p->f0[i] + e[1] * stage + e[2] * end);
    }
    return -2;
}
