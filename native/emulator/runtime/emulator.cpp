#include "emulator.h"

#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "check_session.h"
#include "launch_plan.h"
#include "mapped_buffer.h"
#include "worker_pool.h"

using lockstep::InlineBytes;
using lockstep::LaunchPlan;
using lockstep::MappedBuffer;
using lockstep::ModuleCopy;
using lockstep::ModuleImage;
using lockstep::ThreadgroupQueue;
using lockstep::Worker;

namespace {

/** Room on both sides of inline bytes: no other object shares a piece of the address space with them. */
constexpr std::size_t kInlineGuard = std::size_t{16} << 20;

/** A reason not to do what was asked. */
struct Refusal {
  lockstep_status status;
  std::string message;
};

std::string triple(const std::uint32_t value[3]) {
  return std::to_string(value[0]) + " x " + std::to_string(value[1]) + " x " + std::to_string(value[2]);
}

} // namespace

struct lockstep_emulator {
  std::unordered_map<std::uint64_t, std::unique_ptr<ModuleImage>> modules;
  std::unordered_map<std::uint64_t, std::unique_ptr<MappedBuffer>> buffers;
  std::vector<std::unique_ptr<InlineBytes>> inlines;
  /** Made when a run is to be checked, and kept. */
  std::unique_ptr<lockstep::CheckSession> check;
  lockstep::WorkerPool pool;
  std::string message;

  std::atomic<bool> cancelled{false};
  std::atomic<std::size_t> current_dispatch{0};
  std::atomic<std::uint64_t> total{0};
  /** The queue of the dispatch that runs; guarded, because other threads ask for progress. */
  mutable std::mutex queue_mutex;
  ThreadgroupQueue *queue = nullptr;

  lockstep_status fail(lockstep_status status, std::string text) {
    message = std::move(text);
    return status;
  }

  /** Places inline bytes before a guard page; `slot` is reused from run to run. */
  const InlineBytes *place(std::size_t slot, const void *bytes, std::size_t count) {
    while (inlines.size() <= slot) inlines.push_back(std::make_unique<InlineBytes>());
    InlineBytes &target = *inlines[slot];
    const std::size_t units = (count + 15) / 16 * 16;
    if (target.capacity < units) {
      const std::size_t capacity = lockstep::round_to_pages(units);
      lockstep::Reservation reservation(kInlineGuard + capacity + kInlineGuard);
      if (!reservation.valid() || !reservation.open(kInlineGuard, capacity)) return nullptr;
      target.reservation = std::move(reservation);
      target.capacity = capacity;
    }
    target.data = target.reservation.base() + kInlineGuard + target.capacity - units;
    target.bytes = count;
    std::memcpy(target.data, bytes, count);
    return &target;
  }

  LaunchPlan resolve(const lockstep_dispatch &dispatch, std::size_t &inline_slot);
  lockstep_status run(const std::vector<LaunchPlan> &plans, unsigned workers, lockstep_dispatch_done done, void *user);
  bool prepare_check(std::vector<LaunchPlan> &plans, const lockstep_check_request &request);
  void forget_released_buffers();
};

LaunchPlan lockstep_emulator::resolve(const lockstep_dispatch &dispatch, std::size_t &inline_slot) {
  LaunchPlan plan;
  plan.label = dispatch.label;
  plan.fast_math = dispatch.fast_math != 0;
  const std::string name = "Dispatch \"" + plan.label + "\"";
  const auto refuse = [&](const std::string &text) { throw Refusal{LOCKSTEP_STATUS_REFUSED, name + " " + text}; };
  const auto module = modules.find(dispatch.module);
  if (module == modules.end()) refuse("names module " + std::to_string(dispatch.module) + ", which is not loaded.");
  plan.module = dispatch.module;
  plan.image = module->second.get();
  if (const std::string error = module->second->read(); !error.empty()) throw Refusal{LOCKSTEP_STATUS_UNAVAILABLE, error};
  std::uint64_t threads = 1;
  for (int i = 0; i < 3; ++i) {
    plan.threadgroups[i] = dispatch.threadgroups[i];
    plan.threads[i] = dispatch.threads[i];
    if (plan.threads[i] == 0) refuse("has threads per threadgroup of " + triple(dispatch.threads) + ": each must be at least 1.");
    threads = threads * plan.threads[i] > LOCKSTEP_MAX_THREADS ? LOCKSTEP_MAX_THREADS + 1 : threads * plan.threads[i];
  }
  if (threads > LOCKSTEP_MAX_THREADS) {
    refuse("has threadgroups of " + triple(dispatch.threads) + " threads; the limit is " + std::to_string(LOCKSTEP_MAX_THREADS) + ".");
  }
  for (std::size_t i = 0; i < dispatch.binding_count; ++i) {
    const lockstep_binding &binding = dispatch.bindings[i];
    const std::string at = "at index " + std::to_string(binding.index);
    if (binding.index >= LOCKSTEP_BUFFER_SLOTS) {
      refuse("binds a buffer " + at + "; the last index is " + std::to_string(LOCKSTEP_BUFFER_SLOTS - 1) + ".");
    }
    if (binding.buffer == 0) {
      if (binding.byte_count == 0) refuse("binds no bytes " + at + ".");
      const InlineBytes *placed = place(inline_slot++, binding.bytes, binding.byte_count);
      if (placed == nullptr) throw Refusal{LOCKSTEP_STATUS_UNAVAILABLE, name + ": no memory for the bytes " + at + "."};
      plan.inlines[binding.index] = placed;
      plan.read_only[binding.index] = binding.read_only != 0;
      plan.addresses[binding.index] = placed->data;
      continue;
    }
    const auto buffer = buffers.find(binding.buffer);
    if (buffer == buffers.end()) refuse("binds buffer " + std::to_string(binding.buffer) + " " + at + ", which is not known.");
    if (binding.offset >= buffer->second->bytes()) {
      refuse("binds buffer \"" + buffer->second->label() + "\" " + at + " at byte offset " + std::to_string(binding.offset) +
             "; it has " + std::to_string(buffer->second->bytes()) + " bytes.");
    }
    if (const std::string error = buffer->second->map(); !error.empty()) throw Refusal{LOCKSTEP_STATUS_UNAVAILABLE, error};
    plan.buffers[binding.index] = buffer->second.get();
    plan.read_only[binding.index] = binding.read_only != 0;
    plan.addresses[binding.index] = buffer->second->data() + binding.offset;
  }
  for (std::size_t i = 0; i < dispatch.threadgroup_memory_count; ++i) {
    const lockstep_threadgroup_memory &memory = dispatch.threadgroup_memory[i];
    if (memory.index >= LOCKSTEP_THREADGROUP_SLOTS || memory.bytes > lockstep::ThreadgroupArena::kMaxBytes) {
      refuse("asks for " + std::to_string(memory.bytes) + " bytes of threadgroup memory at index " + std::to_string(memory.index) +
             "; the limits are " + std::to_string(lockstep::ThreadgroupArena::kMaxBytes) + " bytes and index " +
             std::to_string(LOCKSTEP_THREADGROUP_SLOTS - 1) + ".");
    }
    plan.threadgroup_bytes[memory.index] = memory.bytes;
  }
  return plan;
}

lockstep_status lockstep_emulator::run(const std::vector<LaunchPlan> &plans, unsigned workers, lockstep_dispatch_done done,
                                       void *user) {
  for (std::size_t i = 0; i < plans.size(); ++i) {
    ThreadgroupQueue current;
    {
      const std::lock_guard lock(queue_mutex);
      current_dispatch = i;
      total = plans[i].total();
      queue = &current;
      if (cancelled) current.stop = true;
    }
    const auto begin = std::chrono::steady_clock::now();
    pool.run(plans[i], current, workers);
    const auto end = std::chrono::steady_clock::now();
    {
      const std::lock_guard lock(queue_mutex);
      queue = nullptr;
    }
    if (current.faulted) return fail(LOCKSTEP_STATUS_FAULT, current.message);
    if (current.unavailable) return fail(LOCKSTEP_STATUS_UNAVAILABLE, current.message);
    if (cancelled) return fail(LOCKSTEP_STATUS_CANCELLED, "The run was cancelled.");
    if (done != nullptr) {
      done(user, i, static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(end - begin).count()));
    }
  }
  return LOCKSTEP_STATUS_OK;
}

bool lockstep_emulator::prepare_check(std::vector<LaunchPlan> &plans, const lockstep_check_request &request) {
  if (check == nullptr) check = std::make_unique<lockstep::CheckSession>();
  if (!check->error().empty()) {
    message = check->error();
    check.reset();
    return false;
  }
  std::vector<const MappedBuffer *> outputs;
  for (std::size_t i = 0; i < request.output_count; ++i) {
    const auto buffer = buffers.find(request.outputs[i]);
    if (buffer != buffers.end()) outputs.push_back(buffer->second.get());
  }
  check->begin(plans, outputs, request.concurrent != 0);
  for (std::size_t i = 0; i < plans.size(); ++i) {
    plans[i].check = check.get();
    plans[i].dispatch = static_cast<std::uint32_t>(i);
  }
  return true;
}

void lockstep_emulator::forget_released_buffers() {
  for (auto &[id, buffer] : buffers) buffer->unmap_if_released();
}

extern "C" {

lockstep_emulator *lockstep_emulator_create(void) { return new lockstep_emulator; }
void lockstep_emulator_destroy(lockstep_emulator *emulator) { delete emulator; }

void lockstep_emulator_add_module(lockstep_emulator *emulator, uint64_t id, const char *path, const char *entry) {
  lockstep_emulator_drop_module(emulator, id);
  emulator->modules[id] = std::make_unique<ModuleImage>(path, entry);
}

void lockstep_emulator_drop_module(lockstep_emulator *emulator, uint64_t id) {
  emulator->pool.drop_module(id);
  emulator->modules.erase(id);
}

void lockstep_emulator_add_buffer(lockstep_emulator *emulator, uint64_t id, const char *path, uint64_t file_offset, uint64_t bytes,
                                  const char *label) {
  emulator->buffers[id] = std::make_unique<MappedBuffer>(path, file_offset, bytes, label);
}

void lockstep_emulator_drop_buffer(lockstep_emulator *emulator, uint64_t id) { emulator->buffers.erase(id); }

lockstep_status lockstep_emulator_inspect(lockstep_emulator *emulator, const char *path, lockstep_module_info *info) {
  ModuleImage image(path, "");
  if (std::string error = image.read(); !error.empty()) return emulator->fail(LOCKSTEP_STATUS_UNAVAILABLE, std::move(error));
  const ModuleCopy copy(image.bytes(), "");
  if (!copy.error().empty()) return emulator->fail(LOCKSTEP_STATUS_UNAVAILABLE, std::string(path) + ": " + copy.error());
  copy.describe(info);
  return LOCKSTEP_STATUS_OK;
}

lockstep_status lockstep_emulator_run(lockstep_emulator *emulator, const lockstep_dispatch *dispatches, size_t count,
                                      unsigned workers, const lockstep_check_request *check, lockstep_dispatch_done done,
                                      void *user) {
  std::vector<LaunchPlan> plans;
  plans.reserve(count);
  std::size_t inline_slot = 0;
  try {
    for (std::size_t i = 0; i < count; ++i) plans.push_back(emulator->resolve(dispatches[i], inline_slot));
  } catch (Refusal &refusal) {
    emulator->cancelled = false;
    return emulator->fail(refusal.status, std::move(refusal.message));
  }
  const unsigned cores = std::thread::hardware_concurrency();
  unsigned wanted = workers != 0 ? workers : (cores == 0 ? 1 : cores);
  if (check != nullptr) {
    if (!emulator->prepare_check(plans, *check)) return LOCKSTEP_STATUS_UNAVAILABLE;
    // The shadow belongs to one thread.
    wanted = 1;
  }
  const lockstep_status status = emulator->run(plans, wanted, done, user);
  if (check != nullptr) emulator->check->end(status == LOCKSTEP_STATUS_OK);
  emulator->forget_released_buffers();
  const std::lock_guard lock(emulator->queue_mutex);
  emulator->cancelled = false;
  // Until the next run has begun there is no progress to tell.
  emulator->current_dispatch = 0;
  emulator->total = 0;
  return status;
}

void lockstep_emulator_write_checks(const lockstep_emulator *emulator, uint64_t run, int reports_alone, lockstep_line line,
                                    void *user) {
  if (emulator->check != nullptr) emulator->check->write(run, reports_alone != 0, line, user);
}

const char *lockstep_emulator_message(const lockstep_emulator *emulator) { return emulator->message.c_str(); }

void lockstep_emulator_cancel(lockstep_emulator *emulator) {
  const std::lock_guard lock(emulator->queue_mutex);
  emulator->cancelled = true;
  if (emulator->queue != nullptr) emulator->queue->stop = true;
}

void lockstep_emulator_progress(const lockstep_emulator *emulator, lockstep_progress *progress) {
  const std::lock_guard lock(emulator->queue_mutex);
  progress->dispatch = emulator->current_dispatch;
  progress->total = emulator->total;
  progress->done = emulator->queue == nullptr ? progress->total : emulator->queue->done.load();
}

int lockstep_emulator_describe_crash(int signal, const void *address, char *text, size_t size) {
  const Worker *worker = Worker::current();
  return worker != nullptr && worker->describe_crash(signal, address, text, size) ? 1 : 0;
}

int lockstep_emulator_trap(const void *pc, const void *stack, int kind) {
  const Worker *worker = Worker::current();
  return worker != nullptr && worker->trap(pc, stack, kind) ? 1 : 0;
}

} // extern "C"
