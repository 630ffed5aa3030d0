#include "memory_object.h"

#include <cstring>
#include <stdexcept>

#include "arguments.h"

namespace lockstep {
namespace {

/// Marks the objects that `MemoryObject` wraps, so that a foreign object is refused instead of misread.
constexpr napi_type_tag kTag = {0x4c6f636b73746570, 0x4d656d6f72792031};

struct InstanceData {
  Napi::FunctionReference constructor;
};

}  // namespace

Napi::Function MemoryObject::define(Napi::Env env) {
  Napi::Function constructor =
      DefineClass(env, "NativeMemory",
                  {InstanceAccessor<&MemoryObject::bytes>("bytes", napi_enumerable),
                   InstanceAccessor<&MemoryObject::path>("path", napi_enumerable),
                   InstanceAccessor<&MemoryObject::file_offset>("fileOffset", napi_enumerable),
                   InstanceMethod<&MemoryObject::write>("write"), InstanceMethod<&MemoryObject::read>("read"),
                   InstanceMethod<&MemoryObject::fill>("fill"),
                   InstanceMethod<&MemoryObject::sentinel_intact>("sentinelIntact"),
                   InstanceMethod<&MemoryObject::release>("release")});
  auto* data = new InstanceData();
  data->constructor = Napi::Persistent(constructor);
  env.SetInstanceData(data);
  return constructor;
}

Napi::Object MemoryObject::create(Napi::Env env, std::size_t bytes) {
  auto* data = env.GetInstanceData<InstanceData>();
  return data->constructor.New({Napi::Number::New(env, static_cast<double>(bytes))});
}

std::shared_ptr<SharedMemory> MemoryObject::unwrap(const Napi::Value& value, const char* name) {
  if (!value.IsObject() || !value.As<Napi::Object>().CheckTypeTag(&kTag)) {
    throw Napi::TypeError::New(value.Env(), std::string(name) + " is not a NativeMemory; make one with allocate()");
  }
  MemoryObject* object = Unwrap(value.As<Napi::Object>());
  if (!object->memory_) throw Napi::Error::New(value.Env(), std::string(name) + " was released and cannot be used");
  return object->memory_;
}

MemoryObject::MemoryObject(const Napi::CallbackInfo& info) : Napi::ObjectWrap<MemoryObject>(info) {
  const auto bytes = whole_number(info[0], "bytes", 1, kMaxSafeInteger);
  try {
    memory_ = SharedMemory::allocate(bytes);
  } catch (const std::exception& error) {
    throw Napi::Error::New(info.Env(), error.what());
  }
  info.This().As<Napi::Object>().TypeTag(&kTag);
}

// An async worker may still hold the memory; it is unmapped with the last holder.
void MemoryObject::Finalize(Napi::BasicEnv) { memory_.reset(); }

SharedMemory& MemoryObject::memory(Napi::Env env) const {
  if (!memory_) throw Napi::Error::New(env, "this memory was released and cannot be used");
  return *memory_;
}

Napi::Value MemoryObject::bytes(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), static_cast<double>(memory(info.Env()).bytes()));
}

Napi::Value MemoryObject::path(const Napi::CallbackInfo& info) {
  return Napi::String::New(info.Env(), memory(info.Env()).path());
}

Napi::Value MemoryObject::file_offset(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), static_cast<double>(memory(info.Env()).file_offset()));
}

void MemoryObject::write(const Napi::CallbackInfo& info) {
  SharedMemory& target = memory(info.Env());
  const auto offset = whole_number(info[0], "offset", 0, kMaxSafeInteger);
  if (!info[1].IsTypedArray() || info[1].As<Napi::TypedArray>().TypedArrayType() != napi_uint8_array) {
    throw Napi::TypeError::New(info.Env(), "data must be a Uint8Array");
  }
  const auto data = info[1].As<Napi::Uint8Array>();
  check_range(info.Env(), "a write", offset, data.ByteLength(), target.bytes());
  if (data.ByteLength() > 0) std::memcpy(target.data() + offset, data.Data(), data.ByteLength());
}

Napi::Value MemoryObject::read(const Napi::CallbackInfo& info) {
  const SharedMemory& source = memory(info.Env());
  const auto offset = whole_number(info[0], "offset", 0, kMaxSafeInteger);
  const auto length = whole_number(info[1], "length", 0, kMaxSafeInteger);
  check_range(info.Env(), "a read", offset, length, source.bytes());
  Napi::Uint8Array copy = Napi::Uint8Array::New(info.Env(), length);
  if (length > 0) std::memcpy(copy.Data(), source.data() + offset, length);
  return copy;
}

void MemoryObject::fill(const Napi::CallbackInfo& info) {
  memory(info.Env()).fill(static_cast<std::uint32_t>(whole_number(info[0], "word", 0, 0xFFFFFFFF)));
}

Napi::Value MemoryObject::sentinel_intact(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), memory(info.Env()).sentinel_intact());
}

void MemoryObject::release(const Napi::CallbackInfo&) { memory_.reset(); }

}  // namespace lockstep
