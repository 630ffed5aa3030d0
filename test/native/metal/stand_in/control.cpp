// STAND-IN for tests: what tests call, as a Node-API module; it is the same library that the addon is linked to.
#include <napi.h>

#include "metal/scenario.h"
#include "objc/runtime.h"

namespace {

void scenario(const Napi::CallbackInfo &info) { stand_in::set_scenario(info[0].As<Napi::String>()); }

void let(const Napi::CallbackInfo &info) { stand_in::let(info[0].As<Napi::Number>().Int64Value()); }

/** Violations since the last call. */
Napi::Value violations(const Napi::CallbackInfo &info) {
  const auto all = stand_in::take_violations();
  Napi::Array list = Napi::Array::New(info.Env(), all.size());
  for (std::uint32_t i = 0; i < all.size(); ++i) list.Set(i, all[i]);
  return list;
}

Napi::Value counts(const Napi::CallbackInfo &info) { return Napi::String::New(info.Env(), stand_in::counts()); }

/** Objects that are alive, by class; and how many were autoreleased where there was no pool. */
Napi::Value objects(const Napi::CallbackInfo &info) {
  char text[2048];
  stand_in::describe_alive(text, sizeof text);
  Napi::Object told = Napi::Object::New(info.Env());
  told.Set("alive", static_cast<double>(stand_in::alive()));
  told.Set("classes", text);
  told.Set("withoutPool", static_cast<double>(stand_in::without_pool()));
  return told;
}

Napi::Object init(Napi::Env env, Napi::Object exports) {
  stand_in::this_is_the_main_thread();
  exports.Set("scenario", Napi::Function::New(env, scenario));
  exports.Set("let", Napi::Function::New(env, let));
  exports.Set("violations", Napi::Function::New(env, violations));
  exports.Set("counts", Napi::Function::New(env, counts));
  exports.Set("objects", Napi::Function::New(env, objects));
  return exports;
}

}  // namespace

NODE_API_MODULE(stand_in, init)
