#pragma once

#include <napi.h>

namespace lockstep {

/// `gqaDecode`, `mlaPrefill` and their twins of native/addon.ts.
Napi::Value gqa_decode_call(const Napi::CallbackInfo& info);
Napi::Value mla_prefill_call(const Napi::CallbackInfo& info);
Napi::Value gqa_decode_twin_call(const Napi::CallbackInfo& info);
Napi::Value mla_prefill_twin_call(const Napi::CallbackInfo& info);

}  // namespace lockstep
