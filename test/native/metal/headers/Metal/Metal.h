/*
 * Stands for <Metal/Metal.h>: declarations of what native/metal uses and of nothing else, written by hand, in files named as
 * Apple's. `macos(...)` is the version in which a declaration came; `docs/metal-facts.md` says where each was read,
 * `test/native/metal/availability.ts` the versions. A wrong declaration here passes a wrong source: only a build with the
 * SDK, on a Mac, shows that.
 */
#pragma once
#include <Foundation/Foundation.h>

#include <Metal/MTLTypes.h>

#include <Metal/MTLAllocation.h>
#include <Metal/MTLResource.h>

#include <Metal/MTLArgument.h>
#include <Metal/MTLBinaryArchive.h>
#include <Metal/MTLBuffer.h>
#include <Metal/MTLCaptureManager.h>
#include <Metal/MTLCommandBuffer.h>
#include <Metal/MTLCommandEncoder.h>
#include <Metal/MTLCommandQueue.h>
#include <Metal/MTLComputeCommandEncoder.h>
#include <Metal/MTLComputePass.h>
#include <Metal/MTLComputePipeline.h>
#include <Metal/MTLCounters.h>
#include <Metal/MTLDevice.h>
#include <Metal/MTLFunctionConstantValues.h>
#include <Metal/MTLHeap.h>
#include <Metal/MTLLibrary.h>
#include <Metal/MTLLogState.h>
#include <Metal/MTLResidencySet.h>
