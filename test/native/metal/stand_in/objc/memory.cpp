// STAND-IN for tests: reference counts, weak references, autorelease pools and what ARC calls. See runtime.h.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "runtime.h"

namespace stand_in {
namespace {

/** Stands in front of every object. 16 bytes, so that objects are aligned as memory of malloc is. */
struct Header {
  std::atomic<std::int64_t> references;
  std::uint64_t magic;
};
constexpr std::uint64_t kAlive = 0x6576696c61206e49;
/** While its -dealloc runs; what that takes and gives back does not count. */
constexpr std::uint64_t kDying = 0x676e697964207349;
constexpr std::uint64_t kDead = 0x6461656420736920;

Header *header(Object *object) { return reinterpret_cast<Header *>(object) - 1; }

std::atomic<long> alive_count{0};
std::atomic<long> without_pool_count{0};

/** Names of what is alive, for messages of tests. */
struct Census {
  std::mutex mutex;
  std::unordered_set<const Object *> objects;
};
Census &census() {
  static auto *instance = new Census;
  return *instance;
}

struct Weak {
  std::mutex mutex;
  std::unordered_multimap<Object *, Object **> places;
};
Weak &weak() {
  static auto *instance = new Weak;
  return *instance;
}

/** Objects of a thread, a null for the beginning of each pool. */
thread_local std::vector<Object *> pools;
thread_local int pool_depth = 0;

/** Constant strings and classes live for ever. */
bool is_immortal(const Object *object) {
  if (object->isa->info & kMetaclass) return true;
  static const ClassRecord *constant_string = find_class("NSConstantString");
  return object->isa == constant_string;
}

/** False while it goes. */
bool is_alive(Object *object, const char *what) {
  if (header(object)->magic == kDying) return false;
  if (header(object)->magic != kAlive) die("%s of %p, which is no living object: released too often?", what, static_cast<void *>(object));
  return true;
}

void construct(ClassRecord *cls, Object *object) {
  if (cls->super_class != nullptr) construct(cls->super_class, object);
  static const char *name = intern(".cxx_construct");
  if (const Method method = own_method(cls, name)) method(object, nullptr);
}

void remove_weak(Object **place) {
  Object *object = *place;
  if (object == nullptr) return;
  auto [begin, end] = weak().places.equal_range(object);
  for (auto entry = begin; entry != end; ++entry) {
    if (entry->second != place) continue;
    weak().places.erase(entry);
    return;
  }
}

void add_weak(Object **place, Object *object) {
  *place = object;
  if (object != nullptr && !is_immortal(object)) weak().places.emplace(object, place);
}

/** A further reference, unless the last one has just gone. */
Object *retain_if_alive(Object *object) {
  if (object == nullptr || is_immortal(object)) return object;
  auto &references = header(object)->references;
  std::int64_t count = references.load();
  while (count > 0 && !references.compare_exchange_weak(count, count + 1)) {
  }
  return count > 0 ? object : nullptr;
}

}  // namespace

Object *create(ClassRecord *cls) {
  resolve(cls);
  void *memory = std::calloc(1, sizeof(Header) + static_cast<std::size_t>(cls->instance_size));
  if (memory == nullptr) die("no memory for a %s", cls->name);
  auto *head = new (memory) Header{{1}, kAlive};
  auto *object = reinterpret_cast<Object *>(head + 1);
  object->isa = cls;
  construct(cls, object);
  ++alive_count;
  const std::lock_guard lock(census().mutex);
  census().objects.insert(object);
  return object;
}

void destroy(Object *object) {
  static const char *name = intern(".cxx_destruct");
  for (ClassRecord *cls = object->isa; cls != nullptr; cls = cls->super_class) {
    if (const Method method = own_method(cls, name)) method(object, nullptr);
  }
  {
    const std::lock_guard lock(census().mutex);
    census().objects.erase(object);
  }
  --alive_count;
  header(object)->magic = kDead;
  std::free(header(object));
}

unsigned long references(Object *object) {
  return is_immortal(object) ? 1 : static_cast<unsigned long>(header(object)->references.load());
}

long alive() { return alive_count; }
long without_pool() { return without_pool_count; }

void describe_alive(char *text, std::size_t size) {
  std::map<std::string, int> counts;
  {
    const std::lock_guard lock(census().mutex);
    for (const Object *object : census().objects) ++counts[object->isa->name];
  }
  std::string all;
  for (const auto &[name, count] : counts) all += (all.empty() ? "" : ", ") + name + " " + std::to_string(count);
  std::snprintf(text, size, "%s", all.c_str());
}

/** For blocks.cpp: blocks on the heap count as alive, too. */
void count_alive(long change) { alive_count += change; }

}  // namespace stand_in

using stand_in::Object;
using stand_in::Selector;

extern "C" {

void *objc_retain(void *pointer) {
  auto *object = static_cast<Object *>(pointer);
  if (object == nullptr) return nullptr;
  if (stand_in::is_block(object)) {
    stand_in::retain_block(object);
    return object;
  }
  if (stand_in::is_immortal(object)) return object;
  if (stand_in::is_alive(object, "retain")) ++stand_in::header(object)->references;
  return object;
}

void objc_release(void *pointer) {
  auto *object = static_cast<Object *>(pointer);
  if (object == nullptr) return;
  if (stand_in::is_block(object)) return _Block_release(object);
  if (stand_in::is_immortal(object)) return;
  if (!stand_in::is_alive(object, "release") || --stand_in::header(object)->references > 0) return;
  {
    const std::lock_guard lock(stand_in::weak().mutex);
    auto [begin, end] = stand_in::weak().places.equal_range(object);
    for (auto entry = begin; entry != end; ++entry) *entry->second = nullptr;
    stand_in::weak().places.erase(begin, end);
  }
  stand_in::header(object)->magic = stand_in::kDying;
  static const Selector dealloc{stand_in::intern("dealloc"), nullptr};
  stand_in::find_method(object->isa, dealloc.name)(object, &dealloc);
}

void *objc_autorelease(void *pointer) {
  auto *object = static_cast<Object *>(pointer);
  if (object == nullptr || (!stand_in::is_block(object) && stand_in::is_immortal(object))) return object;
  if (stand_in::pool_depth == 0) {
    ++stand_in::without_pool_count;
  } else {
    stand_in::pools.push_back(object);
  }
  return object;
}

void *objc_autoreleasePoolPush() {
  stand_in::pools.push_back(nullptr);
  ++stand_in::pool_depth;
  return reinterpret_cast<void *>(stand_in::pools.size());
}

void objc_autoreleasePoolPop(void *pool) {
  auto &pools = stand_in::pools;
  const auto size = reinterpret_cast<std::size_t>(pool);
  if (size == 0 || size > pools.size() || pools[size - 1] != nullptr) stand_in::die("an autorelease pool was popped twice or on another thread");
  while (pools.size() >= size) {
    Object *object = pools.back();
    pools.pop_back();
    if (object == nullptr) {
      --stand_in::pool_depth;
    } else {
      objc_release(object);
    }
  }
}

void *objc_retainAutorelease(void *object) { return objc_autorelease(objc_retain(object)); }
void *objc_autoreleaseReturnValue(void *object) { return objc_autorelease(object); }
void *objc_retainAutoreleaseReturnValue(void *object) { return objc_retainAutorelease(object); }
void *objc_retainAutoreleasedReturnValue(void *object) { return objc_retain(object); }
void *objc_unsafeClaimAutoreleasedReturnValue(void *object) { return object; }
void *objc_retainBlock(void *block) { return _Block_copy(block); }

void objc_storeStrong(void **place, void *object) {
  objc_retain(object);
  void *old = *place;
  *place = object;
  objc_release(old);
}

void *objc_loadWeakRetained(Object **place) {
  const std::lock_guard lock(stand_in::weak().mutex);
  return stand_in::retain_if_alive(*place);
}

void *objc_loadWeak(Object **place) { return objc_autorelease(objc_loadWeakRetained(place)); }

void *objc_storeWeak(Object **place, Object *object) {
  const std::lock_guard lock(stand_in::weak().mutex);
  stand_in::remove_weak(place);
  stand_in::add_weak(place, object);
  return object;
}

void *objc_initWeak(Object **place, Object *object) {
  *place = nullptr;
  return objc_storeWeak(place, object);
}

void objc_destroyWeak(Object **place) { objc_storeWeak(place, nullptr); }

void objc_copyWeak(Object **to, Object **from) {
  void *object = objc_loadWeakRetained(from);
  objc_initWeak(to, static_cast<Object *>(object));
  objc_release(object);
}

void objc_moveWeak(Object **to, Object **from) {
  objc_copyWeak(to, from);
  objc_destroyWeak(from);
}

/** One lock for atomic properties and @synchronized: contention is nothing that tests measure. */
static std::recursive_mutex &property_lock() {
  static auto *mutex = new std::recursive_mutex;
  return *mutex;
}

void *objc_getProperty(Object *self, const Selector *, std::ptrdiff_t offset, bool) {
  const std::lock_guard lock(property_lock());
  return objc_retainAutorelease(*reinterpret_cast<void **>(reinterpret_cast<char *>(self) + offset));
}

void objc_setProperty(Object *self, const Selector *, std::ptrdiff_t offset, Object *value, bool, signed char copies) {
  static const Selector copy{stand_in::intern("copy"), nullptr};
  void *kept = value;
  if (value != nullptr && copies != 0) {
    kept = stand_in::is_block(value) ? _Block_copy(value) : stand_in::find_method(value->isa, copy.name)(value, &copy);
  } else {
    objc_retain(value);
  }
  void *old;
  {
    const std::lock_guard lock(property_lock());
    auto **place = reinterpret_cast<void **>(reinterpret_cast<char *>(self) + offset);
    old = *place;
    *place = kept;
  }
  objc_release(old);
}

void objc_getPropertyStruct(void *to, const void *from, std::ptrdiff_t size, bool, bool) {
  const std::lock_guard lock(property_lock());
  std::memmove(to, from, static_cast<std::size_t>(size));
}
void objc_setPropertyStruct(void *to, const void *from, std::ptrdiff_t size, bool, bool) {
  objc_getPropertyStruct(to, from, size, false, false);
}

int objc_sync_enter(Object *) {
  property_lock().lock();
  return 0;
}
int objc_sync_exit(Object *) {
  property_lock().unlock();
  return 0;
}
}
