#include "service/attach_process.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>

#include "throttletest/base/error.h"

namespace throttletest::internal {
namespace {

constexpr const char* kNoSuchProcess = "there is no such process";

// The process that `thread` is part of. Absent: 0, not known. Source: /proc/PID/status, Tgid.
pid_t ProcessOfThread(pid_t thread) {
  std::ifstream status(fmt::format("/proc/{}/status", thread));
  std::string key;
  while (status >> key) {
    pid_t value = 0;
    if (key == "Tgid:") return status >> value ? value : 0;
    status.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return 0;
}

// Absent: 0, it may not be looked at.
ino_t NetworkOf(const std::string& process) {
  struct stat info {};
  return ::stat(("/proc/" + process + "/ns/net").c_str(), &info) == 0 ? info.st_ino : 0;
}

}  // namespace

std::string WhyNoService(const std::optional<ProcessStat>& stat) {
  if (!stat) return kNoSuchProcess;
  if (stat->kernel_thread) return "it is a thread of the kernel, not a service";
  if (stat->ended()) return "it has ended (a zombie that its parent has not collected)";
  return {};
}

UniqueFd HoldProcess(pid_t pid) {
  // /proc also has an entry for each thread, which no listing shows.
  if (const pid_t process = ProcessOfThread(pid); process > 0 && process != pid) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("it is a thread of process {}: give that process", process));
  }
  UniqueFd held(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  const int error = errno;
  const auto stat = ReadProcessStat(pid);
  if (const std::string reason = WhyNoService(stat); !reason.empty()) {
    throw Error(stat && stat->kernel_thread ? ErrorCode::kUnsupported : ErrorCode::kNotReady,
                reason);
  }
  if (held.valid()) return held;
  if (error == ESRCH) throw Error(ErrorCode::kNotReady, kNoSuchProcess);
  throw Error(ErrorCode::kUnsupported,
              fmt::format("it cannot be watched (pidfd_open): {}", std::strerror(error)));
}

bool HasEnded(const UniqueFd& held) {
  struct pollfd look = {.fd = held.get(), .events = POLLIN, .revents = 0};
  int ready = -1;
  do {
    ready = ::poll(&look, 1, 0);
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

std::optional<pid_t> OldestProcess(const std::vector<pid_t>& processes,
                                   const std::string& proc_root) {
  std::optional<pid_t> oldest;
  std::uint64_t began = 0;
  for (const pid_t pid : processes) {
    const auto stat = ReadProcessStat(pid, proc_root);
    if (!WhyNoService(stat).empty()) continue;
    const bool older =
        !oldest || stat->start_ticks < began || (stat->start_ticks == began && pid < *oldest);
    if (!older) continue;
    oldest = pid;
    began = stat->start_ticks;
  }
  return oldest;
}

std::string ProgramName(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/comm", pid));
  std::string name;
  std::getline(file, name);
  return name;
}

bool InOtherNetwork(pid_t pid) {
  const ino_t theirs = NetworkOf(std::to_string(pid));
  const ino_t ours = NetworkOf("self");
  return theirs != 0 && ours != 0 && theirs != ours;
}

}  // namespace throttletest::internal
