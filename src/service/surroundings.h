// What is around this process: a container or not, and what it does not show.
#pragma once

#include <optional>
#include <string>

#include "throttletest/cgroup/location.h"
#include "throttletest/service/host.h"

namespace throttletest::internal {

struct Surroundings {
  // "docker", "podman", "kubernetes", "unknown" for another kind. Absent: all namespaces are the
  // machine's and all of the cgroup tree is visible.
  std::optional<std::string> container = {};
  bool own_cgroup_namespace = false;
  bool own_pid_namespace = false;

  // `levels_hidden`: a part of the cgroup tree cannot be seen. The files that engines leave say
  // which kind it is and no more: root file systems of machines are made from images, too.
  // `fs_root` is put before every path that is opened. Errors: none.
  static Surroundings Look(bool levels_hidden, const std::string& fs_root = "");
};

HostFinding ContainerFinding(const Surroundings& surroundings);
// `tells`: the kernel says of this process's cgroup how long it was held (cpu.stat.local).
HostFinding UnseenFinding(const std::optional<ControllerLocation>& cpu, bool tells);

}  // namespace throttletest::internal
