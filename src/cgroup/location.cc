#include "throttletest/cgroup/location.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "cgroup/control_file.h"
#include "cgroup/parse.h"
#include "cgroup/proc_files.h"
#include "throttletest/base/error.h"
#include "throttletest/cgroup/cpu_set.h"

namespace throttletest {
namespace {

using internal::CgroupMount;
using internal::Exists;
using internal::JoinPath;
using internal::ProcCgroupEntry;

constexpr std::string_view kDeleted = " (deleted)";

bool EndsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// Better mounts first: the usual place, then the one that shows more of the hierarchy.
bool Better(const CgroupMount& a, const CgroupMount& b) {
  const auto usual = [](const CgroupMount& m) {
    return m.mount_point.rfind("/sys/fs/cgroup", 0) == 0;
  };
  if (usual(a) != usual(b)) return usual(a);
  return a.root.size() < b.root.size();
}

// Inside a cgroup namespace the mount's root is printed as "/" although it is not the hierarchy's.
// The kernel gives the true root other files than every cgroup below it.
bool IsNamespaceRoot(const CgroupMount& mount, const std::string& fs_root) {
  const std::string directory = JoinPath(fs_root, mount.mount_point);
  if (mount.unified) return Exists(JoinPath(directory, "cgroup.type"));
  return Exists(JoinPath(directory, "cgroup.procs")) &&
         !Exists(JoinPath(directory, "release_agent"));
}

void RequireReachable(const ProcCgroupEntry& entry, const std::string& file) {
  if (EndsWith(entry.path, kDeleted)) {
    throw Error(ErrorCode::kCgroup,
                fmt::format("{}: cgroup removed: \"{}\" no longer exists", file, entry.path));
  }
  if (entry.path == "/.." || entry.path.rfind("/../", 0) == 0) {
    throw Error(ErrorCode::kCgroup,
                fmt::format("{}: the cgroup \"{}\" is outside the reader's namespace: measure from "
                            "the host, or share its cgroup namespace",
                            file, entry.path));
  }
}

// Everything the search needs, read once.
struct Search {
  std::string file;  // the /proc/PID/cgroup that was read
  std::vector<ProcCgroupEntry> entries;
  std::vector<CgroupMount> mounts;
  std::string fs_root;

  // The place of `entry` in the best of the mounts that `matches`. Absent: no such mount.
  template <typename Matches>
  std::optional<ControllerLocation> Place(const ProcCgroupEntry& entry, Matches matches) const {
    const CgroupMount* best = nullptr;
    const CgroupMount* other = nullptr;
    for (const CgroupMount& mount : mounts) {
      if (!matches(mount)) continue;
      other = &mount;
      if (!internal::IsAtOrBelow(entry.path, mount.root)) continue;
      // Of equals the later one: something may be mounted above the earlier.
      if (best == nullptr || !Better(*best, mount)) best = &mount;
    }
    if (other == nullptr) return std::nullopt;
    RequireReachable(entry, file);
    if (best == nullptr) {
      throw Error(ErrorCode::kCgroup,
                  fmt::format("{}: the cgroup \"{}\" is outside the reader's namespace: {} shows "
                              "only \"{}\"",
                              file, entry.path, other->mount_point, other->root));
    }
    ControllerLocation location;
    location.version = best->unified ? CgroupVersion::kV2 : CgroupVersion::kV1;
    location.mount_point = best->mount_point;
    const std::string below = entry.path.substr(best->root == "/" ? 0 : best->root.size());
    location.relative_path = below.empty() ? std::string(1, '/') : below;
    location.ancestors_hidden = best->root != "/" || IsNamespaceRoot(*best, fs_root);
    location.visible_root = best->root;
    return location;
  }

  std::optional<ControllerLocation> OnV1(std::string_view controller) const {
    for (const ProcCgroupEntry& entry : entries) {
      if (!entry.Has(controller)) continue;
      return Place(entry, [&](const CgroupMount& m) { return m.Has(controller); });
    }
    return std::nullopt;
  }

  std::optional<ControllerLocation> OnV2() const {
    for (const ProcCgroupEntry& entry : entries) {
      if (entry.unified) return Place(entry, [](const CgroupMount& m) { return m.unified; });
    }
    return std::nullopt;
  }

  bool has_v1() const {
    return std::any_of(mounts.begin(), mounts.end(), [](const auto& m) { return !m.unified; });
  }
};

// Only the uppermost mount of a point can be reached: a sandbox may have bound a part of the tree
// over the whole of it.
void DropCovered(std::vector<CgroupMount>& mounts) {
  for (auto mount = mounts.begin(); mount != mounts.end();) {
    const bool covered = std::any_of(mount + 1, mounts.end(), [&](const CgroupMount& later) {
      return later.mount_point == mount->mount_point;
    });
    mount = covered ? mounts.erase(mount) : mount + 1;
  }
}

Search StartSearch(pid_t pid, const std::string& proc_root, const std::string& fs_root) {
  Search search;
  search.fs_root = fs_root;
  search.file = fmt::format("{}/{}/cgroup", proc_root, pid);
  const auto text = internal::ReadFileIfPresent(search.file);
  if (!text || text->empty()) {
    throw Error(ErrorCode::kCgroup,
                fmt::format("cannot read {}: process {} has ended, or the kernel has no cgroups",
                            search.file, pid));
  }
  search.entries = internal::ParseProcCgroup(*text, search.file);
  const std::string mountinfo = proc_root + "/self/mountinfo";
  search.mounts = internal::ParseMountInfo(internal::ReadFile(mountinfo), mountinfo);
  if (search.mounts.empty()) {
    throw Error(ErrorCode::kCgroup,
                fmt::format("{}: no cgroup file system is mounted: mount one at /sys/fs/cgroup",
                            mountinfo));
  }
  DropCovered(search.mounts);
  return search;
}

// On a hybrid machine the v2 tree is an extra: not seeing the process in it is no reason to stop.
std::optional<ControllerLocation> Unified(const Search& search) {
  if (!search.has_v1()) return search.OnV2();
  try {
    return search.OnV2();
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::vector<std::string> UnifiedControllers(const ControllerLocation& unified,
                                            const std::string& fs_root) {
  const auto text = internal::ReadFileIfPresent(
      JoinPath(JoinPath(fs_root, unified.mount_point), "cgroup.controllers"));
  return text ? internal::ParseWords(*text) : std::vector<std::string>{};
}

}  // namespace

std::string ControllerLocation::directory() const { return JoinPath(mount_point, relative_path); }

std::string UnseenLevels(const ControllerLocation& location) {
  if (!location.ancestors_hidden) return {};
  if (location.visible_root != "/") {
    return fmt::format("the levels above {} (only that part of the tree is mounted at {})",
                       location.visible_root, location.mount_point);
  }
  return fmt::format("the levels above {} (the root of a cgroup namespace, as in a container)",
                     location.mount_point);
}

CgroupLocation LocateCgroup(pid_t pid, const std::string& proc_root, const std::string& fs_root) {
  const Search search = StartSearch(pid, proc_root, fs_root);
  CgroupLocation location;
  location.unified = Unified(search);
  std::vector<std::string> on_v2;
  if (location.unified) on_v2 = UnifiedControllers(*location.unified, fs_root);
  const auto find = [&](const char* controller) {
    auto place = search.OnV1(controller);
    const bool listed = std::find(on_v2.begin(), on_v2.end(), controller) != on_v2.end();
    if (!place && listed) place = location.unified;
    return place;
  };
  location.cpu = find("cpu");
  location.cpuset = find("cpuset");
  location.memory = find("memory");
  // On v2 there is no cpuacct: every cpu.stat counts usage, whether or not cpu is enabled.
  location.cpuacct = search.OnV1("cpuacct");
  if (!location.cpuacct) location.cpuacct = location.unified;
  return location;
}

const char* CgroupModeName(CgroupMode mode) {
  switch (mode) {
    case CgroupMode::kUnified:
      return "v2";
    case CgroupMode::kLegacy:
      return "v1";
    case CgroupMode::kHybrid:
      return "hybrid";
    case CgroupMode::kNone:
      break;
  }
  return "none";
}

CgroupMode DetectCgroupMode(const std::string& proc_root, const std::string& /*fs_root*/) {
  const std::string file = proc_root + "/self/mountinfo";
  const auto text = internal::ReadFileIfPresent(file);
  if (!text) return CgroupMode::kNone;
  bool v1 = false;
  bool v2 = false;
  for (const CgroupMount& mount : internal::ParseMountInfo(*text, file)) {
    // A hierarchy with a name and no controller (systemd's own) does not make a machine v1.
    const bool named =
        std::any_of(mount.controllers.begin(), mount.controllers.end(),
                    [](const auto& option) { return option.rfind("name=", 0) == 0; });
    v2 = v2 || mount.unified;
    v1 = v1 || (!mount.unified && !named);
  }
  if (v1) return v2 ? CgroupMode::kHybrid : CgroupMode::kLegacy;
  return v2 ? CgroupMode::kUnified : CgroupMode::kNone;
}

CpuSet OnlineCpus(const std::string& fs_root) {
  const std::string file = JoinPath(fs_root, "/sys/devices/system/cpu/online");
  CpuSet online = CpuSet::Parse(internal::ReadFile(file));
  if (online.empty()) throw Error(ErrorCode::kCgroup, fmt::format("{} is empty", file));
  return online;
}

}  // namespace throttletest
