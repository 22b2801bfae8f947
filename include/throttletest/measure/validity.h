// Validity: may the figures of a run be trusted? One fault is enough to make the run inconclusive.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace throttletest {

// The gates. Each has a stable name for JSON (ValidityGateName).
enum class ValidityGate {
  kStartLag,           // "start_lag": the generator sent late
  kNotSent,            // "not_sent": the generator could not send some requests
  kServiceGone,        // "service_gone": exited, was OOM-killed or restarted
  kMoved,              // "moved": a process left the limited cgroup
  kLimitChanged,       // "limit_changed"
  kIdentityChanged,    // "identity_changed": the cgroup was removed and made again
  kCountersBackwards,  // "counters_backwards"
  kSteal,              // "steal": the hypervisor ran something else
  kHostBusy,           // "host_busy": other processes used the machine's CPUs
  kOwnThrottled,       // "own_throttled": the load generator itself was stopped by a CPU quota
  kUnseenLimit,        // "unseen_limit": a CPU limit that cannot be seen held the service
  kBackgroundLoad,     // "background_load": one began, was stopped or lost its service meanwhile
  kInterrupted,        // "interrupted"
};
const char* ValidityGateName(ValidityGate gate);

struct ValidityFault {
  ValidityGate gate;
  std::string text;  // with the figure and the bound: "start lag P99 41.0 ms is above 25 ms"
};

struct Validity {
  std::vector<ValidityFault> faults;
  bool trusted() const { return faults.empty(); }
  // The faults' texts joined by "; ".
  std::string ToString() const;
};

// What is still trusted. Adjustable per measurement.
struct ValidityBounds {
  // Largest trusted 99th percentile (nearest rank) of start lag. Units: >= 0. Absent: 25 ms, or a
  // tenth of the median response time where that is more (DefaultStartLagBound). A virtual CPU that
  // has to be woken costs about 1 ms, a busy neighbour some 10 ms, and lag is part of the response
  // time that budgets judge: it matters less, the longer that is. Of a job it bounds how late its
  // start may have been seen, with its elapsed time for the median.
  std::optional<std::chrono::nanoseconds> start_lag_p99 = {};
  // Smallest number of enforcement periods for a throttle ratio. Units: >= 1, default 10.
  std::int64_t min_periods = 10;
  // Largest trusted HostActivity::steal. Units: 0..1, default 0.05; 1 switches the gate off.
  double max_steal = 0.05;
  // Largest trusted HostActivity::others_cpu. Units: 0..1, default 0.25: half a CPU on a machine
  // with two is what a desktop does at rest; 1 switches the gate off.
  double max_others_cpu = 0.25;
  // Largest trusted HostActivity::own_throttled_periods. Units: >= 0, default 0.
  std::int64_t max_own_throttled_periods = 0;
};

// The bound on start lag that is in force where none is given. Absent median: no request succeeded.
std::chrono::nanoseconds DefaultStartLagBound(
    std::optional<std::chrono::nanoseconds> median_response_time);

// Errors: kInvalidArgument naming the bound that is out of its range.
void Validate(const ValidityBounds& bounds);

}  // namespace throttletest
