// Making, joining, emptying and removing cgroups.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <optional>
#include <thread>

#include "base/number.h"
#include "base/text.h"
#include "cgroup/control_file.h"
#include "cgroup/location_parts.h"
#include "cgroup/parse.h"
#include "cgroup/writer.h"
#include "throttletest/base/error.h"

namespace throttletest::internal {
namespace {

using std::chrono::nanoseconds;

constexpr nanoseconds kPoll = std::chrono::milliseconds(5);

// The cgroups below `directory`. Errors: none; one that vanishes meanwhile has nothing to say.
std::vector<std::string> Children(const std::string& directory) {
  std::vector<std::string> children;
  std::error_code error;
  std::filesystem::directory_iterator it(directory, error);
  for (; !error && it != std::filesystem::directory_iterator(); it.increment(error)) {
    std::error_code ignored;
    if (it->is_directory(ignored) && !it->is_symlink(ignored)) children.push_back(it->path());
  }
  return children;
}

// Everything in `directory` and below. A process of a foreign PID namespace is listed as 0.
void CollectProcesses(const std::string& directory, std::vector<pid_t>& processes) {
  try {
    if (const auto text = ReadFileIfPresent(JoinPath(directory, "cgroup.procs"))) {
      for (const std::string& word : ParseWords(*text)) {
        processes.push_back(ParseInteger<pid_t>(word).value_or(0));
      }
    }
  } catch (const Error&) {
    return;  // removed meanwhile
  }
  for (const std::string& child : Children(directory)) CollectProcesses(child, processes);
}

// A root holds the whole machine: no launcher ever means that.
bool IsHierarchyRoot(const std::string& directory) {
  if (Exists(JoinPath(directory, "release_agent"))) return true;
  return Exists(JoinPath(directory, "cgroup.controllers")) &&
         !Exists(JoinPath(directory, "cgroup.type"));
}

bool KillThroughFile(const std::string& directory) {
  if (!Exists(JoinPath(directory, "cgroup.kill"))) return false;
  try {
    WriteControlFile(directory, "cgroup.kill", "1");
    return true;
  } catch (const Error&) {
    return false;
  }
}

std::optional<Error> MakeDirectory(const std::string& directory) {
  if (::mkdir(directory.c_str(), 0755) == 0) return std::nullopt;
  const int error = errno;
  const bool refused = error == EACCES || error == EPERM || error == EROFS;
  return Error(
      refused ? ErrorCode::kPermission : ErrorCode::kCgroup,
      fmt::format("cannot make cgroup {}: {}{}", directory, std::strerror(error),
                  refused ? ": run as root, or in a cgroup that was delegated to this user" : ""));
}

std::string DescribeBusy(const std::string& directory, int error) {
  std::vector<pid_t> processes;
  CollectProcesses(directory, processes);
  std::string text = fmt::format("cannot remove cgroup {}: {}", directory, std::strerror(error));
  if (!processes.empty()) text += fmt::format("; {} processes are still in it", processes.size());
  return text;
}

}  // namespace

CgroupLocation ChildLocation(const CgroupLocation& parent, const std::string& name) {
  CgroupLocation child = parent;
  for (auto* place : PartsOf(child)) {
    if (*place) (*place)->relative_path = JoinPath((*place)->relative_path, name);
  }
  return child;
}

std::vector<std::string> Directories(const CgroupLocation& location, const std::string& fs_root) {
  std::vector<std::string> directories;
  for (const auto* place : PartsOf(location)) {
    if (!*place) continue;
    std::string directory = JoinPath(fs_root, (*place)->directory());
    if (std::find(directories.begin(), directories.end(), directory) == directories.end()) {
      directories.push_back(std::move(directory));
    }
  }
  return directories;
}

std::vector<std::string> ProcsFiles(const CgroupLocation& location, const std::string& fs_root) {
  std::vector<std::string> files = Directories(location, fs_root);
  for (std::string& file : files) file = JoinPath(file, "cgroup.procs");
  return files;
}

void InheritCpuset(const std::string& directory) {
  for (const char* name : {"cpuset.cpus", "cpuset.mems"}) {
    const auto own = ReadFileIfPresent(JoinPath(directory, name));
    if (!own || !Trim(*own).empty()) continue;
    WriteControlFile(directory, name,
                     Trim(ReadFile(JoinPath(directory, std::string("../") + name))));
  }
}

void MakeCgroup(const CgroupLocation& location, const std::string& fs_root) {
  std::vector<std::string> made;
  try {
    for (const std::string& directory : Directories(location, fs_root)) {
      if (const auto error = MakeDirectory(directory)) throw Error(*error);
      made.push_back(directory);
    }
    if (location.cpuset && location.cpuset->version == CgroupVersion::kV1) {
      InheritCpuset(JoinPath(fs_root, location.cpuset->directory()));
    }
  } catch (const Error&) {
    for (const std::string& directory : made) RemoveCgroup(directory);
    throw;
  }
}

void EnableControllers(const std::string& directory, const std::vector<std::string>& controllers) {
  const auto words = [&](const char* name) {
    return ParseWords(ReadFile(JoinPath(directory, name)));
  };
  const std::vector<std::string> offered = words("cgroup.controllers");
  const std::vector<std::string> enabled = words("cgroup.subtree_control");
  const auto contains = [](const std::vector<std::string>& list, const std::string& word) {
    return std::find(list.begin(), list.end(), word) != list.end();
  };
  for (const std::string& controller : controllers) {
    if (contains(enabled, controller)) continue;
    if (!contains(offered, controller)) {
      throw Error(
          ErrorCode::kUnsupported,
          fmt::format("the {} controller is not offered in {} (cgroup.controllers): have it "
                      "delegated, with systemd by Delegate=cpu cpuset io memory pids",
                      controller, directory));
    }
    WriteControlFile(directory, "cgroup.subtree_control", "+" + controller);
  }
}

void AddProcess(const CgroupLocation& location, pid_t pid, const std::string& fs_root) {
  for (const std::string& directory : Directories(location, fs_root)) {
    WriteControlFile(directory, "cgroup.procs", std::to_string(pid));
  }
}

bool KillAll(const std::string& directory, nanoseconds timeout) {
  if (IsHierarchyRoot(directory)) return false;
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  for (bool first = true;; first = false) {
    std::vector<pid_t> processes;
    CollectProcesses(directory, processes);
    const auto own = std::remove(processes.begin(), processes.end(), ::getpid());
    const bool spare_own = own != processes.end();
    processes.erase(own, processes.end());
    if (processes.empty()) return true;
    // Through the file forks cannot escape; it would take the caller along, though.
    if (!first || spare_own || !KillThroughFile(directory)) {
      for (const pid_t pid : processes) {
        if (pid > 0) ::kill(pid, SIGKILL);  // 0 would be the caller's own process group
      }
    }
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(kPoll);
  }
}

bool KillAll(const CgroupLocation& location, const std::string& fs_root, nanoseconds timeout) {
  bool empty = true;
  for (const std::string& directory : Directories(location, fs_root)) {
    if (Exists(directory)) empty = KillAll(directory, timeout) && empty;
  }
  return empty;
}

std::string RemoveCgroup(const std::string& directory, const RemoveOptions& options) {
  for (const std::string& child : Children(directory)) {
    if (std::string left = RemoveCgroup(child, options); !left.empty()) return left;
  }
  nanoseconds waited{0};
  for (;;) {
    const int result =
        options.rmdir ? options.rmdir(directory.c_str()) : ::rmdir(directory.c_str());
    if (result == 0 || errno == ENOENT) return {};
    const int error = errno;
    if (error != EBUSY || waited >= options.timeout) return DescribeBusy(directory, error);
    if (options.wait) {
      options.wait(kPoll);
    } else {
      std::this_thread::sleep_for(kPoll);
    }
    waited += kPoll;
  }
}

std::string RemoveCgroup(const CgroupLocation& location, const std::string& fs_root,
                         const RemoveOptions& options) {
  std::string left;
  for (const std::string& directory : Directories(location, fs_root)) {
    const std::string why = RemoveCgroup(directory, options);
    if (!why.empty()) left += left.empty() ? why : "; " + why;
  }
  return left;
}

}  // namespace throttletest::internal
