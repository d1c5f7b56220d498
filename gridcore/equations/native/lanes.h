/* What generated kernels are made of: one operation for several instances at once, each in its lane of a vector. There are
 * as many lanes as the processor computes at once; every lane has the bits of scalar code. */

#include <math.h>

#ifdef __AVX__
#define LANES 4
#define READ(k) ((lanes){Z[g[0][k]], Z[g[1][k]], Z[g[2][k]], Z[g[3][k]]})
#define SAME(x) ((lanes){x, x, x, x})
#else
#define LANES 2
#define READ(k) ((lanes){Z[g[0][k]], Z[g[1][k]]})
#define SAME(x) ((lanes){x, x})
#endif
typedef double lanes __attribute__((vector_size(8 * LANES)));
typedef long long masks __attribute__((vector_size(8 * LANES)));

#define INLINE static inline __attribute__((always_inline))

/* 1 where it is true, else 0 */
INLINE lanes truth(masks m) { return (lanes)(m & (masks)SAME(1.0)); }

/* x where c is not zero, else 0, whatever x is there */
INLINE lanes only(lanes c, lanes x) { return (lanes)((c != SAME(0.0)) & (masks)x); }

/* f of the first `some` lanes */
INLINE lanes each(double (*f)(double), long some, lanes x)
{
    for (long l = 0; l < some; ++l) x[l] = f(x[l]);
    return x;
}

INLINE lanes each2(double (*f)(double, double), long some, lanes x, lanes y)
{
    for (long l = 0; l < some; ++l) x[l] = f(x[l], y[l]);
    return x;
}

/* of what is no number, that */
static inline double sign(double x) { return x < 0 ? -1.0 : x > 0 ? 1.0 : x; }

/* out[scatter] += what n functions are of `some` instances, one after the other, each times the scale of its row */
INLINE void add(long some, long n, const lanes *values, double *out, const int *scatter, const double *scale,
                const int *rows)
{
    for (long l = 0; l < some; ++l, scatter += n, rows += scale ? n : 0)
        for (long k = 0; k < n; ++k) out[scatter[k]] += scale ? scale[rows[k]] * values[k][l] : values[k][l];
}
