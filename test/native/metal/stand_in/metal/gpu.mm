// STAND-IN for tests: one thread drives the project's emulator, another calls completion handlers.
#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <thread>
#include <utility>

#import "gpu.h"

NSErrorUserInfoKey const MTLCommandBufferEncoderInfoErrorKey = @"MTLCommandBufferEncoderInfoErrorKey";

@interface StandInEncoderInfo : NSObject <MTLCommandBufferEncoderInfo> {
 @public
  NSString *text;
  MTLCommandEncoderErrorState state;
}
@end

@implementation StandInEncoderInfo
- (NSString *)label {
  return text;
}
- (MTLCommandEncoderErrorState)errorState {
  return state;
}
@end

namespace stand_in {
namespace {

/** A thread that does what it is given, in order, each in an autorelease pool. It is never ended. */
class Worker {
 public:
  Worker() {
    std::thread([this] { run(); }).detach();
  }
  void add(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    work_.push_back(std::move(work));
    changed_.notify_one();
  }

 private:
  void run() {
    for (;;) {
      std::function<void()> work;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return !work_.empty(); });
        work = std::move(work_.front());
        work_.pop_front();
      }
      @autoreleasepool {
        work();
        work = nullptr;
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> work_;
};

Worker &gpu() {
  static auto *worker = new Worker;
  return *worker;
}
Worker &callbacks() {
  static auto *worker = new Worker;
  return *worker;
}

/** The emulator, driven by the GPU thread alone; ids of its modules by path. */
struct Emulator {
  lockstep_emulator *handle = lockstep_emulator_create();
  std::map<std::string, uint64_t> modules;
  uint64_t next = 1;
};

std::mutex forgotten_mutex;
std::vector<uint64_t> forgotten;

Emulator &emulator() {
  static auto *instance = new Emulator;
  const std::lock_guard lock(forgotten_mutex);
  for (const uint64_t id : forgotten) lockstep_emulator_drop_buffer(instance->handle, id);
  forgotten.clear();
  return *instance;
}

uint64_t module_of(Emulator &emulator, StandInFunction *function) {
  uint64_t &id = emulator.modules[function->module];
  if (id == 0) {
    id = emulator.next++;
    lockstep_emulator_add_module(emulator.handle, id, function->module.c_str(), function->entry.c_str());
  }
  return id;
}

bool is_read_only(StandInFunction *function, unsigned long index) {
  for (const StandInArgument &argument : function->arguments) {
    if (argument.isBuffer && argument.index == index) return argument.readOnly;
  }
  return false;
}

/** Runs one dispatch; empty, or what went wrong. */
std::string run(const StandInDispatch &dispatch, const std::string &label) {
  Emulator &emulated = emulator();
  StandInFunction *function = dispatch.pipeline->function;
  std::vector<lockstep_binding> bindings;
  for (const auto &[index, bound] : dispatch.bindings) {
    lockstep_binding binding{};
    binding.index = static_cast<uint32_t>(index);
    binding.read_only = is_read_only(function, index);
    if (bound.buffer == nil) {
      binding.bytes = bound.bytes.data();
      binding.byte_count = bound.bytes.size();
    } else {
      StandInBuffer *buffer = bound.buffer;
      if (buffer->id == 0) {
        buffer->id = emulated.next++;
        lockstep_emulator_add_buffer(emulated.handle, buffer->id, buffer->memory->path().c_str(), buffer->memory->file_offset(),
                                     buffer->memory->bytes(), "buffer");
      }
      binding.buffer = buffer->id;
      binding.offset = bound.offset;
    }
    bindings.push_back(binding);
  }
  std::vector<lockstep_threadgroup_memory> memory;
  for (const auto &[index, bytes] : dispatch.threadgroupMemory) memory.push_back({static_cast<uint32_t>(index), static_cast<uint32_t>(bytes)});
  lockstep_dispatch request{};
  request.label = label.c_str();
  request.module = module_of(emulated, function);
  const MTLSize sizes[] = {dispatch.groups, dispatch.threads};
  for (int i = 0; i < 2; ++i) {
    uint32_t *to = i == 0 ? request.threadgroups : request.threads;
    to[0] = static_cast<uint32_t>(sizes[i].width);
    to[1] = static_cast<uint32_t>(sizes[i].height);
    to[2] = static_cast<uint32_t>(sizes[i].depth);
  }
  request.bindings = bindings.data();
  request.binding_count = bindings.size();
  request.threadgroup_memory = memory.data();
  request.threadgroup_memory_count = memory.size();
  request.fast_math = function->fastMath;
  const lockstep_status status = lockstep_emulator_run(emulated.handle, &request, 1, 1, nullptr, nullptr, nullptr);
  return status == LOCKSTEP_STATUS_OK ? std::string() : lockstep_emulator_message(emulated.handle);
}

NSError *failure_of(StandInCommandBuffer *buffer, const std::string &words, std::size_t faulted) {
  NSMutableArray *infos = [NSMutableArray new];
  for (std::size_t i = 0; i < buffer->encoders.size(); ++i) {
    StandInEncoderInfo *info = [StandInEncoderInfo new];
    info->text = buffer->encoders[i].label == nil ? @"" : buffer->encoders[i].label;
    info->state = i < faulted    ? MTLCommandEncoderErrorStateCompleted
                  : i == faulted ? MTLCommandEncoderErrorStateFaulted
                                 : MTLCommandEncoderErrorStatePending;
    [infos addObject:info];
  }
  NSError *error = nil;
  // Without the option Metal tells nothing of encoders.
  NSDictionary *more = buffer->errorOptions & MTLCommandBufferErrorOptionEncoderExecutionStatus
                           ? @{MTLCommandBufferEncoderInfoErrorKey : infos}
                           : @{};
  fail(&error, @"MTLCommandBufferErrorDomain", number("fail.commit_code", 3), words, more);
  return error;
}

void sample(StandInEncoder *encoder, NSUInteger index, uint64_t ns) {
  if (encoder->samples == nil || index >= encoder->samples->samples.size() || has("fail.no_samples")) return;
  encoder->samples->samples[index] = has("fail.sample_values") ? MTLCounterErrorValue : gpu_ticks(ns);
}

/** Fails the command buffer whose label the scenario names, or every one (`*`). */
bool is_to_fail(StandInCommandBuffer *buffer) {
  const std::string which = setting("fail.commit");
  return which == "*" || (!which.empty() && buffer.label != nil && [buffer.label text] == which);
}

void complete(StandInCommandBuffer *buffer) {
  wait_at_gate();
  struct Line {
    MTLLogLevel level;
    std::string subsystem;
    std::string category;
    std::string text;
  };
  struct Log {
    std::mutex mutex;
    std::vector<Line> lines;
  } log;
  lockstep_emulator_listen(
      [](void *user, const char *, const lockstep_log_line *line) {
        auto *into = static_cast<Log *>(user);
        const std::lock_guard lock(into->mutex);
        into->lines.push_back({static_cast<MTLLogLevel>(line->type < 5 ? line->type + 1 : 3), line->subsystem == nullptr ? "" : line->subsystem,
                               line->category == nullptr ? "" : line->category, line->text});
      },
      &log, 1000);
  const uint64_t start = now_ns();
  std::string words;
  std::size_t at = 0;
  bool logging = false;
  for (; at < buffer->encoders.size() && words.empty(); ++at) {
    StandInEncoder *encoder = buffer->encoders[at];
    sample(encoder, encoder->startSample, now_ns());
    if (is_to_fail(buffer)) words = setting("fail.commit_words", "Caused GPU Address Fault Error (0000000b:kIOGPUCommandBufferCallbackErrorPageFault)");
    for (const StandInDispatch &dispatch : encoder->dispatches) {
      if (!words.empty()) break;
      logging = logging || dispatch.pipeline->function->logging;
      words = run(dispatch, encoder.label == nil ? "" : [encoder.label text]);
    }
    sample(encoder, encoder->endSample, now_ns());
  }
  usleep(static_cast<useconds_t>(number("late_ms", 0) * 1000));
  const uint64_t end = now_ns();
  {
    const std::lock_guard lock(buffer->mutex);
    buffer->failure = words.empty() ? nil : failure_of(buffer, words, at - 1);
    buffer->startSeconds = static_cast<double>(start) / 1e9;
    buffer->endSeconds = static_cast<double>(end) / 1e9;
    buffer->currentStatus = words.empty() ? MTLCommandBufferStatusCompleted : MTLCommandBufferStatusError;
  }
  callbacks().add([buffer, lines = logging ? log.lines : std::vector<Line>()] {
    if (buffer->logState != nil) {
      for (const Line &line : lines) {
        for (const auto &handler : buffer->logState->handlers) {
          handler(line.subsystem.empty() ? nil : string(line.subsystem), line.category.empty() ? nil : string(line.category), line.level, string(line.text));
        }
      }
    }
    for (MTLCommandBufferHandler handler : std::exchange(buffer->handlers, {})) handler(buffer);
  });
}

}  // namespace

void run_on_gpu(StandInCommandBuffer *buffer) {
  gpu().add([buffer] { complete(buffer); });
}

void forget_buffer(unsigned long id) {
  const std::lock_guard lock(forgotten_mutex);
  forgotten.push_back(id);
}

}  // namespace stand_in
