#include "confine.h"

#include <cerrno>
#include <cstring>

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <iterator>
#include <mutex>
#include <vector>

#include "mapped_buffer.h"

namespace lockstep {

namespace {

// --- The process that opens buffers -----------------------------------------------------------------------------------

constexpr std::size_t kLongestPath = 512;
int broker = -1;

/** The client's memory is a memfd, named by the descriptor that the client has of it. */
bool is_shared_memory(const char *path) {
  if (std::strncmp(path, "/proc/", 6) != 0 || std::strstr(path, "/fd/") == nullptr) return false;
  char target[64];
  const ssize_t length = readlink(path, target, sizeof target - 1);
  if (length < 0) return false;
  target[length] = '\0';
  return std::strncmp(target, "/memfd:lockstep", 15) == 0;
}

/** Sends a descriptor, or the errno of why there is none. */
bool answer(int socket, int file, int error) {
  char control[CMSG_SPACE(sizeof(int))] = {};
  iovec data{&error, sizeof error};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  if (file >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &file, sizeof file);
  }
  return sendmsg(socket, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof error);
}

[[noreturn]] void serve_buffers(int socket) {
  for (;;) {
    char path[kLongestPath];
    const ssize_t length = recv(socket, path, sizeof path - 1, 0);
    if (length < 0 && errno == EINTR) continue;
    if (length <= 0) _exit(0);
    path[length] = '\0';
    const int file = is_shared_memory(path) ? open(path, O_RDWR | O_CLOEXEC) : -1;
    const int error = file >= 0 ? 0 : access(path, F_OK) != 0 ? ENOENT : EACCES;
    const bool sent = answer(socket, file, error);
    if (file >= 0) close(file);
    if (!sent) _exit(0);
  }
}

/** Starts the process. False where there can be none. */
bool start_broker() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return false;
  const pid_t child = fork();
  if (child < 0) {
    close(ends[0]);
    close(ends[1]);
    return false;
  }
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    // The client waits for the end of the runner's streams: nothing else may hold them.
    for (int stream = 0; stream <= 2; ++stream) close(stream);
    close(ends[0]);
    serve_buffers(ends[1]);
  }
  close(ends[1]);
  broker = ends[0];
  return true;
}

/** Opens a buffer through the other process. Called by one thread at a time. */
int open_through_broker(const char *path) {
  static std::mutex lock;
  const std::lock_guard<std::mutex> guard(lock);
  const std::size_t length = std::strlen(path);
  if (length >= kLongestPath || send(broker, path, length, MSG_NOSIGNAL) != static_cast<ssize_t>(length)) {
    errno = EACCES;
    return -1;
  }
  int error = 0;
  char control[CMSG_SPACE(sizeof(int))] = {};
  iovec data{&error, sizeof error};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t received;
  do {
    received = recvmsg(broker, &message, MSG_CMSG_CLOEXEC);
  } while (received < 0 && errno == EINTR);
  const cmsghdr *header = received > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS) {
    errno = received > 0 && error != 0 ? error : EACCES;
    return -1;
  }
  int file;
  std::memcpy(&file, CMSG_DATA(header), sizeof file);
  return file;
}

// --- The filter ---------------------------------------------------------------------------------------------------------

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#else
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#endif

/** Calls that a kernel has no business with; each answers EPERM. */
constexpr int kRefused[] = {
    // network
    __NR_socket, __NR_socketpair, __NR_connect, __NR_bind, __NR_listen, __NR_accept, __NR_accept4,
    // other programs and processes
    __NR_execve, __NR_execveat, __NR_ptrace, __NR_process_vm_readv, __NR_process_vm_writev, __NR_kcmp, __NR_pidfd_open,
    __NR_pidfd_getfd, __NR_pidfd_send_signal, __NR_rt_sigqueueinfo, __NR_rt_tgsigqueueinfo, __NR_tkill,
    // ways around a filter
    __NR_io_uring_setup, __NR_io_uring_enter, __NR_io_uring_register, __NR_open_by_handle_at, __NR_userfaultfd, __NR_bpf,
    __NR_perf_event_open, __NR_unshare, __NR_setns, __NR_seccomp,
    // files
    __NR_unlinkat, __NR_renameat2, __NR_mkdirat, __NR_linkat, __NR_symlinkat, __NR_mknodat, __NR_truncate, __NR_fchmod,
    __NR_fchmodat, __NR_fchown, __NR_fchownat, __NR_utimensat, __NR_setxattr, __NR_lsetxattr, __NR_fsetxattr,
    __NR_removexattr, __NR_lremovexattr, __NR_fremovexattr, __NR_mq_open, __NR_mq_unlink,
#if defined(__NR_renameat)
    __NR_renameat,
#endif
#if defined(__NR_fchmodat2)
    __NR_fchmodat2,
#endif
#if defined(__NR_fork)
    __NR_fork, __NR_vfork, __NR_creat, __NR_unlink, __NR_rename, __NR_mkdir, __NR_rmdir, __NR_link, __NR_symlink, __NR_mknod,
    __NR_chmod, __NR_chown, __NR_lchown, __NR_utime, __NR_utimes, __NR_futimesat,
#endif
    // the system
    __NR_mount, __NR_umount2, __NR_pivot_root, __NR_chroot, __NR_reboot, __NR_swapon, __NR_swapoff, __NR_init_module,
    __NR_finit_module, __NR_delete_module, __NR_kexec_load, __NR_keyctl, __NR_add_key, __NR_request_key,
    __NR_settimeofday, __NR_clock_settime, __NR_sethostname, __NR_setdomainname, __NR_acct, __NR_quotactl,
};

/** Calls that the C library has another way for; each answers ENOSYS, and it takes the other. */
constexpr int kAbsent[] = {__NR_clone3, __NR_openat2};

constexpr std::uint32_t low_word(unsigned argument) {
  return offsetof(seccomp_data, args) + argument * sizeof(std::uint64_t);
}

sock_filter load(std::uint32_t offset) { return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset); }
sock_filter give(std::uint32_t action) { return BPF_STMT(BPF_RET | BPF_K, action); }
std::uint32_t refuse(int error) { return SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error); }

/**
 * Refuses one call where the low word of an argument shares a bit with `mask`; inverted, where it shares none. A block of
 * this kind is jumped over whole where the number is another, and the number stays loaded until then.
 */
void refuse_by_bits(std::vector<sock_filter> &filter, int call, unsigned argument, std::uint32_t mask, bool inverted) {
  filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 4));
  filter.push_back(load(low_word(argument)));
  const sock_filter shares = BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, mask, 0, 1);
  const sock_filter lacks = BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, mask, 1, 0);
  filter.push_back(inverted ? lacks : shares);
  filter.push_back(give(refuse(EPERM)));
  filter.push_back(give(SECCOMP_RET_ALLOW));
}

/** For one call: allowed where the low word of its first argument is `value`. */
void allow_by_value(std::vector<sock_filter> &filter, int call, std::uint32_t value) {
  filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 4));
  filter.push_back(load(low_word(0)));
  filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 1, 0));
  filter.push_back(give(refuse(EPERM)));
  filter.push_back(give(SECCOMP_RET_ALLOW));
}

std::vector<sock_filter> filter_of(std::uint32_t self) {
  std::vector<sock_filter> filter;
  filter.push_back(load(offsetof(seccomp_data, arch)));
  filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0));
  filter.push_back(give(refuse(ENOSYS)));
  filter.push_back(load(offsetof(seccomp_data, nr)));
#if defined(__x86_64__)
  // The x32 numbers of the same calls.
  filter.push_back(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1));
  filter.push_back(give(refuse(ENOSYS)));
#endif
  for (const int call : kRefused) {
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 1));
    filter.push_back(give(refuse(EPERM)));
  }
  for (const int call : kAbsent) {
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 1));
    filter.push_back(give(refuse(ENOSYS)));
  }
  constexpr std::uint32_t kWriting = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND | (O_TMPFILE & ~O_DIRECTORY);
  refuse_by_bits(filter, __NR_openat, 2, kWriting, false);
#if defined(__NR_open)
  refuse_by_bits(filter, __NR_open, 1, kWriting, false);
#endif
  // Threads may be started, processes may not.
  refuse_by_bits(filter, __NR_clone, 0, CLONE_THREAD, true);
  // Signals may be sent to this process alone: abort() does.
  allow_by_value(filter, __NR_kill, self);
  allow_by_value(filter, __NR_tgkill, self);
  filter.push_back(give(SECCOMP_RET_ALLOW));
  return filter;
}

bool install_filter() {
  std::vector<sock_filter> filter = filter_of(static_cast<std::uint32_t>(getpid()));
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

} // namespace

std::string confine() {
  if (!start_broker()) return std::string("not confined: no process to open buffers (") + std::strerror(errno) + ")";
  open_shared_file = open_through_broker;
  if (!install_filter()) {
    const int error = errno;
    open_shared_file = nullptr;
    close(broker);
    return std::string("not confined: the system takes no seccomp filter (") + std::strerror(error) + ")";
  }
  return "confined by seccomp: no network, no file opened for writing, no other program, no signal to another process";
}

} // namespace lockstep

#else

namespace lockstep {

std::string confine() { return "not confined: on this system kernels keep the rights of their user"; }

} // namespace lockstep

#endif
