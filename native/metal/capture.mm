#include "capture.h"

#include "exception.h"

namespace lockstep::metal {

std::optional<ErrorWords> start_capture(id<MTLCommandQueue> queue, const std::string& path) {
  std::optional<ErrorWords> refused;
  const auto work = [&] {
    MTLCaptureManager* manager = [MTLCaptureManager sharedCaptureManager];
    if (![manager supportsDestination:MTLCaptureDestinationGPUTraceDocument]) {
      refused = own_words("Metal captures nothing in this process: start it with MTL_CAPTURE_ENABLED=1");
      return;
    }
    MTLCaptureDescriptor* descriptor = [MTLCaptureDescriptor new];
    descriptor.captureObject = queue;
    descriptor.destination = MTLCaptureDestinationGPUTraceDocument;
    descriptor.outputURL = [NSURL fileURLWithPath:to_ns_string(path)];
    NSError* error = nil;
    if (![manager startCaptureWithDescriptor:descriptor error:&error]) {
      refused = words_of(error, "Metal started no capture and gave no reason");
    }
  };
  @autoreleasepool {
    if (const auto thrown = refusal_of(work)) return thrown;
  }
  return refused;
}

void stop_capture() {
  @autoreleasepool {
    MTLCaptureManager* manager = [MTLCaptureManager sharedCaptureManager];
    if (manager.isCapturing) [manager stopCapture];
  }
}

}  // namespace lockstep::metal
