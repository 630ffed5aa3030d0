#pragma once
/*
 * STAND-IN for tests: a small Objective-C runtime for Linux, so that the Objective-C++ of native/metal can be executed
 * where there is no Mac. Never part of the product.
 *
 * It speaks the binary interface of `clang++ -fobjc-runtime=objfw -fobjc-arc`: modules in the layout of the GCC runtime,
 * `objc_msg_lookup` for messages, the entry points that ARC calls, and blocks.
 */
#include <cstddef>
#include <cstdint>

namespace stand_in {

struct ClassRecord;
struct Object {
  ClassRecord *isa;
};

/** A selector; `name` is unique once its module is loaded, so that names are compared by address. */
struct Selector {
  const char *name;
  const char *types;
};

using Method = Object *(*)(Object *self, const Selector *selector);

struct MethodEntry {
  const char *name;
  const char *types;
  Method method;
};

struct MethodList {
  MethodList *next;
  int count;
  MethodEntry entries[1];
};

struct IvarEntry {
  const char *name;
  const char *type;
  int offset;
};

struct IvarList {
  int count;
  IvarEntry entries[1];
};

enum ClassInfo : unsigned long { kClass = 1, kMetaclass = 2, kResolved = 0x100 };

/** As the compiler lays a class out. `super_class` is a name until the class is resolved; offsets likewise relative. */
struct ClassRecord {
  ClassRecord *isa;
  ClassRecord *super_class;
  const char *name;
  long version;
  unsigned long info;
  long instance_size;
  IvarList *ivars;
  MethodList *methods;
  void *table;
  ClassRecord *subclasses;
  ClassRecord *siblings;
  void *protocols;
  void *reserved;
  long abi_version;
  int **ivar_offsets;
  void *properties;
  long strong_pointers;
  long weak_pointers;
};

/** Ends the process with a message: what real Metal or Foundation would not survive either. */
[[noreturn]] void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** A selector name as every module knows it. */
const char *intern(const char *name);
/** The method of instances of `cls`, or null. */
Method find_method(ClassRecord *cls, const char *interned);
/** The method that `cls` itself, not a superclass, has; or null. */
Method own_method(ClassRecord *cls, const char *interned);
ClassRecord *find_class(const char *name);
/** Classes are resolved when the first message is sent; nothing may be loaded later. */
void resolve(ClassRecord *cls);

/** A zero-filled object with one reference, its C++ members constructed. */
Object *create(ClassRecord *cls);
/** Destroys C++ members and frees the object. */
void destroy(Object *object);
unsigned long references(Object *object);

/** True for stack, global and heap blocks. */
bool is_block(const Object *object);
/** A further reference to a heap block; others have none. The compiler takes `objc_retain` to return what it was given. */
void retain_block(Object *block);

/** Objects that are alive, blocks on the heap included. */
long alive();
/** What was autoreleased on threads without a pool: on a Mac it would pile up. */
long without_pool();
/** Writes the classes of which objects are alive to `text`: "NSError 2, ...". */
void describe_alive(char *text, std::size_t size);

}  // namespace stand_in

extern "C" {
void *_Block_copy(const void *block);
void _Block_release(const void *block);
void *objc_retain(void *object);
void objc_release(void *object);
void *objc_autorelease(void *object);
void *objc_autoreleasePoolPush();
void objc_autoreleasePoolPop(void *pool);
}
