#pragma once

#include <napi.h>

namespace lockstep::metal {

/// The `Metal` of binding.ts, which the addon exports as `metal` where it is built with LOCKSTEP_METAL.
Napi::Object exports(Napi::Env env);

}  // namespace lockstep::metal
