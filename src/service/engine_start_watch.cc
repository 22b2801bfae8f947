#include "service/engine_start_watch.h"

#include <dirent.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <future>
#include <memory>
#include <set>
#include <string_view>
#include <thread>
#include <utility>

#include "base/number.h"
#include "base/read_file.h"
#include "base/text.h"
#include "cgroup/location_parts.h"
#include "cgroup/writer.h"
#include "service/engine_cgroup.h"
#include "service/process_handle.h"
#include "throttletest/base/error.h"

namespace throttletest::internal {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kLook = std::chrono::milliseconds(1);
// Looks after the engine has said that the job runs: for a process that was not found until then,
// and for one whose runtime may take long over its last steps on a busy machine.
constexpr int kLooksForIt = 50;
constexpr int kLooksAtIt = 2000;

std::set<pid_t> ListProcesses() {
  std::set<pid_t> processes;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc"), ::closedir);
  if (!folder) return processes;
  while (const dirent* entry = ::readdir(folder.get())) {
    if (const auto pid = ParseInteger<pid_t>(entry->d_name)) processes.insert(*pid);
  }
  return processes;
}

// Is the process still the runtime, which sets the container up? False also when it has ended.
bool IsRuntime(pid_t pid) {
  std::array<char, 4096> buffer{};
  const ssize_t size =
      ::readlink(fmt::format("/proc/{}/exe", pid).c_str(), buffer.data(), buffer.size());
  if (size >= 0) {
    return IsRuntimeProgram(std::string(buffer.data(), static_cast<std::size_t>(size)));
  }
  // Root's processes, and a runtime that lets nobody look at it, show only this to others.
  const bool hidden = errno == EACCES || errno == EPERM;
  const auto name = ReadWholeFile(fmt::format("/proc/{}/comm", pid));
  return hidden && name && IsRuntimeComm(std::string(Trim(*name)));
}

// The first process of the container among those that are new. Absent: 0, it is not there yet.
pid_t FindFirst(const std::set<pid_t>& before, const std::string& id) {
  for (const pid_t pid : ListProcesses()) {
    if (before.contains(pid)) continue;
    const auto cgroups = ReadWholeFile(fmt::format("/proc/{}/cgroup", pid));
    if (!cgroups || cgroups->find(id) == std::string::npos) continue;
    const auto status = ReadWholeFile(fmt::format("/proc/{}/status", pid));
    if (status && InnerPid(*status) == 1) return pid;
  }
  return 0;
}

bool IsRuntimeName(std::string_view name) {
  constexpr std::array<std::string_view, 3> kRuntimes = {"runc", "crun", "youki"};
  return std::find(kRuntimes.begin(), kRuntimes.end(), name) != kRuntimes.end();
}

bool IsIn(const std::optional<ControllerLocation>& place, const std::string& id) {
  return !place || place->relative_path.find(id) != std::string::npos;
}

// The runtime puts the process into one hierarchy after the other.
bool IsComplete(const CgroupLocation& location, const std::string& id) {
  return location.cpu && IsIn(location.cpu, id) && IsIn(location.cpuacct, id) &&
         IsIn(location.cpuset, id) && IsIn(location.memory, id);
}

class Watch {
 public:
  Watch(const std::string& id, const ResolvedLimits& limits, JobBegin& begin)
      : id_(id), limits_(limits), begin_(begin) {}

  // True once the program runs or has ended.
  bool Look() {
    const Clock::time_point now = Clock::now();
    if (found_.pid == 0) {
      found_.pid = FindFirst(before_, id_);
      if (found_.pid == 0) {
        last_look_ = now;
        return false;
      }
      found_.process = OpenProcess(found_.pid);
    }
    const bool sets_up = IsRuntime(found_.pid);
    if (!begin_.end) Open(!sets_up);
    if (sets_up) {
      if (begin_.end) ReadBefore();
      last_look_ = now;
      return false;
    }
    if (!has_before_ && begin_.end) ReadBefore();
    begin_.started = now;
    begin_.at_most_before = now - last_look_;
    return true;
  }

  bool found() const { return found_.pid != 0; }
  bool complete() const { return begin_.end && has_before_; }
  // Why the burst could not be set. Absent: empty.
  const std::string& burst_trouble() const { return burst_trouble_; }
  SeenContainer Take() { return std::move(found_); }

 private:
  // `at_last`: what is not there now will never be.
  void Open(bool at_last) {
    try {
      const CgroupLocation location = LocateContainer(found_.pid, id_);
      if (!IsComplete(location, id_) && !at_last) return;
      found_.oom.emplace(location);
      found_.cgroup.emplace(Cgroup::Open(location));
      begin_.end = std::make_unique<EndWatch>(OpenProcess(found_.pid), location);
    } catch (const Error&) {
      return;  // on its way, or gone
    }
  }

  void ReadBefore() {
    try {
      Snapshot snapshot = found_.cgroup->Read();
      WriteBurst(snapshot);
      begin_.before = std::move(snapshot);
      has_before_ = true;
    } catch (const Error&) {
      return;  // gone: what was read before stays
    }
  }

  // Once the runtime has written the quota, which a burst must not exceed.
  void WriteBurst(Snapshot& snapshot) {
    if (limits_.cpu.burst.count() == 0 || burst_written_ || snapshot.cpu.empty()) return;
    const auto& leaf = snapshot.cpu.front().bandwidth;
    if (!leaf || leaf->quota != limits_.cpu.quota) return;
    burst_written_ = true;
    try {
      WriteLimits(found_.cgroup->location(), limits_);
    } catch (const Error& error) {
      burst_trouble_ = error.what();
      return;
    }
    snapshot = found_.cgroup->Read();
  }

  const std::string& id_;
  const ResolvedLimits& limits_;
  JobBegin& begin_;
  const std::set<pid_t> before_ = ListProcesses();
  SeenContainer found_;
  bool has_before_ = false;
  bool burst_written_ = false;
  std::string burst_trouble_;
  Clock::time_point last_look_ = Clock::now();
};

}  // namespace

bool IsRuntimeProgram(const std::string& exe) {
  // runc runs from a copy of itself: "/memfd:runc_cloned:/proc/self/exe (deleted)", or "/" where
  // that is a mount of its own that is in no tree.
  if (exe == "/") return true;
  constexpr std::string_view kMemory = "/memfd:";
  constexpr std::string_view kDeleted = " (deleted)";
  std::string_view name = exe;
  if (name.starts_with(kMemory)) {
    name.remove_prefix(kMemory.size());
    return name.starts_with("runc_cloned") || name.starts_with("crun_cloned");
  }
  if (name.ends_with(kDeleted)) name.remove_suffix(kDeleted.size());
  return IsRuntimeName(name.substr(name.rfind('/') + 1));
}

// "runc:[2:INIT]".
bool IsRuntimeComm(const std::string& comm) {
  return IsRuntimeName(comm.substr(0, comm.find(':')));
}

std::optional<pid_t> InnerPid(const std::string& status) {
  constexpr std::string_view kKey = "\nNSpid:";
  const auto at = status.find(kKey);
  if (at == std::string::npos) return std::nullopt;
  const std::string_view line = std::string_view(status).substr(
      at + kKey.size(), status.find('\n', at + 1) - at - kKey.size());
  const std::string_view numbers = Trim(line);
  const auto last = numbers.find_last_of(" \t");
  if (last == std::string_view::npos) return std::nullopt;
  return ParseInteger<pid_t>(numbers.substr(last + 1));
}

SeenContainer WatchStart(const std::string& id, const std::function<void()>& start,
                         const ResolvedLimits& limits, JobBegin& begin) {
  Watch watch(id, limits, begin);
  std::future<void> call = std::async(std::launch::async, start);
  bool said = false;
  bool seen = false;
  // A program that runs is seen before the engine says that it does, unless this process waited.
  for (int looks_after = 0; !seen && looks_after < (watch.found() ? kLooksAtIt : kLooksForIt);
       looks_after += said ? 1 : 0) {
    seen = watch.Look();
    if (said) std::this_thread::sleep_for(kLook);
    if (!said) said = call.wait_for(kLook) == std::future_status::ready;
  }
  call.get();
  if (!watch.burst_trouble().empty()) {
    throw Error(ErrorCode::kServiceStart, "the burst could not be set: " + watch.burst_trouble());
  }
  if (seen && watch.complete()) return watch.Take();
  throw Error(ErrorCode::kServiceStart,
              fmt::format("the job's process was not seen among those that appeared while the "
                          "engine started container {}: it ended too soon, or the engine runs in "
                          "another PID namespace; use the cgroup launcher",
                          id));
}

}  // namespace throttletest::internal
