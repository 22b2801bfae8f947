// Deployed: a service as a Compose file may say it, for tests of what is made of such services.
#pragma once

#include <optional>
#include <string>

#include "throttletest/deploy/deployed_service.h"

namespace throttletest::testing_support {

// Begins in line 3 of compose.yaml, with its limit in line 4.
inline DeployedService Deployed(const std::string& name, std::optional<double> cpus,
                                int replicas = 1) {
  DeployedService service;
  service.name = name;
  service.file = "compose.yaml";
  service.line = 3;
  service.limits.cpus = cpus;
  if (cpus) service.limits.origins = {{"compose.yaml", 4, "services." + name + ".cpus", "x"}};
  service.replicas = replicas;
  return service;
}

}  // namespace throttletest::testing_support
