#include "replies.h"

#include <string>

#include "handle.h"

namespace lockstep::metal {
namespace {

Napi::Number number(Napi::Env env, std::uint64_t value) { return Napi::Number::New(env, static_cast<double>(value)); }

Napi::Value text_or_null(Napi::Env env, const std::optional<std::string>& text) {
  return text ? Napi::Value(Napi::String::New(env, *text)) : env.Null();
}

Napi::Object accepted(Napi::Env env) {
  Napi::Object reply = Napi::Object::New(env);
  reply.Set("ok", true);
  return reply;
}

template <class T, class Make>
Napi::Array list(Napi::Env env, const std::vector<T>& values, Make make) {
  Napi::Array array = Napi::Array::New(env, values.size());
  for (std::uint32_t i = 0; i < values.size(); ++i) array.Set(i, make(values[i]));
  return array;
}

Napi::Array texts(Napi::Env env, const std::vector<std::string>& values) {
  return list(env, values, [env](const std::string& text) { return Napi::String::New(env, text); });
}

Napi::Object error_object(Napi::Env env, const ErrorWords& error) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("words", error.words);
  object.Set("domain", error.domain);
  object.Set("code", Napi::Number::New(env, static_cast<double>(error.code)));
  return object;
}

Napi::Object cores(Napi::Env env, const std::variant<std::uint64_t, std::string>& known) {
  Napi::Object object = Napi::Object::New(env);
  if (const auto* count = std::get_if<std::uint64_t>(&known)) object.Set("count", number(env, *count));
  if (const auto* problem = std::get_if<std::string>(&known)) object.Set("problem", *problem);
  return object;
}

Napi::Object device_object(Napi::Env env, const DeviceFacts& facts) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("registryId", std::to_string(facts.registry_id));
  object.Set("name", facts.name);
  object.Set("isDefault", facts.is_default);
  object.Set("architecture", text_or_null(env, facts.architecture));
  object.Set("families", list(env, facts.families, [env](int family) { return Napi::Number::New(env, family); }));
  object.Set("hasUnifiedMemory", facts.unified_memory);
  object.Set("recommendedMaxWorkingSetBytes", number(env, facts.recommended_max_working_set_bytes));
  object.Set("maxBufferBytes", number(env, facts.max_buffer_bytes));
  object.Set("maxThreadgroupMemoryBytes", number(env, facts.max_threadgroup_memory_bytes));
  const auto& threads = facts.max_threads_per_threadgroup;
  object.Set("maxThreadsPerThreadgroup", list(env, std::vector<std::uint64_t>(threads.begin(), threads.end()),
                                              [env](std::uint64_t value) { return number(env, value); }));
  object.Set("counterSets", facts.counter_sets ? Napi::Value(texts(env, *facts.counter_sets)) : env.Null());
  object.Set("samplesAtStageBoundary", facts.samples_at_stage_boundary);
  object.Set("samplesAtDispatchBoundary", facts.samples_at_dispatch_boundary);
  object.Set("timestampFrequencyHz",
             facts.timestamp_frequency_hz ? Napi::Value(number(env, *facts.timestamp_frequency_hz)) : env.Null());
  object.Set("gpuCores", cores(env, facts.gpu_cores));
  return object;
}

Napi::Object constant_object(Napi::Env env, const LibraryConstant& constant) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("name", constant.name);
  object.Set("index", number(env, constant.index));
  object.Set("type", number(env, constant.type));
  object.Set("required", constant.required);
  return object;
}

Napi::Object function_object(Napi::Env env, const LibraryFunction& function) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("name", function.name);
  object.Set("constants", list(env, function.constants, [env](const LibraryConstant& constant) {
               return constant_object(env, constant);
             }));
  return object;
}

const char* kind_name(PipelineArgument::Kind kind) {
  if (kind == PipelineArgument::Kind::buffer) return "buffer";
  return kind == PipelineArgument::Kind::threadgroup ? "threadgroup" : "other";
}

Napi::Object argument_object(Napi::Env env, const PipelineArgument& argument) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("name", argument.name);
  object.Set("kind", kind_name(argument.kind));
  object.Set("index", number(env, argument.index));
  object.Set("access", number(env, argument.access));
  object.Set("used", argument.used);
  object.Set("dataBytes", number(env, argument.data_bytes));
  object.Set("alignment", number(env, argument.alignment));
  return object;
}

Napi::Value archive_value(Napi::Env env, const ArchiveOutcome& outcome) {
  if (outcome.kind == ArchiveOutcome::Kind::hit) return Napi::String::New(env, "hit");
  if (outcome.kind == ArchiveOutcome::Kind::added) return Napi::String::New(env, "added");
  if (outcome.kind == ArchiveOutcome::Kind::none) return Napi::String::New(env, "none");
  Napi::Object object = Napi::Object::New(env);
  object.Set("problem", outcome.problem);
  return object;
}

Napi::Object timing_object(Napi::Env env, const Timing& timing) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("gpuStart", timing.gpu_start);
  object.Set("gpuEnd", timing.gpu_end);
  const auto* ns = std::get_if<double>(&timing.counter);
  const auto* problem = std::get_if<std::string>(&timing.counter);
  object.Set("counterNs", ns != nullptr ? Napi::Value(Napi::Number::New(env, *ns)) : env.Null());
  object.Set("counterProblem", problem != nullptr ? Napi::Value(Napi::String::New(env, *problem)) : env.Null());
  return object;
}

}  // namespace

Napi::Object refusal(Napi::Env env, const ErrorWords& error) {
  Napi::Object reply = Napi::Object::New(env);
  reply.Set("ok", false);
  reply.Set("error", error_object(env, error));
  return reply;
}

Napi::Value system_reply(Napi::Env env, const SystemFacts& facts) {
  Napi::Object reply = Napi::Object::New(env);
  reply.Set("cpuBrand", text_or_null(env, facts.cpu_brand));
  reply.Set("model", text_or_null(env, facts.model));
  reply.Set("virtualMachine",
            facts.virtual_machine ? Napi::Value(Napi::Boolean::New(env, *facts.virtual_machine)) : env.Null());
  reply.Set("osVersion", facts.os_version);
  reply.Set("osBuild", text_or_null(env, facts.os_build));
  reply.Set("sdkVersion", facts.sdk_version);
  return reply;
}

Napi::Value devices_reply(Napi::Env env, const std::vector<DeviceFacts>& devices) {
  return list(env, devices, [env](const DeviceFacts& facts) { return device_object(env, facts); });
}

Napi::Value compile_reply(Napi::Env env, const std::variant<std::shared_ptr<Library>, ErrorWords>& result) {
  if (const auto* refused = std::get_if<ErrorWords>(&result)) return refusal(env, *refused);
  const auto& library = std::get<std::shared_ptr<Library>>(result);
  Napi::Object reply = accepted(env);
  reply.Set("library", make_handle(env, "library", kLibraryTag, library));
  reply.Set("functions", list(env, library->functions, [env](const LibraryFunction& function) {
              return function_object(env, function);
            }));
  const bool quiet = library->warnings.empty();
  reply.Set("warnings", quiet ? env.Null() : Napi::Value(Napi::String::New(env, library->warnings)));
  reply.Set("mathModeBy", library->by_math_mode ? "mathMode" : "fastMathEnabled");
  reply.Set("ms", library->ms);
  return reply;
}

Napi::Value pipeline_reply(Napi::Env env, const std::variant<std::shared_ptr<Pipeline>, ErrorWords>& result) {
  if (const auto* refused = std::get_if<ErrorWords>(&result)) return refusal(env, *refused);
  const auto& pipeline = std::get<std::shared_ptr<Pipeline>>(result);
  Napi::Object reply = accepted(env);
  reply.Set("pipeline", make_handle(env, "pipeline", kPipelineTag, pipeline));
  reply.Set("simdWidth", number(env, pipeline->state.threadExecutionWidth));
  reply.Set("maxTotalThreadsPerThreadgroup", number(env, pipeline->state.maxTotalThreadsPerThreadgroup));
  reply.Set("staticThreadgroupMemoryBytes", number(env, pipeline->state.staticThreadgroupMemoryLength));
  const auto as_object = [env](const PipelineArgument& argument) { return argument_object(env, argument); };
  reply.Set("arguments", pipeline->arguments ? Napi::Value(list(env, *pipeline->arguments, as_object)) : env.Null());
  reply.Set("archive", archive_value(env, pipeline->archive));
  reply.Set("ms", pipeline->ms);
  return reply;
}

Napi::Value submit_reply(Napi::Env env, const Outcome& outcome) {
  if (const auto* failed = std::get_if<Failed>(&outcome)) {
    Napi::Object reply = refusal(env, failed->error);
    reply.Set("failed", number(env, failed->dispatch));
    reply.Set("encoders", texts(env, failed->encoders));
    return reply;
  }
  if (const auto* cancelled = std::get_if<Cancelled>(&outcome)) {
    Napi::Object reply = Napi::Object::New(env);
    reply.Set("ok", false);
    reply.Set("cancelledBefore", number(env, cancelled->before));
    return reply;
  }
  Napi::Object reply = accepted(env);
  reply.Set("timings", list(env, std::get<Completed>(outcome).timings,
                            [env](const Timing& timing) { return timing_object(env, timing); }));
  return reply;
}

Napi::Value log_line(Napi::Env env, const LogLine& line) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("level", Napi::Number::New(env, static_cast<double>(line.level)));
  object.Set("subsystem", line.subsystem);
  object.Set("category", line.category);
  object.Set("message", line.message);
  return object;
}

}  // namespace lockstep::metal
