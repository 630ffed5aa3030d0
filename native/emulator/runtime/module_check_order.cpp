/**
 * What orders accesses in the check flavours: barriers of the threadgroup and rendezvous of simdgroups.
 *
 * A barrier that orders a memory begins a new epoch of it. Inside a simdgroup, a rendezvous is a tick; two lanes are
 * ordered if both took part in a barrier after the first one's access. Usually all lanes take part, and then one number
 * per simdgroup is enough; where they diverged, the pairs are kept.
 */
#include "module_check.h"

namespace lockstep {

CheckState check_state;
SimdgroupOrder simdgroup_orders[LOCKSTEP_MAX_THREADS / LOCKSTEP_SIMD_WIDTH];

namespace {

constexpr uint32_t kOrdersDevice = 1;
constexpr uint32_t kOrdersThreadgroup = 2;

/** Tick of the last rendezvous in which both lanes took part while others did not. */
uint32_t pairs[LOCKSTEP_MAX_THREADS / LOCKSTEP_SIMD_WIDTH][3][LOCKSTEP_SIMD_WIDTH][LOCKSTEP_SIMD_WIDTH];

void note_pairs(uint32_t simdgroup, uint32_t active, uint32_t tick, Order order) {
  for (uint32_t a = 0; a < LOCKSTEP_SIMD_WIDTH; ++a) {
    if ((active >> a & 1u) == 0) continue;
    for (uint32_t b = 0; b < LOCKSTEP_SIMD_WIDTH; ++b) {
      if (active >> b & 1u) pairs[simdgroup][order][a][b] = tick;
    }
  }
}

} // namespace

uint32_t ordered_tick(uint32_t simdgroup, uint32_t a, uint32_t b, Order order) {
  const SimdgroupOrder &state = simdgroup_orders[simdgroup];
  const uint32_t full = state.full[order];
  if (!state.partial) return full;
  const uint32_t pair = pairs[simdgroup][order][a][b];
  return pair > full ? pair : full;
}

} // namespace lockstep

using lockstep::check_state;
using lockstep::SimdgroupOrder;
using lockstep::simdgroup_orders;

extern "C" {

void lockstep_check_begin(const lockstep_launch *launch) {
  lockstep_check &shared = *launch->check;
  lockstep::CheckState &state = check_state;
  state.shared = &shared;
  state.classes = shared.classes;
  state.threadgroup_epoch = ++shared.threadgroup_epoch;
  state.first_threadgroup_epoch = state.threadgroup_epoch;
  state.device_epoch = ++shared.device_epoch;
  state.first_own_device_epoch = state.device_epoch;
  state.first_device_epoch = shared.first_device_epoch;
  state.threads = lockstep::lockstep_threadgroup.live;
  state.exited = false;
  state.fenced = false;
  if (shared.mark_count < shared.mark_capacity) {
    lockstep_threadgroup_mark &mark = shared.marks[shared.mark_count++];
    mark.epoch = state.device_epoch;
    mark.dispatch = shared.dispatch;
    for (int i = 0; i < 3; ++i) mark.position[i] = lockstep::lockstep_threadgroup.position[i];
  }
  for (uint32_t i = 0; i < lockstep::lockstep_threadgroup.simdgroups; ++i) {
    simdgroup_orders[i].started = lockstep::lockstep_simdgroups[i].live;
  }
  lockstep::begin_arithmetic();
}

void lockstep_check_end() {
  lockstep::end_arithmetic();
  for (uint32_t i = 0; i < lockstep::lockstep_threadgroup.simdgroups; ++i) lockstep::count_traffic(i, true);
  check_state.shared->threadgroup_epoch = check_state.threadgroup_epoch;
  check_state.shared->device_epoch = check_state.device_epoch;
}

void lockstep_check_exit() {
  LOCKSTEP_CHECK_LEAVES();
  if (!check_state.exited) check_state.exited_first = static_cast<uint16_t>(lockstep::lockstep_current->flat);
  check_state.exited = true;
}

void lockstep_check_met(lockstep::Simdgroup *group, uint32_t active, int meeting, uint32_t order, const void *site) {
  if (meeting == static_cast<int>(lockstep::Meeting::access)) return;
  check_state.collective = lockstep::site_of(site);
  const uint32_t index = group->index;
  SimdgroupOrder &state = simdgroup_orders[index];
  const uint32_t tick = ++state.tick;
  const bool is_barrier = meeting == static_cast<int>(lockstep::Meeting::barrier);
  if (__builtin_expect(active == state.started, 1)) {
    state.full[lockstep::ORDER_EXECUTION] = tick;
    if (is_barrier) {
      if (order & lockstep::kOrdersThreadgroup) state.full[lockstep::ORDER_THREADGROUP] = tick;
      if (order & lockstep::kOrdersDevice) state.full[lockstep::ORDER_DEVICE] = tick;
    }
    lockstep::count_traffic(index, false);
    return;
  }
  state.partial = true;
  lockstep::note_pairs(index, active, tick, lockstep::ORDER_EXECUTION);
  if (is_barrier) {
    if (order & lockstep::kOrdersThreadgroup) lockstep::note_pairs(index, active, tick, lockstep::ORDER_THREADGROUP);
    if (order & lockstep::kOrdersDevice) lockstep::note_pairs(index, active, tick, lockstep::ORDER_DEVICE);
  }
  if (active == group->live) lockstep::count_traffic(index, false);
  const uint32_t at = lockstep::site_of(site);
  lockstep_report report = lockstep::report_of(LOCKSTEP_DIVERGENT_COLLECTIVE, nullptr, 0, 0, at,
                                               is_barrier ? LOCKSTEP_ACCESS_BARRIER : LOCKSTEP_ACCESS_COLLECTIVE);
  report.first.thread = index * LOCKSTEP_SIMD_WIDTH + static_cast<uint32_t>(__builtin_ctz(active));
  report.values[0] = active;
  report.values[1] = state.started;
  report.has_second = 1;
  report.second = report.first;
  if (active == group->live) {
    report.second.thread = index * LOCKSTEP_SIMD_WIDTH + static_cast<uint32_t>(__builtin_ctz(state.started & ~active));
    report.second.access = LOCKSTEP_ACCESS_EXIT;
    report.second.site = 0;
    lockstep::add_report(report);
    return;
  }
  // The first lane that is not here, and where it waits.
  const auto missing = static_cast<uint32_t>(__builtin_ctz(group->live & ~active));
  const lockstep::Lane &lane = group->lanes[missing];
  const bool at_collective = (group->at_collective >> missing & 1u) != 0;
  report.second.thread = lane.flat;
  report.second.access = at_collective ? LOCKSTEP_ACCESS_COLLECTIVE : LOCKSTEP_ACCESS_BARRIER;
  report.second.site = at_collective ? lockstep::site_of(lane.site) : lockstep::site_of(lockstep::lockstep_threadgroup.barrier.site);
  lockstep::add_report(report);
}

void lockstep_check_barrier(uint32_t order, const void *site) {
  const uint32_t simdgroups = lockstep::lockstep_threadgroup.simdgroups;
  const bool threadgroup = (order & lockstep::kOrdersThreadgroup) != 0;
  const bool device = (order & lockstep::kOrdersDevice) != 0;
  for (uint32_t i = 0; i < simdgroups; ++i) {
    lockstep::count_traffic(i, false);
    SimdgroupOrder &state = simdgroup_orders[i];
    const uint32_t tick = ++state.tick;
    state.full[lockstep::ORDER_EXECUTION] = tick;
    if (threadgroup) {
      state.full[lockstep::ORDER_THREADGROUP] = tick;
    } else {
      state.weak[0] = tick;
    }
    if (device) {
      state.full[lockstep::ORDER_DEVICE] = tick;
    } else {
      state.weak[1] = tick;
    }
  }
  if (threadgroup) ++check_state.threadgroup_epoch;
  if (device) ++check_state.device_epoch;
  if (__builtin_expect(check_state.exited, 0)) {
    lockstep_report report =
        lockstep::report_of(LOCKSTEP_EXITED_BEFORE_BARRIER, nullptr, 0, 0, lockstep::site_of(site), LOCKSTEP_ACCESS_BARRIER);
    report.has_second = 1;
    report.second = report.first;
    report.second.site = 0;
    report.second.access = LOCKSTEP_ACCESS_EXIT;
    report.second.thread = check_state.exited_first;
    report.values[0] = check_state.threads - lockstep::lockstep_threadgroup.live;
    report.values[1] = check_state.threads;
    lockstep::add_report(report);
  }
}

void lockstep_check_fence() { check_state.fenced = true; }

void lockstep_check_divergent_barrier(const void *site, const void *waiting) {
  lockstep_report report =
      lockstep::report_of(LOCKSTEP_DIVERGENT_BARRIER, nullptr, 0, 0, lockstep::site_of(site), LOCKSTEP_ACCESS_BARRIER);
  report.has_second = 1;
  report.second = report.first;
  report.second.site = lockstep::site_of(waiting);
  report.values[0] = lockstep::lockstep_threadgroup.at_barrier;
  report.values[1] = lockstep::lockstep_threadgroup.live;
  for (uint32_t i = 0; i < lockstep::lockstep_threadgroup.simdgroups; ++i) {
    const lockstep::Simdgroup &group = lockstep::lockstep_simdgroups[i];
    if (group.at_barrier == 0) continue;
    report.second.thread = i * LOCKSTEP_SIMD_WIDTH + static_cast<uint32_t>(__builtin_ctz(group.at_barrier));
    break;
  }
  lockstep::add_report(report);
  lockstep::lockstep_abandon();
}

} // extern "C"
