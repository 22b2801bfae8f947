#include "service/engine_instance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstring>
#include <utility>

#include "cgroup/writer.h"
#include "service/engine_cgroup.h"
#include "service/process_handle.h"
#include "throttletest/base/error.h"

namespace throttletest::internal {
namespace {

using std::chrono::seconds;

// The engine notices an end a little later than the kernel.
constexpr auto kNoticeWithin = seconds(10);
constexpr auto kDieWithin = seconds(10);

[[noreturn]] void ThrowEndedAtOnce(const EngineContainer& container, const ContainerState& state) {
  ExitReport report = ReportOf(state.exit_code);
  // It ended before its own counter could be read.
  const auto kills = container.SystemOomKills();
  std::string hint;
  if (state.oom_killed.value_or(false)) {
    report.oom_kills = 1;
  } else if (kills == 0) {
    report.oom_kills = 0;
  } else if (kills && report.signal == SIGKILL) {
    hint = fmt::format(" (the machine's count of OOM kills rose by {} meanwhile)", *kills);
  }
  const std::string logs = LastLinesOnOne(container.Logs(), 10);
  throw Error(ErrorCode::kNotReady,
              fmt::format("the service in {} ended right after its start: {}{}{}{}",
                          container.engine().name(), report.ToString(), hint,
                          state.error.empty() ? "" : " (" + state.error + ")",
                          logs.empty() ? "; it wrote nothing" : "; its last lines: " + logs));
}

// What engines cannot express; written into the container's cgroup by ourselves.
bool NeedsDirectWrite(const ResolvedLimits& limits, const ResolvedLimits& before) {
  return limits.cpu.burst.count() > 0 || before.cpu.burst.count() > 0 ||
         (!limits.memory && before.memory) || (!limits.cpuset && before.cpuset);
}

}  // namespace

std::string RecordedLimitDifference(const std::string& engine, const CpuBandwidth& requested,
                                    const ContainerState& state) {
  const auto wanted = requested.cpus();
  if (!wanted && !state.cpus) return "";
  constexpr double kRounding = 0.01;
  if (wanted && state.cpus && std::abs(*wanted - *state.cpus) < kRounding) return "";
  const auto text = [](std::optional<double> cpus) {
    return cpus ? fmt::format("{:g} CPUs", *cpus) : std::string("no CPU limit");
  };
  return fmt::format("{} recorded {}, requested {}", engine, text(state.cpus), text(wanted));
}

ExitReport ReportOf(std::optional<int> exit_code) {
  constexpr int kSignalBase = 128;
  constexpr int kLastSignal = 64;
  ExitReport report;
  if (!exit_code) return report;
  if (*exit_code > kSignalBase && *exit_code <= kSignalBase + kLastSignal) {
    report.signal = *exit_code - kSignalBase;
  } else {
    report.exit_code = *exit_code;
  }
  return report;
}

EngineInstance::EngineInstance(std::unique_ptr<EngineContainer> container,
                               const LaunchRequest& request)
    : container_(std::move(container)), applied_(request.limits) {
  const ContainerState state = container_->Inspect();
  if (!state.running || state.pid <= 0) ThrowEndedAtOnce(*container_, state);
  pid_ = state.pid;
  process_ = OpenProcess(pid_);
  try {
    const CgroupLocation location = LocateContainer(pid_, state.id);
    oom_.emplace(location);
    cgroup_.emplace(Cgroup::Open(location));
  } catch (const Error&) {
    const ContainerState now = container_->Inspect();
    if (!now.running) ThrowEndedAtOnce(*container_, now);
    throw;
  }
  if (!process_.valid()) {
    throw Error(ErrorCode::kServiceStart,
                fmt::format("cannot watch process {}: {}", pid_, std::strerror(errno)));
  }
  const std::string difference =
      RecordedLimitDifference(container_->engine().name(), request.limits.cpu, state);
  if (!difference.empty()) throw Error(ErrorCode::kServiceStart, difference);
  if (request.container_port != 0 && state.HostPort(request.container_port) != request.port) {
    throw Error(ErrorCode::kServiceStart,
                fmt::format("{} did not publish port {} at 127.0.0.1:{}",
                            container_->engine().name(), request.container_port, request.port));
  }
  // Engines have no option for the burst.
  if (request.limits.cpu.burst.count() > 0) WriteLimits(cgroup_->location(), request.limits);
}

EngineInstance::EngineInstance(std::unique_ptr<EngineContainer> container,
                               const LaunchRequest& request, SeenContainer found)
    : container_(std::move(container)),
      pid_(found.pid),
      process_(std::move(found.process)),
      applied_(request.limits) {
  oom_.emplace(std::move(*found.oom));
  cgroup_.emplace(std::move(*found.cgroup));
  const std::string difference = RecordedLimitDifference(container_->engine().name(),
                                                         request.limits.cpu, container_->Inspect());
  if (!difference.empty()) throw Error(ErrorCode::kServiceStart, difference);
}

EngineInstance::~EngineInstance() { Stop(std::chrono::nanoseconds(0)); }

bool EngineInstance::Running() const { return process_.valid() && !HasEnded(process_); }

ExitReport EngineInstance::ReadEnd() const {
  if (end_) return *end_;
  const auto state = container_->InspectEnded(kNoticeWithin);
  ExitReport report = ReportOf(state ? state->exit_code : std::nullopt);
  report.oom_kills = oom_->Count(state ? state->oom_killed : std::nullopt);
  report.logs = container_->Logs();
  end_ = report;
  return report;
}

ExitReport EngineInstance::Peek() const {
  if (Running()) return {};
  const std::lock_guard lock(mutex_);
  return stopped_ ? *stopped_ : ReadEnd();
}

std::string EngineInstance::Logs() const {
  const std::lock_guard lock(mutex_);
  if (stopped_) return stopped_->logs;
  if (end_) return end_->logs;
  return container_->Logs();
}

void EngineInstance::Apply(const ResolvedLimits& limits) {
  const std::lock_guard lock(mutex_);
  const CgroupLocation& location = cgroup_->location();
  // First into the control files, which takes the kernel's ordering rules into account; then the
  // engine's own record, which it may write again later; then once more, because engines put back
  // limits that they cannot lift (podman 4.3 its former quota), and kernels before 6.10 damage the
  // burst when the quota is written.
  std::string direct;
  try {
    WriteLimits(location, limits);
  } catch (const Error& e) {
    direct = e.what();
  }
  const CommandResult recorded = container_->Update(limits);
  if (direct.empty()) {
    WriteLimits(location, limits);
  } else if (!recorded.ok()) {
    throw Error(ErrorCode::kServiceStart, recorded.Describe() + "; and " + direct);
  } else if (NeedsDirectWrite(limits, applied_)) {
    throw Error(ErrorCode::kServiceStart,
                fmt::format("{} cannot set a burst or lift a limit, and its control files cannot "
                            "be written: {}",
                            container_->engine().name(), direct));
  }
  applied_ = limits;
}

ExitReport EngineInstance::Stop(std::chrono::nanoseconds grace) {
  const std::lock_guard lock(mutex_);
  if (stopped_) return *stopped_;
  const bool ran = process_.valid() && Running();
  if (ran) {
    if (grace.count() > 0) container_->Signal("TERM");
    if (grace.count() <= 0 || !HasEnded(process_, grace)) {
      // Read while the cgroup exists: killing is not an OOM.
      oom_->Count(std::nullopt);
      container_->Signal("KILL");
      HasEnded(process_, kDieWithin);
    }
  }
  ExitReport report = cgroup_ ? ReadEnd() : ExitReport{};
  report.stopped_by_us = ran;
  report.logs += container_->Remove();
  stopped_ = report;
  return report;
}

namespace {

std::unique_ptr<Instance> LaunchIn(LauncherKind kind, const LaunchRequest& request) {
  auto container = std::make_unique<EngineContainer>(OpenEngine(kind));
  container->Start(request);
  if (request.job == nullptr) {
    return std::make_unique<EngineInstance>(std::move(container), request);
  }
  SeenContainer found = WatchStart(
      container->Inspect().id, [&] { container->Run(); }, request.limits, *request.job);
  return std::make_unique<EngineInstance>(std::move(container), request, std::move(found));
}

std::string LackOf(LauncherKind kind) {
  try {
    OpenEngine(kind);
    return "";
  } catch (const std::exception& e) {
    return e.what();
  }
}

}  // namespace

std::unique_ptr<Instance> LaunchInDocker(const LaunchRequest& request) {
  return LaunchIn(LauncherKind::kDocker, request);
}
std::unique_ptr<Instance> LaunchInPodman(const LaunchRequest& request) {
  return LaunchIn(LauncherKind::kPodman, request);
}
std::string DockerLauncherLack() { return LackOf(LauncherKind::kDocker); }
std::string PodmanLauncherLack() { return LackOf(LauncherKind::kPodman); }

}  // namespace throttletest::internal
