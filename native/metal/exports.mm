#include "exports.h"

#include <memory>
#include <vector>

#include "../addon/arguments.h"
#include "../addon/promise_worker.h"
#include "connection.h"
#include "connection_object.h"
#include "detection.h"
#include "replies.h"
#include "requests.h"
#include "system.h"

namespace lockstep::metal {
namespace {

Napi::Value system_call(const Napi::CallbackInfo& info) { return system_reply(info.Env(), system_facts()); }

Napi::Value devices_call(const Napi::CallbackInfo& info) {
  auto devices = std::make_shared<std::vector<DeviceFacts>>();
  return PromiseWorker::run(
      info.Env(), "lockstep.metal.devices", [devices] { *devices = device_facts(); },
      [devices](Napi::Env env) { return devices_reply(env, *devices); });
}

Napi::Value open_call(const Napi::CallbackInfo& info) {
  const std::uint64_t registry_id = registry_id_of(info[0]);
  const bool logging = flag_of(object_argument(info[1], "options"), "logging");
  auto connection = std::make_shared<std::shared_ptr<Connection>>();
  return PromiseWorker::run(
      info.Env(), "lockstep.metal.open",
      [registry_id, logging, connection] { *connection = Connection::open(registry_id, logging); },
      [connection](Napi::Env env) { return connection_object(env, std::move(*connection)); });
}

}  // namespace

Napi::Object exports(Napi::Env env) {
  Napi::Object metal = Napi::Object::New(env);
  metal.Set("system", Napi::Function::New<system_call>(env, "system"));
  metal.Set("devices", Napi::Function::New<devices_call>(env, "devices"));
  metal.Set("open", Napi::Function::New<open_call>(env, "open"));
  return metal;
}

}  // namespace lockstep::metal
