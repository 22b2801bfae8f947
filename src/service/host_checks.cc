#include "service/host_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/number.h"
#include "cgroup/control_file.h"
#include "service/file_lock.h"
#include "throttletest/base/duration.h"

namespace throttletest::internal {
namespace {

using Status = HostFinding::Status;
namespace fs = std::filesystem;

std::optional<std::string> FirstLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  // Where pressure information is off, the file exists and reading it fails.
  if (!std::getline(file, line)) return std::nullopt;
  return line;
}

// The directory or, on the v2 root, which has no such files, a cgroup right below it.
bool HasFile(const std::string& directory, const char* name) {
  if (Exists(fs::path(directory) / name)) return true;
  std::error_code ec;
  for (fs::directory_iterator it(directory, ec), end; !ec && it != end; it.increment(ec)) {
    if (Exists(it->path() / name)) return true;
  }
  return false;
}

}  // namespace

HostFinding ControllerFinding(const std::string& controller, bool required,
                              const std::optional<ControllerLocation>& location) {
  HostFinding finding{
      .topic = "cgroup " + controller, .status = Status::kOk, .detail = "", .advice = ""};
  if (location) {
    finding.detail = fmt::format("{} at {}, this process in {}",
                                 location->version == CgroupVersion::kV2 ? "v2" : "v1",
                                 location->mount_point, location->relative_path);
    return finding;
  }
  finding.status = required ? Status::kLack : Status::kWarning;
  finding.detail = "missing";
  finding.advice = required ? "mount the controller, or enable it in cgroup.subtree_control of the "
                              "levels above (systemd: Delegate=cpu cpuset io memory pids)"
                            : "figures of this controller will read \"not available\"";
  return finding;
}

HostFinding PermissionFinding(const PlaceAnswer& answer) {
  HostFinding finding{
      .topic = "cgroup permission", .status = Status::kOk, .detail = "", .advice = ""};
  if (!answer.place) {
    finding.status = Status::kWarning;
    finding.detail = "may make no cgroup with a CPU limit";
    finding.advice = "see launcher cgroup";
    return finding;
  }
  finding.detail = "may make cgroups in " + answer.place->ToString();
  std::vector<std::string> lacking;
  if (!answer.place->parent.memory) lacking.emplace_back("memory");
  if (!answer.place->parent.cpuset) lacking.emplace_back("cpuset");
  if (lacking.empty()) return finding;
  finding.status = Status::kWarning;
  finding.detail +=
      fmt::format(", without {}: limits of it will be refused", fmt::join(lacking, " and "));
  finding.advice = answer.place->systemd && answer.place->systemd->user
                       ? DelegateAdvice()
                       : "enable it in cgroup.subtree_control of the levels above, or mount it";
  return finding;
}

HostFinding LauncherFinding(const std::string& name, const std::string& lack,
                            const std::string& version) {
  HostFinding finding{
      .topic = "launcher " + name, .status = Status::kOk, .detail = version, .advice = ""};
  if (lack.empty()) return finding;
  finding.status = Status::kLack;
  // A lack reads "what is missing; the way out".
  const auto cut = lack.rfind("; ");
  finding.detail = lack.substr(0, cut);
  finding.advice = cut == std::string::npos ? "use another launcher" : lack.substr(cut + 2);
  return finding;
}

HostFinding CoresFinding(const CpuSet& online, const CpuSet& usable,
                         const std::optional<EffectiveCpuLimit>& own) {
  HostFinding finding{.topic = "cores", .status = Status::kOk, .detail = "", .advice = ""};
  finding.detail = fmt::format("{} online", online.count());
  if (usable.count() < online.count()) {
    finding.status = Status::kWarning;
    finding.detail +=
        fmt::format(", this process may use {} ({})", usable.count(), usable.ToString());
  }
  if (own && own->quota) {
    finding.status = Status::kWarning;
    finding.detail += fmt::format(", this process is limited to {} by {}", ToString(*own->quota),
                                  own->quota_path);
  }
  if (finding.status == Status::kWarning) {
    finding.advice =
        "the load generator shares this limit and may be held back itself: run the "
        "tests outside it";
  } else if (online.count() < 2) {
    finding.status = Status::kWarning;
    finding.advice =
        "service and load generator share one CPU: keep the load low, or use a "
        "machine with two or more";
  }
  return finding;
}

HostFinding SwapFinding(const CgroupLocation& location, const std::string& fs_root) {
  HostFinding finding{
      .topic = "swap accounting", .status = Status::kOk, .detail = "", .advice = ""};
  const bool v2 = location.memory && location.memory->version == CgroupVersion::kV2;
  const char* file = v2 ? "memory.swap.max" : "memory.memsw.limit_in_bytes";
  if (location.memory && HasFile(fs_root + location.memory->directory(), file)) {
    finding.detail = std::string("on (") + file + ")";
    return finding;
  }
  finding.status = Status::kWarning;
  finding.detail = "off";
  finding.advice = "memory_swap cannot be enforced: boot with swapaccount=1, or turn swap off";
  return finding;
}

HostFinding PressureFinding(const std::string& proc_root) {
  HostFinding finding{.topic = "pressure", .status = Status::kOk, .detail = "", .advice = ""};
  if (FirstLine(proc_root + "/pressure/cpu")) {
    finding.detail = "stall times are published";
    return finding;
  }
  finding.status = Status::kWarning;
  finding.detail = "stall times are not published";
  finding.advice = "pressure figures will read \"not available\": boot with psi=1 to have them";
  return finding;
}

HostFinding SliceFinding(const std::string& proc_root) {
  HostFinding finding{
      .topic = "bandwidth slice", .status = Status::kOk, .detail = "", .advice = ""};
  const auto text = FirstLine(proc_root + "/sys/kernel/sched_cfs_bandwidth_slice_us");
  const auto value = text ? ParseInteger<std::int64_t>(*text) : std::nullopt;
  if (value) {
    finding.detail = ToString(std::chrono::microseconds(*value));
    return finding;
  }
  finding.status = Status::kWarning;
  finding.detail = "not published";
  finding.advice = "the kernel may lack CPU bandwidth control (CONFIG_CFS_BANDWIDTH)";
  return finding;
}

HostFinding HostLockFinding(const std::string& path) {
  HostFinding finding{.topic = "host lock", .status = Status::kOk, .detail = path, .advice = ""};
  if (path.empty()) {
    finding.status = Status::kWarning;
    finding.detail = "switched off";
    finding.advice =
        "measurements of several processes measure each other: unset THROTTLETEST_LOCK";
    return finding;
  }
  try {
    const auto holder = FileLock(path).Holder();
    finding.detail += holder ? fmt::format(", held by process {}", *holder) : ", free";
  } catch (const Error& e) {
    finding.status = Status::kWarning;
    finding.detail = e.what();
    finding.advice =
        "measurements of several processes measure each other: set THROTTLETEST_LOCK to a file "
        "that can be made";
  }
  return finding;
}

HostFinding LeftoversFinding(const std::vector<std::string>& leftovers) {
  HostFinding finding{.topic = "leftovers", .status = Status::kOk, .detail = "none", .advice = ""};
  if (leftovers.empty()) return finding;
  finding.status = Status::kWarning;
  finding.detail = fmt::format("{}", fmt::join(leftovers, ", "));
  finding.advice =
      "of test processes that were killed: `throttletest clean` removes them, and so does the next "
      "start of a service";
  return finding;
}

}  // namespace throttletest::internal
