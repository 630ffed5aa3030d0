/**
 * How a kernel function is called: each of its parameters is bound to a buffer, to dynamic threadgroup memory or to a
 * built-in value (MSL specification section 5.2.3). The front end emits one `Entry<&function, ...>::run()` per module,
 * with one parameter kind per parameter.
 */
#pragma once

#include "fiber.h"

namespace lockstep {

/** Named as the MSL attributes. */
enum class builtin {
  thread_position_in_grid,
  thread_position_in_threadgroup,
  thread_index_in_threadgroup,
  thread_index_in_simdgroup,
  thread_index_in_quadgroup,
  threadgroup_position_in_grid,
  threadgroups_per_grid,
  threads_per_grid,
  threads_per_threadgroup,
  dispatch_threads_per_threadgroup,
  simdgroup_index_in_threadgroup,
  quadgroup_index_in_threadgroup,
  threads_per_simdgroup,
  thread_execution_width,
  simdgroups_per_threadgroup,
  dispatch_simdgroups_per_threadgroup,
  quadgroups_per_threadgroup,
  dispatch_quadgroups_per_threadgroup,
  grid_origin,
  grid_size
};

/** The kinds of parameters. */
template <unsigned Index> struct Buffer {};
template <unsigned Index> struct Threadgroup {};
template <builtin Value> struct Builtin {};

/** One value for each dimension; a scalar parameter takes x. */
struct Triple {
  uint32_t x, y, z;
};

template <builtin Value> LOCKSTEP_INTERNAL Triple builtin_value() {
  const Lane &lane = *lockstep_current;
  const ThreadgroupState &state = lockstep_threadgroup;
  const lockstep_launch &launch = *state.launch;
  const uint32_t threads = launch.threads[0] * launch.threads[1] * launch.threads[2];
  switch (Value) {
  case builtin::thread_position_in_grid:
    return {state.position[0] * launch.threads[0] + lane.position[0], state.position[1] * launch.threads[1] + lane.position[1],
            state.position[2] * launch.threads[2] + lane.position[2]};
  case builtin::thread_position_in_threadgroup:
    return {lane.position[0], lane.position[1], lane.position[2]};
  case builtin::thread_index_in_threadgroup:
    return {lane.flat, 0, 0};
  case builtin::thread_index_in_simdgroup:
    return {lane.index, 0, 0};
  case builtin::thread_index_in_quadgroup:
    return {lane.index & 3u, 0, 0};
  case builtin::threadgroup_position_in_grid:
    return {state.position[0], state.position[1], state.position[2]};
  case builtin::threadgroups_per_grid:
    return {launch.threadgroups[0], launch.threadgroups[1], launch.threadgroups[2]};
  case builtin::threads_per_grid:
  case builtin::grid_size:
    return {launch.threadgroups[0] * launch.threads[0], launch.threadgroups[1] * launch.threads[1],
            launch.threadgroups[2] * launch.threads[2]};
  case builtin::threads_per_threadgroup:
  case builtin::dispatch_threads_per_threadgroup:
    return {launch.threads[0], launch.threads[1], launch.threads[2]};
  case builtin::simdgroup_index_in_threadgroup:
    return {lane.flat / LOCKSTEP_SIMD_WIDTH, 0, 0};
  case builtin::quadgroup_index_in_threadgroup:
    return {lane.flat / 4u, 0, 0};
  case builtin::threads_per_simdgroup:
  case builtin::thread_execution_width:
    return {LOCKSTEP_SIMD_WIDTH, 0, 0};
  case builtin::simdgroups_per_threadgroup:
  case builtin::dispatch_simdgroups_per_threadgroup:
    return {state.simdgroups, 0, 0};
  case builtin::quadgroups_per_threadgroup:
  case builtin::dispatch_quadgroups_per_threadgroup:
    return {(threads + 3u) / 4u, 0, 0};
  case builtin::grid_origin:
    return {0, 0, 0};
  }
}

/** The address at a slot as the parameter's type: a pointer, or a reference to what lies there. */
template <typename P> LOCKSTEP_INTERNAL P bound(void *address) {
  if constexpr (__is_lvalue_reference(P)) {
    return *(__remove_reference_t(P) *)address;
  } else {
    return (P)address;
  }
}

template <typename P, unsigned Index> LOCKSTEP_INTERNAL P argument(Buffer<Index>) {
  static_assert(Index < LOCKSTEP_BUFFER_SLOTS, "a kernel has 31 buffer slots");
  return bound<P>(lockstep_threadgroup.launch->buffers[Index]);
}

template <typename P, unsigned Index> LOCKSTEP_INTERNAL P argument(Threadgroup<Index>) {
  static_assert(Index < LOCKSTEP_THREADGROUP_SLOTS, "a kernel has 31 threadgroup memory slots");
  return bound<P>(lockstep_threadgroup.launch->threadgroup_memory[Index]);
}

template <typename P, builtin Value> LOCKSTEP_INTERNAL P argument(Builtin<Value>) {
  using Plain = __remove_cv(P);
  const Triple value = builtin_value<Value>();
  constexpr int width = width_v<Plain>;
  if constexpr (width == 0) {
    return static_cast<Plain>(value.x);
  } else {
    using E = element_t<Plain>;
    static_assert(width == 2 || width == 3, "a position has one, two or three components");
    if constexpr (width == 2) {
      return Plain(static_cast<E>(value.x), static_cast<E>(value.y));
    } else {
      return Plain(static_cast<E>(value.x), static_cast<E>(value.y), static_cast<E>(value.z));
    }
  }
}

template <typename Function, Function *Kernel, typename... Kinds> struct EntryOf;
template <typename... P, void (*Kernel)(P...), typename... Kinds> struct EntryOf<void(P...), Kernel, Kinds...> {
  static_assert(sizeof...(P) == sizeof...(Kinds), "one kind for each parameter of the kernel");
  LOCKSTEP_INTERNAL static void run() { Kernel(argument<P>(Kinds{})...); }
};

/** Calls `Kernel` for the current thread. */
template <auto Kernel, typename... Kinds> struct Entry : EntryOf<__remove_pointer(decltype(Kernel)), Kernel, Kinds...> {};

} // namespace lockstep
