// EndWatch: waits for a process's end and reads its cgroup in the same instant.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/unique_fd.h"
#include "throttletest/cgroup/snapshot.h"

namespace throttletest::internal {

// How a process's end was seen.
struct SeenEnd {
  std::chrono::steady_clock::time_point time;
  // All counters of its cgroup, read when it had ended. Absent: the cgroup was gone, see `lack`.
  std::optional<Snapshot> counters = {};
  std::string lack = {};
  // Processes that were still in the cgroup then. Units: >= 0.
  std::size_t left = 0;
};

// A container's cgroup goes a few milliseconds after its last process, so nothing but a thread that
// sleeps on the process's end can read what the counters were then: the kernel wakes it when the
// last thread has ended, long before the engine's own parts have heard of it.
class EndWatch {
 public:
  // `process`: a pidfd, or invalid for one that has ended. The cgroup is opened at once. Errors:
  // kCgroup.
  EndWatch(UniqueFd process, const CgroupLocation& location);
  EndWatch(const EndWatch&) = delete;
  EndWatch& operator=(const EndWatch&) = delete;
  ~EndWatch();

  // True when the process has ended, or does so within that time.
  bool Wait(std::chrono::nanoseconds within);
  // Absent: it runs.
  std::optional<SeenEnd> end() const;

 private:
  void Watch();

  UniqueFd process_;
  UniqueFd stop_;  // an eventfd
  Cgroup cgroup_;
  mutable std::mutex mutex_;
  std::condition_variable ended_;
  std::optional<SeenEnd> end_;
  std::thread thread_;
};

}  // namespace throttletest::internal
