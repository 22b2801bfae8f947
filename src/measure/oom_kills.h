// OomKills: how many processes of a cgroup were OOM-killed between two readings.
#pragma once

#include <cstdint>
#include <optional>

#include "throttletest/cgroup/snapshot.h"

namespace throttletest::internal {

// Off the readings and not off their delta, which another fault takes the figure away from. Absent:
// one of them does not have the count.
inline std::optional<std::int64_t> OomKillsBetween(const Snapshot& before, const Snapshot& after) {
  if (!before.memory.oom_kills || !after.memory.oom_kills) return std::nullopt;
  return *after.memory.oom_kills - *before.memory.oom_kills;
}

}  // namespace throttletest::internal
