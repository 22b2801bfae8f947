#include "service/running_service.h"

#include <fmt/format.h>

#include <thread>
#include <utility>

#include "cgroup/control_file.h"
#include "service/owner.h"
#include "service/port.h"
#include "service/service_name.h"
#include "service/spec_check.h"
#include "service/wait_ready.h"
#include "throttletest/base/error.h"
#include "throttletest/cgroup/location.h"
#include "throttletest/cgroup/read_back.h"

namespace throttletest::internal {
namespace {

// Is `place` the planned cgroup or one below it? Engines may put the process one level deeper.
bool Inside(const std::optional<ControllerLocation>& place,
            const std::optional<ControllerLocation>& planned) {
  if (!planned) return true;
  if (!place || place->mount_point != planned->mount_point) return false;
  return IsAtOrBelow(place->relative_path, planned->relative_path);
}

std::string Wrong(const char* controller, const std::optional<ControllerLocation>& place,
                  const std::optional<ControllerLocation>& planned) {
  if (Inside(place, planned)) return {};
  return fmt::format("{} cgroup {} instead of {}", controller,
                     place ? place->relative_path : "unknown", planned->relative_path);
}

// Why `place` is not inside `planned`. Empty: it is.
std::string WhereItIs(const CgroupLocation& place, const CgroupLocation& planned) {
  if (auto text = Wrong("cpu", place.cpu, planned.cpu); !text.empty()) return text;
  if (auto text = Wrong("cpuset", place.cpuset, planned.cpuset); !text.empty()) return text;
  return Wrong("memory", place.memory, planned.memory);
}

}  // namespace

RunningService::RunningService(ServiceSpec spec, LauncherKind kind, std::uint16_t port,
                               ResolvedLimits requested, std::unique_ptr<Instance> instance)
    : spec_(std::move(spec)),
      kind_(kind),
      port_(port),
      requested_(std::move(requested)),
      instance_(std::move(instance)) {
  if (const auto stat = ReadProcessStat(instance_->pid())) start_ticks_ = stat->start_ticks;
}

RunningService::~RunningService() { Stop(); }

std::string RunningService::Ended() const {
  if (!instance_->Running()) return instance_->Peek().ToString();
  try {
    const auto kills = cgroup().Read().memory.oom_kills;
    if (kills.value_or(0) > 0) {
      return fmt::format("a process of the service was OOM-killed ({} so far)", *kills);
    }
  } catch (const Error& error) {
    // The cgroup of a container goes with its last process.
    if (!instance_->Running()) return instance_->Peek().ToString();
    return error.what();
  }
  return {};
}

// A process that ends has left its cgroup a moment before anybody can see that it ended.
bool RunningService::StaysRunning() const {
  for (int i = 0; i < 20; ++i) {
    if (!instance_->Running()) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return instance_->Running();
}

std::string RunningService::Moved() const {
  try {
    const std::string wrong = WhereItIs(LocateCgroup(pid()), cgroup().location());
    if (!wrong.empty() && StaysRunning()) {
      return fmt::format("process {} is in {}", pid(), wrong);
    }
  } catch (const Error& error) {
    if (instance_->Running()) return error.what();
  }
  return {};
}

std::string RunningService::Trouble() const {
  if (!instance_->Running()) return instance_->Peek().ToString();
  const auto stat = ReadProcessStat(pid());
  if (stat && start_ticks_ != 0 && stat->start_ticks != start_ticks_) {
    return fmt::format("process {} is not the one that was started: the service was restarted",
                       pid());
  }
  if (std::string moved = Moved(); !moved.empty()) return moved;
  // It may have ended meanwhile.
  return instance_->Running() ? std::string() : instance_->Peek().ToString();
}

std::string RunningService::Stranger() const {
  // A published port is listened on by the engine.
  if (spec_.container_port) return {};
  try {
    std::vector<pid_t> service = cgroup().Processes();
    // crun puts the processes one level below the cgroup that has the limits.
    service.push_back(pid());
    return FindStranger(port_, service);
  } catch (const Error&) {
    return {};  // ended; the next look at it says so
  }
}

void RunningService::AwaitReady(const std::stop_token& stop) {
  ReadyWatch watch = RealTimeWatch();
  watch.ended = [this] { return Ended(); };
  watch.stranger = [this] { return Stranger(); };
  const ReadinessTarget target{
      .host = "127.0.0.1", .port = port_, .logs = [this] { return logs(); }};
  try {
    WaitReady(ServiceName(*this), spec_.ready, target, watch, stop);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kNotReady || UsesPort(spec_) || !spec_.ready.looks_at_port()) {
      throw;
    }
    throw Error(error.code(),
                fmt::format("{}\nthe command and environment hold no {{port}}, so the service was "
                            "not told to listen on 127.0.0.1:{}",
                            error.what(), port_));
  }
}

void RunningService::Clamp() { instance_->Apply(requested_); }

void RunningService::RequireLimits(const std::string& when) const {
  Snapshot snapshot;
  try {
    snapshot = cgroup().Read();
  } catch (const Error&) {
    if (instance_->Running()) throw;
    throw Error(
        ErrorCode::kNotReady,
        fmt::format("service \"{}\": {} {}\nlast log lines of the service:\n{}", ServiceName(*this),
                    instance_->Peek().ToString(), when, LastLines(logs())));
  }
  const ReadBack read_back = CheckLimits(requested_, snapshot);
  if (!read_back.ok()) {
    throw Error(ErrorCode::kServiceStart,
                fmt::format("the limits of service \"{}\" are not in force {}: {}",
                            ServiceName(*this), when, fmt::join(read_back.differences, "; ")));
  }
  if (const std::string moved = Moved(); !moved.empty()) {
    throw Error(ErrorCode::kServiceStart,
                fmt::format("the service is not inside the limited cgroup: {}", moved));
  }
}

void RunningService::Update(const Limits& limits) {
  const ResolvedLimits wanted = ResolveLimits(limits, OnlineCpus());
  const ResolvedLimits before = std::exchange(requested_, wanted);
  try {
    instance_->Apply(requested_);
    RequireLimits("after the update");
  } catch (...) {
    requested_ = before;
    try {
      instance_->Apply(before);
    } catch (const Error&) {
      // The first failure is the one to tell; what is in force is read again at each measurement.
    }
    throw;
  }
  spec_.limits = limits;
}

}  // namespace throttletest::internal
