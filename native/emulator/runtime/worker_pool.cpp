#include "worker_pool.h"

#include <algorithm>

namespace lockstep {

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  for (auto &member : members_) {
    if (member->thread.joinable()) member->thread.join();
  }
}

void WorkerPool::run(const LaunchPlan &plan, ThreadgroupQueue &queue, unsigned workers) {
  const auto wanted = static_cast<std::size_t>(std::clamp<std::uint64_t>(workers, 1, std::max<std::uint64_t>(plan.total(), 1)));
  while (members_.size() < wanted) {
    members_.push_back(std::make_unique<Member>());
    if (members_.size() > 1) {
      Worker &worker = members_.back()->worker;
      members_.back()->thread = std::thread([this, &worker, index = members_.size() - 1, seen = round_] {
        serve(worker, index, seen);
      });
    }
  }
  if (wanted > 1) {
    {
      const std::lock_guard lock(mutex_);
      plan_ = &plan;
      queue_ = &queue;
      participants_ = wanted;
      busy_ = wanted - 1;
      ++round_;
    }
    wake_.notify_all();
  }
  Worker &own = members_.front()->worker;
  own.attach();
  own.run(plan, queue);
  own.detach();
  if (wanted > 1) {
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [this] { return busy_ == 0; });
  }
}

void WorkerPool::drop_module(std::uint64_t id) {
  for (auto &member : members_) member->worker.drop_module(id);
}

void WorkerPool::serve(Worker &worker, std::size_t index, std::uint64_t seen) {
  worker.attach();
  for (;;) {
    const LaunchPlan *plan;
    ThreadgroupQueue *queue;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return ending_ || (round_ != seen && index < participants_); });
      if (ending_) break;
      seen = round_;
      plan = plan_;
      queue = queue_;
    }
    worker.run(*plan, *queue);
    {
      const std::lock_guard lock(mutex_);
      if (--busy_ == 0) idle_.notify_one();
    }
  }
  worker.detach();
}

} // namespace lockstep
