/** One CPU thread's share of an emulator: its copies of the modules, its fibers' memory, and the loop over threadgroups. */
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "fiber_memory.h"
#include "launch_plan.h"
#include "module_copy.h"

namespace lockstep {

class Worker {
public:
  /** Binds this worker to the calling thread, with an alternate stack for signal handlers. */
  void attach();
  /** Undoes `attach`, on the same thread. */
  void detach();
  /** Runs threadgroups of `plan` until none is left or the queue is stopped. */
  void run(const LaunchPlan &plan, ThreadgroupQueue &queue);
  void drop_module(std::uint64_t id) { copies_.erase(id); }

  /** What a signal handler on this worker's thread says; false if it runs no kernel. */
  bool describe_crash(int signal, const void *address, char *text, std::size_t size) const;
  /** Lets a module look at a floating-point exception at `pc` (`lockstep_module_trap`); true if its thread may go on. */
  bool trap(const void *pc, const void *stack, int kind) const {
    return copy_ != nullptr && copy_->trap != nullptr && copy_->trap(pc, stack, kind) != 0;
  }
  /** The label of the dispatch that runs, or an empty text. */
  const char *label() const { return plan_ == nullptr ? "" : plan_->label.c_str(); }
  /** The worker bound to the calling thread, or null. */
  static const Worker *current();

private:
  const ModuleCopy *copy_of(const LaunchPlan &plan, ThreadgroupQueue &queue);

  FiberStacks stacks_;
  ThreadgroupArena arena_;
  std::map<std::uint64_t, std::unique_ptr<ModuleCopy>> copies_;
  std::vector<char> signal_stack_;
  lockstep_launch launch_{};
  /** What runs now; read by the signal handler on the same thread. */
  const LaunchPlan *plan_ = nullptr;
  const ModuleCopy *copy_ = nullptr;
};

} // namespace lockstep
