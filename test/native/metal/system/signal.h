/* Stands for <signal.h>. */
#pragma once
#include <sys/types.h>
#define SIGILL 4
#define SIGTRAP 5
#define SIGABRT 6
#define SIGFPE 8
#define SIGKILL 9
#define SIGBUS 10
#define SIGSEGV 11
#define SIGPIPE 13
#define SIGINT 2
#define SIG_IGN ((void (*)(int))1)
#define SA_ONSTACK 0x0001
#define SA_SIGINFO 0x0040
#define SS_DISABLE 0x0004
typedef int sig_atomic_t;
struct siginfo_t {
  int si_signo;
  int si_errno;
  int si_code;
  pid_t si_pid;
  uid_t si_uid;
  int si_status;
  void *si_addr;
};
struct sigaction {
  union {
    void (*__sa_handler)(int);
    void (*__sa_sigaction)(int, siginfo_t *, void *);
  } __sigaction_u;
  sigset_t sa_mask;
  int sa_flags;
};
#define sa_handler __sigaction_u.__sa_handler
#define sa_sigaction __sigaction_u.__sa_sigaction
struct stack_t {
  void *ss_sp;
  size_t ss_size;
  int ss_flags;
};
extern "C" {
int kill(pid_t process, int signal);
int raise(int signal);
int sigaction(int signal, const struct sigaction *action, struct sigaction *previous);
int sigaltstack(const stack_t *stack, stack_t *previous);
int sigemptyset(sigset_t *set);
void (*signal(int signal, void (*handler)(int)))(int);
}
