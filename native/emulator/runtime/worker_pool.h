/** The threads of an emulator. The caller of `run` is worker 0; the others sleep between dispatches. */
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "worker.h"

namespace lockstep {

class WorkerPool {
public:
  WorkerPool() = default;
  ~WorkerPool();
  WorkerPool(const WorkerPool &) = delete;
  WorkerPool &operator=(const WorkerPool &) = delete;

  /** Runs the plan's threadgroups on `workers` threads, the calling one included; returns when all have stopped. */
  void run(const LaunchPlan &plan, ThreadgroupQueue &queue, unsigned workers);
  void drop_module(std::uint64_t id);

private:
  struct Member {
    Worker worker;
    std::thread thread;
  };

  /** The life of the thread of member `index`, from round `seen` on. */
  void serve(Worker &worker, std::size_t index, std::uint64_t seen);

  std::vector<std::unique_ptr<Member>> members_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable idle_;
  std::uint64_t round_ = 0;
  std::size_t participants_ = 0;
  std::size_t busy_ = 0;
  bool ending_ = false;
  const LaunchPlan *plan_ = nullptr;
  ThreadgroupQueue *queue_ = nullptr;
};

} // namespace lockstep
