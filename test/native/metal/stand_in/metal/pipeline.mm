// STAND-IN for tests: pipelines, their reflection, and binary archives (a file that remembers what was added).
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <set>

#import "objects.h"

static NSString *const kArchiveDomain = @"MTLBinaryArchiveDomain";
/** AGX's own domain, as its refusals show. */
static NSString *const kPipelineDomain = @"AGXMetalStandIn";

@implementation MTLComputePipelineDescriptor {
  MTLSize _required;
}
- (void)setRequiredThreadsPerThreadgroup:(MTLSize)size {
  stand_in::needs_macos(26, "requiredThreadsPerThreadgroup");
  _required = size;
}
- (MTLSize)requiredThreadsPerThreadgroup {
  return _required;
}
@end

@interface StandInBinding : NSObject <MTLBufferBinding, MTLThreadgroupBinding> {
 @public
  StandInArgument argument;
}
@end

@implementation StandInBinding
- (NSString *)name {
  return stand_in::string(argument.name);
}
- (MTLBindingType)type {
  return argument.isBuffer ? MTLBindingTypeBuffer : MTLBindingTypeThreadgroupMemory;
}
- (MTLBindingAccess)access {
  return argument.readOnly ? MTLBindingAccessReadOnly : MTLBindingAccessReadWrite;
}
- (NSUInteger)index {
  return argument.index;
}
- (BOOL)isUsed {
  return YES;
}
- (NSUInteger)bufferAlignment {
  return 4;
}
- (NSUInteger)bufferDataSize {
  return argument.bytes;
}
- (NSUInteger)threadgroupMemoryAlignment {
  return 16;
}
- (NSUInteger)threadgroupMemoryDataSize {
  return argument.bytes;
}
@end

@implementation MTLComputePipelineReflection {
 @public
  NSArray *all;
}
- (NSArray *)bindings {
  return all;
}
@end

@implementation StandInPipeline
+ (instancetype)make:(MTLComputePipelineDescriptor *)descriptor
             options:(MTLPipelineOption)options
          reflection:(MTLAutoreleasedComputePipelineReflection *)reflection
               error:(NSError **)error
              device:(StandInDevice *)device {
  StandInFunction *function = (StandInFunction *)descriptor.computeFunction;
  if (function == nil) stand_in::die("a pipeline without a function");
  if (function->module.empty() && function->refusal.empty()) stand_in::violation("a pipeline of %s, which was not specialised", function->functionName.c_str());
  if (options & MTLPipelineOptionFailOnBinaryArchiveMiss) {
    bool found = false;
    for (StandInArchive *archive in descriptor.binaryArchives) found = found || [archive contains:descriptor];
    if (!found) return stand_in::fail(error, kPipelineDomain, 2, "No matching pipeline was found in the binary archives");
  }
  if (stand_in::has("fail.pipeline")) return stand_in::fail(error, kPipelineDomain, 3, stand_in::setting("fail.pipeline"));
  if (!function->refusal.empty()) return stand_in::fail(error, kPipelineDomain, 3, function->refusal);
  StandInPipeline *made = [StandInPipeline new];
  made->function = function;
  made->required = descriptor.requiredThreadsPerThreadgroup;
  const unsigned long stated = descriptor.maxTotalThreadsPerThreadgroup;
  made->threadLimit = std::min<unsigned long>(function->maxThreads, static_cast<unsigned long>(stand_in::number("pipeline_threads", 1024)));
  if (stated != 0) made->threadLimit = stated;
  if (stated > 1024) return stand_in::fail(error, kPipelineDomain, 3, "maxTotalThreadsPerThreadgroup is more than 1024");
  if (reflection != nullptr && stand_in::number("reflection", 1) != 0) {
    MTLComputePipelineReflection *told = [MTLComputePipelineReflection new];
    NSMutableArray *bindings = [NSMutableArray new];
    for (const StandInArgument &argument : function->arguments) {
      StandInBinding *binding = [StandInBinding new];
      binding->argument = argument;
      [bindings addObject:binding];
    }
    told->all = bindings;
    *reflection = told;
  }
  stand_in::count("pipelines");
  return made;
}
- (NSUInteger)maxTotalThreadsPerThreadgroup {
  return threadLimit;
}
- (NSUInteger)threadExecutionWidth {
  return 32;
}
- (NSUInteger)staticThreadgroupMemoryLength {
  return function->staticBytes;
}
@end

@implementation MTLBinaryArchiveDescriptor
@end

static const char *const kMagic = "binary archive of the stand-in for Metal";

@implementation StandInArchive {
  std::set<std::string> keys;
}

+ (std::string)keyOf:(MTLComputePipelineDescriptor *)descriptor {
  return ((StandInFunction *)descriptor.computeFunction)->module + " " + std::to_string(descriptor.maxTotalThreadsPerThreadgroup);
}

+ (instancetype)open:(MTLBinaryArchiveDescriptor *)descriptor error:(NSError **)error {
  StandInArchive *archive = [StandInArchive new];
  if (descriptor.url == nil) return archive;
  std::ifstream file([descriptor.url filePath]);
  std::string line;
  if (!std::getline(file, line) || line != kMagic) {
    return stand_in::fail(error, kArchiveDomain, 1, "Invalid binary archive: " + [descriptor.url filePath]);
  }
  while (std::getline(file, line)) archive->keys.insert(line);
  return archive;
}

- (bool)contains:(MTLComputePipelineDescriptor *)descriptor {
  return keys.contains([StandInArchive keyOf:descriptor]);
}

- (BOOL)addComputePipelineFunctionsWithDescriptor:(MTLComputePipelineDescriptor *)descriptor error:(NSError **)error {
  stand_in::may_block("addComputePipelineFunctionsWithDescriptor");
  if (stand_in::has("fail.archive_add")) {
    stand_in::fail(error, kArchiveDomain, 3, stand_in::setting("fail.archive_add"));
    return NO;
  }
  keys.insert([StandInArchive keyOf:descriptor]);
  return YES;
}

- (BOOL)serializeToURL:(NSURL *)url error:(NSError **)error {
  stand_in::may_block("serializeToURL");
  std::ofstream file([url filePath]);
  file << kMagic << "\n";
  for (const std::string &key : keys) file << key << "\n";
  file.close();
  if (file.good() && !stand_in::has("fail.archive_write")) return YES;
  stand_in::fail(error, kArchiveDomain, 4, stand_in::setting("fail.archive_write", "The archive could not be written"));
  return NO;
}
@end
