// What is around this process: a container or not, and what it does not show.
#pragma once

#include <optional>
#include <string>

#include "throttletest/cgroup/location.h"
#include "throttletest/service/host.h"

namespace throttletest::internal {

struct Surroundings {
  // "docker", "podman", "kubernetes", "unknown" for another kind. Absent: no sign of a container.
  std::optional<std::string> container = {};
  bool own_cgroup_namespace = false;
  bool own_pid_namespace = false;

  // Never wrong about the namespaces; a container may hide that it is one. `fs_root` is put before
  // every path that is opened. Errors: none.
  static Surroundings Look(const std::string& fs_root = "");
};

HostFinding ContainerFinding(const Surroundings& surroundings);
// `tells`: the kernel says of this process's cgroup how long it was held (cpu.stat.local).
HostFinding UnseenFinding(const std::optional<ControllerLocation>& cpu, bool tells);

}  // namespace throttletest::internal
