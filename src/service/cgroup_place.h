// CgroupPlace: where this process may make cgroups for services.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "service/systemd_manager.h"
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
  // The parent is a scope that this manager has to make first; `parent` then only says which
  // controllers it will have. Absent: the parent is there.
  std::optional<SystemdManager> systemd = std::nullopt;
  // These are in the v2 parent itself, which then can enable nothing, and have to leave it for a
  // leaf below it: this process and those that started it, in a container that gives them its root.
  std::vector<pid_t> move_to_leaf = {};

  // "/sys/fs/cgroup/a", "a scope of the systemd manager of this user".
  std::string ToString() const;
};

// The leaf for processes that stood in the way. It stays: it is theirs from then on.
inline constexpr const char* kLeafName = "init";

// A place, or why there is none and what to do about it.
struct PlaceAnswer {
  std::optional<CgroupPlace> place = std::nullopt;
  ErrorCode code = ErrorCode::kUnsupported;
  std::string lack = {};
};

// Looks for a place; changes nothing.
//
// v1: below this process's own cgroup of each controller. v2: below the nearest cgroup upwards from
// our own that has, or can be given, the controllers for children. Our own can only if it is the
// root or, in a container, if nobody is in it but `line`: a v2 cgroup with processes cannot have
// controllers for children. `own` is where this process is, `line` this process and its parents;
// `fs_root` is put before every path that is opened.
PlaceAnswer FindCgroupPlace(const CgroupLocation& own, const CgroupNeeds& needs,
                            const std::string& fs_root = "", const std::vector<pid_t>& line = {});
// On v2 where systemd runs the machine: in a scope of `systemd`, or which controller it lacks.
PlaceAnswer FindScopePlace(const CgroupLocation& own, const CgroupNeeds& needs,
                           const SystemdManager& systemd);
// The right one of the two for this process. Errors: none, they are in the answer.
PlaceAnswer FindCgroupPlace(const CgroupNeeds& needs);

}  // namespace throttletest::internal
