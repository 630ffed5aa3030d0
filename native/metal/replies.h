#pragma once

#include <napi.h>

#include <memory>
#include <variant>
#include <vector>

#include "detection.h"
#include "library.h"
#include "log.h"
#include "pipeline.h"
#include "submission.h"
#include "system.h"

namespace lockstep::metal {

/// The objects of binding.ts out of plain values.
Napi::Value system_reply(Napi::Env env, const SystemFacts& facts);
Napi::Value devices_reply(Napi::Env env, const std::vector<DeviceFacts>& devices);
Napi::Value compile_reply(Napi::Env env, const std::variant<std::shared_ptr<Library>, ErrorWords>& result);
Napi::Value pipeline_reply(Napi::Env env, const std::variant<std::shared_ptr<Pipeline>, ErrorWords>& result);
Napi::Value submit_reply(Napi::Env env, const Outcome& outcome);
Napi::Value log_line(Napi::Env env, const LogLine& line);
/// `{ ok: false, error }`.
Napi::Object refusal(Napi::Env env, const ErrorWords& error);

}  // namespace lockstep::metal
