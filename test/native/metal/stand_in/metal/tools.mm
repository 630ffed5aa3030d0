// STAND-IN for tests: log states and captures (a folder with a marker, never a trace).
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>

#import "objects.h"

@implementation MTLLogStateDescriptor
@end

@implementation StandInLogState
- (void)addLogHandler:(void (^)(NSString *, NSString *, MTLLogLevel, NSString *))handler {
  handlers.push_back(stand_in::on_heap(handler));
}
@end

@implementation MTLCaptureDescriptor
@end

@implementation MTLCaptureManager {
  BOOL capturing;
  std::string path;
  int commandBuffers;
}

+ (MTLCaptureManager *)sharedCaptureManager {
  static MTLCaptureManager *shared = [MTLCaptureManager alloc];
  return shared;
}

- (BOOL)isCapturing {
  return capturing;
}

- (BOOL)supportsDestination:(MTLCaptureDestination)destination {
  const char *enabled = std::getenv("MTL_CAPTURE_ENABLED");
  return (enabled != nullptr && std::string(enabled) == "1") || stand_in::number("capture", 0) != 0;
}

- (BOOL)startCaptureWithDescriptor:(MTLCaptureDescriptor *)descriptor error:(NSError **)error {
  std::string words = stand_in::setting("fail.capture");
  if (![self supportsDestination:descriptor.destination]) words = "Capturing is not supported.";
  if (capturing) words = "A capture is already running.";
  if (descriptor.captureObject == nil) stand_in::violation("a capture of nothing");
  if (words.empty() && mkdir([descriptor.outputURL filePath].c_str(), 0700) != 0) words = "The output file could not be created.";
  if (!words.empty()) {
    stand_in::fail(error, @"MTLCaptureError", 1, words);
    return NO;
  }
  path = [descriptor.outputURL filePath];
  capturing = YES;
  commandBuffers = 0;
  return YES;
}

- (void)committed {
  if (capturing) ++commandBuffers;
}

- (void)stopCapture {
  if (!capturing) return stand_in::violation("stopCapture without a capture");
  capturing = NO;
  std::ofstream(path + "/stand-in") << "no trace: " << commandBuffers << " command buffers\n";
}
@end
