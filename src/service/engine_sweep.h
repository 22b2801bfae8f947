// Containers and images whose owner has died without removing them.
#pragma once

#include <string>
#include <vector>

#include "throttletest/service/cleanup.h"

namespace throttletest::internal {

// Those of this user, in all engines whose command is installed. Errors: none, an engine that does
// not answer is named in the result.
LeftoverSearch FindEngineLeftovers();
// Those in one engine.
LeftoverSearch FindEngineLeftovers(LauncherKind engine);

// See RemoveLeftover().
std::string RemoveEngineLeftover(const Leftover& leftover);

// Removes what is found in one engine, and returns what it removed. Errors: none.
std::vector<std::string> SweepEngineLeftovers(LauncherKind engine);

// The names in the output of `ps` or `images` whose owner, which is part of the name, is dead.
// Podman's "localhost/" is taken off.
std::vector<std::string> DeadNames(const std::string& listing);

}  // namespace throttletest::internal
