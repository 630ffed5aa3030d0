#pragma once

#include <napi.h>

#include <functional>
#include <utility>

namespace lockstep {

/// Runs `work` on a thread of the pool and settles a promise with what `result` makes of it on the main thread. An
/// exception in `work` rejects the promise.
class PromiseWorker : public Napi::AsyncWorker {
 public:
  using Work = std::function<void()>;
  using Result = std::function<Napi::Value(Napi::Env)>;

  static Napi::Promise run(Napi::Env env, const char* name, Work work, Result result) {
    auto* worker = new PromiseWorker(env, name, std::move(work), std::move(result));
    Napi::Promise promise = worker->deferred_.Promise();
    worker->Queue();
    return promise;
  }

  void Execute() override { work_(); }
  void OnOK() override { deferred_.Resolve(result_(Env())); }
  void OnError(const Napi::Error& error) override { deferred_.Reject(error.Value()); }

 private:
  PromiseWorker(Napi::Env env, const char* name, Work work, Result result)
      : Napi::AsyncWorker(env, name), deferred_(env), work_(std::move(work)), result_(std::move(result)) {}

  Napi::Promise::Deferred deferred_;
  Work work_;
  Result result_;
};

}  // namespace lockstep
