#pragma once
// STAND-IN for tests: command buffers, and the thread that runs them by the project's emulator.
#import "objects.h"

constexpr NSUInteger kDontSample = ~NSUInteger{0};

struct StandInBound {
  StandInBuffer *_Nullable buffer;
  unsigned long offset;
  std::vector<uint8_t> bytes;
};

struct StandInDispatch {
  StandInPipeline *_Nonnull pipeline;
  std::map<unsigned long, StandInBound> bindings;
  std::map<unsigned long, unsigned long> threadgroupMemory;
  MTLSize groups;
  MTLSize threads;
};

@class StandInCommandBuffer;

@interface StandInEncoder : NSObject <MTLComputeCommandEncoder> {
 @public
  StandInCommandBuffer *__unsafe_unretained buffer;
  StandInPipeline *_Nullable pipeline;
  std::map<unsigned long, StandInBound> bindings;
  std::map<unsigned long, unsigned long> threadgroupMemory;
  std::vector<StandInDispatch> dispatches;
  StandInSamples *_Nullable samples;
  NSUInteger startSample;
  NSUInteger endSample;
  bool ended;
}
@end

@interface StandInCommandBuffer : NSObject <MTLCommandBuffer> {
 @public
  StandInQueue *_Nonnull queue;
  StandInLogState *_Nullable logState;
  MTLCommandBufferErrorOption errorOptions;
  std::vector<StandInEncoder *> encoders;
  std::vector<MTLCommandBufferHandler> handlers;
  bool open;
  bool committed;
  std::mutex mutex;
  MTLCommandBufferStatus currentStatus;
  NSError *_Nullable failure;
  double startSeconds;
  double endSeconds;
}
@end

namespace stand_in {

/** Runs what it holds behind the command buffers before it; its handlers are called on a thread of their own. */
void run_on_gpu(StandInCommandBuffer *_Nonnull buffer);

}  // namespace stand_in
