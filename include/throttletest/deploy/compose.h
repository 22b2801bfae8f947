// The limits of a Compose file, so that a test runs under the very limits that are deployed.
//
//   ServiceSpec Service() override {
//     return {.command = {SERVER, "--port={port}"},
//             .limits = LimitsFromCompose(SOURCE_DIR "/compose.yaml", "web")};
//   }
//
// Whoever edits the limit there has edited the test, and a budget that is missed names the line.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "throttletest/cgroup/limits.h"
#include "throttletest/deploy/deployed_service.h"

namespace throttletest {

// What stands in a Compose file may depend on.
struct ComposeOptions {
  // Variables that win over those of the environment, which win over the .env file beside the file.
  std::map<std::string, std::string> env = {};
  // False: the environment of this process is not looked at.
  bool use_environment = true;
  // Profiles that are active, besides those of COMPOSE_PROFILES. Services of other profiles are not
  // started.
  std::vector<std::string> profiles = {};
};

// The limits of one service as `docker compose -f FILE up` would give them to the engine: cpus,
// cpu_quota, cpu_period, cpuset, mem_limit, memswap_limit and deploy.resources.limits. Anchors,
// merge keys, `extends`, several documents and variables count as the Compose Specification says.
// Variables are looked up only in the values that are needed here: a password that is not set in
// CI is no error.
//
// `file`: absolute, or relative to the working directory of the test.
// Absent: a service that has no limit gives none (Limits{}).
// Errors: kInvalidArgument with file, line, reason and the quoted text: the file cannot be read or
//         is no Compose file, there is no such service, a value is not understood, two values
//         contradict each other (Compose refuses `cpus` beside another
//         deploy.resources.limits.cpus, Docker `cpus` beside cpu_quota), or the kernel could not
//         hold the limit.
// Source: compose-spec.io; for contradictions compose-go's checkConsistency and Docker's API.
Limits LimitsFromCompose(const std::string& file, const std::string& service,
                         const ComposeOptions& options = {});

// All services of the file, in its order. Errors: as LimitsFromCompose(); also when the file
// includes others (`include`), which are not read.
DeployedServices ServicesFromCompose(const std::string& file, const ComposeOptions& options = {});

}  // namespace throttletest
