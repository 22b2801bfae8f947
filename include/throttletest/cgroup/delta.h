// CgroupDelta: what happened between two snapshots, each figure with its three outcomes.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "throttletest/base/outcome.h"
#include "throttletest/cgroup/snapshot.h"

namespace throttletest {

// The same figures for one level of the chain that has a quota.
struct LevelDelta {
  std::string path = {};
  CpuBandwidth bandwidth = {};
  std::int64_t periods = 0;
  std::int64_t throttled_periods = 0;
  std::chrono::nanoseconds throttled_time{0};
  Outcome<double> throttle_ratio;
};

// Why two snapshots must not be compared.
struct CgroupFault {
  enum class Kind {
    kIdentity,  // another cgroup: the service was restarted or moved
    kLimit,     // a limit, a cpuset or the online CPUs changed
    kCounter,   // a counter shrank or is no longer there
  };
  Kind kind = Kind::kCounter;
  std::string text = {};  // with both figures: "/a: nr_periods went backwards, from 100 to 99: ..."

  friend bool operator==(const CgroupFault&, const CgroupFault&) = default;
};

// Differences of two snapshots of one cgroup.
//
// The CPU figures describe the JUDGED level: of all visible levels with a quota, the one with the
// highest throttle ratio, so that an ancestor's limit is never overlooked (judged_path names it).
// Absent: without any quota in force the bandwidth figures are not available, "no CPU quota in
// force".
struct CgroupDelta {
  std::chrono::nanoseconds wall{0};

  // d(nr_throttled)/d(nr_periods), 0..1. Inconclusive: no period elapsed (0/0); fewer than
  // kMinPeriods periods is for the budget to judge. Clamped to 1 with a note (torn read).
  Outcome<double> throttle_ratio;
  Outcome<std::int64_t> periods;
  Outcome<std::int64_t> throttled_periods;
  // Units: ns summed over CPUs; may exceed wall; the end of a throttle in progress is not in yet.
  Outcome<std::chrono::nanoseconds> throttled_time;
  // throttled_time / wall, >= 0, may exceed 1.
  Outcome<double> throttled_per_second;
  Outcome<std::int64_t> bursts;
  Outcome<std::chrono::nanoseconds> burst_time;
  // Leaf's time held by its own or an ancestor's quota. Not available: kernel older than 6.6, or
  // there is no ancestor that could hold it.
  Outcome<std::chrono::nanoseconds> held_time;
  // The part of held_time that no visible level accounts for: a quota on a level that cannot be
  // seen from here held the service. Not available: every level is visible, or kernel older than
  // 6.6, which does not tell.
  Outcome<std::chrono::nanoseconds> held_by_unseen;

  Outcome<std::chrono::nanoseconds> usage;  // CPU time, leaf and descendants
  Outcome<double> usage_cores;              // usage / wall, in CPUs
  Outcome<double> usage_of_limit;           // usage_cores / effective limit
  Outcome<double> usage_of_host;            // usage_cores / online CPUs

  // The kernel's own mark, which misses no short use. Units: bytes.
  Outcome<std::int64_t> memory_peak;
  // The mark is the window's: it was raised between the snapshots, or set back at the first. False:
  // it is of the cgroup's life and was reached before; the window's own peak is at most that.
  bool memory_peak_of_window = false;
  Outcome<std::int64_t> oom_kills;  // new ones
  Outcome<std::chrono::nanoseconds> cpu_pressure_some;
  Outcome<std::chrono::nanoseconds> memory_pressure_some;

  EffectiveCpuLimit effective;                  // at the second snapshot
  std::optional<std::int64_t> cpu_weight = {};  // as Snapshot::cpu_weight, at the second one
  std::string judged_path;  // level the bandwidth figures are of; empty without a quota
  bool judged_is_ancestor = false;
  std::vector<LevelDelta> levels;  // all levels with a quota, leaf first
  std::string unseen;              // the levels that cannot be seen, as UnseenLevels(); empty: none
  // Empty: the two snapshots may be compared. Else every figure above is inconclusive with these
  // reasons.
  std::vector<CgroupFault> faults;
  // Worth telling but harmless: clamped ratio, kernel scaled the period with the same share.
  std::vector<std::string> notes;
};

// Subtracts. Errors: none; what cannot be trusted is in `faults` and in each Outcome.
CgroupDelta Subtract(const Snapshot& before, const Snapshot& after);

}  // namespace throttletest
