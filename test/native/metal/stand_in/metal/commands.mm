// STAND-IN for tests: queues, command buffers and encoders, as strict as Metal's validation; what they hold runs on gpu.mm.
#include <algorithm>
#include <cstring>

#import "gpu.h"

@implementation MTLCommandBufferDescriptor {
  id<MTLLogState> _state;
}
- (void)setLogState:(id<MTLLogState>)state {
  stand_in::needs_macos(15, "logState");
  _state = state;
}
- (id<MTLLogState>)logState {
  return _state;
}
@end

@implementation MTLComputePassSampleBufferAttachmentDescriptor
- (instancetype)init {
  self.startOfEncoderSampleIndex = kDontSample;
  self.endOfEncoderSampleIndex = kDontSample;
  return self;
}
@end

@implementation MTLComputePassSampleBufferAttachmentDescriptorArray {
  MTLComputePassSampleBufferAttachmentDescriptor *slots[4];
}
- (MTLComputePassSampleBufferAttachmentDescriptor *)objectAtIndexedSubscript:(NSUInteger)index {
  if (index >= 4) stand_in::die("sample buffer attachment %lu; there are 4", index);
  if (slots[index] == nil) slots[index] = [MTLComputePassSampleBufferAttachmentDescriptor new];
  return slots[index];
}
@end

@implementation MTLComputePassDescriptor {
  MTLComputePassSampleBufferAttachmentDescriptorArray *attachments;
}
+ (MTLComputePassDescriptor *)computePassDescriptor {
  return [MTLComputePassDescriptor new];
}
- (MTLComputePassSampleBufferAttachmentDescriptorArray *)sampleBufferAttachments {
  if (attachments == nil) attachments = [MTLComputePassSampleBufferAttachmentDescriptorArray new];
  return attachments;
}
@end

@implementation MTLCounterSampleBufferDescriptor
@end

@implementation StandInSamples
- (NSData *)resolveCounterRange:(NSRange)range {
  if (range.location + range.length > samples.size()) stand_in::violation("samples %lu to %lu were resolved of %zu", range.location, range.location + range.length, samples.size());
  if (stand_in::has("fail.resolve")) return nil;
  return [NSData dataWithBytes:samples.data() + range.location length:range.length * sizeof(uint64_t)];
}
@end

@implementation StandInQueue
@synthesize label = _label;
- (id<MTLCommandBuffer>)commandBufferWithDescriptor:(MTLCommandBufferDescriptor *)descriptor {
  if (stand_in::has("fail.command_buffer")) return nil;
  StandInCommandBuffer *made = [StandInCommandBuffer new];
  made->queue = self;
  made->errorOptions = descriptor.errorOptions;
  made->logState = (StandInLogState *)descriptor.logState;
  return made;
}
- (void)addResidencySet:(id<MTLResidencySet>)set {
  stand_in::needs_macos(15, "addResidencySet");
  residency.push_back((StandInResidencySet *)set);
}
- (void)removeResidencySet:(id<MTLResidencySet>)set {
  const auto found = std::find(residency.begin(), residency.end(), (StandInResidencySet *)set);
  if (found == residency.end()) return stand_in::violation("a queue lost a residency set that it never had");
  residency.erase(found);
}
@end

@implementation StandInCommandBuffer
@synthesize label = _label;

- (id<MTLComputeCommandEncoder>)computeCommandEncoderWithDescriptor:(MTLComputePassDescriptor *)descriptor {
  if (committed) stand_in::die("an encoder of a command buffer that is committed");
  if (open) stand_in::die("an encoder was made before endEncoding of the one before");
  if (stand_in::has("fail.encoder")) return nil;
  open = true;
  StandInEncoder *encoder = [StandInEncoder new];
  encoder->buffer = self;
  MTLComputePassSampleBufferAttachmentDescriptor *attachment = descriptor.sampleBufferAttachments[0];
  encoder->samples = (StandInSamples *)attachment.sampleBuffer;
  encoder->startSample = attachment.startOfEncoderSampleIndex;
  encoder->endSample = attachment.endOfEncoderSampleIndex;
  if (encoder->samples != nil) {
    const size_t count = encoder->samples->samples.size();
    const bool samples = encoder->startSample != kDontSample || encoder->endSample != kDontSample;
    if (samples && stand_in::number("stage_boundary", 1) == 0) stand_in::violation("samples at stage boundaries, which the device does not support");
    if (encoder->startSample != kDontSample && encoder->startSample >= count) stand_in::violation("sample %lu of %zu", encoder->startSample, count);
    if (encoder->endSample != kDontSample && encoder->endSample >= count) stand_in::violation("sample %lu of %zu", encoder->endSample, count);
  }
  encoders.push_back(encoder);
  return encoder;
}

- (void)addCompletedHandler:(MTLCommandBufferHandler)handler {
  if (committed) return stand_in::violation("a completed handler was added after commit");
  handlers.push_back(stand_in::on_heap(handler));
}

- (void)commit {
  if (committed) stand_in::die("a command buffer was committed twice");
  if (open) stand_in::die("a command buffer was committed before endEncoding");
  for (StandInResidencySet *set : queue->residency) {
    if (set->changed) stand_in::violation("a command buffer was committed while a residency set has changes that are not");
  }
  committed = true;
  stand_in::count("command buffers");
  [[MTLCaptureManager sharedCaptureManager] committed];
  stand_in::run_on_gpu(self);
}

- (MTLCommandBufferStatus)status {
  const std::lock_guard lock(mutex);
  return currentStatus;
}
- (NSError *)error {
  const std::lock_guard lock(mutex);
  return failure;
}
- (CFTimeInterval)GPUStartTime {
  const std::lock_guard lock(mutex);
  return startSeconds;
}
- (CFTimeInterval)GPUEndTime {
  const std::lock_guard lock(mutex);
  return endSeconds;
}
- (void)dealloc {
  if (open) stand_in::violation("a command buffer went with an encoder that was not ended");
}
@end

@implementation StandInEncoder
@synthesize label = _label;

- (void)mustBeOpen:(const char *)what {
  if (ended) stand_in::die("%s after endEncoding", what);
}

- (void)setComputePipelineState:(id<MTLComputePipelineState>)state {
  [self mustBeOpen:"setComputePipelineState"];
  if (state == nil) stand_in::die("setComputePipelineState of nil");
  pipeline = (StandInPipeline *)state;
}

- (void)setBytes:(const void *)bytes length:(NSUInteger)length atIndex:(NSUInteger)index {
  [self mustBeOpen:"setBytes"];
  if (length == 0 || length > 4096) stand_in::violation("setBytes of %lu bytes at index %lu; 1 to 4,096 are allowed", length, index);
  if (index >= 31) return stand_in::violation("index %lu; buffers have 0 to 30", index);
  const auto *first = static_cast<const uint8_t *>(bytes);
  bindings[index] = {nil, 0, std::vector<uint8_t>(first, first + length)};
}

- (void)setBuffer:(id<MTLBuffer>)given offset:(NSUInteger)offset atIndex:(NSUInteger)index {
  [self mustBeOpen:"setBuffer"];
  if (index >= 31) return stand_in::violation("index %lu; buffers have 0 to 30", index);
  if (given == nil) return stand_in::violation("setBuffer of nil at index %lu", index);
  if (offset >= given.length) stand_in::violation("offset %lu in a buffer of %lu bytes at index %lu", offset, given.length, index);
  if (offset % 4 != 0) stand_in::violation("offset %lu at index %lu is no multiple of 4", offset, index);
  bindings[index] = {(StandInBuffer *)given, offset, {}};
}

- (void)setThreadgroupMemoryLength:(NSUInteger)length atIndex:(NSUInteger)index {
  [self mustBeOpen:"setThreadgroupMemoryLength"];
  if (index >= 31) return stand_in::violation("index %lu; threadgroup memory has 0 to 30", index);
  if (length % 16 != 0) stand_in::violation("threadgroup memory of %lu bytes at index %lu is no multiple of 16", length, index);
  threadgroupMemory[index] = length;
}

/** Everything that Metal's validation looks at, and what it drops without a word. */
- (bool)mayRun:(MTLSize)groups threads:(MTLSize)threads {
  if (pipeline == nil) stand_in::die("a dispatch without a pipeline");
  const unsigned long each = threads.width * threads.height * threads.depth;
  if (groups.width * groups.height * groups.depth == 0 || each == 0) {
    stand_in::violation("a dispatch of nothing");
    return false;
  }
  unsigned long bytes = pipeline->function->staticBytes;
  for (const auto &[index, length] : threadgroupMemory) bytes += length;
  const auto most = static_cast<unsigned long>(stand_in::number("threadgroup_memory", 32768));
  if (bytes > most) stand_in::violation("%lu bytes of threadgroup memory; the limit is %lu", bytes, most);
  const MTLSize &required = pipeline->required;
  if (required.width != 0 && (required.width != threads.width || required.height != threads.height || required.depth != threads.depth)) {
    stand_in::violation("threads of a threadgroup are not those that the pipeline requires");
  }
  for (const StandInArgument &argument : pipeline->function->arguments) {
    const bool bound = argument.isBuffer ? bindings.contains(argument.index) : threadgroupMemory.contains(argument.index);
    if (!bound) stand_in::violation("nothing is bound to %s at index %u", argument.name.c_str(), argument.index);
  }
  if (each <= pipeline->threadLimit && bytes <= most) return true;
  stand_in::count("dispatches dropped");
  stand_in::violation("a dispatch was dropped: %lu threads a threadgroup, the pipeline allows %lu", each, pipeline->threadLimit);
  return false;
}

- (void)dispatchThreadgroups:(MTLSize)groups threadsPerThreadgroup:(MTLSize)threads {
  [self mustBeOpen:"dispatchThreadgroups"];
  if (![self mayRun:groups threads:threads]) return;
  dispatches.push_back({pipeline, bindings, threadgroupMemory, groups, threads});
}

- (void)endEncoding {
  [self mustBeOpen:"endEncoding"];
  ended = true;
  buffer->open = false;
}
@end
