#include <napi.h>

#include "arguments.h"
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
  return exports;
}

}  // namespace

NODE_API_MODULE(lockstep, init)
