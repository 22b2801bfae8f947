// Limits: what a test asks of the container, and the exact numbers that become of it.
//
//   Limits{.cpus = 1.5, .memory = 256_MiB}
//   Limits{.quota = 50ms, .period = 100ms, .burst = 20ms, .cpuset = "0-1"}
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "throttletest/base/byte_size.h"
#include "throttletest/cgroup/cpu_set.h"
#include "throttletest/cgroup/limit_origin.h"

namespace throttletest {

// The limits of a service as the user declares them. Plain data; ResolveLimits() validates.
struct Limits {
  // CPU bandwidth in CPUs, e.g. 0.5. Units: CPUs, quota = cpus x period truncated to whole us, at
  // least 1 ms of quota (0.01 at the default period). Absent: no quota. Not together with `quota`.
  std::optional<double> cpus = {};
  // CPU time per period. Units: >= 1 ms. Absent: from `cpus`, else no quota.
  std::optional<std::chrono::microseconds> quota = {};
  // Enforcement period. Units: 1 ms..1 s, default 100 ms (the kernel's default).
  std::optional<std::chrono::microseconds> period = {};
  // CPU time that may be saved up and used on top of one period's quota. Units: 0..quota, default
  // 0. Needs a quota. Kernel 5.14 or newer; not settable by container engines, so the docker and
  // podman launchers write it into the container's cgroup themselves.
  std::optional<std::chrono::microseconds> burst = {};
  // CPUs the service may run on, "0-3,7". Empty: all.
  std::string cpuset = {};
  // Memory limit. Units: >= 6 MiB (the engines' floor, kept for all launchers). Absent: none.
  std::optional<ByteSize> memory = {};
  // Memory PLUS swap, as the container engines define it; ByteSize::Unlimited() = swap without
  // limit; equal to `memory` = no swap. Absent: as the engines do, twice `memory`. Needs `memory`.
  std::optional<ByteSize> memory_swap = {};
  // The lines these limits were read from, by LimitsFromCompose() and LimitsFromManifest();
  // messages name them. Absent: empty, the limits were written in the test.
  std::vector<LimitOrigin> origins = {};

  // Whether the same is asked for, wherever it was written.
  friend bool operator==(const Limits& a, const Limits& b) {
    return a.cpus == b.cpus && a.quota == b.quota && a.period == b.period && a.burst == b.burst &&
           a.cpuset == b.cpuset && a.memory == b.memory && a.memory_swap == b.memory_swap;
  }
};

// CPU bandwidth as the kernel holds it.
// Units: microseconds. Absent: an empty quota means unlimited (a period may still be set).
// Source: v2 cpu.max and cpu.max.burst; v1 cpu.cfs_quota_us, cpu.cfs_period_us, cpu.cfs_burst_us.
struct CpuBandwidth {
  std::optional<std::chrono::microseconds> quota = {};
  std::chrono::microseconds period = std::chrono::milliseconds(100);
  std::chrono::microseconds burst{0};

  bool limited() const { return quota.has_value(); }
  // quota / period. Absent: empty when unlimited.
  std::optional<double> cpus() const;

  friend bool operator==(const CpuBandwidth&, const CpuBandwidth&) = default;
};

// Validated limits in the kernel's units: what a launcher sets and what is expected on reading
// back.
struct ResolvedLimits {
  CpuBandwidth cpu = {};
  std::optional<CpuSet> cpuset = {};             // Absent: not restricted.
  std::optional<ByteSize> memory = {};           // Absent: not limited.
  std::optional<ByteSize> memory_and_swap = {};  // Absent: not limited or no memory limit.

  friend bool operator==(const ResolvedLimits&, const ResolvedLimits&) = default;
};

// Checks `limits` against the kernel's ranges and this machine's CPUs and converts them.
//
// `online` is the set of CPUs the machine has (OnlineCpus()). A cpus value above the number of CPUs
// is legal for the kernel and accepted here; `docker` refuses it by itself, and its launcher says
// so. Errors: kInvalidArgument; the message quotes the value, the kernel's range and the likely
// intent (e.g. "period 100 us is below 1000 us; did you mean 100 ms?"), and where the limits come
// from when they were read from a file.
ResolvedLimits ResolveLimits(const Limits& limits, const CpuSet& online);

// "cpus 0.5 (50 ms per 100 ms), memory 64 MiB", or "none".
std::string ToString(const Limits& limits);
std::string ToString(const ResolvedLimits& limits);
// "50 ms per 100 ms (0.5 CPUs), burst 20 ms", or "unlimited".
std::string ToString(const CpuBandwidth& bandwidth);

}  // namespace throttletest
