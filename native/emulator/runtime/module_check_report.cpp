/** Reports of the check flavours: one entry per kind, pair of lines and object, with a count. */
#include "module_check.h"

namespace lockstep {

namespace {

bool same_lines(const lockstep_report &a, const lockstep_report &b) {
  const bool straight = a.first.site == b.first.site && a.second.site == b.second.site;
  // Which side of a race came first is a matter of the order of execution.
  const bool crossed = a.first.site == b.second.site && a.second.site == b.first.site;
  return a.has_second == b.has_second && (straight || (a.has_second != 0 && crossed));
}

} // namespace

lockstep_side current_side(uint32_t site, uint32_t access) {
  lockstep_side side{};
  side.site = site;
  side.access = access;
  for (int i = 0; i < 3; ++i) side.threadgroup[i] = lockstep_threadgroup.position[i];
  side.thread = lockstep_current == nullptr ? 0 : lockstep_current->flat;
  side.dispatch = check_state.shared->dispatch;
  return side;
}

lockstep_report report_of(lockstep_report_kind kind, const lockstep_region *region, int64_t offset, uint32_t size, uint32_t site,
                          uint32_t access) {
  lockstep_report report{};
  report.kind = kind;
  if (region != nullptr) {
    report.space = region->space;
    report.index = region->index;
    report.bytes = region->bytes;
  }
  report.offset = offset;
  report.size = size;
  report.first = current_side(site, access);
  report.count = 1;
  return report;
}

lockstep_report *add_report(const lockstep_report &report) {
  lockstep_check &check = *check_state.shared;
  for (uint32_t i = 0; i < check.report_count; ++i) {
    lockstep_report &known = check.reports[i];
    if (known.kind == report.kind && known.detail == report.detail && known.space == report.space && known.index == report.index &&
        known.first.dispatch == report.first.dispatch && same_lines(known, report)) {
      known.count += report.count;
      return &known;
    }
  }
  if (check.report_count == LOCKSTEP_CHECK_REPORTS) {
    ++check.dropped;
    return nullptr;
  }
  lockstep_report &added = check.reports[check.report_count];
  added = report;
  // A client may read the reports while the kernel runs: the entry is whole before it counts.
  __atomic_store_n(&check.report_count, check.report_count + 1, __ATOMIC_RELEASE);
  return &added;
}

} // namespace lockstep
