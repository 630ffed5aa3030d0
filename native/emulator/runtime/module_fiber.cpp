/**
 * The fiber scheduler, linked into every kernel module: runs one threadgroup from start to end on the calling thread.
 *
 * Lanes switch among themselves (`rendezvous.h`); this file starts and ends them and decides what runs where they have
 * diverged or a whole simdgroup waits at a barrier.
 */
#include "barrier.h"
#include "module_memory.h"

using lockstep::BarrierSite;
using lockstep::Context;
using lockstep::Lane;
using lockstep::Simdgroup;
using lockstep::ThreadgroupState;

extern "C" {
LOCKSTEP_HIDDEN Lane *lockstep_current;
LOCKSTEP_HIDDEN ThreadgroupState lockstep_threadgroup;
LOCKSTEP_HIDDEN Simdgroup lockstep_simdgroups[LOCKSTEP_MAX_THREADS / LOCKSTEP_SIMD_WIDTH];
LOCKSTEP_HIDDEN void lockstep_fiber_main();
LOCKSTEP_HIDDEN extern const char lockstep_fiber_start[];
}

namespace {

alignas(2048) Lane lanes[LOCKSTEP_MAX_THREADS];
/** What the positions in `lanes` were laid out for. */
uint32_t laid_out[3];
char message[LOCKSTEP_MESSAGE_BYTES];
int status;

/** Builds a message without the C library's formatting, which a module does not otherwise need. */
class Text {
public:
  Text() { message[0] = 0; }
  Text &add(const char *text) {
    while (*text != 0 && length_ + 1 < sizeof message) message[length_++] = *text++;
    message[length_] = 0;
    return *this;
  }
  Text &add(uint64_t number) {
    char digits[24];
    int n = sizeof digits;
    digits[--n] = 0;
    do digits[--n] = static_cast<char>('0' + number % 10);
    while ((number /= 10) != 0);
    return add(digits + n);
  }

private:
  size_t length_ = 0;
};

const char *base_name(const char *path) {
  const char *name = path;
  for (const char *at = path; *at != 0; ++at) {
    if (*at == '/') name = at + 1;
  }
  return name;
}

/** Leaves the threadgroup for good; its fibers are never resumed. */
[[noreturn]] void leave(int result) {
  status = result;
  lockstep_current = nullptr;
  Context abandoned;
  lockstep::switch_context(&abandoned, &lockstep_threadgroup.host);
  __builtin_unreachable();
}

void release_barrier() {
  ThreadgroupState &state = lockstep_threadgroup;
#if LOCKSTEP_CHECKS
  lockstep_check_barrier(state.barrier.order, state.barrier.site);
#endif
  state.at_barrier = 0;
  for (uint32_t i = 0; i < state.simdgroups; ++i) lockstep_simdgroups[i].at_barrier = 0;
}

/** Accesses go before collectives, then lower code addresses before higher ones. */
bool goes_before(const Lane &a, const Lane &b) {
  const auto access = &lockstep::complete_with<lockstep::AccessToComplete>;
  const bool is_access = a.complete == access;
  return is_access == (b.complete == access) ? a.site < b.site : is_access;
}

/**
 * Completes the collective that waits at the lowest code address with the lanes that wait there. Lanes further on wait for
 * those behind them, which is how structured control flow reconverges.
 */
void complete_lowest(Simdgroup &group) {
  const Lane *lowest = nullptr;
  for (uint32_t rest = group.at_collective; rest != 0; rest &= rest - 1) {
    const Lane *lane = group.lanes + __builtin_ctz(rest);
    if (lowest == nullptr || goes_before(*lane, *lowest)) lowest = lane;
  }
  uint32_t active = 0;
  const void *remaining = nullptr;
  bool mixed = false;
  for (uint32_t rest = group.at_collective; rest != 0; rest &= rest - 1) {
    const Lane *lane = group.lanes + __builtin_ctz(rest);
    if (lane->site == lowest->site) {
      active |= lane->bit;
    } else {
      mixed = mixed || (remaining != nullptr && remaining != lane->site);
      remaining = lane->site;
    }
  }
  group.active = active;
  lowest->complete(group, active);
  group.at_collective &= ~active;
  group.site = remaining;
  group.expected = mixed ? 0 : group.live;
}

} // namespace

extern "C" Lane *lockstep_pick(Simdgroup *from) {
  ThreadgroupState &state = lockstep_threadgroup;
  for (;;) {
    for (uint32_t i = 0, at = from->index; i < state.simdgroups; ++i, at = at + 1 == state.simdgroups ? 0 : at + 1) {
      Simdgroup &group = lockstep_simdgroups[at];
      if (lockstep::ready_lanes(group) == 0 && group.at_collective != 0) complete_lowest(group);
      const uint32_t ready = lockstep::ready_lanes(group);
      if (ready != 0) return group.lanes + __builtin_ctz(ready);
    }
    // Every thread that is left waits at the barrier: those that returned no longer take part.
    release_barrier();
  }
}

extern "C" void lockstep_note_site(Simdgroup *group, const void *) { group->expected = 0; }

extern "C" void lockstep_barrier_mismatch(const BarrierSite *site) {
  const ThreadgroupState &state = lockstep_threadgroup;
#if LOCKSTEP_CHECKS
  lockstep_check_divergent_barrier(site->site, state.barrier.site);
#endif
  Text()
      .add("threadgroup barrier not reached by all threads: ")
      .add(state.at_barrier)
      .add(" of ")
      .add(state.live)
      .add(" threads wait at ")
      .add(base_name(state.barrier.file))
      .add(":")
      .add(static_cast<uint64_t>(state.barrier.line))
      .add(" while thread ")
      .add(lockstep_current->flat)
      .add(" is at the barrier at ")
      .add(base_name(site->file))
      .add(":")
      .add(static_cast<uint64_t>(site->line))
      .add(" (threadgroup ")
      .add(state.position[0])
      .add(", ")
      .add(state.position[1])
      .add(", ")
      .add(state.position[2])
      .add("). All threads of a threadgroup must execute the same barrier.");
  leave(LOCKSTEP_FAULT);
}

extern "C" void lockstep_fault(const char *text) {
  const ThreadgroupState &state = lockstep_threadgroup;
  Text()
      .add(text)
      .add(" (thread ")
      .add(lockstep_current->flat)
      .add(" of threadgroup ")
      .add(state.position[0])
      .add(", ")
      .add(state.position[1])
      .add(", ")
      .add(state.position[2])
      .add(")");
  leave(LOCKSTEP_FAULT);
}

extern "C" void lockstep_abandon() { leave(LOCKSTEP_OK); }

/** The life of a fiber: the kernel, then on to another lane. It is never resumed. */
extern "C" void lockstep_fiber_main() {
  ThreadgroupState &state = lockstep_threadgroup;
  state.launch->entry();
#if LOCKSTEP_CHECKS
  lockstep_check_exit();
#endif
  Lane *lane = lockstep_current;
  Simdgroup &group = *lane->simdgroup;
  group.live &= ~lane->bit;
  if (group.expected != 0) group.expected = group.live;
  if (--state.live == 0) leave(LOCKSTEP_OK);
  const uint32_t ready = lockstep::ready_lanes(group);
  Lane *next = ready != 0 ? group.lanes + __builtin_ctz(ready) : lockstep_pick(&group);
  lockstep_current = next;
  lockstep::switch_context(&lane->context, &next->context);
  __builtin_unreachable();
}

/* A fiber begins here, with its stack pointer at the 16-byte aligned top of its stack. */
#if defined(__APPLE__)
#define LOCKSTEP_SYMBOL(name) "_" name
#define LOCKSTEP_HIDE ".private_extern "
#else
#define LOCKSTEP_SYMBOL(name) name
#define LOCKSTEP_HIDE ".hidden "
#endif
asm(".text\n"
    ".globl " LOCKSTEP_SYMBOL("lockstep_fiber_start") "\n"
    LOCKSTEP_HIDE LOCKSTEP_SYMBOL("lockstep_fiber_start") "\n"
    LOCKSTEP_SYMBOL("lockstep_fiber_start") ":\n"
#if defined(__x86_64__)
    "xorl %ebp, %ebp\n"
    "call " LOCKSTEP_SYMBOL("lockstep_fiber_main") "\n"
    "ud2\n"
#else
    "mov x29, #0\n"
    "mov x30, #0\n"
    "bl " LOCKSTEP_SYMBOL("lockstep_fiber_main") "\n"
    "brk #1\n"
#endif
);

namespace {

void poison(char *begin, size_t bytes) {
  const uint32_t word = LOCKSTEP_POISON_WORD;
  size_t i = 0;
  for (; i + sizeof word <= bytes; i += sizeof word) __builtin_memcpy(begin + i, &word, sizeof word);
  __builtin_memcpy(begin + i, &word, bytes - i);
}

/** Positions and simdgroups of the lanes; they stay the same from threadgroup to threadgroup. */
void lay_out(const uint32_t threads[3]) {
  uint32_t flat = 0;
  for (uint32_t z = 0; z < threads[2]; ++z) {
    for (uint32_t y = 0; y < threads[1]; ++y) {
      for (uint32_t x = 0; x < threads[0]; ++x, ++flat) {
        Lane &lane = lanes[flat];
        lane.simdgroup = &lockstep_simdgroups[flat / LOCKSTEP_SIMD_WIDTH];
        lane.index = flat % LOCKSTEP_SIMD_WIDTH;
        lane.bit = 1u << lane.index;
        lane.flat = flat;
        lane.position[0] = static_cast<uint16_t>(x);
        lane.position[1] = static_cast<uint16_t>(y);
        lane.position[2] = static_cast<uint16_t>(z);
      }
    }
  }
  for (int i = 0; i < 3; ++i) laid_out[i] = threads[i];
}

} // namespace

extern "C" __attribute__((visibility("default"))) void lockstep_module_describe(lockstep_module_info *info) {
  info->version = LOCKSTEP_MODULE_VERSION;
  info->flavour = (LOCKSTEP_MEETS ? LOCKSTEP_FLAVOUR_ID_LOCKSTEP : 0) | (LOCKSTEP_CHECKS ? LOCKSTEP_FLAVOUR_ID_CHECK : 0);
  info->max_threads = LOCKSTEP_MAX_THREADS;
  info->static_threadgroup_bytes = lockstep::static_bytes();
  info->static_threadgroup_memory = lockstep::static_begin();
#if LOCKSTEP_CHECKS
  info->image_bytes = lockstep_check_image_bytes();
#else
  info->image_bytes = 0;
#endif
}

extern "C" __attribute__((visibility("default"))) const char *lockstep_module_message(void) { return message; }

extern "C" __attribute__((visibility("default"))) void lockstep_module_locate(lockstep_location *location) {
  const Lane *lane = lockstep_current;
  for (int i = 0; i < 3; ++i) {
    location->threadgroup[i] = lockstep_threadgroup.position[i];
    location->position[i] = lane == nullptr ? 0 : lane->position[i];
  }
  location->thread = lane == nullptr ? -1 : static_cast<int32_t>(lane->flat);
}

extern "C" __attribute__((visibility("default"), noinline)) int lockstep_module_run(const lockstep_launch *launch, uint32_t x,
                                                                                     uint32_t y, uint32_t z) {
  const uint32_t threads = launch->threads[0] * launch->threads[1] * launch->threads[2];
  if (laid_out[0] != launch->threads[0] || laid_out[1] != launch->threads[1] || laid_out[2] != launch->threads[2]) {
    lay_out(launch->threads);
  }
  ThreadgroupState &state = lockstep_threadgroup;
  state.launch = launch;
  state.position[0] = x;
  state.position[1] = y;
  state.position[2] = z;
  state.simdgroups = (threads + LOCKSTEP_SIMD_WIDTH - 1) / LOCKSTEP_SIMD_WIDTH;
  state.live = threads;
  state.at_barrier = 0;
  for (uint32_t i = 0; i < state.simdgroups; ++i) {
    Simdgroup &group = lockstep_simdgroups[i];
    const uint32_t width = threads - i * LOCKSTEP_SIMD_WIDTH;
    group.live = width >= LOCKSTEP_SIMD_WIDTH ? ~0u : (1u << width) - 1;
    group.expected = group.live;
    group.at_collective = 0;
    group.at_barrier = 0;
    group.site = nullptr;
    group.lanes = lanes + i * LOCKSTEP_SIMD_WIDTH;
    group.index = i;
    group.votes = 0;
  }
  const lockstep_stacks &stacks = launch->stacks;
  for (uint32_t i = 0; i < threads; ++i) {
    // Tops differ modulo the page, so that the lanes' frames do not compete for the same cache sets.
    const size_t colour = i * 320u % 4096u;
    lanes[i].context = {stacks.base + (i + 1) * stacks.stride - colour, lockstep_fiber_start};
  }
  poison(lockstep::static_begin(), lockstep::static_bytes());
  for (int i = 0; i < LOCKSTEP_THREADGROUP_SLOTS; ++i) {
    if (launch->threadgroup_bytes[i] != 0) poison(launch->threadgroup_memory[i], launch->threadgroup_bytes[i]);
  }
#if LOCKSTEP_CHECKS
  lockstep_check_begin(launch);
#endif
  lockstep_current = lanes;
  lockstep::switch_context(&state.host, &lanes[0].context);
#if LOCKSTEP_CHECKS
  lockstep_check_end();
#endif
  return status;
}
