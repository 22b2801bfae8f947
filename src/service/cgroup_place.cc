#include "service/cgroup_place.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/number.h"
#include "cgroup/control_file.h"
#include "service/cgroup_advice.h"
#include "service/owner.h"

namespace throttletest::internal {
namespace {

using MaybeLocation = std::optional<ControllerLocation>;

constexpr pid_t kFirstProcess = 1;

bool Has(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool Writable(const std::string& path) { return ::access(path.c_str(), W_OK) == 0; }

bool IsV2(const MaybeLocation& location) {
  return location && location->version == CgroupVersion::kV2;
}

PlaceAnswer Lack(ErrorCode code, std::string text) {
  return {.place = std::nullopt, .code = code, .lack = std::move(text)};
}

// One v2 cgroup as a possible parent.
struct Level {
  ControllerLocation location;
  std::string directory;  // with fs_root
  bool writable = false;
  bool read_only = false;  // the mount is: nobody may write
  bool container_root = false;
  bool holds_processes = false;
  std::vector<std::string> offered = {};  // cgroup.controllers
  std::vector<std::string> enabled = {};  // cgroup.subtree_control
  bool can_enable = false;
  std::vector<pid_t> in_the_way = {};  // of ours, which can leave

  bool Gives(const std::string& controller) const {
    return Has(enabled, controller) || (can_enable && Has(offered, controller));
  }
};

// The processes in a cgroup if they are all in `line`. Absent: empty.
std::vector<pid_t> OnlyOf(const std::vector<pid_t>& line, const std::vector<std::string>& procs) {
  std::vector<pid_t> found;
  for (const std::string& word : procs) {
    const auto pid = ParseInteger<pid_t>(word);
    if (!pid || std::find(line.begin(), line.end(), *pid) == line.end()) return {};
    found.push_back(*pid);
  }
  return found;
}

Level LookAt(const ControllerLocation& location, const std::string& fs_root,
             const std::vector<pid_t>& line) {
  Level level{.location = location, .directory = fs_root + location.directory()};
  // A process moves only if the common ancestor's cgroup.procs may be written.
  level.writable = Writable(level.directory) && Writable(level.directory + "/cgroup.procs");
  level.read_only = !level.writable && errno == EROFS;
  level.offered = ReadWords(level.directory + "/cgroup.controllers");
  level.enabled = ReadWords(level.directory + "/cgroup.subtree_control");
  // The real root has no cgroup.type, and is the only one that may hold processes and have
  // controllers for children.
  const bool root = !Exists(level.directory + "/cgroup.type");
  const auto procs =
      root ? std::vector<std::string>() : ReadWords(level.directory + "/cgroup.procs");
  // A container's: nothing is above it, or its first process is in it. Elsewhere the cgroup above
  // is the better place, because nobody has to move; here that would leave the container's own
  // limits.
  const std::vector<pid_t> ours = OnlyOf(line, procs);
  level.container_root = (location.relative_path == "/" && location.ancestors_hidden) ||
                         std::find(ours.begin(), ours.end(), kFirstProcess) != ours.end();
  if (level.container_root) level.in_the_way = ours;
  level.holds_processes = !procs.empty() && level.in_the_way.empty();
  level.can_enable =
      !level.holds_processes && Writable(level.directory + "/cgroup.subtree_control");
  return level;
}

// The cgroup one level up. Absent: `location` is the visible root.
MaybeLocation Up(ControllerLocation location) {
  if (location.relative_path == "/") return std::nullopt;
  const auto slash = location.relative_path.rfind('/');
  location.relative_path = slash == 0 ? "/" : location.relative_path.substr(0, slash);
  return location;
}

std::string WhyNot(const Level& level, const std::string& controller) {
  if (level.read_only) return fmt::format("{} is mounted read-only", level.directory);
  if (!level.writable) {
    return fmt::format("{} is not writable for uid {}", level.directory, ::geteuid());
  }
  if (!Has(level.offered, controller)) {
    return fmt::format("{} does not offer the {} controller (cgroup.controllers lists \"{}\")",
                       level.directory, controller, fmt::join(level.offered, " "));
  }
  if (level.holds_processes) {
    return fmt::format(
        "{} holds processes itself, and such a cgroup cannot have the {} controller "
        "for children",
        level.directory, controller);
  }
  return fmt::format("{}/cgroup.subtree_control is not writable for uid {}", level.directory,
                     ::geteuid());
}

// The v2 part of `answer.place`.
void PlaceV2(const CgroupLocation& own, const CgroupNeeds& needs, const std::string& fs_root,
             const std::vector<pid_t>& line, PlaceAnswer& answer) {
  std::vector<std::string> required;
  if (IsV2(own.cpu)) required.emplace_back("cpu");
  if (IsV2(own.memory) && needs.memory) required.emplace_back("memory");
  if (IsV2(own.cpuset) && needs.cpuset) required.emplace_back("cpuset");
  std::string reasons;
  std::string advice = DelegatedCgroupAdvice();
  for (MaybeLocation at = own.unified; at; at = Up(*at)) {
    const Level level = LookAt(*at, fs_root, line);
    const auto missing = std::find_if(required.begin(), required.end(), [&](const auto& name) {
      return !level.writable || !level.Gives(name);
    });
    if (missing != required.end()) {
      reasons += (reasons.empty() ? "" : "; ") + WhyNot(level, *missing);
      if (level.read_only) advice = ReadOnlyAdvice({at->mount_point}, MayMount());
      if (level.writable && level.container_root && level.holds_processes) {
        advice = MoveAllAdvice(at->directory());
      }
      continue;
    }
    CgroupLocation& parent = answer.place->parent;
    const auto use = [&](MaybeLocation& controller, const char* name) {
      if (!IsV2(controller)) return;
      controller = level.Gives(name) ? at : std::nullopt;
      if (controller && !Has(level.enabled, name)) answer.place->enable.emplace_back(name);
    };
    use(parent.cpu, "cpu");
    if (IsV2(parent.cpuacct)) parent.cpuacct = at;
    use(parent.memory, "memory");
    use(parent.cpuset, "cpuset");
    parent.unified = level.writable ? at : std::nullopt;
    if (!answer.place->enable.empty()) answer.place->move_to_leaf = level.in_the_way;
    return;
  }
  const bool permission = ::geteuid() != 0;
  answer = Lack(
      permission ? ErrorCode::kPermission : ErrorCode::kUnsupported,
      fmt::format("no cgroup v2 with the {} controller for children can be used: {}; {}, or {}",
                  fmt::join(required, " and "), reasons, advice, kOtherLaunchers));
}

// A v1 controller: below our own cgroup, or not at all.
bool PlaceV1(MaybeLocation& location, const std::string& fs_root) {
  if (!location || location->version != CgroupVersion::kV1) return true;
  if (Writable(fs_root + location->directory())) return true;
  location = std::nullopt;
  return false;
}

std::string V1Lack(const ControllerLocation& location, const CgroupLocation& own,
                   const std::string& fs_root) {
  const std::string directory = fs_root + location.directory();
  const int error = Writable(directory) ? 0 : errno;
  const std::string advice = error == EROFS
                                 ? ReadOnlyAdvice(ReadOnlyMounts(own, fs_root), MayMount())
                                 : "cgroup v1 needs root: run as root";
  return fmt::format("{} cannot be used by uid {}: {}; {}, or {}", directory, ::geteuid(),
                     std::strerror(error), advice, kOtherLaunchers);
}

}  // namespace

PlaceAnswer FindCgroupPlace(const CgroupLocation& own, const CgroupNeeds& needs,
                            const std::string& fs_root, const std::vector<pid_t>& line) {
  struct Need {
    const char* name;
    bool needed;
    MaybeLocation CgroupLocation::*member;
  };
  const Need all[] = {{"cpu", true, &CgroupLocation::cpu},
                      {"memory", needs.memory, &CgroupLocation::memory},
                      {"cpuset", needs.cpuset, &CgroupLocation::cpuset},
                      {"cpuacct", false, &CgroupLocation::cpuacct}};
  PlaceAnswer answer{.place = CgroupPlace{.parent = own, .enable = {}}};
  bool any_v2 = false;
  for (const Need& need : all) {
    MaybeLocation& location = answer.place->parent.*need.member;
    if (need.needed && !location) {
      return Lack(ErrorCode::kUnsupported,
                  fmt::format("this machine has no {} cgroup controller here; boot with cgroup v2 "
                              "(systemd.unified_cgroup_hierarchy=1) or mount the controller, or {}",
                              need.name, kOtherLaunchers));
    }
    if (!PlaceV1(location, fs_root) && need.needed) {
      return Lack(ErrorCode::kPermission, V1Lack(*(own.*need.member), own, fs_root));
    }
    any_v2 = any_v2 || IsV2(location);
  }
  if (any_v2) {
    PlaceV2(own, needs, fs_root, line, answer);
  } else if (own.unified && !Writable(fs_root + own.unified->directory())) {
    // On a hybrid machine the v2 tree is only wanted for its pressure figures.
    answer.place->parent.unified = std::nullopt;
  }
  return answer;
}

PlaceAnswer FindScopePlace(const CgroupLocation& own, const CgroupNeeds& needs,
                           const SystemdManager& systemd) {
  PlaceAnswer answer{.place = CgroupPlace{.parent = own, .systemd = systemd}};
  CgroupLocation& parent = answer.place->parent;
  parent.unified = parent.cpuacct = systemd.home;
  struct Controller {
    const char* name;
    bool needed;
    MaybeLocation& location;
  };
  for (const Controller& controller :
       {Controller{"cpu", true, parent.cpu}, Controller{"memory", needs.memory, parent.memory},
        Controller{"cpuset", needs.cpuset, parent.cpuset}}) {
    if (Has(systemd.controllers, controller.name)) {
      controller.location = systemd.home;
      answer.place->enable.emplace_back(controller.name);
    } else if (controller.needed) {
      return Lack(
          ErrorCode::kPermission,
          fmt::format("{} does not have the {} controller ({}/cgroup.controllers lists "
                      "\"{}\"); {}; or {}",
                      systemd.ToString(), controller.name, systemd.home.directory(),
                      fmt::join(systemd.controllers, " "), DelegateAdvice(), kOtherLaunchers));
    } else {
      controller.location = std::nullopt;
    }
  }
  return answer;
}

namespace {

// This process and its parents.
std::vector<pid_t> OwnLine() {
  std::vector<pid_t> line;
  for (pid_t pid = ::getpid(); pid > 0;) {
    line.push_back(pid);
    const auto stat = ReadProcessStat(pid);
    pid = stat ? stat->parent : 0;
  }
  return line;
}

// A /proc of another PID namespace would tell of other processes under the numbers of ours.
bool ProcIsOurs() {
  std::array<char, 32> self{};
  const ssize_t size = ::readlink("/proc/self", self.data(), self.size());
  return size > 0 && std::string_view(self.data(), static_cast<std::size_t>(size)) ==
                         std::to_string(::getpid());
}

}  // namespace

PlaceAnswer FindCgroupPlace(const CgroupNeeds& needs) {
  if (!ProcIsOurs()) {
    return Lack(ErrorCode::kUnsupported,
                fmt::format("/proc is not mounted, or is that of another PID namespace; mount it "
                            "anew (unshare --mount-proc), or {}",
                            kOtherLaunchers));
  }
  try {
    const CgroupLocation own = LocateCgroup(::getpid());
    SystemdAnswer systemd;
    if (IsV2(own.cpu) && own.unified) {
      systemd = FindSystemdManager(*own.unified, SystemdSurroundings::OfThisProcess());
    }
    if (systemd.manager) return FindScopePlace(own, needs, *systemd.manager);
    PlaceAnswer answer = FindCgroupPlace(own, needs, "", OwnLine());
    if (!answer.place && !systemd.lack.empty()) {
      answer.lack = fmt::format("{}; or {}", systemd.lack, kOtherLaunchers);
    }
    return answer;
  } catch (const Error& error) {
    return Lack(ErrorCode::kUnsupported, fmt::format("{}; {}", error.what(), kOtherLaunchers));
  }
}

std::string CgroupPlace::ToString() const {
  if (systemd) return "a scope of " + systemd->ToString();
  return parent.cpu ? parent.cpu->directory() : "no cpu cgroup";
}

}  // namespace throttletest::internal
