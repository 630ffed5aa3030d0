#include "crash_handler.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>

#include "emulator.h"
#include "plain_text.h"
#include "reply.h"

namespace lockstep {

namespace {

std::atomic_flag crashing = ATOMIC_FLAG_INIT;
std::atomic<const lockstep_emulator *> running_emulator = nullptr;
std::atomic<std::uint64_t> running_run = 0;

#if defined(__linux__) && defined(__x86_64__)

/** Floating-point exceptions that a module asked for: it looks, and the thread goes on with them masked. */
bool looked_at(const siginfo_t *info, void *context) {
  int kind;
  switch (info->si_code) {
  case FPE_FLTINV: kind = 0; break;
  case FPE_FLTDIV: kind = 1; break;
  case FPE_FLTOVF: kind = 2; break;
  default: return false;
  }
  auto *machine = static_cast<ucontext_t *>(context);
  const auto pc = static_cast<std::uintptr_t>(machine->uc_mcontext.gregs[REG_RIP]);
  const auto stack = static_cast<std::uintptr_t>(machine->uc_mcontext.gregs[REG_RSP]);
  if (machine->uc_mcontext.fpregs == nullptr) return false;
  if (lockstep_emulator_trap(reinterpret_cast<const void *>(pc), reinterpret_cast<const void *>(stack), kind) == 0) return false;
  constexpr std::uint32_t kAllMasked = 0x1f80;
  constexpr std::uint32_t kFlags = 0x3f;
  machine->uc_mcontext.fpregs->mxcsr = (machine->uc_mcontext.fpregs->mxcsr | kAllMasked) & ~kFlags;
  return true;
}

#else

bool looked_at(const siginfo_t *, void *) { return false; }

#endif

void handle(int signal, siginfo_t *info, void *context) {
  if (signal == SIGFPE && looked_at(info, context)) return;
  // Several workers may fault at once: the first one reports.
  if (crashing.test_and_set()) {
    for (;;) pause();
  }
  char text[2048];
  if (!lockstep_emulator_describe_crash(signal, info->si_addr, text, sizeof text)) {
    PlainText(text, sizeof text).add("The runner failed outside a kernel (signal ").number(signal).add(")");
  }
  if (const lockstep_emulator *emulator = running_emulator; emulator != nullptr) {
    const auto line = [](void *, const char *words) { send_line_in_crash(words); };
    lockstep_emulator_write_checks(emulator, running_run, 1, line, nullptr);
  }
  send_crash(text);
  _exit(kCrashExitCode);
}

} // namespace

void report_in_crash(const lockstep_emulator *emulator, std::uint64_t run) {
  running_run = run;
  running_emulator = emulator;
}

void install_crash_handler() {
  struct sigaction action{};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  // SIGTRAP: the compiler's traps on arm64.
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT}) sigaction(signal, &action, nullptr);
}

} // namespace lockstep
