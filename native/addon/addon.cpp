#include <napi.h>

#include <exception>
#include <memory>
#include <utility>

#include "../oracle/attention.h"
#include "arguments.h"
#include "attention_call.h"
#include "generate_call.h"
#include "memory_object.h"
#include "shared_memory.h"

#if defined(LOCKSTEP_METAL)
#include "../metal/exports.h"
#endif

namespace {

Napi::Value allocate(const Napi::CallbackInfo& info) {
  const auto bytes = lockstep::whole_number(info[0], "bytes", 1, lockstep::kMaxSafeInteger);
  std::shared_ptr<lockstep::SharedMemory> memory;
  try {
    memory = lockstep::SharedMemory::allocate(bytes);
  } catch (const std::exception& error) {
    throw Napi::Error::New(info.Env(), error.what());
  }
  return lockstep::MemoryObject::create(info.Env(), std::move(memory));
}

Napi::Object init(Napi::Env env, Napi::Object exports) {
  lockstep::MemoryObject::define(env);
  exports.Set("allocate", Napi::Function::New<allocate>(env, "allocate"));
  exports.Set("generate", Napi::Function::New<lockstep::generate_call>(env, "generate"));
  exports.Set("gqaDecode", Napi::Function::New<lockstep::gqa_decode_call>(env, "gqaDecode"));
  exports.Set("mlaPrefill", Napi::Function::New<lockstep::mla_prefill_call>(env, "mlaPrefill"));
  exports.Set("gqaDecodeTwin", Napi::Function::New<lockstep::gqa_decode_twin_call>(env, "gqaDecodeTwin"));
  exports.Set("mlaPrefillTwin", Napi::Function::New<lockstep::mla_prefill_twin_call>(env, "mlaPrefillTwin"));
  const auto names = lockstep::oracle_instruction_sets();
  Napi::Array instruction_sets = Napi::Array::New(env, names.size());
  for (std::uint32_t i = 0; i < names.size(); ++i) instruction_sets.Set(i, names[i]);
  exports.Set("instructionSets", instruction_sets);
#if defined(LOCKSTEP_METAL)
  exports.Set("metal", lockstep::metal::exports(env));
#else
  exports.Set("metal", env.Null());
#endif
  return exports;
}

}  // namespace

NODE_API_MODULE(lockstep, init)
