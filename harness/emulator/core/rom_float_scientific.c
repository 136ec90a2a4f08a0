/* SPDX-License-Identifier: Apache-2.0 */
/* Sine, cosine, exponential, logarithm and arc tangent for rom_float.h: series on a reduced
 * argument, in double. The host's own functions differ in their last bits from one mathematical
 * library to the next; sums, products, quotients and square roots do not. */
#include "rom_float.h"
#include <math.h>

#define PI 3.14159265358979323846
#define HALF_PI_HIGH 1.57079632673412561417e+00 /* 33 bits: times a small integer it is exact */
#define HALF_PI_LOW 6.07710050650619224932e-11
#define LN2_HIGH 6.93147180369123816490e-01     /* 32 bits */
#define LN2_LOW 1.90821492927058770002e-10

/* The sum of x^n / n! with alternating signs, n = first, first + 2, ..., for |x| <= pi/4. */
static double circular_series(double x, int first)
{
    enum { LAST = 21 };
    double sum = 0, term = first ? x : 1;
    for (int n = first; n <= LAST; n += 2) {
        sum += term;
        term *= -x * x / ((n + 1) * (n + 2));
    }
    return sum;
}

/* sin(x + quarters * pi/2) */
static double sine(double x, long quarters)
{
    double count = floor(x / (PI / 2) + 0.5);
    double rest = x - count * HALF_PI_HIGH - count * HALF_PI_LOW;
    long quadrant = ((long)count + quarters) & 3;
    double value = circular_series(rest, quadrant & 1 ? 0 : 1);
    return quadrant & 2 ? -value : value;
}

double rom_sin(double x)
{
    return sine(x, 0);
}

double rom_cos(double x)
{
    return sine(x, 1);
}

double rom_exp(double x)
{
    enum { LAST = 17, RANGE = 1000 };           /* beyond, a float is 0 or infinite by far */
    double sum = 0, term = 1;
    x = x > RANGE ? RANGE : x < -RANGE ? -RANGE : x;
    double count = floor(x / (LN2_HIGH + LN2_LOW) + 0.5);
    double rest = x - count * LN2_HIGH - count * LN2_LOW;
    for (int n = 1; n <= LAST; n++) {
        sum += term;
        term *= rest / n;
    }
    return ldexp(sum, (int)count);
}

/* 2 * (t + t^3 / 3 + t^5 / 5 + ...) is the logarithm of (1 + t) / (1 - t). For x > 0. */
double rom_ln(double x)
{
    enum { LAST = 25 };
    int exponent;
    double fraction = frexp(x, &exponent), sum = 0;
    if (fraction < 0.70710678118654752440) {
        fraction *= 2;
        exponent--;
    }
    double t = (fraction - 1) / (fraction + 1), power = t;
    for (int n = 1; n <= LAST; n += 2) {
        sum += power / n;
        power *= t * t;
    }
    return exponent * LN2_HIGH + (exponent * LN2_LOW + 2 * sum);
}

/* atan(t) = 2 atan(t / (1 + sqrt(1 + t^2))), three times, then the series. For 0 <= t <= 1. */
static double arc_tangent(double t)
{
    enum { HALVINGS = 3, LAST = 19 };
    double sum = 0, sign = 1;
    for (int i = 0; i < HALVINGS; i++)
        t /= 1 + sqrt(1 + t * t);
    double power = t;
    for (int n = 1; n <= LAST; n += 2) {
        sum += sign * power / n;
        power *= t * t;
        sign = -sign;
    }
    return ldexp(sum, HALVINGS);
}

double rom_atan2(double y, double x)
{
    double high = fabs(x), wide = fabs(y), angle;
    if (isinf(x) && isinf(y))
        high = wide = 1;
    if (wide == 0 && high == 0)
        angle = 0;
    else if (wide <= high)
        angle = arc_tangent(wide / high);
    else
        angle = PI / 2 - arc_tangent(high / wide);
    if (signbit(x))
        angle = PI - angle;
    return copysign(angle, y);
}
