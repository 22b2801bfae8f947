// Building snapshots by hand.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "throttletest/cgroup/snapshot.h"

namespace throttletest {

inline CpuLevel LevelOf(const std::string& path, std::uint64_t inode, const CpuBandwidth& bandwidth,
                        std::int64_t periods, std::int64_t throttled,
                        std::chrono::nanoseconds throttled_time) {
  CpuLevel level;
  level.path = path;
  level.inode = inode;
  level.bandwidth = bandwidth;
  level.counters = BandwidthCounters{};
  level.counters->periods = periods;
  level.counters->throttled_periods = throttled;
  level.counters->throttled_time = throttled_time;
  return level;
}

// A snapshot `at` after an arbitrary start, on a machine with 8 CPUs.
inline Snapshot SnapshotOf(std::chrono::nanoseconds at, std::vector<CpuLevel> levels,
                           std::optional<std::chrono::nanoseconds> usage = std::nullopt) {
  Snapshot snapshot;
  snapshot.time = std::chrono::steady_clock::time_point(std::chrono::hours(1) + at);
  snapshot.cpu = std::move(levels);
  snapshot.usage = usage;
  snapshot.online = CpuSet::Parse("0-7");
  return snapshot;
}

}  // namespace throttletest
