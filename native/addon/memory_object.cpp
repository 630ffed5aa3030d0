#include "memory_object.h"

#include <cstring>
#include <utility>
#include <vector>

#include "arguments.h"

namespace lockstep {
namespace {

/// Marks the objects that `MemoryObject` wraps, so that a foreign object is refused instead of misread.
constexpr napi_type_tag kTag = {0x4c6f636b73746570, 0x4d656d6f72792031};

/// Constructors of the two kinds. They take an external with the memory, which scripts cannot make.
struct InstanceData {
  Napi::FunctionReference plain;
  Napi::FunctionReference shared;
};

Napi::Object construct(Napi::Env env, const Napi::FunctionReference& constructor, std::shared_ptr<HostMemory> memory) {
  return constructor.New({Napi::External<std::shared_ptr<HostMemory>>::New(env, &memory)});
}

}  // namespace

/// V8 checks whose method is called, and not whose accessor: borrowed for another object that carries something, `this`
/// would be misread before any code here runs. So accessors are given no `this`.
template <Napi::Value (*Get)(const Napi::CallbackInfo&)>
Napi::ClassPropertyDescriptor<MemoryObject> MemoryObject::accessor(const char* name) {
  napi_property_descriptor descriptor{};
  descriptor.utf8name = name;
  descriptor.getter = &Napi::details::TemplatedCallback<Get>;
  descriptor.attributes = napi_enumerable;
  return descriptor;
}

void MemoryObject::define(Napi::Env env) {
  std::vector<Napi::ClassPropertyDescriptor<MemoryObject>> properties = {
      accessor<&MemoryObject::bytes>("bytes"),
      InstanceMethod<&MemoryObject::write>("write"),
      InstanceMethod<&MemoryObject::read>("read"),
      InstanceMethod<&MemoryObject::fill>("fill"),
      InstanceMethod<&MemoryObject::sentinel_intact>("sentinelIntact"),
      InstanceMethod<&MemoryObject::release>("release")};
  auto* data = new InstanceData();
  data->plain = Napi::Persistent(DefineClass(env, "NativeMemory", properties));
  properties.push_back(accessor<&MemoryObject::path>("path"));
  properties.push_back(accessor<&MemoryObject::file_offset>("fileOffset"));
  data->shared = Napi::Persistent(DefineClass(env, "SharedNativeMemory", properties));
  env.SetInstanceData(data);
}

Napi::Object MemoryObject::create(Napi::Env env, std::shared_ptr<HostMemory> memory) {
  return construct(env, env.GetInstanceData<InstanceData>()->plain, std::move(memory));
}

Napi::Object MemoryObject::create(Napi::Env env, std::shared_ptr<SharedMemory> memory) {
  return construct(env, env.GetInstanceData<InstanceData>()->shared, std::move(memory));
}

std::shared_ptr<HostMemory> MemoryObject::unwrap(const Napi::Value& value, const char* name) {
  if (!value.IsObject() || !value.As<Napi::Object>().CheckTypeTag(&kTag)) {
    throw Napi::TypeError::New(value.Env(), std::string(name) + " is not a NativeMemory; make one with allocate()");
  }
  MemoryObject* object = Unwrap(value.As<Napi::Object>());
  if (!object->memory_) throw Napi::Error::New(value.Env(), std::string(name) + " was released and cannot be used");
  return object->memory_;
}

MemoryObject::MemoryObject(const Napi::CallbackInfo& info) : Napi::ObjectWrap<MemoryObject>(info) {
  if (!info[0].IsExternal()) throw Napi::TypeError::New(info.Env(), "native memory is made with allocate() alone");
  memory_ = std::move(*info[0].As<Napi::External<std::shared_ptr<HostMemory>>>().Data());
  info.This().As<Napi::Object>().TypeTag(&kTag);
}

// An async worker may still hold the memory; it is unmapped with the last holder.
void MemoryObject::Finalize(Napi::BasicEnv) { memory_.reset(); }

MemoryObject& MemoryObject::own(const Napi::CallbackInfo& info) {
  if (!info.This().IsObject() || !info.This().As<Napi::Object>().CheckTypeTag(&kTag)) {
    throw Napi::TypeError::New(info.Env(), "this is not a NativeMemory; make one with allocate()");
  }
  return *Unwrap(info.This().As<Napi::Object>());
}

HostMemory& MemoryObject::memory(Napi::Env env) const {
  if (!memory_) throw Napi::Error::New(env, "this memory was released and cannot be used");
  return *memory_;
}

const SharedMemory& MemoryObject::shared(Napi::Env env) const {
  // The accessors can be borrowed for an object of the other kind.
  const auto* shared = dynamic_cast<const SharedMemory*>(&memory(env));
  if (shared == nullptr) throw Napi::TypeError::New(env, "this memory is not shared with other processes");
  return *shared;
}

Napi::Value MemoryObject::bytes(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), static_cast<double>(own(info).memory(info.Env()).bytes()));
}

Napi::Value MemoryObject::path(const Napi::CallbackInfo& info) {
  return Napi::String::New(info.Env(), own(info).shared(info.Env()).path());
}

Napi::Value MemoryObject::file_offset(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), static_cast<double>(own(info).shared(info.Env()).file_offset()));
}

void MemoryObject::write(const Napi::CallbackInfo& info) {
  HostMemory& target = memory(info.Env());
  const auto offset = whole_number(info[0], "offset", 0, kMaxSafeInteger);
  if (!info[1].IsTypedArray() || info[1].As<Napi::TypedArray>().TypedArrayType() != napi_uint8_array) {
    throw Napi::TypeError::New(info.Env(), "data must be a Uint8Array");
  }
  const auto data = info[1].As<Napi::Uint8Array>();
  check_range(info.Env(), "a write", offset, data.ByteLength(), target.bytes());
  if (data.ByteLength() > 0) std::memcpy(target.data() + offset, data.Data(), data.ByteLength());
}

Napi::Value MemoryObject::read(const Napi::CallbackInfo& info) {
  const HostMemory& source = memory(info.Env());
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
