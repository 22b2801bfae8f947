// CgroupPlace: where this process may make cgroups for services.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "throttletest/base/error.h"
#include "throttletest/cgroup/limits.h"
#include "throttletest/cgroup/location.h"

namespace throttletest::internal {

// Which controllers a start cannot do without. cpu is always needed.
struct CgroupNeeds {
  bool memory = false;
  bool cpuset = false;

  static CgroupNeeds Of(const ResolvedLimits& limits) {
    return {.memory = limits.memory.has_value(), .cpuset = limits.cpuset.has_value()};
  }
};

// The parents of a service's cgroup.
struct CgroupPlace {
  // Controllers that cannot be used here, and are not needed, are left out.
  CgroupLocation parent;
  // Controllers that must first be enabled for children of the v2 parent.
  std::vector<std::string> enable = {};
};

// A place, or why there is none and what to do about it.
struct PlaceAnswer {
  std::optional<CgroupPlace> place = std::nullopt;
  ErrorCode code = ErrorCode::kUnsupported;
  std::string lack = {};
};

// Looks for a place; changes nothing.
//
// v1: below this process's own cgroup of each controller. v2: below the nearest cgroup upwards from
// our own that has, or can be given, the controllers for children. Our own never can unless it is
// the root: it holds us, and a v2 cgroup with processes cannot have controllers for children.
// `own` is where this process is; `fs_root` is put before every path that is opened.
PlaceAnswer FindCgroupPlace(const CgroupLocation& own, const CgroupNeeds& needs,
                            const std::string& fs_root = "");
// The same for this process. Errors: none, they are in the answer.
PlaceAnswer FindCgroupPlace(const CgroupNeeds& needs);

}  // namespace throttletest::internal
