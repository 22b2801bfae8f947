#include "service/reaper.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>

namespace throttletest::internal {
namespace {

constexpr int kMaxDepth = 16;
constexpr int kOpenDir = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;

// The layout getdents64 fills in.
struct RawEntry {
  std::uint64_t inode;
  std::int64_t offset;
  std::uint16_t length;
  std::uint8_t type;
  char name[1];
};

// Calls `visit(fd, name)` for each directory in the directory `fd`.
template <typename Visit>
void ForEachSubdirectory(int fd, const Visit& visit) {
  constexpr std::uint8_t kDirectory = 4;  // DT_DIR
  ::lseek(fd, 0, SEEK_SET);
  alignas(RawEntry) std::array<char, 4096> buffer;
  while (true) {
    const long size = ::syscall(SYS_getdents64, fd, buffer.data(), buffer.size());
    if (size <= 0) return;
    for (long at = 0; at < size;) {
      const auto* entry = reinterpret_cast<const RawEntry*>(buffer.data() + at);
      at += entry->length;
      if (entry->type != kDirectory || entry->name[0] == '.') continue;
      visit(fd, static_cast<const char*>(entry->name));
    }
  }
}

void KillListed(int procs) {
  const pid_t self = ::getpid();
  std::array<char, 4096> buffer;
  // Continued over the end of a buffer. 0 stands for a process of another PID namespace and would
  // mean our own process group to kill().
  long pid = 0;
  while (true) {
    const ssize_t size = ::read(procs, buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return;
    for (ssize_t i = 0; i < size; ++i) {
      const char c = buffer[static_cast<std::size_t>(i)];
      if (c >= '0' && c <= '9') {
        pid = pid * 10 + (c - '0');
        continue;
      }
      if (pid > 1 && pid != self) ::kill(static_cast<pid_t>(pid), SIGKILL);
      pid = 0;
    }
  }
}

void KillIn(int directory, int depth) {
  // Spares nobody, but one write kills also what forks as fast as it dies. Absent on v1.
  const int kill_file = ::openat(directory, "cgroup.kill", O_WRONLY | O_CLOEXEC);
  if (kill_file >= 0) {
    [[maybe_unused]] const ssize_t written = ::write(kill_file, "1", 1);
    ::close(kill_file);
  }
  const int procs = ::openat(directory, "cgroup.procs", O_RDONLY | O_CLOEXEC);
  if (procs >= 0) {
    KillListed(procs);
    ::close(procs);
  }
  if (depth >= kMaxDepth) return;
  ForEachSubdirectory(directory, [depth](int parent, const char* name) {
    const int child = ::openat(parent, name, kOpenDir);
    if (child < 0) return;
    KillIn(child, depth + 1);
    ::close(child);
  });
}

void RemoveBelow(int directory, int depth) {
  if (depth >= kMaxDepth) return;
  ForEachSubdirectory(directory, [depth](int parent, const char* name) {
    const int child = ::openat(parent, name, kOpenDir);
    if (child < 0) return;
    RemoveBelow(child, depth + 1);
    ::close(child);
    ::unlinkat(parent, name, AT_REMOVEDIR);
  });
}

bool IsInsideCgroupFs(int directory) {
  struct statfs fs {};
  if (::fstatfs(directory, &fs) != 0) return false;
  if (fs.f_type != CGROUP_SUPER_MAGIC && fs.f_type != CGROUP2_SUPER_MAGIC) return false;
  struct stat self {};
  struct stat parent {};
  return ::fstat(directory, &self) == 0 && ::fstatat(directory, "..", &parent, 0) == 0 &&
         self.st_dev == parent.st_dev;
}

}  // namespace

void SleepMs(std::int64_t ms) {
  const timespec wait{.tv_sec = ms / 1000, .tv_nsec = static_cast<long>(ms % 1000) * 1000000};
  ::nanosleep(&wait, nullptr);
}

std::int64_t NowMs() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1000000;
}

bool ReapCgroup(const char* directory, std::int64_t timeout_ms) {
  const std::int64_t end = NowMs() + timeout_ms;
  while (true) {
    const int fd = ::open(directory, kOpenDir);
    if (fd < 0) return errno == ENOENT;
    const bool ours = IsInsideCgroupFs(fd);
    if (ours) {
      KillIn(fd, 0);
      RemoveBelow(fd, 0);
    }
    ::close(fd);
    if (!ours) return false;
    if (::rmdir(directory) == 0 || errno == ENOENT) return true;
    if (NowMs() >= end) return false;
    SleepMs(5);
  }
}

}  // namespace throttletest::internal
