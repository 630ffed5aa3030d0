#include "connection_object.h"

#include <exception>
#include <utility>
#include <variant>

#include "../addon/arguments.h"
#include "../addon/memory_object.h"
#include "../addon/promise_worker.h"
#include "capture.h"
#include "handle.h"
#include "messenger.h"
#include "replies.h"
#include "requests.h"

namespace lockstep::metal {
namespace {

/// What the methods of one object share: the connection until `close`.
using Slot = std::shared_ptr<std::shared_ptr<Connection>>;

std::shared_ptr<Connection> open_connection(Napi::Env env, const Slot& slot) {
  if (!*slot) throw Napi::Error::New(env, "this connection was closed and cannot be used");
  return *slot;
}

/// Brings what Metal's threads tell to JavaScript.
class MessengerListener final : public SubmissionListener {
 public:
  explicit MessengerListener(std::shared_ptr<Messenger> messenger) : messenger_(std::move(messenger)) {}

  bool dispatched(std::size_t index) override {
    return messenger_->post([index](Napi::Env env, Receiver& receiver) {
      if (receiver.on_dispatch.IsEmpty()) return;
      receiver.on_dispatch.Call({Napi::Number::New(env, static_cast<double>(index))});
    });
  }

  void logged(const LogLine& line) override {
    messenger_->post([line](Napi::Env env, Receiver& receiver) {
      if (!receiver.on_log.IsEmpty()) receiver.on_log.Call({log_line(env, line)});
    });
  }

  void finished(Outcome outcome) override {
    messenger_->close([outcome = std::move(outcome)](Napi::Env env, Receiver& receiver) {
      receiver.done.Resolve(submit_reply(env, outcome));
    });
  }

 private:
  std::shared_ptr<Messenger> messenger_;
};

Napi::FunctionReference callback_of(const Napi::Object& options, const char* name) {
  const Napi::Value value = options.Get(name);
  if (value.IsUndefined()) return {};
  if (!value.IsFunction()) throw Napi::TypeError::New(options.Env(), std::string(name) + " must be a function");
  return Napi::Persistent(value.As<Napi::Function>());
}

Napi::Value compile_call(const Napi::CallbackInfo& info, const std::shared_ptr<Connection>& connection) {
  auto result = std::make_shared<std::variant<std::shared_ptr<Library>, ErrorWords>>();
  const CompileRequest request = compile_request(info[0]);
  return PromiseWorker::run(
      info.Env(), "lockstep.metal.compile",
      [connection, request, result] { *result = compile(connection->device(), request); },
      [result](Napi::Env env) { return compile_reply(env, *result); });
}

Napi::Value pipeline_call(const Napi::CallbackInfo& info, const std::shared_ptr<Connection>& connection) {
  auto result = std::make_shared<std::variant<std::shared_ptr<Pipeline>, ErrorWords>>();
  const auto library = open_handle<Library>(info[0], "library", kLibraryTag);
  if (library->device != connection->device().registryID) {
    throw Napi::TypeError::New(info.Env(), "library is of another device: compile it on this connection");
  }
  const PipelineRequest request = pipeline_request(info[1]);
  return PromiseWorker::run(
      info.Env(), "lockstep.metal.pipeline",
      [connection, library, request, result] { *result = build_pipeline(connection->device(), *library, request); },
      [result](Napi::Env env) { return pipeline_reply(env, *result); });
}

Napi::Value allocate_call(const Napi::CallbackInfo& info, const std::shared_ptr<Connection>& connection) {
  const auto bytes = whole_number(info[0], "bytes", 1, kMaxSafeInteger);
  const std::string label = text_of(info[1], "label");
  std::shared_ptr<Memory> memory;
  try {
    memory = Memory::allocate(connection->device(), connection->residency(), bytes, label);
  } catch (const std::exception& error) {
    throw Napi::Error::New(info.Env(), error.what());
  }
  return MemoryObject::create(info.Env(), std::move(memory));
}

Napi::Value submit_call(const Napi::CallbackInfo& info, const std::shared_ptr<Connection>& connection) {
  const Napi::Env env = info.Env();
  std::vector<DispatchRequest> dispatches = dispatch_requests(info[0], connection->device());
  const Napi::Object options = object_argument(info[1], "options");
  const bool counters = flag_of(options, "counters");
  auto receiver = std::make_unique<Receiver>(env);
  receiver->on_dispatch = callback_of(options, "onDispatch");
  receiver->on_log = callback_of(options, "onLog");
  Napi::Object reply = Napi::Object::New(env);
  reply.Set("done", receiver->done.Promise());
  auto listener = std::make_shared<MessengerListener>(Messenger::create(env, std::move(receiver)));
  auto submission = std::make_shared<Submission>(connection, std::move(dispatches), counters, std::move(listener));
  // A handle that outlives the run must not keep its memory.
  const std::weak_ptr<Submission> weak = submission;
  reply.Set("cancel", Napi::Function::New(env, [weak](const Napi::CallbackInfo&) {
              if (const auto running = weak.lock()) running->cancel();
            }));
  submission->start();
  return reply;
}

Napi::Value start_capture_call(const Napi::CallbackInfo& info, const std::shared_ptr<Connection>& connection) {
  const auto refused = start_capture(connection->queue(), text_of(info[0], "path"));
  if (refused) return refusal(info.Env(), *refused);
  Napi::Object reply = Napi::Object::New(info.Env());
  reply.Set("ok", true);
  return reply;
}

using Call = Napi::Value (*)(const Napi::CallbackInfo&, const std::shared_ptr<Connection>&);

Napi::Function method(Napi::Env env, const char* name, const Slot& slot, Call call) {
  const auto body = [slot, call](const Napi::CallbackInfo& info) -> Napi::Value {
    @autoreleasepool {
      return call(info, open_connection(info.Env(), slot));
    }
  };
  return Napi::Function::New(env, body, name);
}

}  // namespace

Napi::Object connection_object(Napi::Env env, std::shared_ptr<Connection> connection) {
  const Slot slot = std::make_shared<std::shared_ptr<Connection>>(std::move(connection));
  Napi::Object object = Napi::Object::New(env);
  const auto add = [&](const char* name, Call call) { object.Set(name, method(env, name, slot, call)); };
  add("compile", compile_call);
  add("pipeline", pipeline_call);
  add("allocate", allocate_call);
  add("submit", submit_call);
  add("startCapture", start_capture_call);
  add("stopCapture", [](const Napi::CallbackInfo& info, const std::shared_ptr<Connection>&) {
    stop_capture();
    return info.Env().Undefined();
  });
  add("allocatedBytes", [](const Napi::CallbackInfo& info, const std::shared_ptr<Connection>& open) -> Napi::Value {
    return Napi::Number::New(info.Env(), static_cast<double>(open->device().currentAllocatedSize));
  });
  const auto close = [slot](const Napi::CallbackInfo&) {
    @autoreleasepool {
      slot->reset();
    }
  };
  object.Set("close", Napi::Function::New(env, close, "close"));
  return object;
}

}  // namespace lockstep::metal
