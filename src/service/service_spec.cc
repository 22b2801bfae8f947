#include "throttletest/service/service_spec.h"

#include <fmt/format.h>

#include "throttletest/base/error.h"

namespace throttletest {

const char* LauncherName(LauncherKind kind) {
  switch (kind) {
    case LauncherKind::kAuto:
      return "auto";
    case LauncherKind::kCgroup:
      return "cgroup";
    case LauncherKind::kDocker:
      return "docker";
    case LauncherKind::kPodman:
      return "podman";
    case LauncherKind::kAttached:
      return "attached";
  }
  return "unknown";
}

LauncherKind ParseLauncher(const std::string& name) {
  for (const LauncherKind kind :
       {LauncherKind::kAuto, LauncherKind::kCgroup, LauncherKind::kDocker, LauncherKind::kPodman}) {
    if (name == LauncherName(kind)) return kind;
  }
  throw Error(
      ErrorCode::kInvalidArgument,
      fmt::format("launcher \"{}\" is unknown: write auto, cgroup, docker or podman", name));
}

}  // namespace throttletest
