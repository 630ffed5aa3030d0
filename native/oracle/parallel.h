#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace lockstep::oracle {

/// Calls task(i) for every i below `count` on up to `threads` threads (0: one for each core), the caller's among them.
/// Tasks must be independent. The first exception is thrown again after all threads have ended.
template <class Task>
void parallel_for(std::size_t count, unsigned threads, const Task& task) {
  std::size_t workers = threads != 0 ? threads : std::thread::hardware_concurrency();
  if (workers == 0) workers = 1;
  if (workers > count) workers = count;
  std::atomic<std::size_t> next{0};
  std::exception_ptr failure;
  std::mutex failure_mutex;
  const auto work = [&] {
    for (std::size_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) {
      try {
        task(i);
      } catch (...) {
        const std::lock_guard<std::mutex> lock(failure_mutex);
        if (!failure) failure = std::current_exception();
        next.store(count);
      }
    }
  };
  std::vector<std::thread> pool;
  for (std::size_t i = 1; i < workers; ++i) {
    try {
      pool.emplace_back(work);
    } catch (const std::exception&) {
      break;  // No further thread to be had: the ones that run do all the work.
    }
  }
  work();
  for (std::thread& thread : pool) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace lockstep::oracle
