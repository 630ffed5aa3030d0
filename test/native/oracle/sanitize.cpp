// Runs the native oracle, twin, generator and shared memory on small exact-size buffers and compares the oracle with sums
// in long double. Meant to be built with sanitizers; prints a line a case and exits 1 if one is wrong.
//
//   clang++-19 -std=c++20 -O1 -g -fsanitize=address,undefined test/native/oracle/sanitize.cpp native/oracle/*.cpp
//   native/addon/shared_memory.cpp -pthread -o out/oracle-sanitize && out/oracle-sanitize
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "../../../native/addon/shared_memory.h"
#include "../../../native/oracle/attention.h"
#include "../../../native/oracle/generator.h"

using namespace lockstep;

namespace {

int failures = 0;

void report(const std::string& what, bool good) {
  std::printf("%s %s\n", good ? "ok    " : "FAILED", what.c_str());
  failures += good ? 0 : 1;
}

/// Values of the generator in a heap block of exactly their size, stored as `dtype`, and widened.
struct Tensor {
  Tensor(std::uint32_t index, std::size_t count, Dtype dtype) : values(count), dtype(dtype) {
    std::vector<float> f32(count);
    generate(f32.data(), make_stream(17, index), 8, 1, 0, count);
    bytes = std::make_unique<unsigned char[]>(count * dtype_bytes(dtype));
    for (std::size_t i = 0; i < count; ++i) {
      values[i] = f32[i];
      std::uint32_t bits;
      std::memcpy(&bits, &f32[i], 4);
      // Multiples of 2^-7 below 1 are normal in all three.
      std::uint16_t half = static_cast<std::uint16_t>(bits >> 16);
      if (dtype == Dtype::f16 && f32[i] != 0) {
        half = static_cast<std::uint16_t>((bits >> 16 & 0x8000) | (((bits >> 23 & 0xff) - 112) << 10) |
                                          (bits >> 13 & 0x3ff));
      }
      if (dtype == Dtype::f32) {
        std::memcpy(bytes.get() + 4 * i, &bits, 4);
      } else {
        std::memcpy(bytes.get() + 2 * i, &half, 2);
      }
    }
  }
  TensorView view() const { return {bytes.get(), dtype}; }

  std::vector<double> values;
  Dtype dtype;
  std::unique_ptr<unsigned char[]> bytes;
};

/// Softmax of `scores` over value rows v[first + j * stride ...], in long double.
bool row_agrees(const AttentionResult& result, std::size_t row, const std::vector<long double>& scores,
                const std::vector<double>& v, std::size_t first, std::size_t stride, std::size_t width) {
  if (scores.empty()) return std::isinf(result.lse[row]) && result.out[row * width] == 0;
  long double m = scores[0];
  for (const long double score : scores) m = std::max(m, score);
  long double s = 0;
  for (const long double score : scores) s += std::exp(score - m);
  double worst = std::fabs(static_cast<double>(result.lse[row] - (m + std::log(s))));
  for (std::size_t d = 0; d < width; ++d) {
    long double sum = 0;
    for (std::size_t j = 0; j < scores.size(); ++j) sum += std::exp(scores[j] - m) * v[first + j * stride + d];
    worst = std::max(worst, std::fabs(static_cast<double>(result.out[row * width + d] - sum / s)));
  }
  return worst <= 1e-13;
}

void decode(std::size_t heads, std::size_t kv_heads, std::size_t dim, std::size_t live, Dtype dtype) {
  const Tensor q(0, heads * dim, dtype), k(1, live * kv_heads * dim, dtype), v(2, live * kv_heads * dim, dtype);
  DecodeProblem problem{q.view(), k.view(), v.view(), heads, kv_heads, dim, live, 0.75};
  for (const std::string& set : oracle_instruction_sets()) {
    const AttentionResult result = gqa_decode(problem, {3, set});
    bool good = true;
    for (std::size_t h = 0; h < heads; ++h) {
      const std::size_t kv = h / (heads / kv_heads);
      std::vector<long double> scores(live);
      for (std::size_t t = 0; t < live; ++t) {
        for (std::size_t d = 0; d < dim; ++d) {
          scores[t] += 0.75L * q.values[h * dim + d] * k.values[(t * kv_heads + kv) * dim + d];
        }
      }
      good = good && row_agrees(result, h, scores, v.values, kv * dim, kv_heads * dim, dim);
    }
    report("decode " + std::to_string(heads) + "/" + std::to_string(kv_heads) + "/" + std::to_string(dim) + " L" +
               std::to_string(live) + " dtype " + std::to_string(static_cast<int>(dtype)) + " " + set,
           good);
  }
  report("decode twin", gqa_decode_twin(problem, Dtype::bf16, 2).size() == heads * dim);
}

void prefill(Dtype dtype) {
  PrefillProblem p;
  p.heads = 2;
  p.nope = 19;
  p.rope = 5;
  p.value = 21;
  p.cu_seqlens_q = {0, 70, 70, 83};
  p.cu_seqlens_k = {0, 90, 95, 95};
  p.q_offset = {20, 0, 0};
  p.scale = 0.25;
  const std::size_t queries = 83, keys = 95;
  const Tensor qn(0, queries * p.heads * p.nope, dtype), qr(3, queries * p.heads * p.rope, dtype);
  const Tensor kn(1, keys * p.heads * p.nope, dtype), kr(4, keys * p.rope, dtype);
  const Tensor v(2, keys * p.heads * p.value, dtype);
  p.q_nope = qn.view();
  p.q_rope = qr.view();
  p.k_nope = kn.view();
  p.k_rope = kr.view();
  p.v = v.view();
  for (const std::string& set : oracle_instruction_sets()) {
    const AttentionResult result = mla_prefill(p, {3, set});
    bool good = true;
    for (std::size_t row = 0; row < queries * p.heads; ++row) {
      const std::size_t query = row / p.heads, h = row % p.heads;
      std::vector<long double> scores(query < 70 ? std::min<std::size_t>(90, 20 + query + 1) : 0);
      for (std::size_t j = 0; j < scores.size(); ++j) {
        long double dot = 0;
        for (std::size_t d = 0; d < p.nope; ++d) {
          dot += static_cast<long double>(qn.values[row * p.nope + d]) * kn.values[(j * p.heads + h) * p.nope + d];
        }
        for (std::size_t d = 0; d < p.rope; ++d) {
          dot += static_cast<long double>(qr.values[row * p.rope + d]) * kr.values[j * p.rope + d];
        }
        scores[j] = 0.25L * dot;
      }
      good = good && row_agrees(result, row, scores, v.values, h * p.value, p.heads * p.value, p.value);
    }
    report("prefill dtype " + std::to_string(static_cast<int>(dtype)) + " " + set, good);
  }
  report("prefill twin", mla_prefill_twin(p, Dtype::f16, 2).size() == queries * p.heads * p.value);
}

void memory() {
  for (const std::size_t bytes : {1, 15, 16, 17, 4095, 4096, 4097, 100000}) {
    const auto block = SharedMemory::allocate(bytes);
    block->fill(0x7fed7fed);
    bool good = block->sentinel_intact() && block->data()[bytes - 1] == ((bytes - 1) % 2 == 0 ? 0xed : 0x7f);
    if (bytes % 16 != 0) {
      block->data()[bytes] ^= 1;
      good = good && !block->sentinel_intact();
    }
    report("shared memory of " + std::to_string(bytes) + " bytes", good);
  }
}

void bad_scores() {
  Tensor q(0, 8, Dtype::f32), k(1, 24, Dtype::f32), v(2, 24, Dtype::f32);
  const float bad = NAN;
  std::memcpy(k.bytes.get() + 4 * 17, &bad, 4);
  bool refused = false;
  try {
    gqa_decode({q.view(), k.view(), v.view(), 1, 1, 8, 3, 1}, {});
  } catch (const std::runtime_error& error) {
    refused = std::strstr(error.what(), "row 0, key 2") != nullptr;
  }
  report("a NaN score is refused", refused);
}

}  // namespace

int main() {
  for (const Dtype dtype : {Dtype::f32, Dtype::f16, Dtype::bf16}) {
    decode(4, 2, 17, 13, dtype);
    decode(9, 1, 70, 130, dtype);
    decode(8, 8, 1, 64, dtype);
    decode(2, 1, 3, 0, dtype);
    prefill(dtype);
  }
  decode(8, 2, 32, 2049, Dtype::f32);
  memory();
  bad_scores();
  std::printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
