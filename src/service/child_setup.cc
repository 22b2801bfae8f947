#include "service/child_setup.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

namespace throttletest::internal {
namespace {

constexpr int kSetupFailed = 127;

void ResetSignals() {
  // Handlers do not survive exec, but "ignored" and the mask do.
  for (int signal = 1; signal < NSIG; ++signal) {
    if (signal != SIGKILL && signal != SIGSTOP) ::signal(signal, SIG_DFL);
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Everything else closes at exec, also what other code of the test opened without O_CLOEXEC.
void CloseOthersAtExec() {
  constexpr int kFirst = 3;
#ifdef SYS_close_range
  constexpr unsigned kCloexec = 1U << 2;  // CLOSE_RANGE_CLOEXEC, kernel 5.11
  if (::syscall(SYS_close_range, kFirst, ~0U, kCloexec) == 0) return;
#endif
  constexpr int kMany = 4096;
  for (int fd = kFirst; fd < kMany; ++fd) {
    const int flags = ::fcntl(fd, F_GETFD);
    if (flags >= 0) ::fcntl(fd, F_SETFD, flags | FD_CLOEXEC);
  }
}

}  // namespace

ChildSetup::ChildSetup(ChildSetupPlan plan) : plan_(std::move(plan)), parent_(::getpid()) {}

void ChildSetup::Run(bool in_cgroup) const {
  AwaitMove();
  if (!in_cgroup) Join();
  if (::setpgid(0, 0) != 0) Fail(SetupFailure::kGroup);
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) Fail(SetupFailure::kDeathSignal);
  // The parent may have died before the signal was asked for.
  if (::getppid() != parent_) ::_exit(kSetupFailed);
  ResetSignals();
  const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (null < 0 || ::dup2(null, STDIN_FILENO) < 0 || ::dup2(plan_.output, STDOUT_FILENO) < 0 ||
      ::dup2(plan_.output, STDERR_FILENO) < 0) {
    Fail(SetupFailure::kStreams);
  }
  CloseOthersAtExec();
}

void ChildSetup::Exec(const char* program, const char* const* arguments,
                      const char* const* environment) const {
  ::execve(program, const_cast<char* const*>(arguments), const_cast<char* const*>(environment));
  Fail(SetupFailure::kExec);
}

void ChildSetup::AwaitMove() const {
  if (plan_.moved < 0) return;
  // Our copy of it would keep the pipe open when the parent dies.
  ::close(plan_.moved_writer);
  char byte = 0;
  ssize_t got = 0;
  while ((got = ::read(plan_.moved, &byte, 1)) < 0 && errno == EINTR) {
  }
  // The end of the pipe: the parent could not move it, which it knows best, or has died.
  if (got != 1) ::_exit(kSetupFailed);
}

void ChildSetup::Join() const {
  for (std::size_t i = 0; i < plan_.join_files.size(); ++i) {
    const int fd = ::open(plan_.join_files[i].c_str(), O_WRONLY | O_CLOEXEC);
    // "0" is the writer itself.
    if (fd < 0 || ::write(fd, "0", 1) != 1) Fail(SetupFailure::kJoin, static_cast<int>(i));
    ::close(fd);
  }
}

void ChildSetup::Fail(SetupFailure::Step step, int join_index) const {
  const SetupFailure failure{.step = step, .join_index = join_index, .error = errno};
  [[maybe_unused]] const ssize_t written = ::write(plan_.report, &failure, sizeof(failure));
  ::_exit(kSetupFailed);
}

std::string ChildSetup::Explain(const SetupFailure& failure) const {
  std::string error = std::strerror(failure.error);
  switch (failure.step) {
    case SetupFailure::kJoin: {
      const std::string& file = plan_.join_files.at(static_cast<std::size_t>(failure.join_index));
      const char* hint = failure.error == ENOSPC  ? " (its cpuset has no CPUs or memory nodes)"
                         : failure.error == EBUSY ? " (it has controllers enabled for children)"
                         : failure.error == EINVAL
                             ? " (a realtime process cannot join it: start the test under an "
                               "ordinary scheduling policy)"
                             : "";
      return fmt::format("cannot join {}: {}{}", file, error, hint);
    }
    case SetupFailure::kGroup:
      return "cannot make a process group: " + error;
    case SetupFailure::kDeathSignal:
      return "cannot ask for the parent-death signal: " + error;
    case SetupFailure::kStreams:
      return "cannot set stdin, stdout and stderr: " + error;
    default:
      return error;
  }
}

}  // namespace throttletest::internal
