#include "attention.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "kernel.h"
#include "parallel.h"

namespace lockstep {
namespace oracle {

std::vector<const Kernels*> usable_kernels() {
  std::vector<const Kernels*> usable;
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl")) {
    usable.push_back(&kAvx512Kernels);
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) usable.push_back(&kAvx2Kernels);
#endif
  usable.push_back(&kPortableKernels);
  return usable;
}

const Kernels& kernels_named(const std::string& name) {
  const auto usable = usable_kernels();
  std::string names;
  for (const Kernels* kernels : usable) {
    if (name.empty() || name == kernels->name) return *kernels;
    names += std::string(names.empty() ? "" : ", ") + kernels->name;
  }
  throw std::runtime_error("the oracle has no \"" + name + "\" kernels for this CPU; it runs " + names);
}

}  // namespace oracle

namespace {

using oracle::Keys;
using oracle::Kernels;
using oracle::Rows;
using oracle::Tile;

/// Keys of a decode that share one partial state. Fixed, so that the result does not depend on the number of threads.
constexpr std::size_t kPieceKeys = 2048;
/// Query rows of a prefill that walk their keys together: each converted key serves all of them.
constexpr std::size_t kPrefillRows = 64;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Rows rows_of(const TensorView& view, std::size_t first, std::size_t stride, std::size_t width) {
  return {static_cast<const std::uint8_t*>(view.data) + first * dtype_bytes(view.dtype), stride, width, view.dtype};
}

[[noreturn]] void refuse_score(std::size_t row, std::size_t key) {
  throw std::runtime_error("row " + std::to_string(row) + ", key " + std::to_string(key) +
                           ": the score is NaN or +inf; scores are finite or -inf: mend the inputs");
}

/// Copies `count` query elements from element `from` of `view` into lane `lane` at depth `depth`.
void pack_query(const Kernels& kernels, Tile& tile, std::size_t lane, std::size_t depth, const TensorView& view,
                std::size_t from, std::size_t count) {
  std::vector<double> row(count);
  kernels.widen(row.data(), view, from, count);
  double* query = tile.query.data() + (lane / tile.lanes * tile.depth + depth) * tile.lanes + lane % tile.lanes;
  for (std::size_t d = 0; d < count; ++d) query[d * tile.lanes] = row[d];
}

/// Adds the state of `from`'s lane to row sums; both relative to `m`.
struct RowSum {
  double m = -kInfinity;
  double s = 0;
  double conditioning = 0;
};

/// Merges the partial states of one row, kept in `tiles`, in order, and writes the finished row.
void finish_row(AttentionResult& result, std::size_t row, const std::vector<const Tile*>& tiles, std::size_t lane,
                double scale) {
  RowSum sum;
  for (const Tile* tile : tiles) {
    sum.m = std::max(sum.m, tile->m[lane]);
    sum.conditioning = std::max(sum.conditioning, tile->conditioning[lane]);
  }
  // The product may overflow where the sum itself did not.
  const double conditioning = std::fabs(scale) * sum.conditioning;
  result.conditioning[row] = conditioning < kInfinity ? conditioning : 0;
  result.m[row] = sum.m;
  if (sum.m == -kInfinity) {
    result.lse[row] = -kInfinity;
    return;
  }
  const std::size_t width = tiles.front()->width;
  double* out = result.out.data() + row * width;
  double* absolute = result.absolute.data() + row * width;
  for (const Tile* tile : tiles) {
    if (tile->m[lane] == -kInfinity) continue;
    const double factor = std::exp(tile->m[lane] - sum.m);
    sum.s += tile->s[lane] * factor;
    const std::size_t at = lane / tile->lanes * tile->padded * tile->lanes + lane % tile->lanes;
    for (std::size_t d = 0; d < width; ++d) {
      out[d] += tile->out[at + d * tile->lanes] * factor;
      absolute[d] += tile->absolute[at + d * tile->lanes] * factor;
    }
  }
  for (std::size_t d = 0; d < width; ++d) {
    out[d] /= sum.s;
    absolute[d] /= sum.s;
  }
  result.s[row] = sum.s;
  result.lse[row] = sum.m + std::log(sum.s);
}

}  // namespace

AttentionResult gqa_decode(const DecodeProblem& p, const ComputeOptions& options) {
  const Kernels& kernels = oracle::kernels_named(options.instruction_set);
  const std::size_t group = p.heads / p.kv_heads;
  const std::size_t vectors = (group + kernels.lanes - 1) / kernels.lanes;
  const std::size_t pieces = std::max<std::size_t>(1, (p.live + kPieceKeys - 1) / kPieceKeys);
  std::vector<std::vector<Tile>> tiles(pieces);

  oracle::parallel_for(pieces, options.threads, [&](std::size_t piece) {
    const std::size_t begin = piece * kPieceKeys;
    const std::size_t end = std::min(p.live, begin + kPieceKeys);
    std::vector<Tile>& mine = tiles[piece];
    for (std::size_t h = 0; h < p.kv_heads; ++h) {
      Tile& tile = mine.emplace_back(vectors, kernels.lanes, p.dim, p.dim);
      for (std::size_t lane = 0; lane < group; ++lane) {
        pack_query(kernels, tile, lane, 0, p.q, (h * group + lane) * p.dim, p.dim);
        tile.visible[lane] = static_cast<double>(p.live);
      }
    }
    // All KV heads of a few keys before the next keys: memory is read in order.
    constexpr std::size_t step = 64;
    for (std::size_t at = begin; at < end; at += step) {
      for (std::size_t h = 0; h < p.kv_heads; ++h) {
        Keys keys;
        keys.parts[0] = rows_of(p.k, h * p.dim, p.kv_heads * p.dim, p.dim);
        keys.part_count = 1;
        keys.value = rows_of(p.v, h * p.dim, p.kv_heads * p.dim, p.dim);
        const auto bad = kernels.attend(mine[h], keys, p.scale, at, std::min(end, at + step));
        if (bad.found) refuse_score(h * group + bad.lane, bad.key);
      }
    }
  });

  AttentionResult result(p.heads, p.dim);
  oracle::parallel_for(p.heads, options.threads, [&](std::size_t head) {
    std::vector<const Tile*> parts;
    for (const auto& piece : tiles) parts.push_back(&piece[head / group]);
    finish_row(result, head, parts, head % group, p.scale);
  });
  return result;
}

AttentionResult mla_prefill(const PrefillProblem& p, const ComputeOptions& options) {
  const Kernels& kernels = oracle::kernels_named(options.instruction_set);
  struct Task {
    std::size_t sequence, head, first, rows;
  };
  std::vector<Task> tasks;
  const std::size_t sequences = p.q_offset.size();
  for (std::size_t b = 0; b < sequences; ++b) {
    const auto rows = static_cast<std::size_t>(p.cu_seqlens_q[b + 1] - p.cu_seqlens_q[b]);
    for (std::size_t first = 0; first < rows; first += kPrefillRows) {
      for (std::size_t head = 0; head < p.heads; ++head) {
        tasks.push_back({b, head, first, std::min(kPrefillRows, rows - first)});
      }
    }
  }
  // The last rows of a sequence see the most keys; starting with them keeps all threads busy to the end.
  std::reverse(tasks.begin(), tasks.end());

  AttentionResult result(static_cast<std::size_t>(p.cu_seqlens_q[sequences]) * p.heads, p.value);
  oracle::parallel_for(tasks.size(), options.threads, [&](std::size_t i) {
    const Task& task = tasks[i];
    const std::int64_t keys_here = p.cu_seqlens_k[task.sequence + 1] - p.cu_seqlens_k[task.sequence];
    const auto first_key = static_cast<std::size_t>(p.cu_seqlens_k[task.sequence]);
    const std::size_t first_query = static_cast<std::size_t>(p.cu_seqlens_q[task.sequence]) + task.first;
    Tile tile((task.rows + kernels.lanes - 1) / kernels.lanes, kernels.lanes, p.nope + p.rope, p.value);
    std::int64_t most = 0;
    for (std::size_t lane = 0; lane < task.rows; ++lane) {
      const std::size_t row = (first_query + lane) * p.heads + task.head;
      pack_query(kernels, tile, lane, 0, p.q_nope, row * p.nope, p.nope);
      pack_query(kernels, tile, lane, p.nope, p.q_rope, row * p.rope, p.rope);
      const std::int64_t position =
          std::int64_t{p.q_offset[task.sequence]} + static_cast<std::int64_t>(task.first + lane);
      const std::int64_t visible = std::clamp<std::int64_t>(position + 1, 0, keys_here);
      tile.visible[lane] = static_cast<double>(visible);
      most = std::max(most, visible);
    }
    Keys keys;
    keys.parts[0] = rows_of(p.k_nope, (first_key * p.heads + task.head) * p.nope, p.heads * p.nope, p.nope);
    keys.parts[1] = rows_of(p.k_rope, first_key * p.rope, p.rope, p.rope);
    keys.part_count = 2;
    keys.value = rows_of(p.v, (first_key * p.heads + task.head) * p.value, p.heads * p.value, p.value);
    const auto bad = kernels.attend(tile, keys, p.scale, 0, static_cast<std::size_t>(most));
    if (bad.found) refuse_score((first_query + bad.lane) * p.heads + task.head, first_key + bad.key);
    for (std::size_t lane = 0; lane < task.rows; ++lane) {
      finish_row(result, (first_query + lane) * p.heads + task.head, {&tile}, lane, p.scale);
    }
  });
  return result;
}

std::vector<std::string> oracle_instruction_sets() {
  std::vector<std::string> names;
  for (const Kernels* kernels : oracle::usable_kernels()) names.emplace_back(kernels->name);
  return names;
}

}  // namespace lockstep
