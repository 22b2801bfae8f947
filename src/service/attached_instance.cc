#include "service/attached_instance.h"

#include <fmt/format.h>

#include <thread>
#include <utility>

#include "service/engine_container.h"
#include "service/engine_instance.h"
#include "throttletest/base/error.h"

namespace throttletest::internal {
namespace {

using std::chrono::steady_clock;

// The engine notices an end a little later than the kernel.
constexpr auto kToldWithin = std::chrono::seconds(5);

// What the engine says once it has noticed that the process ended. Absent: the container was
// removed or started again, which takes its exit status away.
std::optional<ContainerState> EndOf(const FoundContainer& container) {
  const auto give_up = steady_clock::now() + kToldWithin;
  while (true) {
    try {
      auto state = FindContainer(container.engine, container.state.id);
      if (!state || (state->running && state->pid != container.state.pid)) return std::nullopt;
      if (!state->running && state->exit_code) return state;
    } catch (const Error&) {
      return std::nullopt;
    }
    if (steady_clock::now() >= give_up) return std::nullopt;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

}  // namespace

AttachedInstance::AttachedInstance(AttachedTo to) : to_(std::move(to)) {
  try {
    cgroup_.emplace(Cgroup::Open(to_.location));
    found_ = cgroup_->Read();
  } catch (const Error&) {
    if (Running()) throw;
  }
  if (!Running()) throw Error(ErrorCode::kNotReady, "it has just ended");
}

std::optional<std::int64_t> AttachedInstance::OomKills() const {
  try {
    const auto kills = cgroup_->Read().memory.oom_kills;
    if (kills && found_.memory.oom_kills) return *kills - *found_.memory.oom_kills;
  } catch (const Error&) {
    // Gone with its last process.
  }
  return std::nullopt;
}

ExitReport AttachedInstance::ReadEnd() const {
  if (end_) return *end_;
  ExitReport report;
  report.oom_kills = OomKills();
  if (to_.container) {
    if (const auto state = EndOf(*to_.container)) {
      const auto kills = report.oom_kills;
      report = ReportOf(state->exit_code);
      report.oom_kills = kills;
      // The engine's flag is of this run of the container; that it is not set proves nothing.
      if (!kills && state->oom_killed.value_or(false)) report.oom_kills = 1;
    }
    report.logs = ContainerLogs(to_.container->engine, to_.container->state.id);
  }
  end_ = report;
  return report;
}

ExitReport AttachedInstance::Peek() const {
  if (Running()) return {};
  const std::lock_guard lock(mutex_);
  return ReadEnd();
}

std::string AttachedInstance::Logs() const {
  const std::lock_guard lock(mutex_);
  if (end_) return end_->logs;
  return to_.container ? ContainerLogs(to_.container->engine, to_.container->state.id) : "";
}

void AttachedInstance::Apply(const ResolvedLimits& /*limits*/) {
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("the limits of {} are not ours to change, it was attached to: start the "
                          "service from the test, or change them where it was started and attach "
                          "again",
                          to_.what));
}

ExitReport AttachedInstance::Stop(std::chrono::nanoseconds /*grace*/) {
  const bool runs = Running();
  const std::lock_guard lock(mutex_);
  if (stopped_) return *stopped_;
  ExitReport report;
  if (runs) {
    report.still_runs = true;
    report.oom_kills = OomKills();
    if (to_.container) {
      report.logs = ContainerLogs(to_.container->engine, to_.container->state.id);
    }
  } else {
    report = ReadEnd();
  }
  stopped_ = report;
  return report;
}

ResolvedLimits LimitsIn(const Snapshot& snapshot) {
  ResolvedLimits limits;
  limits.cpu = snapshot.EffectiveCpu().quota.value_or(CpuBandwidth{});
  if (snapshot.cpuset && !snapshot.cpuset->Includes(snapshot.online)) {
    limits.cpuset = snapshot.cpuset;
  }
  const MemoryCounters& memory = snapshot.memory;
  if (!memory.limit || memory.limit->unlimited()) return limits;
  limits.memory = memory.limit;
  if (memory.swap_limit && !memory.swap_limit->unlimited()) {
    limits.memory_and_swap = memory.swap_limit;
  }
  return limits;
}

}  // namespace throttletest::internal
