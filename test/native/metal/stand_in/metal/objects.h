#pragma once
// STAND-IN for tests: the classes behind Metal's protocols. "Stand-in for Metal (no GPU)".
#import <Metal/Metal.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#import "../foundation/foundation.h"
#include "emulator.h"
#include "exception.h"
#include "scenario.h"
#include "shared_memory.h"

/** A kernel argument as the front end reflects it. */
struct StandInArgument {
  std::string name;
  bool isBuffer;
  unsigned index;
  bool readOnly;
  /** Of what it points to; 0 where it is not known. */
  unsigned long bytes;
};

@interface StandInDevice : NSObject <MTLDevice>
- (void)allocated:(long)bytes;
@end

@interface StandInLibrary : NSObject <MTLLibrary>
+ (nullable instancetype)compile:(NSString *_Nonnull)source options:(MTLCompileOptions *_Nullable)options error:(NSError *_Nullable *_Nullable)error;
@end

@interface StandInFunction : NSObject <MTLFunction> {
 @public
  std::string functionName;
  NSDictionary *_Nullable constants;
  /** Of a specialised function: the module and what it says of itself. */
  std::string module;
  std::string entry;
  std::vector<StandInArgument> arguments;
  unsigned long maxThreads;
  unsigned long staticBytes;
  bool fastMath;
  bool logging;
  /** Why no pipeline can be made of it. */
  std::string refusal;
}
@end

@interface MTLFunctionConstantValues () {
 @public
  /** By index: value as text. */
  std::map<unsigned long, std::string> values;
}
@end

@interface StandInPipeline : NSObject <MTLComputePipelineState> {
 @public
  StandInFunction *_Nonnull function;
  unsigned long threadLimit;
  MTLSize required;
}
+ (nullable instancetype)make:(MTLComputePipelineDescriptor *_Nonnull)descriptor
                      options:(MTLPipelineOption)options
                   reflection:(MTLAutoreleasedComputePipelineReflection *_Nullable)reflection
                        error:(NSError *_Nullable *_Nullable)error
                       device:(StandInDevice *_Nonnull)device;
@end

@interface StandInArchive : NSObject <MTLBinaryArchive>
+ (nullable instancetype)open:(MTLBinaryArchiveDescriptor *_Nonnull)descriptor error:(NSError *_Nullable *_Nullable)error;
- (bool)contains:(MTLComputePipelineDescriptor *_Nonnull)descriptor;
@end

@interface StandInHeap : NSObject <MTLHeap> {
 @public
  StandInDevice *_Nonnull device;
  unsigned long size;
  std::atomic<unsigned long> used;
}
@end

@interface StandInBuffer : NSObject <MTLBuffer> {
 @public
  std::shared_ptr<lockstep::SharedMemory> memory;
  StandInDevice *_Nonnull device;
  StandInHeap *_Nullable heap;
  /** Of the emulator; 0 until it is first used there. */
  unsigned long id;
  MTLResourceOptions options;
}
+ (nullable instancetype)make:(unsigned long)length options:(MTLResourceOptions)options device:(StandInDevice *_Nonnull)device heap:(StandInHeap *_Nullable)heap;
@end

@interface StandInResidencySet : NSObject <MTLResidencySet> {
 @public
  std::vector<id> allocations;
  bool changed;
  bool resident;
}
@end

@interface StandInCounterSet : NSObject <MTLCounterSet>
- (instancetype _Nonnull)initWithName:(NSString *_Nonnull)name;
@end

@interface StandInSamples : NSObject <MTLCounterSampleBuffer> {
 @public
  std::vector<uint64_t> samples;
}
@end

@interface StandInLogState : NSObject <MTLLogState> {
 @public
  std::vector<void (^)(NSString *_Nullable, NSString *_Nullable, MTLLogLevel, NSString *_Nonnull)> handlers;
}
@end

@interface StandInQueue : NSObject <MTLCommandQueue> {
 @public
  std::vector<StandInResidencySet *> residency;
}
@end

@interface MTLCaptureManager (StandIn)
- (void)committed;
@end

namespace stand_in {

/** Nanoseconds of the clock that Metal's CPU timestamps count, and GPU ticks at that time. */
uint64_t now_ns();
uint64_t gpu_ticks(uint64_t ns);
/** The emulator forgets a buffer; on its thread, before the next run. */
void forget_buffer(unsigned long id);

}  // namespace stand_in
