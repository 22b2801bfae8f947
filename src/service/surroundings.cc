#include "service/surroundings.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string_view>

#include "cgroup/control_file.h"

namespace throttletest::internal {
namespace {

using Status = HostFinding::Status;

// Source: linux/proc_ns.h, the numbers of the namespaces a machine boots with.
constexpr std::string_view kFirstCgroupNamespace = "cgroup:[4026531835]";
constexpr std::string_view kFirstPidNamespace = "pid:[4026531836]";

// False where the kernel has no such namespaces, or /proc is not mounted.
bool IsAnother(const std::string& link, std::string_view first) {
  std::array<char, 64> name{};
  const ssize_t size = ::readlink(link.c_str(), name.data(), name.size());
  return size > 0 && std::string_view(name.data(), static_cast<std::size_t>(size)) != first;
}

}  // namespace

Surroundings Surroundings::Look(bool levels_hidden, const std::string& fs_root) {
  Surroundings around;
  around.own_cgroup_namespace = IsAnother(fs_root + "/proc/self/ns/cgroup", kFirstCgroupNamespace);
  around.own_pid_namespace = IsAnother(fs_root + "/proc/self/ns/pid", kFirstPidNamespace);
  if (!around.own_cgroup_namespace && !around.own_pid_namespace && !levels_hidden) return around;
  around.container = "unknown";
  if (Exists(fs_root + "/var/run/secrets/kubernetes.io")) {
    around.container = "kubernetes";
  } else if (Exists(fs_root + "/run/.containerenv")) {
    around.container = "podman";
  } else if (Exists(fs_root + "/.dockerenv")) {
    around.container = "docker";
  }
  return around;
}

HostFinding ContainerFinding(const Surroundings& surroundings) {
  HostFinding finding{.topic = "container", .status = Status::kOk, .detail = "no", .advice = ""};
  if (!surroundings.container) return finding;
  finding.detail = fmt::format("yes ({}), with {} cgroup namespace and {} PID namespace",
                               *surroundings.container,
                               surroundings.own_cgroup_namespace ? "its own" : "the host's",
                               surroundings.own_pid_namespace ? "its own" : "the host's");
  return finding;
}

HostFinding UnseenFinding(const std::optional<ControllerLocation>& cpu, bool tells) {
  HostFinding finding{
      .topic = "unseen levels", .status = Status::kOk, .detail = "none", .advice = ""};
  if (!cpu || !cpu->ancestors_hidden) return finding;
  finding.status = Status::kWarning;
  finding.detail = UnseenLevels(*cpu);
  finding.advice = tells ? "a CPU limit there that holds the service or the load generator makes a "
                           "run inconclusive"
                         : "a CPU limit there would hold service and load generator unnoticed, "
                           "because this kernel does not tell (cpu.stat.local needs 6.6): give the "
                           "container none, or measure outside it";
  return finding;
}

}  // namespace throttletest::internal
