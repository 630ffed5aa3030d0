#include "counters.h"

#include "exception.h"
#include "words.h"

namespace lockstep::metal {
namespace {

constexpr NSUInteger kStart = 0;
constexpr NSUInteger kEnd = 1;

/// nil where the device has no counters or none of time.
id<MTLCounterSet> timestamp_set(id<MTLDevice> device) {
  for (id<MTLCounterSet> set in device.counterSets) {
    if ([set.name isEqualToString:MTLCommonCounterSetTimestamp]) return set;
  }
  return nil;
}

}  // namespace

Counters::Counters(id<MTLDevice> device) {
  if (![device supportsCounterSampling:MTLCounterSamplingPointAtStageBoundary]) {
    problem_ = "the device does not sample counters at stage boundaries";
    return;
  }
  id<MTLCounterSet> set = timestamp_set(device);
  if (set == nil) {
    problem_ = "the device has no counter set of timestamps";
    return;
  }
  const std::optional<ErrorWords> thrown = refusal_of([&] {
    MTLCounterSampleBufferDescriptor* descriptor = [MTLCounterSampleBufferDescriptor new];
    descriptor.counterSet = set;
    descriptor.storageMode = MTLStorageModeShared;
    descriptor.sampleCount = 2;
    NSError* error = nil;
    samples_ = [device newCounterSampleBufferWithDescriptor:descriptor error:&error];
    if (samples_ == nil) problem_ = words_of(error, "Metal gave no sample buffer and no reason").words;
  });
  if (thrown) problem_ = thrown->words;
}

void Counters::attach(MTLComputePassDescriptor* pass) const {
  if (samples_ == nil) return;
  MTLComputePassSampleBufferAttachmentDescriptor* attachment = pass.sampleBufferAttachments[0];
  attachment.sampleBuffer = samples_;
  attachment.startOfEncoderSampleIndex = kStart;
  attachment.endOfEncoderSampleIndex = kEnd;
}

std::variant<double, std::string> Counters::read(const ClockSample& first, const ClockSample& last) {
  if (samples_ == nil) return problem_;
  NSData* data = [samples_ resolveCounterRange:NSMakeRange(kStart, 2)];
  if (data == nil || data.length < 2 * sizeof(MTLCounterResultTimestamp)) {
    return std::string("Metal resolved no samples");
  }
  const auto* results = static_cast<const MTLCounterResultTimestamp*>(data.bytes);
  const std::uint64_t start = results[kStart].timestamp;
  const std::uint64_t end = results[kEnd].timestamp;
  if (start == MTLCounterErrorValue || end == MTLCounterErrorValue) {
    return std::string("Metal marked a sample as an error (MTLCounterErrorValue)");
  }
  // macOS 26 left samples at zero that were resolved too early.
  if (start == 0 || end == 0) return std::string("Metal left a sample at zero");
  if (start == last_start_ && end == last_end_) return std::string("the samples were not written");
  last_start_ = start;
  last_end_ = end;
  if (end <= start) return std::string("the sample at the end is not after the one at the start");
  return ticks_to_ns(end - start, first, last);
}

}  // namespace lockstep::metal
