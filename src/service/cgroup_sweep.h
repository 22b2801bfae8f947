// Cgroups whose owner has died without removing them.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "throttletest/service/cleanup.h"

namespace throttletest::internal {

// Those of this user, anywhere in the mounted hierarchies: a dead owner may have run in another
// cgroup than this process. Errors: none.
std::vector<Leftover> FindCgroupLeftovers();
// The same below `root`; `user` is who must own the directories.
std::vector<std::string> DeadCgroupsBelow(const std::string& root, uid_t user);

// See RemoveLeftover().
std::string RemoveCgroupLeftover(const Leftover& leftover);

// Removes what is found, and returns what it removed. Errors: none.
std::vector<std::string> SweepCgroupLeftovers();

}  // namespace throttletest::internal
