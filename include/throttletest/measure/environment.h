// Environment: where a measurement was taken; figures of two environments are not comparable.
#pragma once

#include <string>

namespace throttletest {

// Absent: an empty text or 0 where the system does not say.
struct Environment {
  std::string throttletest_version;
  std::string kernel;     // uname -r
  std::string cpu_model;  // /proc/cpuinfo, first "model name"
  int online_cpus = 0;
  std::string cgroup_mode;  // "v2", "v1", "hybrid"
  // kernel.sched_cfs_bandwidth_slice_us. Absent: 0.
  int bandwidth_slice_us = 0;
  std::string timestamp;  // start of the measurement, UTC, ISO 8601
};

// Reads it now. `proc_root` replaces "/proc", so that tests can feed a recorded tree. Errors: none.
Environment ReadEnvironment(const std::string& proc_root = "/proc");

}  // namespace throttletest
