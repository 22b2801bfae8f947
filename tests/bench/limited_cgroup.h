// LimitedCgroup: a real cgroup with a CPU limit, for timing reads of it.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "throttletest/cgroup/location.h"

namespace throttletest::bench {

// Made by the constructor, removed by the destructor.
class LimitedCgroup {
 public:
  // Errors: throttletest::Error when no cgroup can be made here.
  LimitedCgroup();
  LimitedCgroup(const LimitedCgroup&) = delete;
  LimitedCgroup& operator=(const LimitedCgroup&) = delete;
  ~LimitedCgroup();

  // Starts a process in it that uses the limit up, and ends it. Errors: throttletest::Error.
  void StartWork();
  void StopWork();

  const CgroupLocation& location() const { return location_; }
  // The same process in the v2 tree of a hybrid machine, where the cpu controller is not enabled.
  // Absent: the machine has no such tree beside v1.
  std::optional<CgroupLocation> Unified() const;

 private:
  CgroupLocation location_;
  pid_t worker_ = -1;
};

}  // namespace throttletest::bench
