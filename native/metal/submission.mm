#include "submission.h"

#include <algorithm>

#include "connection.h"
#include "exception.h"

namespace lockstep::metal {
namespace {

/// Code of our own words where nothing was committed: no kernel ran.
constexpr std::int64_t kNotCommitted = 1;

const char* state_name(MTLCommandEncoderErrorState state) {
  switch (state) {
    case MTLCommandEncoderErrorStateCompleted: return "completed";
    case MTLCommandEncoderErrorStateAffected: return "affected";
    case MTLCommandEncoderErrorStatePending: return "pending";
    case MTLCommandEncoderErrorStateFaulted: return "faulted";
    default: return "unknown";
  }
}

std::vector<std::string> encoders_of(NSError* error) {
  std::vector<std::string> encoders;
  NSArray<id<MTLCommandBufferEncoderInfo>>* infos = error.userInfo[MTLCommandBufferEncoderInfoErrorKey];
  for (id<MTLCommandBufferEncoderInfo> info in infos) {
    encoders.push_back(to_string(info.label) + ": " + state_name(info.errorState));
  }
  return encoders;
}

}  // namespace

Submission::Submission(std::shared_ptr<Connection> connection, std::vector<DispatchRequest> dispatches, bool counters,
                       std::shared_ptr<SubmissionListener> listener)
    : connection_(std::move(connection)),
      dispatches_(std::move(dispatches)),
      counters_(counters),
      listener_(std::move(listener)) {}

void Submission::start() { connection_->line().enter(shared_from_this()); }

void Submission::cancel() {
  cancelled_ = true;
  const std::shared_ptr<Submission> self = shared_from_this();
  if (connection_->line().withdraw(this)) listener_->finished(Cancelled{0});
}

void Submission::begin() {
  @autoreleasepool {
    if (KernelLog* log = connection_->log()) {
      const std::shared_ptr<SubmissionListener> listener = listener_;
      log->listen([listener](const LogLine& line) { listener->logged(line); });
    }
    clocks_ = sample_clocks(connection_->device());
    run(0);
  }
}

void Submission::run(std::size_t index) {
  if (index == dispatches_.size()) return finish(Completed{std::move(timings_)});
  if (cancelled_) return finish(Cancelled{index});
  if (auto refused = commit(index)) finish(Failed{index, std::move(*refused), {}});
}

std::optional<ErrorWords> Submission::commit(std::size_t index) {
  std::string problem;
  id<MTLCommandBuffer> buffer = nil;
  id<MTLComputeCommandEncoder> encoder = nil;
  const std::optional<ErrorWords> thrown = refusal_of([&] {
    buffer = encode(dispatches_[index], encoder, problem);
    if (buffer == nil) return;
    const std::shared_ptr<Submission> self = shared_from_this();
    // A copy of this frame: a block keeps what its lambda holds by reference as a reference, and outlives it.
    const std::size_t own_index = index;
    [buffer addCompletedHandler:^(id<MTLCommandBuffer> done) {
      @autoreleasepool {
        self->completed(own_index, done);
      }
    }];
    [buffer commit];
  });
  if (!thrown) return buffer == nil ? std::optional(own_words(problem, kNotCommitted)) : std::nullopt;
  // Metal aborts the process if an encoder goes that was not ended.
  if (encoder != nil) static_cast<void>(refusal_of([&] { [encoder endEncoding]; }));
  return thrown;
}

id<MTLCommandBuffer> Submission::encode(const DispatchRequest& dispatch, __strong id<MTLComputeCommandEncoder>& open,
                                        std::string& problem) {
  MTLCommandBufferDescriptor* descriptor = [MTLCommandBufferDescriptor new];
  descriptor.errorOptions = MTLCommandBufferErrorOptionEncoderExecutionStatus;
  if (const KernelLog* log = connection_->log()) log->attach(descriptor);
  id<MTLCommandBuffer> buffer = [connection_->queue() commandBufferWithDescriptor:descriptor];
  MTLComputePassDescriptor* pass = [MTLComputePassDescriptor computePassDescriptor];
  pass.dispatchType = MTLDispatchTypeSerial;
  if (counters_) connection_->counters().attach(pass);
  id<MTLComputeCommandEncoder> encoder = [buffer computeCommandEncoderWithDescriptor:pass];
  if (encoder == nil) {
    problem = buffer == nil ? "Metal gave no command buffer" : "Metal gave no compute encoder";
    return nil;
  }
  open = encoder;
  buffer.label = to_ns_string(dispatch.label);
  encoder.label = to_ns_string(dispatch.label);
  [encoder setComputePipelineState:dispatch.pipeline->state];
  for (const BoundMemory& bound : dispatch.memories) {
    [encoder setBuffer:bound.memory->buffer() offset:bound.memory->offset() + bound.offset atIndex:bound.index];
  }
  for (const BoundBytes& bound : dispatch.bytes) {
    [encoder setBytes:bound.bytes.data() length:bound.bytes.size() atIndex:bound.index];
  }
  for (const ThreadgroupMemory& memory : dispatch.threadgroup_memory) {
    [encoder setThreadgroupMemoryLength:memory.bytes atIndex:memory.index];
  }
  [encoder dispatchThreadgroups:dispatch.threadgroups threadsPerThreadgroup:dispatch.threads_per_threadgroup];
  [encoder endEncoding];
  open = nil;
  return buffer;
}

void Submission::completed(std::size_t index, id<MTLCommandBuffer> buffer) {
  if (buffer.status != MTLCommandBufferStatusCompleted) {
    NSError* error = buffer.error;
    return finish(Failed{index, words_of(error, "the command buffer failed and Metal gave no reason"),
                         encoders_of(error)});
  }
  Timing timing{buffer.GPUStartTime, buffer.GPUEndTime, std::string("counters were not asked for")};
  if (counters_) timing.counter = connection_->counters().read(clocks_, sample_clocks(connection_->device()));
  timings_.push_back(std::move(timing));
  if (!listener_->dispatched(index)) cancelled_ = true;
  run(index + 1);
}

void Submission::finish(Outcome outcome) {
  listener_->finished(std::move(outcome));
  connection_->line().leave();
}

void SubmissionLine::enter(const std::shared_ptr<Submission>& submission) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    waiting_.push_back(submission);
  }
  advance();
}

void SubmissionLine::leave() {
  // Let go of it after the lock: with it may go the last holder of memory.
  std::shared_ptr<Submission> finished;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    finished = std::move(active_);
    active_ = nullptr;
  }
  advance();
}

void SubmissionLine::advance() {
  std::unique_lock<std::mutex> lock(mutex_);
  if (advancing_) return;
  advancing_ = true;
  while (!active_ && !waiting_.empty()) {
    std::shared_ptr<Submission> next = std::move(waiting_.front());
    waiting_.pop_front();
    active_ = next;
    lock.unlock();
    next->begin();
    next = nullptr;
    lock.lock();
  }
  advancing_ = false;
}

bool SubmissionLine::withdraw(const Submission* submission) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto same = [submission](const std::shared_ptr<Submission>& waiting) { return waiting.get() == submission; };
  const auto found = std::find_if(waiting_.begin(), waiting_.end(), same);
  if (found == waiting_.end()) return false;
  waiting_.erase(found);
  return true;
}

}  // namespace lockstep::metal
