#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

enum class Dtype { f32, f16, bf16 };

constexpr std::size_t dtype_bytes(Dtype dtype) { return dtype == Dtype::f32 ? 4 : 2; }

/// A contiguous, row-major tensor. Whoever makes one has checked that `data` holds the elements its shape needs.
struct TensorView {
  const void* data = nullptr;
  Dtype dtype = Dtype::f32;
};

/// q [heads, dim], k and v [live, kv_heads, dim]; query head h reads KV head h / (heads / kv_heads).
struct DecodeProblem {
  TensorView q, k, v;
  std::size_t heads = 0;
  std::size_t kv_heads = 0;
  std::size_t dim = 0;
  std::size_t live = 0;
  double scale = 1;
};

/// q_nope [Tq, heads, nope], q_rope [Tq, heads, rope], k_nope [Tk, heads, nope], k_rope [Tk, rope],
/// v [Tk, heads, value]; causal within each sequence, whose query row i stands at position q_offset + i of its keys.
struct PrefillProblem {
  TensorView q_nope, q_rope, k_nope, k_rope, v;
  std::size_t heads = 0;
  std::size_t nope = 0;
  std::size_t rope = 0;
  std::size_t value = 0;
  std::vector<std::int32_t> cu_seqlens_q, cu_seqlens_k, q_offset;
  double scale = 1;
};

/// Rows are query heads (decode) or query row * heads + head (prefill). What the fields mean: oracle/attention.ts.
struct AttentionResult {
  AttentionResult(std::size_t rows, std::size_t width)
      : out(rows * width), m(rows), s(rows), lse(rows), conditioning(rows), absolute(rows * width) {}

  std::vector<double> out, m, s, lse, conditioning, absolute;
};

struct ComputeOptions {
  /// 0 takes one for each core.
  unsigned threads = 0;
  /// "avx512", "avx2" or "portable"; empty takes the best that the CPU has.
  std::string instruction_set;
};

/// The float64 oracle of oracle/attention.ts, tiled, vectorised and threaded. The result does not depend on the number of
/// threads. Throws std::runtime_error naming row and key where a score is NaN or +inf, and where the CPU lacks the
/// instruction set.
AttentionResult gqa_decode(const DecodeProblem& problem, const ComputeOptions& options);
AttentionResult mla_prefill(const PrefillProblem& problem, const ComputeOptions& options);

/// The naive low-precision twin of oracle/twin.ts, the same bits: out in f32, every value exact in `dtype`.
std::vector<float> gqa_decode_twin(const DecodeProblem& problem, Dtype dtype, unsigned threads);
std::vector<float> mla_prefill_twin(const PrefillProblem& problem, Dtype dtype, unsigned threads);

/// The instruction sets that this CPU runs, the best first: "avx512", "avx2", "portable".
std::vector<std::string> oracle_instruction_sets();

}  // namespace lockstep
