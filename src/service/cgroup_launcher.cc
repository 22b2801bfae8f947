#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <mutex>
#include <thread>

#include "cgroup/location_parts.h"
#include "cgroup/writer.h"
#include "service/cgroup_place.h"
#include "service/child_process.h"
#include "service/instance.h"
#include "service/log_tail.h"
#include "service/owner.h"
#include "service/process_handle.h"
#include "service/program.h"
#include "service/systemd_scope.h"
#include "service/watcher.h"
#include "throttletest/base/error.h"

namespace throttletest::internal {
namespace {

std::string VersionText(const CgroupLocation& location) {
  return location.cpu && location.cpu->version == CgroupVersion::kV1 ? "cgroup v1" : "cgroup v2";
}

std::vector<std::string> Environment(const LaunchRequest& request) {
  std::map<std::string, std::string> merged;
  for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    merged[std::string(text.substr(0, equals))] = text.substr(equals + 1);
  }
  for (const auto* added : {&request.env, &request.secret_env}) {
    for (const auto& [name, value] : *added) merged[name] = value;
  }
  std::vector<std::string> environment;
  environment.reserve(merged.size());
  for (const auto& [name, value] : merged) {
    environment.push_back(fmt::format("{}={}", name, value));
  }
  return environment;
}

// The one directory of a pure v2 cgroup. Absent: empty, there are v1 hierarchies to join as well.
std::string OnlyV2Directory(const CgroupLocation& location) {
  const std::vector<std::string> directories = Directories(location);
  const bool v2 = location.cpu && location.cpu->version == CgroupVersion::kV2;
  return v2 && directories.size() == 1 ? directories.front() : std::string();
}

// A child that has ended is held as well until its status is collected.
UniqueFd Hold(pid_t child) {
  UniqueFd process = OpenProcess(child);
  if (process.valid()) return process;
  throw Error(ErrorCode::kUnsupported,
              fmt::format("cannot watch process {}: {}; a job needs kernel 5.3 or newer", child,
                          std::strerror(errno)));
}

// The cgroup of one service, registered with the watcher before it is made. The destructor kills
// what is in it and removes it.
class OwnCgroup {
 public:
  explicit OwnCgroup(const CgroupPlace& place)
      : name_(UniqueName()),
        location_(ChildLocation(place.parent, name_)),
        ticket_(Watcher::Guard({.cgroup_dirs = Directories(location_), .commands = {}})) {
    MakeCgroup(location_);
  }
  OwnCgroup(const OwnCgroup&) = delete;
  OwnCgroup& operator=(const OwnCgroup&) = delete;
  ~OwnCgroup() { Remove(); }

  const std::string& name() const { return name_; }
  const CgroupLocation& location() const { return location_; }

  // Returns an empty text, or why something is left; the watcher then tries again when this
  // process ends. Idempotent.
  std::string Remove() {
    if (!ticket_.armed()) return {};
    KillAll(location_);
    std::string left = RemoveCgroup(location_);
    if (left.empty()) ticket_.Release();
    return left;
  }

 private:
  std::string name_;
  CgroupLocation location_;
  CleanupTicket ticket_;
};

class CgroupInstance final : public Instance {
 public:
  CgroupInstance(const CgroupPlace& place, std::shared_ptr<SystemdScope> scope,
                 const LaunchRequest& request)
      : scope_(std::move(scope)), own_(place) {
    WriteLimits(own_.location(), request.limits);
    cgroup_.emplace(Cgroup::Open(own_.location()));
    SpawnPlan plan{.program = RequireProgram(request.command.at(0)),
                   .arguments = request.command,
                   .environment = Environment(request),
                   .cgroup = OnlyV2Directory(own_.location()),
                   .join_files = ProcsFiles(own_.location()),
                   .output = logs_.write_end()};
    // From where this process is a user may not move anything into the scope.
    if (scope_ && scope_->user()) {
      plan.cgroup.clear();
      plan.join_files.clear();
      plan.move = [this](pid_t pid) { scope_->Move(own_.name(), pid); };
    }
    if (request.job != nullptr) request.job->before = cgroup_->Read();
    const auto before_start = std::chrono::steady_clock::now();
    child_ = ChildProcess::Spawn(plan);
    if (request.job != nullptr) {
      request.job->started = std::chrono::steady_clock::now();
      request.job->at_most_before = request.job->started - before_start;
      request.job->end = std::make_unique<EndWatch>(Hold(child_->pid()), own_.location());
    }
    logs_.CloseWriteEnd();
  }
  ~CgroupInstance() override { Stop(std::chrono::nanoseconds(0)); }

  pid_t pid() const override { return child_->pid(); }
  const Cgroup& cgroup() const override { return *cgroup_; }
  bool Running() const override { return !child_->End(); }
  std::string Logs() const override { return logs_.Text(); }
  std::string version() const override { return VersionText(own_.location()); }

  ExitReport Peek() const override {
    const std::lock_guard lock(stop_mutex_);
    return stopped_ ? *stopped_ : Look();
  }

  void Apply(const ResolvedLimits& limits) override {
    try {
      WriteLimits(own_.location(), limits);
    } catch (const Error& error) {
      throw Error(ErrorCode::kServiceStart, fmt::format("limits did not take: {}", error.what()));
    }
  }

  ExitReport Stop(std::chrono::nanoseconds grace) override {
    const std::lock_guard lock(stop_mutex_);
    if (!stopped_) stopped_ = DoStop(grace);
    return *stopped_;
  }

 private:
  ExitReport Look() const {
    ExitReport report;
    if (const auto end = child_->End()) {
      report.exit_code = end->exit_code;
      report.signal = end->signal;
    }
    report.oom_kills = OomKills();
    report.logs = Logs();
    return report;
  }

  // The figure is read through descriptors, so it is there until the cgroup is removed.
  std::optional<std::int64_t> OomKills() const {
    try {
      return cgroup_->Read().memory.oom_kills;
    } catch (const Error&) {
      return std::nullopt;
    }
  }

  ExitReport DoStop(std::chrono::nanoseconds grace) {
    if (!child_) return {};
    const bool was_running = Running();
    Terminate(grace);
    KillAll(own_.location());
    child_->Kill();
    child_->Wait(std::chrono::seconds(5));
    logs_.Stop();
    ExitReport report = Look();
    report.stopped_by_us = was_running;
    if (const std::string left = own_.Remove(); !left.empty()) {
      report.logs += fmt::format("\n[throttletest: not removed yet: {}]\n", left);
    }
    return report;
  }

  // Asks all processes to end and gives them `grace`.
  void Terminate(std::chrono::nanoseconds grace) {
    const auto end = std::chrono::steady_clock::now() + grace;
    if (grace <= std::chrono::nanoseconds(0)) return;
    for (const pid_t pid : Processes()) {
      if (pid > 1) ::kill(pid, SIGTERM);
    }
    while (std::chrono::steady_clock::now() < end) {
      // Children may outlive the main process; a zombie of theirs is no longer listed.
      if (!Running() && Processes().empty()) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }

  std::vector<pid_t> Processes() const {
    try {
      return cgroup_->Processes();
    } catch (const Error&) {
      return {};
    }
  }

  std::shared_ptr<SystemdScope> scope_;  // outlives the cgroup in it
  OwnCgroup own_;
  LogTail logs_;
  std::optional<Cgroup> cgroup_;
  std::unique_ptr<ChildProcess> child_;
  mutable std::mutex stop_mutex_;
  std::optional<ExitReport> stopped_;
};

// Puts the scope's own path in for what the place only promised.
void Enter(CgroupPlace& place, const ControllerLocation& scope) {
  for (auto* controller : PartsOf(place.parent)) {
    if (*controller) *controller = scope;
  }
}

void MoveToLeaf(const CgroupPlace& place) {
  const std::string leaf = place.parent.unified->directory() + "/" + kLeafName;
  if (::mkdir(leaf.c_str(), 0755) != 0 && errno != EEXIST) {
    throw Error(ErrorCode::kPermission,
                fmt::format("cannot make cgroup {}: {}", leaf, std::strerror(errno)));
  }
  for (const pid_t pid : place.move_to_leaf) {
    WriteControlFile(leaf, "cgroup.procs", std::to_string(pid));
  }
}

// Turns on what the place needs for children. A controller that is only nice to have is left out
// when the kernel refuses it.
void Enable(CgroupPlace& place, const CgroupNeeds& needs) {
  for (const std::string& name : place.enable) {
    try {
      EnableControllers(place.parent.unified->directory(), {name});
    } catch (const Error&) {
      const bool needed =
          name == "cpu" || (name == "memory" && needs.memory) || (name == "cpuset" && needs.cpuset);
      if (needed) throw;
      if (name == "memory") place.parent.memory = std::nullopt;
      if (name == "cpuset") place.parent.cpuset = std::nullopt;
    }
  }
}

// A place whose cgroup for children is there and ready. Absent: no scope, nobody has to be asked.
std::shared_ptr<SystemdScope> Prepare(CgroupPlace& place, const CgroupNeeds& needs) {
  std::shared_ptr<SystemdScope> scope;
  if (place.systemd) {
    scope = SystemdScope::Of(*place.systemd);
    Enter(place, scope->location());
  }
  if (!place.move_to_leaf.empty()) MoveToLeaf(place);
  Enable(place, needs);
  return scope;
}

}  // namespace

std::string CgroupLauncherLack() { return FindCgroupPlace(CgroupNeeds{}).lack; }

std::unique_ptr<Instance> LaunchInCgroup(const LaunchRequest& request) {
  const CgroupNeeds needs = CgroupNeeds::Of(request.limits);
  const PlaceAnswer answer = FindCgroupPlace(needs);
  if (!answer.place) throw Error(answer.code, "cgroup launcher: " + answer.lack);
  CgroupPlace place = *answer.place;
  const auto scope = Prepare(place, needs);
  return std::make_unique<CgroupInstance>(place, scope, request);
}

}  // namespace throttletest::internal
