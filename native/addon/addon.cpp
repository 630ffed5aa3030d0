#include <napi.h>

#include "../oracle/attention.h"
#include "arguments.h"
#include "attention_call.h"
#include "generate_call.h"
#include "memory_object.h"

namespace {

Napi::Value allocate(const Napi::CallbackInfo& info) {
  const auto bytes = lockstep::whole_number(info[0], "bytes", 1, lockstep::kMaxSafeInteger);
  return lockstep::MemoryObject::create(info.Env(), bytes);
}

Napi::Object init(Napi::Env env, Napi::Object exports) {
  lockstep::MemoryObject::define(env);
  exports.Set("allocate", Napi::Function::New<allocate>(env, "allocate"));
  exports.Set("generate", Napi::Function::New<lockstep::generate_call>(env, "generate"));
  exports.Set("gqaDecode", Napi::Function::New<lockstep::gqa_decode_call>(env, "gqaDecode"));
  exports.Set("mlaPrefill", Napi::Function::New<lockstep::mla_prefill_call>(env, "mlaPrefill"));
  exports.Set("gqaDecodeTwin", Napi::Function::New<lockstep::gqa_decode_twin_call>(env, "gqaDecodeTwin"));
  exports.Set("mlaPrefillTwin", Napi::Function::New<lockstep::mla_prefill_twin_call>(env, "mlaPrefillTwin"));
  exports.Set("instructionSet", Napi::String::New(env, lockstep::oracle_instruction_set()));
  return exports;
}

}  // namespace

NODE_API_MODULE(lockstep, init)
