// Containers and images whose owner has died without removing them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "service/engine_spec.h"

namespace throttletest::internal {

// One thing of ours in an engine.
struct EngineLeftover {
  LauncherKind kind = LauncherKind::kDocker;
  bool image = false;
  std::string name;

  // "docker container throttletest-...".
  std::string ToString() const;
};

// Those of dead owners in one engine, or in both; an engine that is missing or does not answer has
// none. Errors: none.
std::vector<EngineLeftover> FindEngineLeftovers(LauncherKind engine);
std::vector<EngineLeftover> FindEngineLeftovers();

// The names in the output of `ps` or `images` whose owner, which is part of the name, is dead.
// Podman's "localhost/" is taken off.
std::vector<std::string> DeadNames(const std::string& listing);

}  // namespace throttletest::internal
