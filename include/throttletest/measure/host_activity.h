// HostActivity: what the rest of the machine did during a measurement, which can make its figures
// say more about the machine than about the service.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "throttletest/base/outcome.h"

namespace throttletest {

// All figures are of the measured window.
struct HostActivity {
  // CPU time in which this machine had work but its hypervisor ran another one. Units: 0..1 of the
  // CPU time of all CPUs. Source: /proc/stat, "steal".
  Outcome<double> steal;
  // CPU time that neither the service, nor this process, nor other services that it started used.
  // Units: 0..1 of the CPU time of all CPUs. Source: /proc/stat, less getrusage and cgroups.
  // Absent: a window below 1 s, because /proc/stat counts in ticks of usually 10 ms; the service's
  // own part cannot be read (attached on cgroup v1, without a cpuacct cgroup of its own).
  Outcome<double> others_cpu;
  // What others_cpu is at most: that, or where only the service's own part is missing, both
  // together. Units and absence as there.
  Outcome<double> most_others_cpu;
  // Time in which some task waited for a CPU, those of the service included. Units: 0..1 of the
  // window. Absent: no pressure information. Source: /proc/pressure/cpu.
  Outcome<double> cpu_pressure;
  // Throttled periods of the level above (or of) this process that had most: the load generator was
  // stopped. Absent: no CPU quota above this process.
  Outcome<std::int64_t> own_throttled_periods;
  // That level and its quota, "/ci/job (50 ms per 100 ms (0.5 CPUs))". Absent: empty.
  std::string own_quota;
  // Time this process's cgroup was held by a CPU limit on a level that cannot be seen. Units: ns
  // summed over CPUs. Absent: all levels are visible, or kernel older than 6.6. Source:
  // cpu.stat.local.
  Outcome<std::chrono::nanoseconds> own_held_by_unseen;
  // Those levels in words, as UnseenLevels(). Absent: empty, all are visible.
  std::string own_unseen;
};

}  // namespace throttletest
