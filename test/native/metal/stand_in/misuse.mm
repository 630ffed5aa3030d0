// STAND-IN for tests: a program that uses Metal wrongly in the way that its argument names, so that tests see the stand-in
// notice. It prints violations, and what is left over at its end; some misuse ends it.
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <string>

#import <Metal/Metal.h>

#include "metal/scenario.h"
#include "objc/runtime.h"

namespace {

struct Parts {
  id<MTLDevice> device;
  id<MTLCommandQueue> queue;
  id<MTLCommandBuffer> buffer;
  id<MTLComputeCommandEncoder> encoder;
};

Parts parts(MTLComputePassDescriptor *pass = [MTLComputePassDescriptor computePassDescriptor]) {
  Parts made;
  made.device = MTLCreateSystemDefaultDevice();
  made.queue = [made.device newCommandQueue];
  made.buffer = [made.queue commandBufferWithDescriptor:[MTLCommandBufferDescriptor new]];
  made.encoder = [made.buffer computeCommandEncoderWithDescriptor:pass];
  return made;
}

MTLComputePassDescriptor *sampled(NSUInteger end) {
  id<MTLDevice> device = MTLCreateSystemDefaultDevice();
  MTLCounterSampleBufferDescriptor *descriptor = [MTLCounterSampleBufferDescriptor new];
  descriptor.counterSet = device.counterSets[0];
  descriptor.sampleCount = 2;
  NSError *error = nil;
  MTLComputePassDescriptor *pass = [MTLComputePassDescriptor computePassDescriptor];
  pass.sampleBufferAttachments[0].sampleBuffer = [device newCounterSampleBufferWithDescriptor:descriptor error:&error];
  pass.sampleBufferAttachments[0].startOfEncoderSampleIndex = 0;
  pass.sampleBufferAttachments[0].endOfEncoderSampleIndex = end;
  return pass;
}

/** Runs a command buffer with nothing in it to its end. */
void run(const Parts &made) {
  [made.encoder endEncoding];
  auto done = std::make_shared<std::promise<void>>();
  [made.buffer addCompletedHandler:^(id<MTLCommandBuffer>) {
    done->set_value();
  }];
  [made.buffer commit];
  done->get_future().wait();
}

const std::map<std::string, std::function<void()>> kMisuse = {
    {"none", [] { run(parts(sampled(1))); }},
    {"commit twice",
     [] {
       Parts made = parts();
       run(made);
       [made.buffer commit];
     }},
    {"not ended", [] { [parts().buffer commit]; }},
    {"two encoders",
     [] {
       Parts made = parts();
       [made.buffer computeCommandEncoderWithDescriptor:[MTLComputePassDescriptor computePassDescriptor]];
     }},
    {"after the end",
     [] {
       Parts made = parts();
       [made.encoder endEncoding];
       [made.encoder setThreadgroupMemoryLength:16 atIndex:0];
     }},
    {"no pipeline", [] { [parts().encoder dispatchThreadgroups:MTLSizeMake(1, 1, 1) threadsPerThreadgroup:MTLSizeMake(1, 1, 1)]; }},
    {"large bytes",
     [] {
       Parts made = parts();
       char bytes[5000] = {};
       [made.encoder setBytes:bytes length:sizeof bytes atIndex:0];
       run(made);
     }},
    {"index",
     [] {
       Parts made = parts();
       [made.encoder setThreadgroupMemoryLength:16 atIndex:31];
       run(made);
     }},
    {"offset",
     [] {
       Parts made = parts();
       [made.encoder setBuffer:[made.device newBufferWithLength:64 options:MTLResourceStorageModeShared] offset:64 atIndex:0];
       run(made);
     }},
    {"samples that are not supported",
     [] {
       stand_in::set_scenario("stage_boundary=0");
       run(parts(sampled(1)));
     }},
    {"sample index", [] { run(parts(sampled(2))); }},
    {"late handler",
     [] {
       Parts made = parts();
       run(made);
       [made.buffer addCompletedHandler:^(id<MTLCommandBuffer>) {
       }];
     }},
    {"too new",
     [] {
       stand_in::set_scenario("os=14.0.0");
       [MTLCompileOptions new].mathMode = MTLMathModeSafe;
     }},
    {"on the main thread",
     [] {
       stand_in::this_is_the_main_thread();
       NSError *error = nil;
       [MTLCreateSystemDefaultDevice() newBinaryArchiveWithDescriptor:[MTLBinaryArchiveDescriptor new] error:&error];
     }},
    {"residency that is not committed",
     [] {
       Parts made = parts();
       NSError *error = nil;
       id<MTLResidencySet> set = [made.device newResidencySetWithDescriptor:[MTLResidencySetDescriptor new] error:&error];
       [made.queue addResidencySet:set];
       MTLHeapDescriptor *descriptor = [MTLHeapDescriptor new];
       descriptor.size = 16384;
       id<MTLHeap> heap = [made.device newHeapWithDescriptor:descriptor];
       [set addAllocation:heap];
       run(made);
       [set removeAllocation:heap];
     }},
    {"released twice",
     [] {
       NSObject *object = [NSObject new];
       CFTypeRef reference = (__bridge CFTypeRef)object;
       CFRelease(reference);
       CFRelease(reference);
     }},
    {"leak",
     [] {
       CFTypeRef kept = (__bridge_retained CFTypeRef)[NSObject new];
       static_cast<void>(kept);
     }},
    {"block leak",
     [] {
       int value = 3;
       void (^block)(void) = ^{
         std::printf("%d\n", value);
       };
       CFTypeRef kept = (__bridge_retained CFTypeRef)(id)block;
       static_cast<void>(kept);
     }},
    {"no such method", [] { [(id)[NSObject new] addObject:@"text"]; }},
    {"nil in an array",
     [] {
       NSMutableArray *array = [NSMutableArray new];
       NSString *missing = nil;
       [array addObject:missing];
     }},
};

}  // namespace

int main(int count, char **arguments) {
  const std::string name = count > 1 ? arguments[1] : "";
  // What lives as long as the process.
  @autoreleasepool {
    static_cast<void>([MTLCaptureManager sharedCaptureManager]);
    static_cast<void>(MTLCreateSystemDefaultDevice());
  }
  const long before = stand_in::alive();
  if (name == "no pool") {
    static_cast<void>([NSNumber numberWithLongLong:7]);
  } else {
    @autoreleasepool {
      const auto found = kMisuse.find(name);
      if (found == kMisuse.end()) return 2;
      found->second();
    }
  }
  // The thread that called the handler lets go of the command buffer after it.
  for (int i = 0; i < 200 && stand_in::alive() > before; ++i) usleep(1000);
  for (const std::string &text : stand_in::take_violations()) std::printf("%s\n", text.c_str());
  std::printf("left %ld, without a pool %ld\n", stand_in::alive() - before, stand_in::without_pool());
  std::fflush(stdout);
  // Threads of the stand-in are never ended.
  _Exit(0);
}
