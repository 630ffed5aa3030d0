#include "generate_call.h"

#include <cmath>

#include "../oracle/generator.h"
#include "arguments.h"
#include "memory_object.h"
#include "promise_worker.h"

namespace lockstep {

Napi::Value generate_call(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  auto memory = MemoryObject::unwrap(info[0], "memory");
  const auto byte_offset = whole_number(info[1], "byteOffset", 0, kMaxSafeInteger);
  const auto options = object_argument(info[2], "options");
  constexpr std::uint64_t elements = std::uint64_t{1} << 32;
  const auto seed = whole_number(options.Get("seed"), "seed", 0, elements - 1);
  const auto tensor = whole_number(options.Get("tensor"), "tensor", 0, elements - 1);
  const auto bits = whole_number(options.Get("bits"), "bits", 8, 24);
  const double multiplier = finite_number(options.Get("multiplier"), "multiplier");
  const auto start = whole_number(options.Get("start"), "start", 0, elements);
  const auto count = whole_number(options.Get("count"), "count", 0, elements);
  if (bits != 8 && bits != 24) throw Napi::RangeError::New(env, "bits is " + std::to_string(bits) + "; use 8 or 24");
  int exponent = 0;
  if (std::fabs(std::frexp(multiplier, &exponent)) != 0.5 || exponent < -60 || exponent > 60) {
    throw Napi::RangeError::New(env, "multiplier is " + std::to_string(multiplier) +
                                         "; only a power of two from 2^-61 to 2^59 keeps the stream exact");
  }
  if (start > elements - count) {
    throw Napi::RangeError::New(env, "elements " + std::to_string(start) + " to " + std::to_string(start + count) +
                                         " leave the stream of 2^32 elements");
  }
  if (byte_offset % sizeof(float) != 0) {
    throw Napi::RangeError::New(env, "byteOffset is " + std::to_string(byte_offset) + "; use a multiple of 4");
  }
  check_range(env, "a generated slice", byte_offset, count * sizeof(float), memory->bytes());

  auto work = [memory, byte_offset, seed, tensor, bits, multiplier, start, count] {
    generate(reinterpret_cast<float*>(memory->data() + byte_offset),
             make_stream(static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(tensor)),
             static_cast<int>(bits), static_cast<float>(multiplier), start, count);
  };
  return PromiseWorker::run(env, "lockstep.generate", work, [](Napi::Env e) { return e.Undefined(); });
}

}  // namespace lockstep
