// STAND-IN for tests: blocks, as clang lays them out (Block-ABI-Apple). See runtime.h.
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "runtime.h"

namespace stand_in {
void count_alive(long change);
}

extern "C" {
// Only their addresses matter; messages to blocks are not sent.
stand_in::ClassRecord _NSConcreteStackBlock{};
stand_in::ClassRecord _NSConcreteGlobalBlock{};
stand_in::ClassRecord _NSConcreteMallocBlock{};
}

namespace {

enum Flags : int { kNeedsFree = 1 << 24, kHasCopyDispose = 1 << 25, kIsGlobal = 1 << 28, kCountMask = 0xffff };
enum Field : int { kObject = 3, kBlock = 7, kByref = 8, kWeak = 16, kCaller = 128 };

struct Block;
struct Descriptor {
  unsigned long reserved;
  unsigned long size;
  void (*copy)(Block *to, const Block *from);
  void (*dispose)(const Block *block);
};

struct Block {
  stand_in::ClassRecord *isa;
  std::atomic<int> flags;
  int reserved;
  void (*invoke)(void);
  Descriptor *descriptor;
};

/** A __block variable; those with the flag have functions that copy and dispose of what it holds. */
struct Byref {
  void *isa;
  Byref *forwarding;
  std::atomic<int> flags;
  int size;
  void (*keep)(Byref *to, Byref *from);
  void (*destroy)(Byref *byref);
};

/** Moves a __block variable to the heap when the first block does, and counts the blocks that hold it. */
Byref *copy_byref(Byref *from) {
  if (from->forwarding->flags & kNeedsFree) {
    ++from->forwarding->flags;
    return from->forwarding;
  }
  auto *copy = static_cast<Byref *>(std::malloc(static_cast<std::size_t>(from->size)));
  std::memcpy(static_cast<void *>(copy), static_cast<const void *>(from), static_cast<std::size_t>(from->size));
  // One reference of the block, one of the frame that declared it.
  copy->flags = (from->flags & ~kCountMask) | kNeedsFree | 2;
  copy->forwarding = copy;
  from->forwarding = copy;
  if (from->flags & kHasCopyDispose) copy->keep(copy, from);
  return copy;
}

void release_byref(Byref *byref) {
  byref = byref->forwarding;
  if (!(byref->flags & kNeedsFree)) return;
  if ((--byref->flags & kCountMask) != 0) return;
  if (byref->flags & kHasCopyDispose) byref->destroy(byref);
  std::free(byref);
}

}  // namespace

bool stand_in::is_block(const Object *object) {
  return object->isa == &_NSConcreteStackBlock || object->isa == &_NSConcreteGlobalBlock || object->isa == &_NSConcreteMallocBlock;
}

void stand_in::retain_block(Object *object) {
  auto *block = reinterpret_cast<Block *>(object);
  if (block->flags & kNeedsFree) ++block->flags;
}

extern "C" {

void *_Block_copy(const void *pointer) {
  auto *block = static_cast<Block *>(const_cast<void *>(pointer));
  if (block == nullptr || (block->flags & kIsGlobal)) return block;
  if (block->flags & kNeedsFree) {
    ++block->flags;
    return block;
  }
  auto *copy = static_cast<Block *>(std::malloc(block->descriptor->size));
  std::memcpy(static_cast<void *>(copy), pointer, block->descriptor->size);
  copy->isa = &_NSConcreteMallocBlock;
  copy->flags = (block->flags & ~kCountMask) | kNeedsFree | 1;
  if (block->flags & kHasCopyDispose) block->descriptor->copy(copy, block);
  stand_in::count_alive(1);
  return copy;
}

void _Block_release(const void *pointer) {
  auto *block = static_cast<Block *>(const_cast<void *>(pointer));
  if (block == nullptr || (block->flags & kIsGlobal) || !(block->flags & kNeedsFree)) return;
  if ((block->flags & kCountMask) == 0) stand_in::die("a block was released too often");
  if ((--block->flags & kCountMask) != 0) return;
  if (block->flags & kHasCopyDispose) block->descriptor->dispose(block);
  std::free(block);
  stand_in::count_alive(-1);
}

void _Block_object_assign(void *to, const void *object, int field) {
  auto **place = static_cast<void **>(to);
  auto *held = const_cast<void *>(object);
  if (field & kCaller) {
    *place = held;
  } else if ((field & kByref) == kByref) {
    *place = copy_byref(static_cast<Byref *>(held));
  } else if ((field & kBlock) == kBlock) {
    *place = _Block_copy(held);
  } else {
    *place = objc_retain(held);
  }
}

void _Block_object_dispose(const void *object, int field) {
  auto *held = const_cast<void *>(object);
  if (field & kCaller) return;
  if ((field & kByref) == kByref) {
    release_byref(static_cast<Byref *>(held));
  } else if ((field & kBlock) == kBlock) {
    _Block_release(held);
  } else {
    objc_release(held);
  }
}
}
