#pragma once

#include <napi.h>

namespace lockstep {

/// `generate(memory, byteOffset, options)` of native/addon.ts.
Napi::Value generate_call(const Napi::CallbackInfo& info);

}  // namespace lockstep
