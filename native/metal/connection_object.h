#pragma once

#include <napi.h>

#include <memory>

#include "connection.h"

namespace lockstep::metal {

/// The `MetalConnection` of binding.ts.
Napi::Object connection_object(Napi::Env env, std::shared_ptr<Connection> connection);

}  // namespace lockstep::metal
