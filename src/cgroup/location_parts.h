// The controllers of a location one after the other, for what is done to each alike.
#pragma once

#include <array>
#include <optional>

#include "throttletest/cgroup/location.h"

namespace throttletest::internal {

// cpu first. Absent ones are in it, too.
inline std::array<std::optional<ControllerLocation>*, 5> PartsOf(CgroupLocation& location) {
  return {&location.cpu, &location.cpuacct, &location.cpuset, &location.memory, &location.unified};
}
inline std::array<const std::optional<ControllerLocation>*, 5> PartsOf(
    const CgroupLocation& location) {
  return {&location.cpu, &location.cpuacct, &location.cpuset, &location.memory, &location.unified};
}

}  // namespace throttletest::internal
