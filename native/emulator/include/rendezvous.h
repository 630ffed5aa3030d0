/**
 * The rendezvous of a simdgroup: every collective is one.
 *
 * Each lane brings its value and blocks; the last one to arrive computes what all of them get and goes on. As long as
 * the lanes stay together that is one switch per lane. Where they diverge, `lockstep_pick` completes the group that waits
 * at the lowest code address once no lane of the simdgroup can run, with the lanes of that group as the active ones.
 * Threadgroup accesses of the lockstep flavour go before collectives: lanes at an access in a branch rejoin the others,
 * while a collective that the others reached first, perhaps by a loop's back edge, needs all of them.
 */
#pragma once

#include "check_hooks.h"
#include "fiber.h"

namespace lockstep {

/** Lanes of `group` that can run. */
LOCKSTEP_INTERNAL uint32_t ready_lanes(const Simdgroup &group) {
  return group.live & ~(group.at_collective | group.at_barrier);
}

/** Runs the next lane; returns when this one can go on. */
LOCKSTEP_INTERNAL void yield(Lane *lane, Simdgroup &group) {
  const uint32_t ready = ready_lanes(group);
  Lane *next;
  if (__builtin_expect(ready != 0, 1)) {
    next = group.lanes + __builtin_ctz(ready);
  } else {
    next = lockstep_pick(&group);
    if (next == lane) {
      return;
    }
  }
  lockstep_current = next;
  switch_context(&lane->context, &next->context);
}

/** What a completion means for memory; barriers and accesses say so themselves. */
template <typename F> constexpr Meeting meeting_of() {
  if constexpr (requires { F::meeting; }) {
    return F::meeting;
  } else {
    return Meeting::collective;
  }
}

/** Completes a rendezvous and tells the flavours that look at it. */
template <typename F> LOCKSTEP_INTERNAL void complete(Simdgroup &group, uint32_t active, [[maybe_unused]] const void *site) {
#if LOCKSTEP_CHECKS
  lockstep_check_met(&group, active, static_cast<int>(meeting_of<F>()), group.order, site);
#endif
  F{}(group, active);
}

/** `F` as a function, for lanes that wait apart from the others. */
template <typename F> __attribute__((LOCKSTEP_UNSEEN)) void complete_with(Simdgroup &group, uint32_t active) {
  complete<F>(group, active, group.lanes[__builtin_ctz(active)].site);
}

/**
 * Meets the other lanes at `site`; `F` (stateless) completes it: `F{}(group, active)`. What it needs lies in the
 * simdgroup's slots, what it gives in `results`, which stay valid until the lane's next rendezvous.
 */
template <typename F> LOCKSTEP_INTERNAL void rendezvous(const void *site, F) {
  LOCKSTEP_CHECK_LEAVES();
  Lane *const lane = lockstep_current;
  Simdgroup &group = *lane->simdgroup;
  const uint32_t waiting = group.at_collective | lane->bit;
  if (__builtin_expect(group.site != site, 0)) {
    if (group.at_collective == 0) {
      group.site = site;
    } else {
      lockstep_note_site(&group, site);
    }
  }
  if (waiting == group.expected) {
    group.at_collective = 0;
    group.active = waiting;
    complete<F>(group, waiting, site);
    return;
  }
  group.at_collective = waiting;
  lane->site = site;
  lane->complete = &complete_with<F>;
  yield(lane, group);
}

/** A threadgroup access in the lockstep flavour: there is nothing to compute. */
struct AccessToComplete {
  static constexpr Meeting meeting = Meeting::access;
  LOCKSTEP_INTERNAL void operator()(Simdgroup &, uint32_t) const {}
};

/** The lanes' own values of type `T`. Each element size has its own area, so groups that diverged do not overlap. */
template <typename T> LOCKSTEP_INTERNAL T *lane_values(Simdgroup &group) {
  static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16,
                "a simdgroup function takes scalars and vectors of up to 16 bytes");
  return reinterpret_cast<T *>(group.values + LOCKSTEP_SIMD_WIDTH * (sizeof(T) - 1));
}

template <typename T> LOCKSTEP_INTERNAL T *lane_results(Simdgroup &group) {
  return reinterpret_cast<T *>(group.results);
}

LOCKSTEP_INTERNAL Simdgroup &current_simdgroup() { return *lockstep_current->simdgroup; }
LOCKSTEP_INTERNAL uint32_t current_lane() { return lockstep_current->index; }

} // namespace lockstep
