#pragma once

#include <napi.h>

#include <memory>
#include <string>
#include <utility>

namespace lockstep::metal {

/// Marks the objects that carry a library or a pipeline, so that a foreign object is refused instead of misread.
constexpr napi_type_tag kLibraryTag = {0x4c6f636b73746570, 0x4d65744c69623031};
constexpr napi_type_tag kPipelineTag = {0x4c6f636b73746570, 0x4d6574506970656c};

/// An object that JavaScript only passes on; it keeps `held` until it is collected.
template <class T>
Napi::Object make_handle(Napi::Env env, const char* kind, const napi_type_tag& tag, std::shared_ptr<T> held) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("kind", kind);
  auto box = std::make_unique<std::shared_ptr<T>>(std::move(held));
  const napi_finalize finalize = [](napi_env, void* data, void*) {
    @autoreleasepool {
      delete static_cast<std::shared_ptr<T>*>(data);
    }
  };
  if (napi_wrap(env, object, box.get(), finalize, nullptr, nullptr) != napi_ok) {
    throw Napi::Error::New(env, std::string("no handle could be made for a ") + kind);
  }
  static_cast<void>(box.release());
  object.TypeTag(&tag);
  object.Freeze();
  return object;
}

/// What a handle carries. Throws TypeError naming the argument.
template <class T>
std::shared_ptr<T> open_handle(const Napi::Value& value, const std::string& name, const napi_type_tag& tag) {
  if (!value.IsObject() || !value.As<Napi::Object>().CheckTypeTag(&tag)) {
    throw Napi::TypeError::New(value.Env(), name + " is not a handle of this addon");
  }
  void* data = nullptr;
  if (napi_unwrap(value.Env(), value, &data) != napi_ok) {
    throw Napi::TypeError::New(value.Env(), name + " is a handle that carries nothing");
  }
  return *static_cast<std::shared_ptr<T>*>(data);
}

}  // namespace lockstep::metal
