#include "requests.h"

#include <charconv>

#include "../addon/arguments.h"
#include "../addon/memory_object.h"
#include "handle.h"

namespace lockstep::metal {
namespace {

constexpr std::uint64_t kMostWord = 0xffffffff;
/// Slots of buffers and of threadgroup memory in the argument tables of Metal.
constexpr std::uint64_t kLastSlot = 30;
constexpr std::uint64_t kMostSetBytes = 4096;
/// `[[function_constant(n)]]` goes up to here.
constexpr std::uint64_t kLastConstant = 65535;

Napi::Array array_of(const Napi::Value& value, const std::string& name) {
  if (!value.IsArray()) throw Napi::TypeError::New(value.Env(), name + " must be an array");
  return value.As<Napi::Array>();
}

std::vector<std::uint8_t> bytes_of(const Napi::Value& value, const std::string& name, std::size_t most) {
  if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != napi_uint8_array) {
    throw Napi::TypeError::New(value.Env(), name + " must be a Uint8Array");
  }
  const auto array = value.As<Napi::Uint8Array>();
  if (array.ByteLength() == 0 || array.ByteLength() > most) {
    throw Napi::RangeError::New(value.Env(), name + " has " + std::to_string(array.ByteLength()) +
                                                 " bytes; it must have 1 to " + std::to_string(most));
  }
  return {array.Data(), array.Data() + array.ByteLength()};
}

std::array<std::uint64_t, 3> size_of(const Napi::Value& value, const std::string& name) {
  const Napi::Array array = array_of(value, name);
  if (array.Length() != 3) throw Napi::TypeError::New(value.Env(), name + " must have three numbers");
  std::array<std::uint64_t, 3> size{};
  for (std::uint32_t i = 0; i < 3; ++i) size[i] = whole_number(array.Get(i), name, 1, kMostWord);
  return size;
}

MTLSize metal_size(const std::array<std::uint64_t, 3>& size) { return MTLSizeMake(size[0], size[1], size[2]); }

MathMode math_mode_of(const Napi::Value& value) {
  const std::string text = value.IsString() ? value.As<Napi::String>().Utf8Value() : "";
  if (text == "safe") return MathMode::safe;
  if (text == "relaxed") return MathMode::relaxed;
  if (text == "fast") return MathMode::fast;
  throw Napi::TypeError::New(value.Env(),
                             "mathMode is \"" + text + "\"; use \"safe\", \"relaxed\" or \"fast\"");
}

/// Bytes of a value of a raw MTLDataType that a function constant may have; 0 for what none can. Vectors of two to four
/// follow their scalar by raw value, and one of three takes the room of four.
std::size_t constant_bytes(std::uint64_t type) {
  constexpr struct {
    std::uint64_t scalar;
    std::size_t bytes;
  } kTypes[] = {{3, 4},  {16, 2}, {29, 4}, {33, 4}, {37, 2}, {41, 2},
                {45, 1}, {49, 1}, {53, 1}, {81, 8}, {85, 8}, {121, 2}};
  for (const auto& [scalar, bytes] : kTypes) {
    if (type >= scalar && type <= scalar + 3) return bytes * (type - scalar == 2 ? 4 : type - scalar + 1);
  }
  return 0;
}

/// Metal ends the process at a type of which no constant is, and reads as many bytes as the type has.
ConstantValue constant_value(const Napi::Value& value) {
  const Napi::Object constant = object_argument(value, "constant");
  ConstantValue made{whole_number(constant.Get("index"), "constant.index", 0, kLastConstant),
                     whole_number(constant.Get("type"), "constant.type", 0, kMostWord),
                     bytes_of(constant.Get("bytes"), "constant.bytes", kMaxConstantBytes)};
  const std::size_t needed = constant_bytes(made.type);
  if (needed == 0) {
    throw Napi::RangeError::New(value.Env(), "constant.type is " + std::to_string(made.type) +
                                                 "; no function constant has this MTLDataType");
  }
  if (made.bytes.size() != needed) {
    throw Napi::RangeError::New(value.Env(), "constant.bytes has " + std::to_string(made.bytes.size()) +
                                                 " bytes; MTLDataType " + std::to_string(made.type) + " has " +
                                                 std::to_string(needed));
  }
  return made;
}

/// Adds a binding of memory or of bytes to the dispatch.
void add_binding(DispatchRequest& dispatch, const Napi::Value& value, id<MTLDevice> device) {
  const Napi::Object binding = object_argument(value, "binding");
  const Napi::Env env = value.Env();
  const auto index = whole_number(binding.Get("index"), "binding.index", 0, kLastSlot);
  if (binding.Has("bytes")) {
    dispatch.bytes.push_back({index, bytes_of(binding.Get("bytes"), "binding.bytes", kMostSetBytes)});
    return;
  }
  const auto memory =
      std::dynamic_pointer_cast<Memory>(MemoryObject::unwrap(binding.Get("memory"), "binding.memory"));
  if (!memory || memory->buffer().device.registryID != device.registryID) {
    throw Napi::TypeError::New(env, "binding.memory is not memory of this device: allocate it on the connection");
  }
  const auto offset = whole_number(binding.Get("offset"), "binding.offset", 0, kMaxSafeInteger);
  if (offset >= memory->bytes()) {
    throw Napi::RangeError::New(env, "binding.offset is " + std::to_string(offset) + "; the buffer has " +
                                         std::to_string(memory->bytes()) + " bytes");
  }
  dispatch.memories.push_back({index, memory, offset});
}

DispatchRequest dispatch_request(const Napi::Value& value, id<MTLDevice> device) {
  const Napi::Object object = object_argument(value, "dispatch");
  DispatchRequest dispatch;
  dispatch.label = text_of(object.Get("label"), "dispatch.label");
  dispatch.pipeline = open_handle<Pipeline>(object.Get("pipeline"), "dispatch.pipeline", kPipelineTag);
  if (dispatch.pipeline->device != device.registryID) {
    throw Napi::TypeError::New(value.Env(), "dispatch.pipeline is of another device: build it on this connection");
  }
  dispatch.threadgroups = metal_size(size_of(object.Get("threadgroups"), "dispatch.threadgroups"));
  dispatch.threads_per_threadgroup =
      metal_size(size_of(object.Get("threadsPerThreadgroup"), "dispatch.threadsPerThreadgroup"));
  const Napi::Array bindings = array_of(object.Get("bindings"), "dispatch.bindings");
  for (std::uint32_t i = 0; i < bindings.Length(); ++i) add_binding(dispatch, bindings.Get(i), device);
  const Napi::Array memory = array_of(object.Get("threadgroupMemory"), "dispatch.threadgroupMemory");
  for (std::uint32_t i = 0; i < memory.Length(); ++i) {
    const Napi::Object entry = object_argument(memory.Get(i), "threadgroupMemory");
    dispatch.threadgroup_memory.push_back({whole_number(entry.Get("index"), "threadgroupMemory.index", 0, kLastSlot),
                                           whole_number(entry.Get("bytes"), "threadgroupMemory.bytes", 1, kMostWord)});
  }
  return dispatch;
}

}  // namespace

std::string text_of(const Napi::Value& value, const std::string& name) {
  if (!value.IsString()) throw Napi::TypeError::New(value.Env(), name + " must be a string");
  std::string text = value.As<Napi::String>().Utf8Value();
  // Text for Metal ends at its first zero, and what stands behind it would be lost in silence.
  if (text.find('\0') != std::string::npos) throw Napi::TypeError::New(value.Env(), name + " contains a NUL character");
  return text;
}

bool flag_of(const Napi::Object& object, const char* name) {
  const Napi::Value value = object.Get(name);
  if (!value.IsBoolean()) throw Napi::TypeError::New(object.Env(), std::string(name) + " must be true or false");
  return value.As<Napi::Boolean>().Value();
}

std::uint64_t registry_id_of(const Napi::Value& value) {
  const std::string text = text_of(value, "registryId");
  std::uint64_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw Napi::TypeError::New(value.Env(), "registryId is \"" + text + "\"; it must be a decimal number of 64 bits");
  }
  return id;
}

CompileRequest compile_request(const Napi::Value& value) {
  const Napi::Object object = object_argument(value, "request");
  CompileRequest request;
  request.text = text_of(object.Get("text"), "text");
  request.language_version = whole_number(object.Get("languageVersion"), "languageVersion", 1, kMostWord);
  request.math_mode = math_mode_of(object.Get("mathMode"));
  const Napi::Array macros = array_of(object.Get("macros"), "macros");
  for (std::uint32_t i = 0; i < macros.Length(); ++i) {
    const Napi::Array pair = array_of(macros.Get(i), "macro");
    request.macros.emplace_back(text_of(pair.Get(0u), "macro name"), text_of(pair.Get(1u), "macro value"));
  }
  request.logging = flag_of(object, "logging");
  return request;
}

PipelineRequest pipeline_request(const Napi::Value& value) {
  const Napi::Object object = object_argument(value, "request");
  PipelineRequest request;
  request.function = text_of(object.Get("function"), "function");
  const Napi::Array constants = array_of(object.Get("constants"), "constants");
  for (std::uint32_t i = 0; i < constants.Length(); ++i) request.constants.push_back(constant_value(constants.Get(i)));
  const Napi::Value most = object.Get("maxTotalThreadsPerThreadgroup");
  if (!most.IsNull()) {
    request.max_total_threads_per_threadgroup = whole_number(most, "maxTotalThreadsPerThreadgroup", 1, kMostWord);
  }
  const Napi::Value required = object.Get("requiredThreadsPerThreadgroup");
  if (!required.IsNull()) {
    request.required_threads_per_threadgroup = size_of(required, "requiredThreadsPerThreadgroup");
  }
  const Napi::Value archive = object.Get("archive");
  if (!archive.IsNull()) request.archive = text_of(archive, "archive");
  return request;
}

std::vector<DispatchRequest> dispatch_requests(const Napi::Value& value, id<MTLDevice> device) {
  const Napi::Array array = array_of(value, "dispatches");
  std::vector<DispatchRequest> dispatches;
  for (std::uint32_t i = 0; i < array.Length(); ++i) dispatches.push_back(dispatch_request(array.Get(i), device));
  return dispatches;
}

}  // namespace lockstep::metal
