#include "service/engine_cgroup.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>

#include "cgroup/location_parts.h"
#include "throttletest/base/error.h"

namespace throttletest::internal {
namespace {

std::optional<std::string> ReadIfThere(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

std::string Parent(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

// `path` up to and including the level whose name contains `id`.
std::string UpToLevelOf(const std::string& path, const std::string& id) {
  const auto at = id.empty() ? std::string::npos : path.rfind(id);
  return at == std::string::npos ? path : path.substr(0, path.find('/', at));
}

bool HasQuotaFile(const ControllerLocation& location, const std::string& fs_root) {
  std::error_code ec;
  return std::filesystem::exists(fs_root + location.directory() + "/cpu.max", ec);
}

// The nearest level, from `start` upwards, that has cpu.max; `start` when none has.
std::string ClimbToQuotaFile(const ControllerLocation& start, const std::string& fs_root) {
  ControllerLocation at = start;
  while (!HasQuotaFile(at, fs_root)) {
    if (at.relative_path == "/") return start.relative_path;
    at.relative_path = Parent(at.relative_path);
  }
  return at.relative_path;
}

bool HasQuota(const ControllerLocation& location, const std::string& fs_root) {
  const auto text = ReadIfThere(fs_root + location.directory() + "/cpu.max");
  return text && !text->starts_with("max");
}

// From the container's level down towards the process: the first that has a quota. crun puts it one
// level down where systemd has no property for it. Absent: the container's level, none has one.
std::string LevelWithQuota(const ControllerLocation& container, const std::string& process,
                           const std::string& fs_root) {
  ControllerLocation at = container;
  while (!HasQuota(at, fs_root)) {
    if (at.relative_path.size() >= process.size()) return container.relative_path;
    at.relative_path = process.substr(0, process.find('/', at.relative_path.size() + 1));
  }
  return at.relative_path;
}

}  // namespace

CgroupLocation ClimbToContainer(CgroupLocation location, const std::string& id,
                                const std::string& fs_root) {
  if (!location.cpu || location.cpu->version != CgroupVersion::kV2) return location;
  const std::string from = location.cpu->relative_path;
  ControllerLocation cpu = *location.cpu;
  cpu.relative_path = UpToLevelOf(from, id);
  cpu.relative_path = LevelWithQuota(cpu, from, fs_root);
  cpu.relative_path = ClimbToQuotaFile(cpu, fs_root);
  for (auto* part : PartsOf(location)) {
    const bool same =
        *part && (*part)->version == CgroupVersion::kV2 && (*part)->relative_path == from;
    if (same) (*part)->relative_path = cpu.relative_path;
  }
  return location;
}

CgroupLocation LocateContainer(pid_t pid, const std::string& id, const std::string& proc_root,
                               const std::string& fs_root) {
  const std::string file = fmt::format("{}/{}/cgroup", proc_root, pid);
  const auto text = ReadIfThere(file);
  if (!text || id.empty() || text->find(id) == std::string::npos) {
    throw Error(
        ErrorCode::kUnsupported,
        fmt::format(
            "the engine says that process {} is the container's, but {} {}: the engine runs "
            "in another virtual machine, PID namespace or without cgroups, so the "
            "container's counters cannot be read; run the test beside the engine (with the "
            "host's PID namespace), or use the cgroup launcher",
            pid, file, text ? "does not name the container" : "does not exist"));
  }
  return ClimbToContainer(LocateCgroup(pid, proc_root, fs_root), id, fs_root);
}

}  // namespace throttletest::internal
