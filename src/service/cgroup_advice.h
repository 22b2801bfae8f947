// What to do where the cgroup launcher finds no place: as far as possible the line that changes it.
//
// No text has "; " in it, which parts what is missing from the way out in a message.
#pragma once

#include <string>
#include <vector>

#include "throttletest/cgroup/location.h"

namespace throttletest::internal {

inline constexpr const char* kOtherLaunchers = "use the docker or podman launcher";

// For an ordinary user, or where a controller is not handed down.
std::string DelegatedCgroupAdvice();

// True when this process may change mounts (CAP_SYS_ADMIN). Source: /proc/self/status, CapEff.
bool MayMount(const std::string& proc_root = "/proc");

// The mount points of `own` that nobody may write to, each once.
std::vector<std::string> ReadOnlyMounts(const CgroupLocation& own, const std::string& fs_root = "");

// For cgroup file systems that are mounted read-only, as engines do in containers.
std::string ReadOnlyAdvice(const std::vector<std::string>& mount_points, bool may_mount);

// For the root of a container that holds processes which did not start this one: a `docker exec`
// beside the first process, as CI services do.
std::string MoveAllAdvice(const std::string& directory);

}  // namespace throttletest::internal
