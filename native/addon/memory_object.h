#pragma once

#include <napi.h>

#include <memory>

#include "host_memory.h"
#include "shared_memory.h"

namespace lockstep {

/// The JavaScript side of `HostMemory`: the `NativeMemory` of native/memory.ts, and for `SharedMemory` its
/// `SharedNativeMemory`, which alone has `path` and `fileOffset`. JavaScript never sees the pages themselves, only copies,
/// because an engine with a memory cage refuses external array buffers.
class MemoryObject : public Napi::ObjectWrap<MemoryObject> {
 public:
  static void define(Napi::Env env);
  static Napi::Object create(Napi::Env env, std::shared_ptr<HostMemory> memory);
  static Napi::Object create(Napi::Env env, std::shared_ptr<SharedMemory> memory);
  /// The memory of a `NativeMemory` argument. Throws a TypeError that names the argument, or an Error once released.
  static std::shared_ptr<HostMemory> unwrap(const Napi::Value& value, const char* name);

  explicit MemoryObject(const Napi::CallbackInfo& info);
  void Finalize(Napi::BasicEnv env) override;

 private:
  template <Napi::Value (*Get)(const Napi::CallbackInfo&)>
  static Napi::ClassPropertyDescriptor<MemoryObject> accessor(const char* name);
  /// The object that an accessor was called on. Throws TypeError where it is none of these.
  static MemoryObject& own(const Napi::CallbackInfo& info);
  static Napi::Value bytes(const Napi::CallbackInfo& info);
  static Napi::Value path(const Napi::CallbackInfo& info);
  static Napi::Value file_offset(const Napi::CallbackInfo& info);
  void write(const Napi::CallbackInfo& info);
  Napi::Value read(const Napi::CallbackInfo& info);
  void fill(const Napi::CallbackInfo& info);
  Napi::Value sentinel_intact(const Napi::CallbackInfo& info);
  void release(const Napi::CallbackInfo& info);

  HostMemory& memory(Napi::Env env) const;
  const SharedMemory& shared(Napi::Env env) const;

  std::shared_ptr<HostMemory> memory_;
};

}  // namespace lockstep
