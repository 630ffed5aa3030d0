#include "attention_call.h"

#include <cstring>
#include <memory>
#include <vector>

#include "../oracle/attention.h"
#include "arguments.h"
#include "memory_object.h"
#include "promise_worker.h"

namespace lockstep {
namespace {

/// Keeps the memory of every tensor mapped while a call works on it.
using Held = std::vector<std::shared_ptr<HostMemory>>;

constexpr std::uint64_t kMostRows = 0x7fffffff;
constexpr std::uint64_t kMostWidth = 1 << 16;

Dtype dtype_of(const Napi::Value& value, const std::string& name) {
  const std::string text = value.IsString() ? value.As<Napi::String>().Utf8Value() : "";
  if (text == "f32") return Dtype::f32;
  if (text == "f16") return Dtype::f16;
  if (text == "bf16") return Dtype::bf16;
  throw Napi::TypeError::New(value.Env(), name + " is \"" + text + "\"; use \"f32\", \"f16\" or \"bf16\"");
}

/// A `NativeTensor` of at least `rows` x `width` elements.
TensorView tensor(const Napi::Object& input, const char* name, std::uint64_t rows, std::uint64_t width, Held& held) {
  const Napi::Object value = object_argument(input.Get(name), name);
  const Dtype dtype = dtype_of(value.Get("dtype"), std::string(name) + ".dtype");
  auto memory = MemoryObject::unwrap(value.Get("memory"), name);
  std::uint64_t elements = 0;
  std::uint64_t needed = 0;
  if (__builtin_mul_overflow(rows, width, &elements) ||
      __builtin_mul_overflow(elements, std::uint64_t{dtype_bytes(dtype)}, &needed) || needed > memory->bytes()) {
    throw Napi::RangeError::New(input.Env(), std::string(name) + " has " + std::to_string(memory->bytes()) +
                                                 " bytes and its shape needs " + std::to_string(rows) + " x " +
                                                 std::to_string(width) + " elements of " +
                                                 std::to_string(dtype_bytes(dtype)) + " bytes: correct one of them");
  }
  held.push_back(memory);
  return {memory->data(), dtype};
}

unsigned threads_of(const Napi::Object& input) {
  const Napi::Value value = input.Get("threads");
  return value.IsUndefined() ? 0 : static_cast<unsigned>(whole_number(value, "threads", 1, 1024));
}

ComputeOptions compute_options(const Napi::Object& input) {
  const Napi::Value name = input.Get("instructionSet");
  return {threads_of(input), name.IsString() ? name.As<Napi::String>().Utf8Value() : ""};
}

DecodeProblem decode_problem(const Napi::Value& argument, Held& held) {
  const Napi::Object input = object_argument(argument, "input");
  DecodeProblem p;
  p.heads = whole_number(input.Get("heads"), "heads", 1, kMostWidth);
  p.kv_heads = whole_number(input.Get("kvHeads"), "kvHeads", 1, kMostWidth);
  p.dim = whole_number(input.Get("dim"), "dim", 1, kMostWidth);
  p.live = whole_number(input.Get("live"), "live", 0, kMostRows);
  p.scale = finite_number(input.Get("scale"), "scale");
  if (p.heads % p.kv_heads != 0) {
    throw Napi::RangeError::New(argument.Env(), std::to_string(p.heads) + " query heads do not divide among " +
                                                    std::to_string(p.kv_heads) +
                                                    " KV heads: use a multiple of the KV heads as query heads");
  }
  p.q = tensor(input, "q", p.heads, p.dim, held);
  p.k = tensor(input, "k", p.live, p.kv_heads * p.dim, held);
  p.v = tensor(input, "v", p.live, p.kv_heads * p.dim, held);
  return p;
}

std::vector<std::int32_t> int32_array(const Napi::Object& input, const char* name) {
  const Napi::Value value = input.Get(name);
  if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != napi_int32_array) {
    throw Napi::TypeError::New(input.Env(), std::string(name) + " must be an Int32Array");
  }
  const auto array = value.As<Napi::Int32Array>();
  return {array.Data(), array.Data() + array.ElementLength()};
}

std::vector<std::int32_t> sequence_bounds(const Napi::Object& input, const char* name) {
  std::vector<std::int32_t> bounds = int32_array(input, name);
  if (bounds.size() < 2 || bounds[0] != 0) {
    throw Napi::RangeError::New(input.Env(), std::string(name) + " must start with 0 and have an entry more than there "
                                                                 "are sequences");
  }
  for (std::size_t b = 1; b < bounds.size(); ++b) {
    if (bounds[b] < bounds[b - 1]) {
      throw Napi::RangeError::New(input.Env(), std::string(name) + "[" + std::to_string(b) + "] is " +
                                                   std::to_string(bounds[b]) + " after " +
                                                   std::to_string(bounds[b - 1]) + ": bounds must not decrease");
    }
  }
  return bounds;
}

PrefillProblem prefill_problem(const Napi::Value& argument, Held& held) {
  const Napi::Object input = object_argument(argument, "input");
  PrefillProblem p;
  p.heads = whole_number(input.Get("heads"), "heads", 1, kMostWidth);
  p.nope = whole_number(input.Get("nope"), "nope", 0, kMostWidth);
  p.rope = whole_number(input.Get("rope"), "rope", 0, kMostWidth);
  p.value = whole_number(input.Get("value"), "value", 1, kMostWidth);
  p.scale = finite_number(input.Get("scale"), "scale");
  p.cu_seqlens_q = sequence_bounds(input, "cuSeqlensQ");
  p.cu_seqlens_k = sequence_bounds(input, "cuSeqlensK");
  p.q_offset = int32_array(input, "qOffset");
  if (p.cu_seqlens_k.size() != p.cu_seqlens_q.size() || p.q_offset.size() + 1 != p.cu_seqlens_q.size()) {
    throw Napi::RangeError::New(argument.Env(), "cuSeqlensQ, cuSeqlensK and qOffset have " +
                                                    std::to_string(p.cu_seqlens_q.size()) + ", " +
                                                    std::to_string(p.cu_seqlens_k.size()) + " and " +
                                                    std::to_string(p.q_offset.size()) +
                                                    " entries; B sequences need B + 1, B + 1 and B");
  }
  const auto queries = static_cast<std::uint64_t>(p.cu_seqlens_q.back());
  const auto keys = static_cast<std::uint64_t>(p.cu_seqlens_k.back());
  p.q_nope = tensor(input, "qNope", queries, p.heads * p.nope, held);
  p.q_rope = tensor(input, "qRope", queries, p.heads * p.rope, held);
  p.k_nope = tensor(input, "kNope", keys, p.heads * p.nope, held);
  p.k_rope = tensor(input, "kRope", keys, p.rope, held);
  p.v = tensor(input, "v", keys, p.heads * p.value, held);
  return p;
}

Napi::Float64Array to_array(Napi::Env env, const std::vector<double>& values) {
  Napi::Float64Array array = Napi::Float64Array::New(env, values.size());
  if (!values.empty()) std::memcpy(array.Data(), values.data(), values.size() * sizeof(double));
  return array;
}

/// Runs `compute` on a thread of the pool and makes a `NativeAttentionResult` of what it returns.
template <class Compute>
Napi::Value run_attention(Napi::Env env, const char* name, Held held, Compute compute) {
  auto result = std::make_shared<std::unique_ptr<AttentionResult>>();
  return PromiseWorker::run(
      env, name, [held = std::move(held), compute = std::move(compute),
                  result] { *result = std::make_unique<AttentionResult>(compute()); },
      [result](Napi::Env e) -> Napi::Value {
        const AttentionResult& values = **result;
        Napi::Object object = Napi::Object::New(e);
        object.Set("out", to_array(e, values.out));
        object.Set("m", to_array(e, values.m));
        object.Set("s", to_array(e, values.s));
        object.Set("lse", to_array(e, values.lse));
        object.Set("conditioning", to_array(e, values.conditioning));
        object.Set("absolute", to_array(e, values.absolute));
        return object;
      });
}

template <class Compute>
Napi::Value run_twin(Napi::Env env, const char* name, Held held, Compute compute) {
  auto result = std::make_shared<std::vector<float>>();
  return PromiseWorker::run(
      env, name, [held = std::move(held), compute = std::move(compute), result] { *result = compute(); },
      [result](Napi::Env e) -> Napi::Value {
        Napi::Float32Array array = Napi::Float32Array::New(e, result->size());
        if (!result->empty()) std::memcpy(array.Data(), result->data(), result->size() * sizeof(float));
        return array;
      });
}

}  // namespace

Napi::Value gqa_decode_call(const Napi::CallbackInfo& info) {
  Held held;
  const DecodeProblem problem = decode_problem(info[0], held);
  const ComputeOptions options = compute_options(info[0].As<Napi::Object>());
  return run_attention(info.Env(), "lockstep.gqaDecode", std::move(held),
                       [problem, options] { return gqa_decode(problem, options); });
}

Napi::Value mla_prefill_call(const Napi::CallbackInfo& info) {
  Held held;
  const PrefillProblem problem = prefill_problem(info[0], held);
  const ComputeOptions options = compute_options(info[0].As<Napi::Object>());
  return run_attention(info.Env(), "lockstep.mlaPrefill", std::move(held),
                       [problem, options] { return mla_prefill(problem, options); });
}

Napi::Value gqa_decode_twin_call(const Napi::CallbackInfo& info) {
  Held held;
  const DecodeProblem problem = decode_problem(info[0], held);
  const Dtype dtype = dtype_of(info[1], "dtype");
  const unsigned threads = threads_of(info[0].As<Napi::Object>());
  return run_twin(info.Env(), "lockstep.gqaDecodeTwin", std::move(held),
                  [problem, dtype, threads] { return gqa_decode_twin(problem, dtype, threads); });
}

Napi::Value mla_prefill_twin_call(const Napi::CallbackInfo& info) {
  Held held;
  const PrefillProblem problem = prefill_problem(info[0], held);
  const Dtype dtype = dtype_of(info[1], "dtype");
  const unsigned threads = threads_of(info[0].As<Napi::Object>());
  return run_twin(info.Env(), "lockstep.mlaPrefillTwin", std::move(held),
                  [problem, dtype, threads] { return mla_prefill_twin(problem, dtype, threads); });
}

}  // namespace lockstep
