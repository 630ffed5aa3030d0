// The naive low-precision twin. Every operation is the one that oracle/twin.ts states, in the same order; vectors run
// across independent sums only, and no product is contracted with its addition. So both give the same bits.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "attention.h"
#include "clones.h"
#include "parallel.h"

#pragma clang fp contract(off)

namespace lockstep {
namespace {

/// Keys whose dot products advance together.
constexpr std::size_t kKeys = 16;

float from_bits(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

std::uint32_t to_bits(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

/// Nearest bf16, ties to even: adding half a unit (less the tie) carries into the upper half.
float round_bf16(float x) {
  const std::uint32_t bits = to_bits(x);
  if ((bits & 0x7fffffff) > 0x7f800000) return x;
  return from_bits((bits + 0x7fff + ((bits >> 16) & 1)) & 0xffff0000u);
}

/// Nearest f16, ties to even. Adding and subtracting 2^23 units of the last place leaves no bits below it.
float round_f16(float x) {
  const float magnitude = std::fabs(x);
  if (!(magnitude < 65520.0f)) return std::isnan(x) ? x : std::copysign(std::numeric_limits<float>::infinity(), x);
  const int exponent = std::max(static_cast<int>(to_bits(magnitude) >> 23) - 127, -14);
  const float magic = from_bits(static_cast<std::uint32_t>(exponent - 10 + 23 + 127) << 23);
  return std::copysign(magnitude + magic - magic, x);
}

float round_to(float x, Dtype dtype) {
  switch (dtype) {
    case Dtype::bf16:
      return round_bf16(x);
    case Dtype::f16:
      return round_f16(x);
    case Dtype::f32:
      break;
  }
  return x;
}

float f16_value(std::uint16_t bits) {
  const float magnitude = (bits & 0x7c00) == 0x7c00 ? from_bits(0x7f800000u | (bits & 0x3ffu) << 13)
                                                    : from_bits((bits & 0x7fffu) << 13) * 0x1p112f;
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

void read_row(float* out, const TensorView& view, std::size_t from, std::size_t count) {
  const auto* halves = static_cast<const std::uint16_t*>(view.data) + (view.dtype == Dtype::f32 ? 0 : from);
  switch (view.dtype) {
    case Dtype::f32:
      std::memcpy(out, static_cast<const float*>(view.data) + from, count * sizeof(float));
      break;
    case Dtype::f16:
      for (std::size_t i = 0; i < count; ++i) out[i] = f16_value(halves[i]);
      break;
    case Dtype::bf16:
      for (std::size_t i = 0; i < count; ++i) out[i] = from_bits(static_cast<std::uint32_t>(halves[i]) << 16);
      break;
  }
}

/// oracle/twin.ts `expF32`.
float exp_f32(float x) {
  static constexpr double terms[] = {
      1.6059043836821613e-10, 2.08767569878681e-9,   2.505210838544172e-8,  2.755731922398589e-7,
      2.7557319223985893e-6,  2.48015873015873e-5,   1.984126984126984e-4,  1.3888888888888889e-3,
      8.333333333333333e-3,   4.1666666666666664e-2, 0.16666666666666666,   0.5};
  const double value = x;
  if (value < -104) return 0;
  const double k = std::floor(value * 1.4426950408889634 + 0.5);
  const double r = value - k * 0.6931471803691238 - k * 1.9082149292705877e-10;
  double p = terms[0];
  for (std::size_t n = 1; n < std::size(terms); ++n) p = p * r + terms[n];
  p = (p * r + 1) * r + 1;
  const std::uint64_t power_bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(k) + 1023) << 52;
  double power;
  std::memcpy(&power, &power_bits, sizeof(power));
  return static_cast<float>(p * power);
}

/// Continues kKeys dot products: sums[j] += q[d] * k[d][j], d after d.
LOCKSTEP_CLONES("avx2", "default")
void dot_keys(float* sums, const float* q, const float* k, std::size_t width) {
  for (std::size_t d = 0; d < width; ++d) {
    for (std::size_t j = 0; j < kKeys; ++j) sums[j] = sums[j] + q[d] * k[d * kKeys + j];
  }
}

/// sums[d] += weight * v[d].
LOCKSTEP_CLONES("avx2", "default")
void add_weighted(float* sums, float weight, const float* v, std::size_t width) {
  for (std::size_t d = 0; d < width; ++d) sums[d] = sums[d] + weight * v[d];
}

/// One part of a key: row j starts at element first + j * stride.
struct Part {
  TensorView view;
  std::size_t first, stride, width;
};

/// Query rows that see a prefix of the same keys; `visible[r]` keys for row r.
struct Rows {
  std::vector<float> query;  // [row][depth]
  std::size_t depth = 0;
  std::vector<std::size_t> visible;
};

/// Outputs [row][value.width] of plain attention, each step rounded as the definition says.
std::vector<float> attend(const Rows& rows, const std::vector<Part>& keys, const Part& value, float scale,
                          Dtype dtype) {
  const std::size_t count = rows.visible.size();
  const std::size_t most = count == 0 ? 0 : *std::max_element(rows.visible.begin(), rows.visible.end());
  std::vector<float> scores(count * most);
  std::vector<float> row;
  std::vector<float> block(rows.depth * kKeys);
  for (std::size_t j0 = 0; j0 < most; j0 += kKeys) {
    const std::size_t here = std::min(kKeys, most - j0);
    std::fill(block.begin(), block.end(), 0.0f);
    std::size_t at = 0;
    for (const Part& part : keys) {
      row.resize(part.width);
      for (std::size_t j = 0; j < here; ++j) {
        read_row(row.data(), part.view, part.first + (j0 + j) * part.stride, part.width);
        for (std::size_t d = 0; d < part.width; ++d) block[(at + d) * kKeys + j] = row[d];
      }
      at += part.width;
    }
    for (std::size_t r = 0; r < count; ++r) {
      float sums[kKeys] = {};
      dot_keys(sums, rows.query.data() + r * rows.depth, block.data(), rows.depth);
      for (std::size_t j = 0; j < here; ++j) scores[r * most + j0 + j] = round_to(scale * sums[j], dtype);
    }
  }

  // Scores become weights.
  for (std::size_t r = 0; r < count; ++r) {
    float* w = scores.data() + r * most;
    float m = -std::numeric_limits<float>::infinity();
    for (std::size_t j = 0; j < rows.visible[r]; ++j) m = w[j] > m ? w[j] : m;
    if (m == -std::numeric_limits<float>::infinity()) {
      std::fill(w, w + most, 0.0f);
      continue;
    }
    float s = 0;
    for (std::size_t j = 0; j < rows.visible[r]; ++j) {
      w[j] = exp_f32(w[j] - m);
      s = s + w[j];
    }
    for (std::size_t j = 0; j < rows.visible[r]; ++j) w[j] = round_to(w[j] / s, dtype);
  }

  std::vector<float> out(count * value.width);
  row.resize(value.width);
  for (std::size_t j = 0; j < most; ++j) {
    read_row(row.data(), value.view, value.first + j * value.stride, value.width);
    for (std::size_t r = 0; r < count; ++r) {
      if (j >= rows.visible[r]) continue;
      add_weighted(out.data() + r * value.width, scores[r * most + j], row.data(), value.width);
    }
  }
  for (float& x : out) x = round_to(x, dtype);
  return out;
}

}  // namespace

std::vector<float> gqa_decode_twin(const DecodeProblem& p, Dtype dtype, unsigned threads) {
  const std::size_t group = p.heads / p.kv_heads;
  std::vector<float> out(p.heads * p.dim);
  oracle::parallel_for(p.kv_heads, threads, [&](std::size_t h) {
    Rows rows;
    rows.depth = p.dim;
    rows.query.resize(group * p.dim);
    rows.visible.assign(group, p.live);
    read_row(rows.query.data(), p.q, h * group * p.dim, group * p.dim);
    const std::size_t stride = p.kv_heads * p.dim;
    const auto result = attend(rows, {{p.k, h * p.dim, stride, p.dim}}, {p.v, h * p.dim, stride, p.dim},
                               static_cast<float>(p.scale), dtype);
    std::copy(result.begin(), result.end(), out.begin() + static_cast<std::ptrdiff_t>(h * group * p.dim));
  });
  return out;
}

std::vector<float> mla_prefill_twin(const PrefillProblem& p, Dtype dtype, unsigned threads) {
  constexpr std::size_t kRows = 32;
  struct Task {
    std::size_t sequence, head, first, rows;
  };
  std::vector<Task> tasks;
  const std::size_t sequences = p.q_offset.size();
  for (std::size_t b = 0; b < sequences; ++b) {
    const auto rows = static_cast<std::size_t>(p.cu_seqlens_q[b + 1] - p.cu_seqlens_q[b]);
    for (std::size_t first = 0; first < rows; first += kRows) {
      for (std::size_t h = 0; h < p.heads; ++h) tasks.push_back({b, h, first, std::min(kRows, rows - first)});
    }
  }
  std::vector<float> out(static_cast<std::size_t>(p.cu_seqlens_q[sequences]) * p.heads * p.value);
  oracle::parallel_for(tasks.size(), threads, [&](std::size_t i) {
    const Task& task = tasks[i];
    const std::int64_t keys_here = p.cu_seqlens_k[task.sequence + 1] - p.cu_seqlens_k[task.sequence];
    const auto first_key = static_cast<std::size_t>(p.cu_seqlens_k[task.sequence]);
    const std::size_t first_query = static_cast<std::size_t>(p.cu_seqlens_q[task.sequence]) + task.first;
    Rows rows;
    rows.depth = p.nope + p.rope;
    rows.query.resize(task.rows * rows.depth);
    for (std::size_t r = 0; r < task.rows; ++r) {
      const std::size_t row = (first_query + r) * p.heads + task.head;
      read_row(rows.query.data() + r * rows.depth, p.q_nope, row * p.nope, p.nope);
      read_row(rows.query.data() + r * rows.depth + p.nope, p.q_rope, row * p.rope, p.rope);
      const std::int64_t position = std::int64_t{p.q_offset[task.sequence]} + static_cast<std::int64_t>(task.first + r);
      rows.visible.push_back(static_cast<std::size_t>(std::clamp<std::int64_t>(position + 1, 0, keys_here)));
    }
    const auto result = attend(rows,
                               {{p.k_nope, (first_key * p.heads + task.head) * p.nope, p.heads * p.nope, p.nope},
                                {p.k_rope, first_key * p.rope, p.rope, p.rope}},
                               {p.v, (first_key * p.heads + task.head) * p.value, p.heads * p.value, p.value},
                               static_cast<float>(p.scale), dtype);
    for (std::size_t r = 0; r < task.rows; ++r) {
      const std::size_t to = ((first_query + r) * p.heads + task.head) * p.value;
      std::copy_n(result.begin() + static_cast<std::ptrdiff_t>(r * p.value), p.value,
                  out.begin() + static_cast<std::ptrdiff_t>(to));
    }
  });
  return out;
}

}  // namespace lockstep
