// JobSpec: a command that runs to its end under limits.
//
//   JobSpec{.command = {"sysbench", "cpu", "run"}, .limits = {.cpus = 0.5}}
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "throttletest/cgroup/limits.h"
#include "throttletest/service/service_spec.h"

namespace throttletest {

// Plain data; every member has an initializer, as in ServiceSpec, whose members of the same name
// mean the same. A job has no port: "{port}" is left as it is written.
struct JobSpec {
  // Program and arguments, run as they are, never through a shell; stdin is empty.
  std::vector<std::string> command = {};
  Limits limits = {};
  std::string image = {};
  std::vector<std::string> files = {};
  std::map<std::string, std::string> env = {};
  std::map<std::string, std::string> secret_env = {};
  LauncherKind launcher = LauncherKind::kAuto;
  // Time between SIGTERM and SIGKILL for a job that is stopped. Units: >= 0, default 2 s.
  std::chrono::nanoseconds stop_grace = std::chrono::seconds(2);
};

}  // namespace throttletest
