/**
 * Measures the rows that were generated before this text.
 *
 * usage: measure FIRST_ROW LAST_ROW STRIDE SHARD SHARDS PAIRS
 *
 * One argument: every STRIDE-th pattern of the format (all of them with 1), in blocks that the shards share, and the
 * edges. More arguments: every combination of the edges and PAIRS random ones. One line a row:
 * name tested worst x y z precise_violations fast_violations
 */
namespace {

constexpr int kBlock = 4096;

void judge(const Row &row, Tally &tally, float x, float y, float z, float value, double exact) {
  const double error = measure::error_in_ulp(value, exact, row.format);
  const double ulp = measure::ulp_at(exact, row.format);
  const double precise = row.precise(x, y, exact, ulp);
  // Half way between two numbers, only the even one is the correctly rounded result.
  const bool odd = precise == 0.5 && error == 0.5 && static_cast<double>(value) != measure::rounded(exact, row.format);
  if (error > precise || odd) ++tally.precise_violations;
  if (error > row.fast(x, y, exact, ulp)) ++tally.fast_violations;
  if (precise == precise && !(error <= tally.worst)) {
    tally.worst = error;
    tally.x = x;
    tally.y = y;
    tally.z = z;
  }
}

/**
 * Judges `count` results. Most are the float next to the exact result, so within half an ulp, which every bound allows that
 * is not 0 (and there the exact result is a float): they are told apart in a loop that the compiler vectorises,
 * once there is a worst result to beat or enough have been looked at.
 */
void judge_all(const Row &row, Tally &tally, const float *x, const float *y, const float *z, const float *value,
               const double *exact, int count) {
  static unsigned char off[kBlock];
  tally.tested += static_cast<ulong>(count);
  if (tally.worst >= 0.4999 || tally.tested > 1ul << 21) {
    for (int i = 0; i < count; ++i) {
      const float near = static_cast<float>(exact[i]);
      off[i] = !((near == value[i]) | ((near != near) & (value[i] != value[i])));
    }
  } else {
    for (int i = 0; i < count; ++i) off[i] = 1;
  }
  for (int i = 0; i < count; ++i) {
    if (off[i] != 0) judge(row, tally, x[i], y[i], z[i], value[i], exact[i]);
  }
}

/** `count` arguments in `x`; with a symmetry they stand for their negatives too. */
void measure_block(const Row &row, Tally &tally, const float *x, int count) {
  static float out[kBlock], negated[kBlock];
  static double exact[kBlock];
  static const float none[kBlock] = {};
  row.run(x, none, none, out, count);
  row.reference(x, none, none, exact, count);
  judge_all(row, tally, x, none, none, out, exact, count);
  if (row.symmetry == 0) return;
  for (int i = 0; i < count; ++i) {
    negated[i] = -x[i];
    exact[i] *= row.symmetry;
  }
  row.run(negated, none, none, out, count);
  judge_all(row, tally, negated, none, none, out, exact, count);
}

/** The value of pattern `bits` of the format. */
float pattern(uint bits, const measure::Format &format) {
  if (format.digits == 24) return measure::float_of(bits);
  if (format.digits == 8) return measure::float_of(bits << 16);
  const uint exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double sign = bits >> 15 != 0 ? -1.0 : 1.0;
  if (exponent == 31) return static_cast<float>(fraction != 0 ? measure::NOT_A_NUMBER : sign * measure::INF);
  const double size = exponent == 0 ? fraction * 0x1p-24 : (1024.0 + fraction) * measure::power(static_cast<int>(exponent) - 25);
  return static_cast<float>(sign * size);
}

struct Edges {
  float values[8192];
  int count = 0;
  void add(double value, const measure::Format &format) {
    const double near = measure::rounded(value, format);
    if (count + 2 > 8192) return;
    values[count++] = static_cast<float>(near);
    values[count++] = static_cast<float>(-near);
  }
  /** A value and its neighbours. */
  void around(double value, const measure::Format &format) {
    const double near = measure::rounded(value, format), gap = measure::ulp_at(near, format);
    add(near, format);
    add(near - gap, format);
    add(near + gap, format);
  }
};

/** Zeros, subnormals, powers of two and their neighbours, multiples of pi, halves of integers, where results overflow. */
void add_edges(Edges &edges, const measure::Format &format, bool few) {
  edges.add(0.0, format);
  edges.add(measure::INF, format);
  edges.add(measure::NOT_A_NUMBER, format);
  for (int e = format.smallest - format.digits + 1; e < format.overflow; e += few ? 23 : 1) edges.around(measure::power(e), format);
  edges.add(measure::power(format.overflow) - measure::power(format.overflow - format.digits), format);
  edges.add(measure::power(format.smallest) - measure::power(format.smallest - format.digits + 1), format);
  static const double small[] = {0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 10.0};
  for (double x : small) edges.around(x, format);
  if (few) return;
  for (int k = 1; k <= 400; ++k) edges.around(k * (measure::PI / 2), format);
  for (int k = 1; k <= 100; ++k) edges.around(k * 0.25, format);
  static const double limits[] = {88.72283, 87.33654, 103.2789, 104.0, 89.41599, 38.53184, 37.92978, 44.85347, 127.99999,
                                  128.0, 149.0, 11.09, 9.704, 17.33, 4.816, 16777216.0 * measure::PI, 1e22, 3e38};
  for (double x : limits) edges.around(x, format);
}

struct Random {
  ulong state;
  uint next() {
    state = state * 6364136223846793005ul + 1442695040888963407ul;
    const ulong word = (state >> 29) ^ (state >> 12);
    return static_cast<uint>(word);
  }
};

void measure_unary(const Row &row, Tally &tally, ulong stride, ulong shard, ulong shards) {
  static float x[kBlock];
  const ulong bits = row.format.digits == 24 ? 32 : 16;
  const ulong patterns = 1ul << (row.symmetry != 0 ? bits - 1 : bits);
  const ulong step = bits == 32 ? stride : 1;
  for (ulong first = shard * kBlock; first * step < patterns; first += shards * kBlock) {
    int count = 0;
    for (; count < kBlock && (first + count) * step < patterns; ++count) {
      x[count] = pattern(static_cast<uint>((first + count) * step), row.format);
    }
    measure_block(row, tally, x, count);
  }
  if (shard != 0) return;
  static Edges edges;
  edges.count = 0;
  add_edges(edges, row.format, false);
  for (int first = 0; first < edges.count; first += kBlock) {
    measure_block(row, tally, edges.values + first, edges.count - first < kBlock ? edges.count - first : kBlock);
  }
}

struct Triples {
  float x[kBlock], y[kBlock], z[kBlock], out[kBlock];
  double exact[kBlock];
  int count = 0;
};

void flush(const Row &row, Tally &tally, Triples &t) {
  row.run(t.x, t.y, t.z, t.out, t.count);
  row.reference(t.x, t.y, t.z, t.exact, t.count);
  judge_all(row, tally, t.x, t.y, t.z, t.out, t.exact, t.count);
  t.count = 0;
}

void push(const Row &row, Tally &tally, Triples &t, float x, float y, float z) {
  t.x[t.count] = x;
  t.y[t.count] = y;
  t.z[t.count] = z;
  if (++t.count == kBlock) flush(row, tally, t);
}

void measure_many(const Row &row, Tally &tally, ulong pairs, ulong shard, ulong shards) {
  static Triples t;
  static Edges edges;
  edges.count = 0;
  add_edges(edges, row.format, true);
  if (shard == 0) {
    for (int i = 0; i < edges.count; ++i) {
      for (int j = 0; j < edges.count; ++j) {
        push(row, tally, t, edges.values[i], edges.values[j], edges.values[(i + j) % edges.count]);
      }
    }
  }
  Random random{20240607 + shard};
  for (ulong i = shard; i < pairs; i += shards) {
    const uint mask = row.format.digits == 24 ? 0xffffffffu : 0xffffu;
    float v[3];
    for (float &value : v) {
      value = pattern(random.next() & mask, row.format);
#if defined(__aarch64__)
      // Minimum and maximum of arm64 pass a signaling NaN on, as IEEE 754-2008 has it; MSL tells nothing of signaling ones.
      if (value != value) value = __builtin_nanf("");
#endif
    }
    if (i % 2 == 1) {
      // Near each other and near 1: results that are neither zero nor infinite.
      for (float &value : v) {
        const double unit = static_cast<double>(random.next()) * 0x1p-32;
        value = static_cast<float>(measure::rounded((unit - 0.3) * measure::power(static_cast<int>(random.next() % 12) - 4), row.format));
      }
    }
    push(row, tally, t, v[0], v[1], v[2]);
  }
  flush(row, tally, t);
}

} // namespace

int main(int argc, char **argv) {
  ulong option[6] = {0, 0, 1, 0, 1, 0};
  for (int i = 0; i < 6 && i + 1 < argc; ++i) option[i] = strtoul(argv[i + 1], nullptr, 10);
  for (ulong i = option[0]; i <= option[1] && i < sizeof rows / sizeof rows[0]; ++i) {
    Tally tally;
    if (rows[i].arguments == 1) {
      measure_unary(rows[i], tally, option[2], option[3], option[4]);
    } else {
      measure_many(rows[i], tally, option[5], option[3], option[4]);
    }
    printf("%s %lu %.9g %a %a %a %lu %lu\n", rows[i].name, tally.tested, tally.worst, static_cast<double>(tally.x),
           static_cast<double>(tally.y), static_cast<double>(tally.z), tally.precise_violations, tally.fast_violations);
  }
  return 0;
}
