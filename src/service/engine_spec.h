// Engine: a container engine's command that works here, and what is special about it. docker and
// podman share everything else.
#pragma once

#include <string>
#include <vector>

#include "service/engine_inspect.h"
#include "service/subprocess.h"
#include "throttletest/service/service_spec.h"

namespace throttletest::internal {

// What is known of the engine's surroundings. A value, so that tests can make one up.
struct EngineHost {
  bool hybrid_cgroups = false;   // controllers on v1, and a v2 tree beside them
  bool systemd_runs = false;     // as PID 1
  bool may_raise_limits = true;  // CAP_SYS_RESOURCE
  // Hard limits that podman's children can have. Absent: -1, unlimited. Source: getrlimit(2) and
  // /proc/sys/kernel/pid_max.
  long long hard_open_files = -1;
  long long hard_processes = -1;
  std::string runc;  // its path. Absent: empty, not installed

  static EngineHost Look();
};

// A usable engine.
struct Engine {
  LauncherKind kind = LauncherKind::kDocker;
  EngineInfo info;
  std::vector<std::string> global_options;  // before the subcommand, for every call
  std::vector<std::string> run_options;     // of its own for `run`

  std::string name() const { return LauncherName(kind); }
  // "docker 20.10.24 (cgroupfs)".
  std::string version() const;
  // The same and more, for people: "podman 4.3.1, cgroup driver systemd, runtime crun, rootless".
  std::string Describe() const;
  // The whole argument vector of one call.
  std::vector<std::string> Argv(const std::vector<std::string>& call) const;
  CommandResult Call(const std::vector<std::string>& call,
                     const CommandOptions& options = {}) const;
};

// Finds the engine and asks it whether limits can hold there. A success is remembered for this
// process. Errors: kNoContainerRuntime (no command, no answer), kPermission, kUnsupported (remote,
// in a virtual machine, no delegation); each with the way out.
Engine OpenEngine(LauncherKind kind);

// The pure parts of OpenEngine().
//
// Why limits cannot be set or read there. Absent: empty, they can.
std::string LimitLack(LauncherKind kind, const EngineInfo& info);
// The engine's endpoint is a socket of this machine.
bool IsLocalEndpoint(const std::string& endpoint);
// Options that make podman work on this host. Errors: kUnsupported when nothing does.
Engine AdaptPodman(EngineInfo info, const EngineHost& host);

}  // namespace throttletest::internal
