#pragma once

#include <napi.h>

#include <cstdint>
#include <vector>

#include "library.h"
#include "pipeline.h"
#include "submission.h"

namespace lockstep::metal {

/// Plain values out of the objects of binding.ts. Each throws TypeError or RangeError that names the property.
std::uint64_t registry_id_of(const Napi::Value& value);
bool flag_of(const Napi::Object& object, const char* name);
std::string text_of(const Napi::Value& value, const std::string& name);

CompileRequest compile_request(const Napi::Value& value);
PipelineRequest pipeline_request(const Napi::Value& value);

/// Memory must come from `device`.
std::vector<DispatchRequest> dispatch_requests(const Napi::Value& value, id<MTLDevice> device);

}  // namespace lockstep::metal
