// OomWatch: how many processes of a container were OOM-killed, also when its engine has already
// removed the cgroup that counted them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "throttletest/cgroup/location.h"

namespace throttletest::internal {

// Holds what outlives the cgroup: open counter files, on v1 an OOM notification, on v2 the parent's
// hierarchical counter at the start. Move-only.
class OomWatch {
 public:
  explicit OomWatch(const CgroupLocation& location, const std::string& fs_root = "");
  OomWatch(OomWatch&&) noexcept;
  OomWatch& operator=(OomWatch&&) noexcept;
  ~OomWatch();

  // The number so far. `engine_says` is the engine's own flag (State.OOMKilled). Once the cgroup is
  // gone, "at least one" is all that can be known and reads as 1.
  // Absent: not known, because the cgroup went before it was read and nothing else tells.
  std::optional<std::int64_t> Count(std::optional<bool> engine_says);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace throttletest::internal
