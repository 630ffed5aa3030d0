/**
 * Arithmetic in the check flavours: the handlers of the compiler's integer checks, and values that are not finite.
 *
 * The processor traps on operations whose result is NaN or infinite although the operands are numbers. A trap is a
 * candidate only: the compiler may compute what a condition then does not choose. It becomes a report when the same
 * thread stores a NaN or an infinity or brings one to a collective.
 */
#include "module_check.h"

extern "C" LOCKSTEP_HIDDEN bool lockstep_check_waits;

namespace lockstep {

namespace {

/** Traps of a dispatch after which no more are asked for: each costs a signal. */
constexpr uint32_t kMostTraps = 20000;

struct Candidate {
  uint32_t site;
  /** A site with a line, where `site` lies in the library. */
  uint32_t call;
  uint8_t is_set;
  uint8_t by_zero;
};

/** By thread: the first operation that may have made a NaN, an infinity. */
Candidate candidates[2][LOCKSTEP_MAX_THREADS];
bool any_candidate;
bool traps_are_on;
uint32_t traps;
uint32_t trap_dispatch = ~0u;

struct Watched {
  const char *address;
  uint32_t bytes;
  uint32_t site;
  const lockstep_region *region;
  bool waits;
};
Watched watched;

#if defined(__x86_64__)
constexpr uint32_t kAllMasked = 0x1f80;
/** Invalid operation, division by zero, overflow. */
constexpr uint32_t kWanted = 0x80 | 0x200 | 0x400;

void set_traps(bool on) {
  const uint32_t value = on ? kAllMasked & ~kWanted : kAllMasked;
  asm volatile("ldmxcsr %0" ::"m"(value));
  traps_are_on = on;
}
#else
void set_traps(bool) {}
#endif

enum { FOUND_NAN = 1, FOUND_INFINITY = 2 };

int class_of_float(uint32_t bits) {
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude == 0x7f800000u) return FOUND_INFINITY;
  return magnitude > 0x7f800000u && bits != LOCKSTEP_POISON_WORD ? FOUND_NAN : 0;
}

int class_of_half(uint32_t bits) {
  const uint32_t magnitude = bits & 0x7fffu;
  // 0x7f80 is the infinity of bfloat and a NaN of half that no conversion makes.
  if (magnitude == 0x7c00u || magnitude == 0x7f80u) return FOUND_INFINITY;
  return magnitude > 0x7c00u ? FOUND_NAN : 0;
}

/** What is in `bytes` at `address`; elements of vectors are taken for floats. */
int class_of_bytes(const char *address, uint32_t bytes) {
  int found = 0;
  if (bytes == 2) {
    uint16_t half;
    __builtin_memcpy(&half, address, sizeof half);
    return class_of_half(half);
  }
  for (uint32_t i = 0; i + 4 <= bytes; i += 4) {
    uint32_t word;
    __builtin_memcpy(&word, address + i, sizeof word);
    found |= class_of_float(word);
  }
  return found;
}

/**
 * True if the instruction computes: adds, multiplies, divides, takes a root, or narrows. Comparisons, minima, maxima and
 * conversions to integers raise the same exception for a NaN that was there before.
 */
bool computes([[maybe_unused]] const unsigned char *code) {
#if defined(__x86_64__)
  uint32_t map = 1;
  if (code[0] == 0xc5) {
    code += 2;
  } else if (code[0] == 0xc4) {
    map = code[1] & 0x1fu;
    code += 3;
  } else if (code[0] == 0x62) {
    map = code[1] & 7u;
    code += 4;
  } else {
    while (*code == 0x66 || *code == 0xf2 || *code == 0xf3 || (*code & 0xf0u) == 0x40) ++code;
    if (*code++ != 0x0f) return false;
    if (*code == 0x38 || *code == 0x3a) map = *code++ == 0x38 ? 2 : 3;
  }
  const uint32_t operation = *code;
  switch (map) {
  case 1: return operation == 0x51 || operation == 0x58 || operation == 0x59 || operation == 0x5a || operation == 0x5c || operation == 0x5e;
  case 2: return operation >= 0x96 && operation <= 0xbf && (operation & 15u) >= 6;
  default: return operation == 0x1d;
  }
#else
  return false;
#endif
}

bool is_in_module(uintptr_t address) {
  return address - reinterpret_cast<uintptr_t>(lockstep_image_start) < lockstep_check_image_bytes();
}

/**
 * The site of an operation. One in a library of the system is laid to the module's call: the first return address on the
 * stack that lies in the module behind a direct call. The rest of the page is all that is sure to be there.
 */
uint32_t trapped_site(const void *pc, [[maybe_unused]] const void *stack) {
  // A site is a return address; this is the instruction itself.
  if (is_in_module(reinterpret_cast<uintptr_t>(pc))) return site_of(pc) + 1;
#if defined(__x86_64__)
  constexpr uintptr_t kPage = 4096;
  constexpr unsigned char kCall = 0xe8;
  constexpr uintptr_t kCallBytes = 5;
  const auto from = reinterpret_cast<uintptr_t>(stack);
  for (uintptr_t at = from; at + sizeof(uintptr_t) <= (from / kPage + 1) * kPage; at += sizeof(uintptr_t)) {
    uintptr_t word;
    __builtin_memcpy(&word, reinterpret_cast<const void *>(at), sizeof word);
    if (is_in_module(word - kCallBytes) && *reinterpret_cast<const unsigned char *>(word - kCallBytes) == kCall)
      return site_of(reinterpret_cast<const void *>(word));
  }
#endif
  return 0;
}

/** The current thread has stored or exchanged a value of these classes. */
void found_value(int classes, uint32_t site, uint32_t access, const lockstep_region *region, int64_t offset, uint32_t size) {
  const uint32_t thread = lockstep_current->flat;
  for (int which = 0; which < 2; ++which) {
    Candidate &candidate = candidates[which][thread];
    if ((classes & (which == 0 ? FOUND_NAN : FOUND_INFINITY)) == 0 || candidate.is_set == 0) continue;
    lockstep_report report =
        report_of(which == 0 ? LOCKSTEP_NAN_CREATED : LOCKSTEP_INFINITY_CREATED, region, offset, size, candidate.site, LOCKSTEP_ACCESS_ARITHMETIC);
    report.detail = which == 1 ? candidate.by_zero : 0;
    report.values[0] = candidate.call;
    report.has_second = 1;
    report.second = current_side(site, access);
    add_report(report);
    candidate.is_set = 0;
  }
  if ((classes & FOUND_INFINITY) != 0 && check_state.shared->fast_math != 0) {
    add_report(report_of(LOCKSTEP_INFINITY_IN_FAST_MATH, region, offset, size, site, access));
  }
}

} // namespace

void watch_write(const void *address, uint32_t size, uint32_t site, const lockstep_region *region, const void *after) {
  if (size < 2 || size > 16) return;
  if (after != nullptr) {
    const int classes = class_of_bytes(static_cast<const char *>(after), size);
    const auto offset = static_cast<int64_t>(reinterpret_cast<uintptr_t>(address) - region->base);
    if (classes != 0) found_value(classes, site, LOCKSTEP_ACCESS_WRITE, region, offset, size);
    return;
  }
  watched = {static_cast<const char *>(address), size, site, region, true};
  lockstep_check_waits = true;
}

void settle_arithmetic() {
  if (watched.waits) {
    watched.waits = false;
    const int classes = class_of_bytes(watched.address, watched.bytes);
    if (classes != 0) {
      const auto offset = static_cast<int64_t>(reinterpret_cast<uintptr_t>(watched.address) - watched.region->base);
      found_value(classes, watched.site, LOCKSTEP_ACCESS_WRITE, watched.region, offset, watched.bytes);
    }
  }
  if (!traps_are_on && traps < kMostTraps) set_traps(true);
}

void begin_arithmetic() {
  if (trap_dispatch != check_state.shared->dispatch) {
    trap_dispatch = check_state.shared->dispatch;
    traps = 0;
  }
  if (any_candidate) __builtin_memset(candidates, 0, sizeof candidates);
  any_candidate = false;
  watched.waits = false;
  check_state.watches = check_state.shared->fast_math != 0;
  if (traps < kMostTraps) set_traps(true);
}

void end_arithmetic() { set_traps(false); }

namespace {

/** Laid out as the compiler writes them. */
struct SourcePosition {
  const char *file;
  uint32_t line;
  uint32_t column;
};
struct TypeDescription {
  uint16_t kind;
  /** Bit 0: signed; above it the binary logarithm of the width. */
  uint16_t info;
};
struct OverflowData {
  SourcePosition position;
  const TypeDescription *type;
};
struct ConversionData {
  SourcePosition position;
  const TypeDescription *from;
  const TypeDescription *to;
};

uint64_t extended(const TypeDescription &type, uintptr_t value) {
  const uint32_t width = uint32_t{1} << (type.info >> 1);
  if ((type.info & 1) == 0 || width >= 64) return value;
  const uint64_t sign = uint64_t{1} << (width - 1);
  const uint64_t low = value & ((sign << 1) - 1);
  return (low ^ sign) - sign;
}

enum { DETAIL_UNSIGNED = 0, DETAIL_SIGNED = 1, DETAIL_CUT_SIGNED = 2, DETAIL_CUT_UNSIGNED = 3 };

void overflow(uint32_t detail, uint64_t a, uint64_t b, const void *site) {
  lockstep_report report = report_of(LOCKSTEP_INTEGER_OVERFLOW, nullptr, 0, 0, site_of(site), LOCKSTEP_ACCESS_ARITHMETIC);
  report.detail = detail;
  report.values[0] = a;
  report.values[1] = b;
  add_report(report);
}

void binary_overflow(const OverflowData *data, uintptr_t a, uintptr_t b, const void *site) {
  const bool is_signed = (data->type->info & 1) != 0;
  overflow(is_signed ? DETAIL_SIGNED : DETAIL_UNSIGNED, extended(*data->type, a), extended(*data->type, b), site);
}

} // namespace

} // namespace lockstep

extern "C" {

#define SITE __builtin_return_address(0)

LOCKSTEP_HIDDEN void __ubsan_handle_add_overflow(lockstep::OverflowData *data, uintptr_t a, uintptr_t b) {
  lockstep::binary_overflow(data, a, b, SITE);
}
LOCKSTEP_HIDDEN void __ubsan_handle_mul_overflow(lockstep::OverflowData *data, uintptr_t a, uintptr_t b) {
  lockstep::binary_overflow(data, a, b, SITE);
}
/** Unsigned differences below zero are how kernels count down and compare: they say nothing. */
LOCKSTEP_HIDDEN void __ubsan_handle_sub_overflow(lockstep::OverflowData *data, uintptr_t a, uintptr_t b) {
  if ((data->type->info & 1) != 0) lockstep::binary_overflow(data, a, b, SITE);
}
LOCKSTEP_HIDDEN void __ubsan_handle_negate_overflow(lockstep::OverflowData *data, uintptr_t a) {
  if ((data->type->info & 1) != 0) lockstep::binary_overflow(data, a, 0, SITE);
}
/** The smallest number divided by -1. Division by zero ends the run by a trap of its own. */
LOCKSTEP_HIDDEN void __ubsan_handle_divrem_overflow(lockstep::OverflowData *data, uintptr_t a, uintptr_t b) {
  lockstep::binary_overflow(data, a, b, SITE);
}
LOCKSTEP_HIDDEN void __ubsan_handle_implicit_conversion(lockstep::ConversionData *data, uintptr_t from, uintptr_t to) {
  const bool is_signed = (data->to->info & 1) != 0;
  lockstep::overflow(is_signed ? lockstep::DETAIL_CUT_SIGNED : lockstep::DETAIL_CUT_UNSIGNED, lockstep::extended(*data->from, from),
                     lockstep::extended(*data->to, to), SITE);
}
/** Before the address of an element outside of an array is formed. It does not return: nothing could be done in its place. */
LOCKSTEP_HIDDEN void __ubsan_handle_out_of_bounds_abort(lockstep::ConversionData *data, uintptr_t index) {
  lockstep_report report = lockstep::report_of(LOCKSTEP_OUT_OF_BOUNDS, nullptr, 0, 0, lockstep::site_of(SITE), LOCKSTEP_ACCESS_NONE);
  report.detail = 2;
  report.values[0] = lockstep::extended(*data->to, index);
  lockstep::add_report(report);
  lockstep::lockstep_abandon();
}

LOCKSTEP_HIDDEN void lockstep_check_exchanged(uint32_t bits, int half, const void *site) {
  const int classes = half ? lockstep::class_of_half(bits) : lockstep::class_of_float(bits);
  if (classes != 0) lockstep::found_value(classes, lockstep::site_of(site), LOCKSTEP_ACCESS_COLLECTIVE, nullptr, 0, 0);
}

/** Called in the signal handler: an operation at `pc` is invalid (0), divides by zero (1) or overflows (2). */
__attribute__((visibility("default"))) int lockstep_module_trap(const void *pc, const void *stack, int kind) {
  using namespace lockstep;
  if (!traps_are_on || lockstep_current == nullptr) return 0;
  traps_are_on = false;
  ++traps;
  lockstep_check_waits = true;
  if (!computes(static_cast<const unsigned char *>(pc))) return 1;
  Candidate &candidate = candidates[kind == 0 ? 0 : 1][lockstep_current->flat];
  if (candidate.is_set == 0) {
    candidate = {trapped_site(pc, stack), check_state.collective, 1, static_cast<uint8_t>(kind == 1)};
  }
  any_candidate = true;
  check_state.watches = true;
  return 1;
}

} // extern "C"
