#include "messenger.h"

#include <utility>

#if !defined(NODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS)
#error "a callback that is called while its environment ends would end the process"
#endif

namespace lockstep::metal {

/// Held by the thread-safe function, and let go of on JavaScript's thread.
struct Messenger::Context {
  std::shared_ptr<Messenger> messenger;
  std::unique_ptr<Receiver> receiver;
};

std::shared_ptr<Messenger> Messenger::create(Napi::Env env, std::unique_ptr<Receiver> receiver) {
  auto messenger = std::make_shared<Messenger>();
  auto context = std::make_unique<Context>(Context{messenger, std::move(receiver)});
  const Napi::String name = Napi::String::New(env, "lockstep.metal");
  const napi_status status =
      napi_create_threadsafe_function(env, nullptr, nullptr, name, 0, 1, context.get(), &Messenger::end, context.get(),
                                      &Messenger::deliver, &messenger->function_);
  if (status != napi_ok) throw Napi::Error::New(env, "no thread-safe function could be made");
  static_cast<void>(context.release());
  return messenger;
}

bool Messenger::post(Message message) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return send(std::move(message));
}

void Messenger::close(Message last) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (send(std::move(last))) napi_release_threadsafe_function(function_, napi_tsfn_release);
  open_ = false;
}

/// Under the lock, which `end` takes as well: while it is held the function is there.
bool Messenger::send(Message message) {
  if (!open_) return false;
  auto held = std::make_unique<Message>(std::move(message));
  if (napi_call_threadsafe_function(function_, held.get(), napi_tsfn_nonblocking) == napi_ok) {
    static_cast<void>(held.release());
  } else {
    // The environment is ending.
    open_ = false;
  }
  return open_;
}

void Messenger::deliver(napi_env env, napi_value, void* context, void* data) {
  const std::unique_ptr<Message> message(static_cast<Message*>(data));
  // Without an environment only the message is to be freed; the context may have gone.
  if (env == nullptr) return;
  try {
    (*message)(Napi::Env(env), *static_cast<Context*>(context)->receiver);
  } catch (const Napi::Error& error) {
    // What is thrown out of here is a warning at most; a callback that throws is a defect to be seen. An environment that
    // is ending takes no exception, and the answer says nothing more.
    static_cast<void>(napi_fatal_exception(env, error.Value()));
  }
}

void Messenger::end(napi_env, void* context, void*) {
  const std::unique_ptr<Context> held(static_cast<Context*>(context));
  const std::lock_guard<std::mutex> lock(held->messenger->mutex_);
  held->messenger->open_ = false;
}

}  // namespace lockstep::metal
