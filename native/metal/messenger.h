#pragma once

#include <napi.h>

#include <functional>
#include <memory>
#include <mutex>

namespace lockstep::metal {

/// What JavaScript handed over with a submission. It lives and dies on the thread of its environment.
struct Receiver {
  explicit Receiver(Napi::Env env) : done(env) {}
  Napi::Promise::Deferred done;
  Napi::FunctionReference on_dispatch;
  Napi::FunctionReference on_log;
};

/// Brings messages from any thread to the thread of JavaScript, in order. What comes after the environment has ended is
/// dropped: a thread-safe function must not be touched any more then, and Metal's threads do not know.
class Messenger {
 public:
  using Message = std::function<void(Napi::Env, Receiver&)>;

  /// On the thread of the environment, whose event loop stays alive until `close`.
  static std::shared_ptr<Messenger> create(Napi::Env env, std::unique_ptr<Receiver> receiver);

  /// False once nobody is there to hear it.
  bool post(Message message);
  /// Brings the last message and lets go of the event loop. Later messages are dropped.
  void close(Message last);

 private:
  struct Context;
  static void deliver(napi_env env, napi_value function, void* context, void* data);
  static void end(napi_env env, void* context, void* hint);
  bool send(Message message);

  std::mutex mutex_;
  bool open_ = true;
  napi_threadsafe_function function_ = nullptr;
};

}  // namespace lockstep::metal
