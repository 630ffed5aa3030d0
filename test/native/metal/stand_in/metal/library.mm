// STAND-IN for tests: compiling. The front end of the emulated device reads the source; its messages take Apple's form.
#include <cstring>

#import "compiler.h"
#import "objects.h"

static NSString *const kLibraryDomain = @"MTLLibraryErrorDomain";

/** With words of Apple's: code 3 a failed compilation, 4 warnings, 5 no such function, 1 the rest. */
enum : long { kUnsupported = 1, kCompileFailure = 3, kCompileWarning = 4, kFunctionNotFound = 5 };

@implementation MTLCompileOptions {
  MTLMathMode _mathMode;
  MTLMathFloatingPointFunctions _functions;
  BOOL _logging;
}
- (instancetype)init {
  // As documented: fast math is on unless it is turned off.
  self.fastMathEnabled = YES;
  _mathMode = MTLMathModeFast;
  return self;
}
- (void)setMathMode:(MTLMathMode)mode {
  stand_in::needs_macos(15, "mathMode");
  _mathMode = mode;
}
- (MTLMathMode)mathMode {
  return _mathMode;
}
- (void)setMathFloatingPointFunctions:(MTLMathFloatingPointFunctions)functions {
  stand_in::needs_macos(15, "mathFloatingPointFunctions");
  _functions = functions;
}
- (MTLMathFloatingPointFunctions)mathFloatingPointFunctions {
  return _functions;
}
- (void)setEnableLogging:(BOOL)logging {
  stand_in::needs_macos(15, "enableLogging");
  _logging = logging;
}
- (BOOL)enableLogging {
  return _logging;
}
@end

@implementation MTLFunctionConstant {
 @public
  std::string constantName;
  MTLDataType constantType;
  NSUInteger constantIndex;
  bool isRequired;
}
- (NSString *)name {
  return stand_in::string(constantName);
}
- (MTLDataType)type {
  return constantType;
}
- (NSUInteger)index {
  return constantIndex;
}
- (BOOL)required {
  return isRequired;
}
@end

/** Scalars that kernels use as function constants: MSL name, raw MTLDataType, bytes. */
struct ScalarType {
  const char *name;
  unsigned long raw;
  int bytes;
  char form;
};
constexpr ScalarType kScalars[] = {{"float", 3, 4, 'f'},  {"half", 16, 2, 'h'},  {"int", 29, 4, 'i'},   {"uint", 33, 4, 'u'},
                                   {"short", 37, 2, 'i'}, {"ushort", 41, 2, 'u'}, {"char", 45, 1, 'i'}, {"uchar", 49, 1, 'u'},
                                   {"bool", 53, 1, 'b'},  {"long", 81, 8, 'i'},  {"ulong", 85, 8, 'u'}};

@implementation MTLFunctionConstantValues
- (void)setConstantValue:(const void *)value type:(MTLDataType)type atIndex:(NSUInteger)index {
  for (const ScalarType &scalar : kScalars) {
    if (scalar.raw != type) continue;
    if (scalar.form == 'f') {
      float number;
      std::memcpy(&number, value, 4);
      char text[40];
      std::snprintf(text, sizeof text, "%.9g", static_cast<double>(number));
      values[index] = text;
      return;
    }
    if (scalar.form == 'h') stand_in::die("half constants are not stood in for");
    uint64_t number = 0;
    std::memcpy(&number, value, static_cast<size_t>(scalar.bytes));
    if (scalar.form == 'b') {
      values[index] = number != 0 ? "true" : "false";
    } else if (scalar.form == 'u') {
      values[index] = std::to_string(number);
    } else {
      const int shift = 64 - 8 * scalar.bytes;
      values[index] = std::to_string(static_cast<int64_t>(number << shift) >> shift);
    }
    return;
  }
  stand_in::die("a function constant of MTLDataType %lu", static_cast<unsigned long>(type));
}
@end

@implementation StandInFunction
- (NSString *)name {
  return stand_in::string(functionName);
}
- (NSDictionary *)functionConstantsDictionary {
  return constants;
}
@end

@implementation StandInLibrary {
  std::string library;
  std::vector<std::string> names;
  NSMutableDictionary *constants;
  bool fastMath;
  bool logging;
}

+ (instancetype)compile:(NSString *)source options:(MTLCompileOptions *)options error:(NSError **)error {
  if (stand_in::has("throw.compile")) throw stand_in::Exception{"NSInvalidArgumentException", stand_in::setting("throw.compile")};
  if (stand_in::has("fail.compile")) return stand_in::fail(error, kLibraryDomain, kCompileFailure, stand_in::setting("fail.compile"));
  const unsigned long version = options.languageVersion;
  // MTLLanguageVersion and the macOS that brought it.
  const int needed = version >= 0x40000 ? 26 : version >= 0x30002 ? 15 : version >= 0x30001 ? 14 : 13;
  if (stand_in::macos_major() < needed) {
    return stand_in::fail(error, kLibraryDomain, kUnsupported, "language version is not supported on this OS");
  }
  const bool byMode = stand_in::macos_major() >= 15;
  const bool fast = byMode ? options.mathMode == MTLMathModeFast : options.fastMathEnabled;
  if (!fast && byMode && options.mathFloatingPointFunctions != MTLMathFloatingPointFunctionsPrecise) {
    stand_in::count("safe math with fast functions");
  }
  stand_in::Words question{"library", [source text], std::to_string(version >> 16) + "." + std::to_string(version & 0xffff), fast ? "fast" : "safe"};
  for (NSString *name in options.preprocessorMacros) {
    question.push_back([name text]);
    question.push_back([(NSString *)options.preprocessorMacros[name] text]);
  }
  StandInLibrary *made = [StandInLibrary new];
  made->fastMath = fast;
  made->logging = options.enableLogging;
  made->constants = [NSMutableDictionary new];
  std::string warnings = stand_in::setting("warn.compile");
  for (const stand_in::Words &line : stand_in::ask_compiler(question)) {
    if (line[0] == "refused") return stand_in::fail(error, kLibraryDomain, kCompileFailure, line[1]);
    if (line[0] == "library") made->library = line[1];
    if (line[0] == "warnings") warnings += line[1];
    if (line[0] == "function") made->names.push_back(line[1]);
    if (line[0] == "constant") [made addConstant:line];
  }
  if (!warnings.empty()) stand_in::fail(error, kLibraryDomain, kCompileWarning, warnings);
  stand_in::count("libraries");
  return made;
}

- (void)addConstant:(const stand_in::Words &)line {
  MTLFunctionConstant *constant = [MTLFunctionConstant new];
  constant->constantName = line[1];
  constant->constantIndex = std::stoul(line[2]);
  constant->isRequired = line[4] == "required";
  for (const ScalarType &scalar : kScalars) {
    if (line[3] == scalar.name) constant->constantType = static_cast<MTLDataType>(scalar.raw);
  }
  constants[constant.name] = constant;
}

- (NSArray<NSString *> *)functionNames {
  NSMutableArray *all = [NSMutableArray new];
  for (const std::string &name : names) [all addObject:stand_in::string(name)];
  return all;
}

- (StandInFunction *)functionNamed:(const std::string &)name {
  for (const std::string &known : names) {
    if (known != name) continue;
    StandInFunction *function = [StandInFunction new];
    function->functionName = name;
    function->constants = constants;
    function->fastMath = fastMath;
    function->logging = logging;
    return function;
  }
  return nil;
}

- (id<MTLFunction>)newFunctionWithName:(NSString *)name {
  return [self functionNamed:[name text]];
}

- (id<MTLFunction>)newFunctionWithName:(NSString *)name constantValues:(MTLFunctionConstantValues *)values error:(NSError **)error {
  stand_in::may_block("newFunctionWithName:constantValues:");
  StandInFunction *function = [self functionNamed:[name text]];
  if (function == nil) {
    return stand_in::fail(error, kLibraryDomain, kFunctionNotFound, "function " + [name text] + " was not found in the library");
  }
  stand_in::Words question{"function", library, [name text]};
  for (const auto &[index, value] : values->values) {
    question.push_back(std::to_string(index));
    question.push_back(value);
  }
  for (const stand_in::Words &line : stand_in::ask_compiler(question)) {
    if (line[0] == "refused") return stand_in::fail(error, kLibraryDomain, kCompileFailure, line[1]);
    if (line[0] == "pipeline_refused") function->refusal = line[1];
    if (line[0] == "module") {
      function->module = line[1];
      function->entry = line[2];
      function->maxThreads = std::stoul(line[3]);
      function->staticBytes = std::stoul(line[4]);
    }
    if (line[0] == "argument") {
      function->arguments.push_back({line[1], line[2] == "buffer", static_cast<unsigned>(std::stoul(line[3])), line[4] == "const", std::stoul(line[5])});
    }
  }
  return function;
}
@end
