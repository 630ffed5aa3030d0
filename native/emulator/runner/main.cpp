/**
 * The runner: a process that runs kernels for one client and can be killed at any time.
 *
 * The main thread reads requests and reports progress; a second thread drives the emulator, whose workers run the kernels.
 * The process ends when its standard input closes.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/prctl.h>
#endif

#include <cerrno>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "confine.h"
#include "crash_handler.h"
#include "emulator.h"
#include "reply.h"
#include "request.h"

namespace {

using lockstep::DispatchList;
using lockstep::number_of;
using lockstep::Reply;
using lockstep::words_of;

/** Raised whenever a request or a reply changes its meaning; `protocol.ts` has the same number. */
constexpr std::uint64_t kProtocolVersion = 3;
constexpr int kProgressMilliseconds = 100;
/** Lines that the kernels of one run may log; further ones are counted. */
constexpr std::uint64_t kLogLines = 1000;

const char *error_code(lockstep_status status) {
  switch (status) {
  case LOCKSTEP_STATUS_FAULT: return "crashed";
  case LOCKSTEP_STATUS_REFUSED: return "dispatch_refused";
  default: return "unavailable";
  }
}

/** By the bits of `lockstep_module_info`. */
const char *flavour_name(std::uint32_t flavour) {
  const char *const names[] = {"fast", "lockstep", "check", "check+lockstep"};
  return names[flavour & 3];
}

/** Sends what a kernel of run `*user` logged. */
void send_log(void *user, const char *label, const lockstep_log_line *line) {
  const char *const types[] = {"debug", "info", "default", "error", "fault"};
  Reply reply("log");
  reply.field("run", *static_cast<const std::uint64_t *>(user))
      .field("level", types[line->type < 5 ? line->type : 2])
      .field("label", label)
      .field("message", line->text)
      .field("thread", line->thread);
  const char *const names[] = {"gx", "gy", "gz", "px", "py", "pz"};
  for (int i = 0; i < 3; ++i) reply.field(names[i], line->threadgroup[i]).field(names[i + 3], line->position[i]);
  if (line->subsystem != nullptr) reply.field("subsystem", line->subsystem);
  if (line->category != nullptr) reply.field("category", line->category);
  reply.send();
}

class Session {
public:
  /** `rights` says what this process may not do. */
  explicit Session(std::string rights) : rights_(std::move(rights)), emulator_(lockstep_emulator_create()) {
    if (pipe(finished_) != 0) _exit(1);
  }

  /** Serves requests until standard input closes. */
  void serve();

private:
  bool running() const { return driver_.joinable(); }
  /** Takes a line at once, or after the current run: most would change what it stands on. False to end. */
  bool receive(const std::string &line);
  /** False if the line makes no sense. */
  bool take(const std::string &line);
  bool start(std::uint64_t id, std::uint64_t workers);
  void inspect(std::uint64_t id, const std::string &path);
  void write_checks(std::uint64_t run, bool reports_alone);
  void report_progress();
  bool finish();

  std::string rights_;
  lockstep_emulator *emulator_;
  std::unique_ptr<DispatchList> dispatches_ = std::make_unique<DispatchList>();
  std::thread driver_;
  std::uint64_t run_ = 0;
  /** The current run is of check flavours. */
  bool checked_ = false;
  std::vector<std::string> deferred_;
  /** The driver writes a byte when a run has ended. */
  int finished_[2];
};

void Session::serve() {
  Reply("ready").field("protocol", kProtocolVersion).field("pid", static_cast<std::uint64_t>(getpid())).field("rights", rights_).send();
  std::string pending;
  for (;;) {
    pollfd waits[2] = {{STDIN_FILENO, POLLIN, 0}, {finished_[0], POLLIN, 0}};
    const int ready = poll(waits, 2, running() ? kProgressMilliseconds : -1);
    if (ready < 0 && errno != EINTR) return;
    if (ready == 0) report_progress();
    if (ready <= 0) continue;
    if (waits[1].revents != 0 && !finish()) return;
    if (waits[0].revents == 0) continue;
    char chunk[1 << 16];
    const ssize_t n = read(STDIN_FILENO, chunk, sizeof chunk);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    pending.append(chunk, static_cast<std::size_t>(n));
    std::size_t begin = 0;
    for (std::size_t end; (end = pending.find('\n', begin)) != std::string::npos; begin = end + 1) {
      if (!receive(pending.substr(begin, end - begin))) return;
    }
    pending.erase(0, begin);
  }
}

bool Session::receive(const std::string &line) {
  if (line == "cancel") {
    if (running()) lockstep_emulator_cancel(emulator_);
    return true;
  }
  if (line == "reports") {
    // A run that does not end by itself: what was seen until now.
    if (running() && checked_) write_checks(run_, true);
    return true;
  }
  if (running()) {
    deferred_.push_back(line);
    return true;
  }
  if (take(line)) return true;
  lockstep::send_crash(("The runner does not understand: " + line.substr(0, 200)).c_str());
  return false;
}

bool Session::take(const std::string &line) {
  const auto words = words_of(line);
  const std::string &command = words[0];
  if (command == "module" && words.size() == 4) {
    const auto id = number_of(words[1]);
    if (id) lockstep_emulator_add_module(emulator_, *id, words[2].c_str(), words[3].c_str());
    return id.has_value();
  }
  if (command == "buffer" && words.size() == 6) {
    const auto id = number_of(words[1]);
    const auto offset = number_of(words[3]);
    const auto bytes = number_of(words[4]);
    if (!id || !offset || !bytes) return false;
    lockstep_emulator_add_buffer(emulator_, *id, words[2].c_str(), *offset, *bytes, words[5].c_str());
    return true;
  }
  if (command == "drop" && words.size() == 3) {
    const auto id = number_of(words[2]);
    if (!id || (words[1] != "buffer" && words[1] != "module")) return false;
    if (words[1] == "buffer") {
      lockstep_emulator_drop_buffer(emulator_, *id);
    } else {
      lockstep_emulator_drop_module(emulator_, *id);
    }
    return true;
  }
  if (command == "run" && words.size() == 3) {
    const auto id = number_of(words[1]);
    const auto workers = number_of(words[2]);
    return id && workers && start(*id, *workers);
  }
  if (command == "inspect" && words.size() == 3) {
    const auto id = number_of(words[1]);
    if (id) inspect(*id, words[2]);
    return id.has_value();
  }
  return dispatches_->add(words);
}

bool Session::start(std::uint64_t id, std::uint64_t workers) {
  run_ = id;
  auto list = std::exchange(dispatches_, std::make_unique<DispatchList>());
  checked_ = list->check() != nullptr;
  driver_ = std::thread([this, id, workers, list = std::move(list)] {
    const auto dispatches = list->view();
    const lockstep_check_request *check = list->check();
    if (check != nullptr) lockstep::report_in_crash(emulator_, id);
    const auto done = [](void *user, std::size_t dispatch, std::uint64_t nanoseconds) {
      Reply("dispatch")
          .field("run", *static_cast<const std::uint64_t *>(user))
          .field("dispatch", dispatch)
          .field("ns", nanoseconds)
          .send();
    };
    std::uint64_t run = id;
    lockstep_emulator_listen(send_log, &run, kLogLines);
    const lockstep_status status = lockstep_emulator_run(emulator_, dispatches.data(), dispatches.size(),
                                                         static_cast<unsigned>(workers), check, done, &run);
    if (check != nullptr) {
      lockstep::report_in_crash(nullptr, 0);
      write_checks(id, false);
    }
    const std::uint64_t unheard = lockstep_emulator_unheard();
    if (unheard > 0) Reply("unheard").field("run", id).field("lines", unheard).send();
    if (status == LOCKSTEP_STATUS_OK) {
      Reply("done").field("run", id).send();
    } else if (status == LOCKSTEP_STATUS_CANCELLED) {
      Reply("cancelled").field("run", id).send();
    } else {
      const char *message = lockstep_emulator_message(emulator_);
      Reply("error").field("run", id).field("code", error_code(status)).field("message", message).send();
    }
    const char byte = 0;
    if (write(finished_[1], &byte, 1) != 1) _exit(1);
  });
  return true;
}

void Session::write_checks(std::uint64_t run, bool reports_alone) {
  const auto line = [](void *, const char *text) { lockstep::send_line(text); };
  lockstep_emulator_write_checks(emulator_, run, reports_alone ? 1 : 0, line, nullptr);
}

void Session::inspect(std::uint64_t id, const std::string &path) {
  lockstep_module_info info{};
  const lockstep_status status = lockstep_emulator_inspect(emulator_, path.c_str(), &info);
  if (status != LOCKSTEP_STATUS_OK) {
    const char *message = lockstep_emulator_message(emulator_);
    Reply("error").field("run", id).field("code", error_code(status)).field("message", message).send();
    return;
  }
  Reply("facts")
      .field("run", id)
      .field("staticThreadgroupBytes", info.static_threadgroup_bytes)
      .field("maxThreadsPerThreadgroup", info.max_threads)
      .field("flavour", flavour_name(info.flavour))
      .send();
}

void Session::report_progress() {
  if (!running()) return;
  lockstep_progress progress{};
  lockstep_emulator_progress(emulator_, &progress);
  if (progress.total == 0) return;
  Reply("progress")
      .field("run", run_)
      .field("dispatch", progress.dispatch)
      .field("done", progress.done)
      .field("total", progress.total)
      .send();
}

/** Ends a run whose driver has finished, and takes the lines that waited for it. False to end. */
bool Session::finish() {
  char byte;
  while (read(finished_[0], &byte, 1) < 0 && errno == EINTR) {
  }
  driver_.join();
  const auto lines = std::exchange(deferred_, {});
  for (const std::string &line : lines) {
    if (!receive(line)) return false;
  }
  return true;
}

} // namespace

int main() {
#if defined(__linux__)
  // The client may be killed before it can close the pipe.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  signal(SIGPIPE, SIG_IGN);
  // The terminal's Ctrl-C is for the client, which ends its runner itself.
  signal(SIGINT, SIG_IGN);
  lockstep::install_crash_handler();
  // Before the first thread and the first module.
  Session session(lockstep::confine());
  session.serve();
  // Kernels may still run: nothing of theirs needs an orderly end.
  _exit(0);
}
