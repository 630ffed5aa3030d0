/**
 * Since which macOS the declarations of Metal are there that native/metal uses, as a table beside the headers: both say the
 * same, or `headers.test.ts` fails. What is not in `NEWER` is no newer than the oldest macOS that is built for.
 */
export interface Fact {
  /** A member as `MTLDevice.architecture`; a class, protocol or enumeration stands for all that is in it. */
  readonly name: string;
  /** macOS. */
  readonly since: string;
  readonly source: string;
}

const documentation = (path: string): string => `developer.apple.com/documentation/metal/${path}: availability`;
const BINDINGS = "public bindings for .NET (dotnet/macios, src/metal.cs)";

export const NEWER: readonly Fact[] = [
  { name: "MTLArchitecture", since: "14.0", source: `SDK 14.2, MTLDevice.h; ${BINDINGS}` },
  { name: "MTLDevice.architecture", since: "14.0", source: `SDK 14.2, MTLDevice.h; ${BINDINGS}` },

  { name: "MTLAllocation", since: "15.0", source: BINDINGS },
  { name: "MTLResidencySetDescriptor", since: "15.0", source: documentation("mtlresidencysetdescriptor") },
  { name: "MTLResidencySet", since: "15.0", source: documentation("mtlresidencyset") },
  {
    name: "MTLDevice.newResidencySetWithDescriptor:error:",
    since: "15.0",
    source: documentation("mtldevice/makeresidencyset(descriptor:)"),
  },
  {
    name: "MTLCommandQueue.addResidencySet:",
    since: "15.0",
    source: documentation("mtlcommandqueue/addresidencyset(_:)"),
  },
  { name: "MTLCommandQueue.removeResidencySet:", since: "15.0", source: BINDINGS },

  { name: "MTLLogLevel", since: "15.0", source: BINDINGS },
  { name: "MTLLogState", since: "15.0", source: BINDINGS },
  { name: "MTLLogStateDescriptor", since: "15.0", source: BINDINGS },
  { name: "MTLDevice.newLogStateWithDescriptor:error:", since: "15.0", source: BINDINGS },
  { name: "MTLCommandBufferDescriptor.logState", since: "15.0", source: BINDINGS },
  { name: "MTLCompileOptions.enableLogging", since: "15.0", source: BINDINGS },

  { name: "MTLMathMode", since: "15.0", source: BINDINGS },
  { name: "MTLMathFloatingPointFunctions", since: "15.0", source: BINDINGS },
  { name: "MTLCompileOptions.mathMode", since: "15.0", source: BINDINGS },
  { name: "MTLCompileOptions.mathFloatingPointFunctions", since: "15.0", source: BINDINGS },

  {
    name: "MTLComputePipelineDescriptor.requiredThreadsPerThreadgroup",
    since: "26.0",
    source:
      "SDK 26.0, MTLComputePipeline.h; metal-cpp 26, MTLComputePipeline.hpp, which has it and its predecessor not",
  },
  { name: "MTLDevice.queryTimestampFrequency", since: "26.0", source: `SDK 26.0, MTLDevice.h; ${BINDINGS}` },
];

/** Members that clang calls by itself, and what it calls them for. */
export const BY_LANGUAGE: Readonly<Record<string, string>> = {
  "NSArray.arrayWithObjects:count:": "@[ ]",
  "NSFastEnumeration.countByEnumeratingWithState:objects:count:": "for (... in ...)",
};

/** What the sources do not use and the stand-in for Linux is built with. */
export const BY_STAND_IN: readonly string[] = [
  ...["NSObject.alloc", "NSObject.init", "NSObject.respondsToSelector:"],
  ...["NSArray.count", "NSArray.objectAtIndexedSubscript:", "NSMutableArray.addObject:"],
  ...["NSDictionary.count", "NSDictionary.dictionaryWithObjects:forKeys:count:"],
  ...["NSString.length", "NSString.initWithBytes:length:encoding:", "NSNumber.numberWithLongLong:"],
  ...["MTLBuffer.length", "MTLFunction.name"],
];
