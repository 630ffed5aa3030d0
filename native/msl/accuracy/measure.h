/**
 * Errors of a function in units in the last place, for float, half and bfloat, against a double.
 *
 * Plain C++ without headers: the program is also built for other machines. The rows (which functions, their references
 * and their bounds) are generated from `math_bounds.ts` and included between this header and `measure.cpp`.
 */
#pragma once

using uint = unsigned int;
using ulong = unsigned long;

extern "C" {
int printf(const char *, ...);
unsigned long strtoul(const char *, char **, int);
double acos(double);
double acosh(double);
double asin(double);
double asinh(double);
double atan(double);
double atan2(double, double);
double atanh(double);
double ceil(double);
double copysign(double, double);
double cos(double);
double cosh(double);
double exp(double);
double exp2(double);
double fabs(double);
double fdim(double, double);
double floor(double);
double fma(double, double, double);
double fmod(double, double);
double ldexp(double, int);
double log(double);
double log10(double);
double log2(double);
double pow(double, double);
double remainder(double, double);
double rint(double);
double round(double);
double sin(double);
double sinh(double);
double sqrt(double);
double tan(double);
double tanh(double);
double trunc(double);
}

#ifdef MEASURE_VECTORS
/** Four doubles, and glibc's functions of them: within 4 ulp of a double, which is 2^-27 ulp of a float. */
using four = double __attribute__((vector_size(32)));
extern "C" {
four _ZGVdN4v_acos(four);
four _ZGVdN4v_acosh(four);
four _ZGVdN4v_asin(four);
four _ZGVdN4v_asinh(four);
four _ZGVdN4v_atan(four);
four _ZGVdN4v_atanh(four);
four _ZGVdN4v_cos(four);
four _ZGVdN4v_cosh(four);
four _ZGVdN4v_exp(four);
four _ZGVdN4v_exp10(four);
four _ZGVdN4v_exp2(four);
four _ZGVdN4v_log(four);
four _ZGVdN4v_log10(four);
four _ZGVdN4v_log2(four);
four _ZGVdN4v_sin(four);
four _ZGVdN4v_sinh(four);
four _ZGVdN4v_tan(four);
four _ZGVdN4v_tanh(four);
}

/** `f` of `count` floats; `count` may be any number, `x` and `exact` have room for the next multiple of four. */
template <four (*f)(four)> void by_four(const float *x, const float *, const float *, double *exact, int count) {
  for (int i = 0; i < count; i += 4) {
    const four result = f(four{x[i], x[i + 1], x[i + 2], x[i + 3]});
    __builtin_memcpy(exact + i, &result, sizeof result);
  }
}
#endif

namespace measure {

inline constexpr double PI = 3.14159265358979323846;
inline constexpr double INF = __builtin_inf();
inline constexpr double NOT_A_NUMBER = __builtin_nan("");

/** A binary format: bits of the significand, exponent of the smallest normal number, exponent above the largest. */
struct Format {
  int digits;
  int smallest;
  int overflow;
};
inline constexpr Format FLOAT{24, -126, 128};
inline constexpr Format HALF{11, -14, 16};
inline constexpr Format BFLOAT{8, -126, 128};

inline double power(int exponent) {
  const ulong bits = static_cast<ulong>(exponent + 1023) << 52;
  return __builtin_bit_cast(double, bits);
}
inline int exponent_of(double x) { return static_cast<int>(__builtin_bit_cast(ulong, x) >> 52 & 0x7ff) - 1023; }
inline float float_of(uint bits) { return __builtin_bit_cast(float, bits); }
inline uint bits_of(float x) { return __builtin_bit_cast(uint, x); }

/**
 * ulp(x) as section 8.4 of the specification defines it: the distance of the two numbers of the format around x, for a
 * number of the format the distance of the two nearest to it, which is the smaller gap at a power of two.
 */
inline double ulp_at(double x, const Format &format) {
  const double size = fabs(x);
  int e = size == 0.0 ? format.smallest : exponent_of(size);
  if (e >= format.smallest && size == power(e)) --e;
  if (e < format.smallest) e = format.smallest;
  if (e >= format.overflow) e = format.overflow - 1;
  return power(e - format.digits + 1);
}

/** Infinity counts as the power of two behind the largest finite number, and so does everything beyond. */
inline double capped(double x, const Format &format) {
  const double limit = power(format.overflow);
  return x >= limit ? limit : (x <= -limit ? -limit : x);
}

/**
 * Error of `value` in ulp of the exact result. A NaN has to be a NaN. A subnormal result may be flushed to zero
 * (section 8.5); the sign of zero is not compared.
 */
inline double error_in_ulp(double value, double exact, const Format &format) {
  if (exact != exact || value != value) return (exact != exact) == (value != value) ? 0.0 : INF;
  if (value == exact) return 0.0;
  if (value == 0.0 && fabs(exact) < power(format.smallest)) return 0.0;
  return fabs(capped(value, format) - capped(exact, format)) / ulp_at(exact, format);
}

/** `high + low` rounded to odd, so that a second rounding to fewer bits gives what one rounding would. */
inline double rounded_to_odd(double high, double low) {
  ulong bits = __builtin_bit_cast(ulong, high);
  if (low == 0.0 || high != high || fabs(high) == INF || (bits & 1) != 0) return high;
  const bool away = (low > 0.0) == (high > 0.0);
  bits = away ? bits + 1 : bits - 1;
  return __builtin_bit_cast(double, bits);
}

/** A double rounded once to the format, to nearest even. */
inline double rounded(double x, const Format &format) {
  if (x != x || fabs(x) == INF || x == 0.0) return x;
  int e = exponent_of(x);
  if (e < format.smallest) e = format.smallest;
  const double gap = power(e - format.digits + 1);
  const double result = rint(x / gap) * gap;
  return fabs(result) >= power(format.overflow) ? copysign(INF, x) : result;
}

/** a b + c rounded once: the product of two floats is exact in a double, the sum's error is kept. */
inline double fused(double a, double b, double c, const Format &format) {
  const double product = a * b;
  const double sum = product + c;
  if (sum != sum || fabs(sum) == INF) return sum;
  const double part = sum - product;
  const double low = (product - (sum - part)) + (c - part);
  return rounded(rounded_to_odd(sum, low), format);
}

/** a + b rounded to odd: one more rounding, to the format, gives the correctly rounded sum. */
inline double rounded_to_odd_sum(double a, double b) {
  const double sum = a + b, part = sum - a;
  if (sum != sum || fabs(sum) == INF) return sum;
  return rounded_to_odd(sum, (a - (sum - part)) + (b - part));
}

/** sin(pi x): x is folded into [-1/2, 1/2], which is exact. */
inline double sin_pi(double x) {
  const double r = remainder(x, 2.0);
  const double fold = fabs(r) > 0.5 ? copysign(1.0, r) - r : r;
  return fold == 0.0 ? 0.0 : (fabs(fold) <= 0.25 ? sin(PI * fold) : copysign(cos(PI * (0.5 - fabs(fold))), fold));
}
inline double cos_pi(double x) { return sin_pi(0.5 - fabs(remainder(x, 2.0))); }
inline double tan_pi(double x) {
  const double sine = sin_pi(x), cosine = cos_pi(x);
  return cosine == 0.0 ? copysign(INF, sine) : sine / cosine;
}

/**
 * 1 / sqrt(x) on the right side of the nearest midpoint of two floats: its double is off by up to an ulp of its own,
 * which can lie across. The sign of m m x - 1 is exact in one fused operation, since m has 25 bits.
 */
inline double inverse_root(double x) {
  const double root = 1.0 / sqrt(x);
  if (!(root > 0.0) || root == INF || x == INF) return root;
  const double gap = power(exponent_of(root) - 23);
  const double midpoint = (floor(root / gap) + 0.5) * gap;
  if (fabs(root - midpoint) > root * 0x1p-48) return root;
  return fma(midpoint * midpoint, x, -1.0) < 0.0 ? midpoint * (1.0 + 0x1p-50) : midpoint * (1.0 - 0x1p-50);
}

/** The number of the format next to x towards y. */
inline double next_after(double x, double y, const Format &format) {
  if (x != x || y != y) return NOT_A_NUMBER;
  if (x == y) return y;
  const double least = power(format.smallest - format.digits + 1);
  if (x == 0.0) return y > 0.0 ? least : -least;
  if (fabs(x) == INF) return copysign(power(format.overflow) - power(format.overflow - format.digits), x);
  const bool away = (y > x) == (x > 0.0);
  const int e = exponent_of(x) < format.smallest ? format.smallest : exponent_of(x);
  const double size = away ? fabs(x) + power(e - format.digits + 1) : fabs(x) - ulp_at(x, format);
  return copysign(size >= power(format.overflow) ? INF : size, x);
}

/** x - floor(x), at most the largest number of the format below 1. */
inline double fraction(double x, const Format &format) {
  if (fabs(x) == INF) return NOT_A_NUMBER;
  const double rest = rounded(rounded_to_odd(x - floor(x), 0.0), format);
  return rest >= 1.0 ? 1.0 - power(-format.digits) : rest;
}

/** Mantissa in [1/2, 1) and exponent, as `frexp`. */
inline double mantissa_of(double x) {
  if (x == 0.0 || x != x || fabs(x) == INF) return x;
  return x / power(exponent_of(x) + 1);
}
inline double whole_exponent(double x) { return x == 0.0 ? 0.0 : exponent_of(x) + 1.0; }

} // namespace measure

/** One function in one format, as the generated rows give it. */
struct Row {
  const char *name;
  measure::Format format;
  /** Number of arguments. */
  int arguments;
  /** 1: f(-x) = f(x); -1: f(-x) = -f(x); 0: neither is used. */
  int symmetry;
  /** The function under test, from floats that hold values of the format to floats. */
  void (*run)(const float *x, const float *y, const float *z, float *out, int count);
  void (*reference)(const float *x, const float *y, const float *z, double *exact, int count);
  /** Largest error allowed, in ulp; NaN for "no promise here". Precise and fast. */
  double (*precise)(double x, double y, double exact, double ulp);
  double (*fast)(double x, double y, double exact, double ulp);
};

struct Tally {
  double worst = 0;
  float x = 0, y = 0, z = 0;
  ulong tested = 0;
  ulong precise_violations = 0;
  ulong fast_violations = 0;
};
