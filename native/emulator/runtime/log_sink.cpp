#include "log_sink.h"

#include <atomic>

#include "worker.h"

namespace {

std::atomic<lockstep_log> listener{nullptr};
std::atomic<void *> listener_user{nullptr};
std::atomic<std::uint64_t> lines{0};
std::atomic<std::uint64_t> most{0};

} // namespace

void lockstep::deliver_log(const lockstep_log_line *line) {
  const lockstep_log call = listener.load(std::memory_order_acquire);
  if (call == nullptr) return;
  if (lines.fetch_add(1, std::memory_order_relaxed) >= most.load(std::memory_order_relaxed)) return;
  const Worker *worker = Worker::current();
  call(listener_user.load(std::memory_order_relaxed), worker == nullptr ? "" : worker->label(), line);
}

void lockstep_emulator_listen(lockstep_log log, void *user, std::uint64_t limit) {
  listener_user.store(user, std::memory_order_relaxed);
  lines.store(0, std::memory_order_relaxed);
  most.store(limit, std::memory_order_relaxed);
  listener.store(log, std::memory_order_release);
}

std::uint64_t lockstep_emulator_unheard() {
  const std::uint64_t logged = lines.load(std::memory_order_relaxed), kept = most.load(std::memory_order_relaxed);
  return logged > kept ? logged - kept : 0;
}
