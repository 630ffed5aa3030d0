// The 8x8 fragment policy: simdgroup_matrix, available from Apple7 on. A lane owns two neighbouring elements of one row.
// kernels/fragments.ts holds the same map as data. All lanes of a simdgroup call every function together. prefill.h is written against these names only; a policy for another
// tile size supplies its own ownership, loads, row vectors, reductions and store.
#ifndef LOCKSTEP_MLA_FRAGMENT_8X8_H
#define LOCKSTEP_MLA_FRAGMENT_8X8_H

struct Fragment8x8 {
  static constant constexpr uint SIDE = 8;

  typedef simdgroup_matrix<ELEMENT, 8, 8> Operand;
  typedef simdgroup_matrix<float, 8, 8> Accumulator;
  // One value, or one count of visible keys, for each row that a lane owns elements of: here a single row.
  typedef float RowVector;
  typedef int RowCounts;

  // Ownership: elements (row, column) and (row, column + 1).
  static uint row(uint lane) {
    return ((lane & 6) >> 1) + ((lane & 16) >> 2);
  }
  static uint column(uint lane) {
    return ((lane & 1) << 1) + ((lane & 8) >> 1);
  }

  // Loads.
  static void load(thread Operand& operand, threadgroup const ELEMENT* origin, uint stride) {
    simdgroup_load(operand, origin, stride);
  }
  static void load_transposed(thread Operand& operand, threadgroup const ELEMENT* origin, uint stride) {
    simdgroup_load(operand, origin, stride, ulong2(0, 0), true);
  }

  // Products. Accumulators are float; the weights stay float against values of any element type.
  static void clear(thread Accumulator& sum) {
    sum = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
  }
  static void multiply(thread Accumulator& sum, thread Operand& left, thread Operand& right) {
    simdgroup_multiply_accumulate(sum, left, right, sum);
  }
  static void multiply_weights(thread Accumulator& sum, thread Accumulator& weights, thread Operand& right) {
    simdgroup_multiply_accumulate(sum, weights, right, sum);
  }

  // State. Counts of visible keys for the rows that the lane owns; rows at and beyond `rows` see none.
  static RowCounts visible_counts(Sequence sequence, int first_query, int rows, uint lane) {
    const int index = int(row(lane));
    return index < rows ? visible_keys(sequence, first_query + index) : 0;
  }
  static RowVector filled(float x) {
    return x;
  }
  static RowVector base_of(RowVector maximum) {
    return softmax_base(maximum);
  }

  // Scales the scores of keys first_key, ... and sets those at and beyond the row's count to -inf; returns the maximum
  // over the lane's own elements.
  static RowVector mask(thread Accumulator& score, float scale, int first_key, RowCounts counts, uint lane) {
    const int key = first_key + int(column(lane));
    float x = score.thread_elements()[0] * scale;
    float y = score.thread_elements()[1] * scale;
    x = key < counts ? x : -INFINITY;
    y = key + 1 < counts ? y : -INFINITY;
    score.thread_elements()[0] = x;
    score.thread_elements()[1] = y;
    return max(x, y);
  }
  // Turns scores into weights; returns the sum over the lane's own elements.
  static RowVector weigh(thread Accumulator& score, RowVector base) {
    const float x = exp(score.thread_elements()[0] - base);
    const float y = exp(score.thread_elements()[1] - base);
    score.thread_elements()[0] = x;
    score.thread_elements()[1] = y;
    return x + y;
  }
  static void rescale(thread Accumulator& sum, RowVector factor) {
    sum.thread_elements()[0] *= factor;
    sum.thread_elements()[1] *= factor;
  }

  // Row reductions: the four lanes that share a row differ in bits 0 and 3.
  static RowVector row_max(RowVector x) {
    x = max(x, simd_shuffle_xor(x, 1));
    return max(x, simd_shuffle_xor(x, 8));
  }
  static RowVector row_sum(RowVector x) {
    x += simd_shuffle_xor(x, 1);
    return x + simd_shuffle_xor(x, 8);
  }

  // Store: element / divisor, or 0 where the divisor is 0; rows at and beyond `rows` are left alone.
  static void store(
      thread Accumulator& sum, RowVector divisor, device ELEMENT* origin, ulong stride, int rows, uint lane) {
    const float x = sum.thread_elements()[0];
    const float y = sum.thread_elements()[1];
    if (int(row(lane)) < rows) {
      device ELEMENT* destination = origin + row(lane) * stride + column(lane);
      destination[0] = ELEMENT(divisor > 0.0f ? x / divisor : 0.0f);
      destination[1] = ELEMENT(divisor > 0.0f ? y / divisor : 0.0f);
    }
  }
  static void store_rows(RowVector x, device float* origin, ulong stride, int rows, uint lane) {
    if (column(lane) == 0 && int(row(lane)) < rows) {
      origin[row(lane) * stride] = x;
    }
  }
};

#endif
