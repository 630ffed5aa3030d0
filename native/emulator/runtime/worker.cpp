#include "worker.h"

#include <signal.h>

#include <atomic>
#include <cstring>

#include "check_session.h"
#include "log_sink.h"
#include "plain_text.h"

namespace lockstep {

namespace {

constexpr std::size_t kSignalStackBytes = 64 * 1024;
/** Addresses this low come from a null pointer and an index. */
constexpr std::uintptr_t kNullRegion = 1 << 20;

thread_local const Worker *current_worker = nullptr;

} // namespace

const Worker *Worker::current() { return current_worker; }

void Worker::attach() {
  signal_stack_.resize(kSignalStackBytes);
  stack_t alternate{};
  alternate.ss_sp = signal_stack_.data();
  alternate.ss_size = signal_stack_.size();
  sigaltstack(&alternate, nullptr);
  current_worker = this;
}

void Worker::detach() {
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  sigaltstack(&none, nullptr);
  current_worker = nullptr;
}

const ModuleCopy *Worker::copy_of(const LaunchPlan &plan, ThreadgroupQueue &queue) {
  auto &copy = copies_[plan.module];
  if (copy == nullptr) {
    auto fresh = std::make_unique<ModuleCopy>(plan.image->bytes(), plan.image->entry());
    if (!fresh->error().empty()) {
      queue.fail(false, plan.image->path() + ": " + fresh->error());
      return nullptr;
    }
    copy = std::move(fresh);
  }
  return copy.get();
}

void Worker::run(const LaunchPlan &plan, ThreadgroupQueue &queue) {
  const ModuleCopy *copy = copy_of(plan, queue);
  if (copy == nullptr) return;
  if (!stacks_.provide(plan.threads_per_threadgroup())) {
    queue.fail(false, "Stacks for " + std::to_string(plan.threads_per_threadgroup()) +
                          " threads cannot be allocated: free some memory or use fewer workers.");
    return;
  }
  launch_ = {};
  for (std::size_t i = 0; i < LOCKSTEP_BUFFER_SLOTS; ++i) launch_.buffers[i] = plan.addresses[i];
  for (std::uint32_t i = 0; i < LOCKSTEP_THREADGROUP_SLOTS; ++i) {
    launch_.threadgroup_bytes[i] = plan.threadgroup_bytes[i];
    if (plan.threadgroup_bytes[i] == 0) continue;
    launch_.threadgroup_memory[i] = arena_.region(i, plan.threadgroup_bytes[i]);
    if (launch_.threadgroup_memory[i] == nullptr) {
      queue.fail(false, "Threadgroup memory of " + std::to_string(plan.threadgroup_bytes[i]) + " bytes cannot be allocated.");
      return;
    }
  }
  for (int i = 0; i < 3; ++i) {
    launch_.threadgroups[i] = plan.threadgroups[i];
    launch_.threads[i] = plan.threads[i];
  }
  launch_.entry = copy->entry();
  launch_.stacks = stacks_.view();
  launch_.log = &deliver_log;
  lockstep_module_info info{};
  copy->describe(&info);
  const bool checks = (info.flavour & LOCKSTEP_FLAVOUR_ID_CHECK) != 0;
  if (checks && plan.check == nullptr) {
    queue.fail(false, "Kernel \"" + plan.label + "\" is of a check flavour, but the run was not asked to check.");
    return;
  }
  if (checks) {
    plan.check->enter(plan, plan.dispatch, launch_, info, arena_);
    launch_.check = plan.check->shared();
  }
  copy_ = copy;
  plan_ = &plan;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const std::uint64_t total = plan.total();
  const std::uint64_t row = plan.threadgroups[0];
  const std::uint64_t plane = row * plan.threadgroups[1];
  while (!queue.stop.load(std::memory_order_relaxed)) {
    const std::uint64_t at = queue.next.fetch_add(1, std::memory_order_relaxed);
    if (at >= total) break;
    const int status = copy->run(&launch_, static_cast<std::uint32_t>(at % row), static_cast<std::uint32_t>(at % plane / row),
                                 static_cast<std::uint32_t>(at / plane));
    if (status != LOCKSTEP_OK) {
      queue.fail(true, "Kernel \"" + plan.label + "\": " + copy->message());
      break;
    }
    queue.done.fetch_add(1, std::memory_order_relaxed);
  }
  std::atomic_signal_fence(std::memory_order_seq_cst);
  plan_ = nullptr;
  copy_ = nullptr;
  if (checks) plan.check->leave();
}

bool Worker::describe_crash(int signal, const void *address, char *text, std::size_t size) const {
  if (plan_ == nullptr || copy_ == nullptr) return false;
  lockstep_location location{};
  copy_->locate(&location);
  PlainText out(text, size);
  out.add("Kernel \"").add(plan_->label.c_str()).add("\" crashed in threadgroup ").triple(location.threadgroup);
  if (location.thread >= 0) out.add(", thread ").number(location.thread).add(" at ").triple(location.position);
  out.add(": ");
  if (signal == SIGFPE) {
    out.add("integer division by zero, or of the least integer by -1");
    return true;
  }
  if (signal == SIGTRAP) {
    out.add("integer division by zero, or code that the compiler took to be unreachable");
    return true;
  }
  if (signal == SIGILL) {
    out.add("illegal instruction (code that the compiler took to be unreachable)");
    return true;
  }
  if (signal == SIGABRT) {
    out.add("abort");
    return true;
  }
  const auto at = reinterpret_cast<std::intptr_t>(address);
  const std::int32_t stack = stacks_.overflowed(address);
  if (stack >= 0) {
    out.add("stack overflow of a thread: its local variables and calls need more than ")
        .number(static_cast<std::int64_t>(launch_.stacks.bytes))
        .add(" bytes");
    return true;
  }
  const std::int32_t slot = arena_.index_of(address);
  if (slot >= 0 && launch_.threadgroup_memory[slot] != nullptr) {
    out.add("out of bounds: threadgroup memory (index ")
        .number(slot)
        .add("), byte offset ")
        .number(at - reinterpret_cast<std::intptr_t>(launch_.threadgroup_memory[slot]))
        .add(" of ")
        .number(launch_.threadgroup_bytes[slot]);
    return true;
  }
  for (std::size_t i = 0; i < LOCKSTEP_BUFFER_SLOTS; ++i) {
    const MappedBuffer *buffer = plan_->buffers[i];
    if (buffer != nullptr && buffer->covers(address)) {
      out.add("out of bounds: buffer ")
          .add(buffer->label().c_str())
          .add(" (index ")
          .number(static_cast<std::int64_t>(i))
          .add("), byte offset ")
          .number(at - reinterpret_cast<std::intptr_t>(buffer->data()))
          .add(" of ")
          .number(static_cast<std::int64_t>(buffer->bytes()));
      return true;
    }
    const InlineBytes *bytes = plan_->inlines[i];
    if (bytes != nullptr && bytes->reservation.contains(address)) {
      out.add("out of bounds: bytes (index ")
          .number(static_cast<std::int64_t>(i))
          .add("), byte offset ")
          .number(at - reinterpret_cast<std::intptr_t>(bytes->data))
          .add(" of ")
          .number(static_cast<std::int64_t>(bytes->bytes));
      return true;
    }
  }
  if (static_cast<std::uintptr_t>(at) < kNullRegion) {
    out.add("access through a null or wild pointer (address ")
        .hexadecimal(static_cast<std::uintptr_t>(at))
        .add("): is every buffer and threadgroup memory index bound that the kernel uses?");
    return true;
  }
  out.add("access through a wild pointer: address ")
      .hexadecimal(static_cast<std::uintptr_t>(at))
      .add(" belongs to no bound buffer");
  return true;
}

} // namespace lockstep
