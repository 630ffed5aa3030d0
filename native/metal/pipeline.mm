#include "pipeline.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>

#include "exception.h"
#include "sdk.h"
#include "system.h"

namespace lockstep::metal {
namespace {

/// By raw value: `MTLPipelineOptionBindingInfo` has no name in SDKs before 15.
constexpr auto kReflection = static_cast<MTLPipelineOption>(1 | 2);
constexpr auto kReflectionFromArchive = static_cast<MTLPipelineOption>(1 | 2 | 4);

MTLFunctionConstantValues* constant_values(const PipelineRequest& request) {
  MTLFunctionConstantValues* values = [MTLFunctionConstantValues new];
  for (const ConstantValue& constant : request.constants) {
    // Metal reads as many bytes as the type has, whatever there are.
    alignas(16) std::uint8_t bytes[kMaxConstantBytes] = {};
    std::memcpy(bytes, constant.bytes.data(), std::min(constant.bytes.size(), sizeof(bytes)));
    [values setConstantValue:bytes type:static_cast<MTLDataType>(constant.type) atIndex:constant.index];
  }
  return values;
}

PipelineArgument argument_of(id<MTLBinding> binding) {
  PipelineArgument argument;
  argument.name = to_string(binding.name);
  argument.index = binding.index;
  argument.access = static_cast<std::uint64_t>(binding.access);
  argument.used = binding.used;
  if (binding.type == MTLBindingTypeBuffer) {
    id<MTLBufferBinding> buffer = static_cast<id<MTLBufferBinding>>(binding);
    argument.kind = PipelineArgument::Kind::buffer;
    argument.data_bytes = buffer.bufferDataSize;
    argument.alignment = buffer.bufferAlignment;
  } else if (binding.type == MTLBindingTypeThreadgroupMemory) {
    id<MTLThreadgroupBinding> threadgroup = static_cast<id<MTLThreadgroupBinding>>(binding);
    argument.kind = PipelineArgument::Kind::threadgroup;
    argument.data_bytes = threadgroup.threadgroupMemoryDataSize;
    argument.alignment = threadgroup.threadgroupMemoryAlignment;
  }
  return argument;
}

std::optional<std::vector<PipelineArgument>> arguments_of(MTLComputePipelineReflection* reflection) {
  if (reflection == nil) return std::nullopt;
  std::vector<PipelineArgument> arguments;
  for (id<MTLBinding> binding in reflection.bindings) arguments.push_back(argument_of(binding));
  return arguments;
}

/// Makes the pipeline and measures it. Nil with `error` where Metal refuses.
bool make_state(id<MTLDevice> device, MTLComputePipelineDescriptor* descriptor, MTLPipelineOption options,
                Pipeline& made, NSError** error) {
  MTLComputePipelineReflection* reflection = nil;
  NSError* refused = nil;
  const auto start = std::chrono::steady_clock::now();
  made.state = [device newComputePipelineStateWithDescriptor:descriptor
                                                     options:options
                                                  reflection:&reflection
                                                       error:&refused];
  made.ms += std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  if (made.state == nil) {
    *error = refused;
    return false;
  }
  made.arguments = arguments_of(reflection);
  return true;
}

/// The archive at `path`, or a new one. Nil with `problem` where there is a file that Metal cannot read.
id<MTLBinaryArchive> open_archive(id<MTLDevice> device, const std::string* path, std::string& problem) {
  MTLBinaryArchiveDescriptor* descriptor = [MTLBinaryArchiveDescriptor new];
  if (path != nullptr) descriptor.url = [NSURL fileURLWithPath:to_ns_string(*path)];
  NSError* error = nil;
  id<MTLBinaryArchive> archive = [device newBinaryArchiveWithDescriptor:descriptor error:&error];
  if (archive == nil) problem = words_of(error, "Metal opened no archive and gave no reason").words;
  return archive;
}

/// Written beside and renamed, so that no other process ever reads half an archive.
std::string write_archive(id<MTLBinaryArchive> archive, const std::string& path) {
  static std::atomic<unsigned> serial{0};
  const std::string beside = path + "." + std::to_string(getpid()) + "." + std::to_string(serial++) + ".tmp";
  NSError* error = nil;
  if (![archive serializeToURL:[NSURL fileURLWithPath:to_ns_string(beside)] error:&error]) {
    std::remove(beside.c_str());
    return words_of(error, "Metal wrote no archive and gave no reason").words;
  }
  if (std::rename(beside.c_str(), path.c_str()) == 0) return "";
  const std::string reason = std::strerror(errno);
  std::remove(beside.c_str());
  return "renaming it to " + path + " failed (" + reason + ")";
}

/// Adds the function to the archive and writes it.
ArchiveOutcome add_to_archive(id<MTLDevice> device, id<MTLBinaryArchive> archive,
                              MTLComputePipelineDescriptor* descriptor, const std::string& path,
                              const std::string& unreadable) {
  std::string problem;
  if (archive == nil) archive = open_archive(device, nullptr, problem);
  NSError* error = nil;
  if (archive != nil && ![archive addComputePipelineFunctionsWithDescriptor:descriptor error:&error]) {
    problem = words_of(error, "Metal added nothing and gave no reason").words;
  }
  if (problem.empty()) problem = write_archive(archive, path);
  if (unreadable.empty()) {
    return problem.empty() ? ArchiveOutcome{ArchiveOutcome::Kind::added, ""}
                           : ArchiveOutcome{ArchiveOutcome::Kind::problem, "it could not be written: " + problem};
  }
  const std::string then = problem.empty() ? "it was written anew" : "it could not be written anew: " + problem;
  return {ArchiveOutcome::Kind::problem, "it could not be read: " + unreadable + "; " + then};
}

std::optional<ErrorWords> fill_descriptor(MTLComputePipelineDescriptor* descriptor, const PipelineRequest& request) {
  descriptor.label = to_ns_string(request.function);
  if (request.max_total_threads_per_threadgroup) {
    descriptor.maxTotalThreadsPerThreadgroup = *request.max_total_threads_per_threadgroup;
  }
  if (!request.required_threads_per_threadgroup) return std::nullopt;
#if LOCKSTEP_SDK_26
  if (is_macos_26()) {
    const auto& threads = *request.required_threads_per_threadgroup;
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunguarded-availability"
    descriptor.requiredThreadsPerThreadgroup = MTLSizeMake(threads[0], threads[1], threads[2]);
#pragma clang diagnostic pop
    return std::nullopt;
  }
#endif
  return own_words("requiredThreadsPerThreadgroup needs macOS 26 and an addon built with its SDK: leave it out");
}

std::optional<ErrorWords> build(id<MTLDevice> device, const Library& library, const PipelineRequest& request,
                                Pipeline& made) {
  NSError* error = nil;
  MTLComputePipelineDescriptor* descriptor = [MTLComputePipelineDescriptor new];
  descriptor.computeFunction = [library.library newFunctionWithName:to_ns_string(request.function)
                                                     constantValues:constant_values(request)
                                                              error:&error];
  if (descriptor.computeFunction == nil) {
    return words_of(error, "Metal gave no function " + request.function + " and no reason");
  }
  if (const auto refused = fill_descriptor(descriptor, request)) return refused;
  if (!request.archive) {
    if (make_state(device, descriptor, kReflection, made, &error)) return std::nullopt;
    return words_of(error, "Metal made no pipeline and gave no reason");
  }
  const std::string& path = *request.archive;
  const bool there = access(path.c_str(), F_OK) == 0;
  std::string unreadable;
  id<MTLBinaryArchive> archive = there ? open_archive(device, &path, unreadable) : nil;
  if (archive != nil) {
    descriptor.binaryArchives = @[ archive ];
    // Metal fails here instead of compiling, so that a hit is known to be one.
    if (make_state(device, descriptor, kReflectionFromArchive, made, &error)) {
      made.archive.kind = ArchiveOutcome::Kind::hit;
      return std::nullopt;
    }
    descriptor.binaryArchives = nil;
  }
  if (!make_state(device, descriptor, kReflection, made, &error)) {
    return words_of(error, "Metal made no pipeline and gave no reason");
  }
  const auto thrown =
      refusal_of([&] { made.archive = add_to_archive(device, archive, descriptor, path, unreadable); });
  if (thrown) made.archive = {ArchiveOutcome::Kind::problem, "it could not be written: " + thrown->words};
  return std::nullopt;
}

}  // namespace

std::variant<std::shared_ptr<Pipeline>, ErrorWords> build_pipeline(id<MTLDevice> device, const Library& library,
                                                                   const PipelineRequest& request) {
  auto made = std::make_shared<Pipeline>();
  made->device = device.registryID;
  std::optional<ErrorWords> refused;
  @autoreleasepool {
    const auto exception = refusal_of([&] { refused = build(device, library, request, *made); });
    if (exception) return *exception;
  }
  if (refused) return *refused;
  return made;
}

}  // namespace lockstep::metal
