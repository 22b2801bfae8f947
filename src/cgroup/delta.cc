#include "throttletest/cgroup/delta.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "cgroup/comparable.h"
#include "cgroup/unseen.h"
#include "throttletest/base/duration.h"

namespace throttletest {
namespace {

using std::chrono::nanoseconds;

constexpr char kNoQuota[] = "no CPU quota in force";
constexpr char kNoPeriod[] =
    "no enforcement period elapsed (0 of 0): the service was idle, which is not 0 %";

double Seconds(nanoseconds time) { return std::chrono::duration<double>(time).count(); }

Outcome<double> Ratio(std::int64_t throttled, std::int64_t periods) {
  if (periods == 0) return Outcome<double>::Inconclusive(kNoPeriod);
  const double ratio = static_cast<double>(throttled) / static_cast<double>(periods);
  return Outcome<double>::Value(std::min(ratio, 1.0));
}

// The levels that have a quota and say what it did, leaf first.
std::vector<LevelDelta> LimitedLevels(const Snapshot& before, const Snapshot& after) {
  std::vector<LevelDelta> levels;
  for (std::size_t i = 0; i < after.cpu.size(); ++i) {
    const CpuLevel& a = before.cpu[i];
    const CpuLevel& b = after.cpu[i];
    if (!b.bandwidth || !b.bandwidth->limited() || !a.counters || !b.counters) continue;
    LevelDelta level;
    level.path = b.path;
    level.bandwidth = *b.bandwidth;
    level.periods = b.counters->periods - a.counters->periods;
    level.throttled_periods = b.counters->throttled_periods - a.counters->throttled_periods;
    level.throttled_time = b.counters->throttled_time - a.counters->throttled_time;
    level.throttle_ratio = Ratio(level.throttled_periods, level.periods);
    levels.push_back(std::move(level));
  }
  return levels;
}

// Which level judges: the highest ratio, then the smallest quota, then the one nearer to the leaf.
const LevelDelta* JudgedLevel(const std::vector<LevelDelta>& levels) {
  const auto rank = [](const LevelDelta& level) {
    return level.throttle_ratio.optional().value_or(-1.0);
  };
  const LevelDelta* judged = nullptr;
  for (const LevelDelta& level : levels) {
    if (judged == nullptr || rank(level) > rank(*judged) ||
        (rank(level) == rank(*judged) && *level.bandwidth.cpus() < *judged->bandwidth.cpus())) {
      judged = &level;
    }
  }
  return judged;
}

// The change of an optional counter, or why there is none.
template <typename T>
Outcome<T> Change(const std::optional<T>& before, const std::optional<T>& after,
                  const char* reason) {
  if (!before || !after) return Outcome<T>::NotAvailable(reason);
  return Outcome<T>::Value(*after - *before);
}

const CpuLevel* LevelAt(const Snapshot& snapshot, const std::string& path) {
  for (const CpuLevel& level : snapshot.cpu) {
    if (level.path == path) return &level;
  }
  return nullptr;
}

void SetBandwidthWithoutValue(CgroupDelta& delta, const Outcome<double>& why) {
  delta.throttle_ratio = why;
  delta.periods = why.As<std::int64_t>();
  delta.throttled_periods = why.As<std::int64_t>();
  delta.throttled_time = why.As<nanoseconds>();
  delta.throttled_per_second = why;
  delta.bursts = why.As<std::int64_t>();
  delta.burst_time = why.As<nanoseconds>();
}

void SetJudged(CgroupDelta& delta, const LevelDelta& judged, const Snapshot& before,
               const Snapshot& after) {
  delta.judged_path = judged.path;
  delta.judged_is_ancestor = judged.path != after.cpu.front().path;
  delta.periods = Outcome<std::int64_t>::Value(judged.periods);
  if (judged.throttled_periods > judged.periods) {
    delta.notes.push_back(fmt::format(
        "{}: {} throttled of {} periods, read while the kernel was updating them; ratio taken as 1",
        judged.path, judged.throttled_periods, judged.periods));
  }
  if (!judged.throttle_ratio.has_value()) {
    // Zero throttled periods of an idle service would read as "never throttled".
    const Outcome<std::int64_t> periods = delta.periods;
    SetBandwidthWithoutValue(delta, judged.throttle_ratio);
    delta.periods = periods;
    return;
  }
  delta.throttle_ratio = judged.throttle_ratio;
  delta.throttled_periods = Outcome<std::int64_t>::Value(judged.throttled_periods);
  delta.throttled_time = Outcome<nanoseconds>::Value(judged.throttled_time);
  delta.throttled_per_second =
      Outcome<double>::Value(Seconds(judged.throttled_time) / Seconds(delta.wall));
  const BandwidthCounters& a = *LevelAt(before, judged.path)->counters;
  const BandwidthCounters& b = *LevelAt(after, judged.path)->counters;
  delta.bursts = Change(a.bursts, b.bursts, "cpu.stat has no nr_bursts (kernel before 5.16)");
  delta.burst_time =
      Change(a.burst_time, b.burst_time, "cpu.stat has no burst time (kernel before 5.16)");
}

void SetBandwidth(CgroupDelta& delta, const Snapshot& before, const Snapshot& after) {
  delta.levels = LimitedLevels(before, after);
  if (!delta.effective.quota) {
    const std::string hidden =
        after.ancestors_hidden ? " on any visible level; levels above are hidden from here" : "";
    SetBandwidthWithoutValue(delta, Outcome<double>::NotAvailable(kNoQuota + hidden));
    return;
  }
  if (const LevelDelta* judged = JudgedLevel(delta.levels)) {
    SetJudged(delta, *judged, before, after);
    return;
  }
  SetBandwidthWithoutValue(
      delta, Outcome<double>::NotAvailable(fmt::format(
                 "{} has a quota but its cpu.stat has no nr_periods", delta.effective.quota_path)));
}

void SetUsage(CgroupDelta& delta, const Snapshot& before, const Snapshot& after) {
  delta.usage = Change(before.usage, after.usage,
                       "no usage counter (neither cpuacct nor a cgroup v2 of its own)");
  if (!delta.usage.has_value()) {
    delta.usage_cores = delta.usage_of_limit = delta.usage_of_host = delta.usage.As<double>();
    return;
  }
  const double cores = Seconds(delta.usage.value()) / Seconds(delta.wall);
  delta.usage_cores = Outcome<double>::Value(cores);
  const auto share = [&](double of, const char* reason) {
    return of > 0 ? Outcome<double>::Value(cores / of) : Outcome<double>::NotAvailable(reason);
  };
  delta.usage_of_limit = share(delta.effective.cpus, "the effective limit is not known");
  delta.usage_of_host = share(after.online.count(), "the online CPUs are not known");
}

void SetOthers(CgroupDelta& delta, const Snapshot& before, const Snapshot& after) {
  const auto held = [](const Snapshot& s) {
    return s.cpu.empty() ? std::nullopt : s.cpu.front().held_time;
  };
  delta.held_time =
      Change(held(before), held(after),
             "no level above that could hold it, or no cpu.stat.local here (kernel before "
             "6.6, or cpu controller off)");
  delta.held_by_unseen =
      after.unseen.empty()
          ? Outcome<nanoseconds>::NotAvailable("every level of the cgroup tree is visible")
          : internal::HeldByUnseen(before.cpu, after.cpu);
  delta.memory_peak =
      after.memory.peak
          ? Outcome<std::int64_t>::Value(*after.memory.peak)
          : Outcome<std::int64_t>::NotAvailable(
                "no memory peak (memory.peak needs kernel 5.19 and the memory controller)");
  delta.memory_peak_of_window =
      before.memory.peak && after.memory.peak && *after.memory.peak > *before.memory.peak;
  delta.oom_kills = Change(before.memory.oom_kills, after.memory.oom_kills,
                           "no OOM counter (memory controller not available here)");
  constexpr char kNoPressure[] = "pressure information is not available for this cgroup";
  delta.cpu_pressure_some = Change(before.pressure.cpu_some, after.pressure.cpu_some, kNoPressure);
  delta.memory_pressure_some =
      Change(before.pressure.memory_some, after.pressure.memory_some, kNoPressure);
}

// Everything inconclusive, with the faults as the reason.
void Distrust(CgroupDelta& delta) {
  std::string reason;
  for (const CgroupFault& fault : delta.faults) {
    reason += (reason.empty() ? "" : "; ") + fault.text;
  }
  const auto why = Outcome<double>::Inconclusive(reason);
  SetBandwidthWithoutValue(delta, why);
  delta.usage_cores = delta.usage_of_limit = delta.usage_of_host = why;
  delta.held_time = delta.held_by_unseen = delta.usage = why.As<nanoseconds>();
  delta.cpu_pressure_some = delta.memory_pressure_some = why.As<nanoseconds>();
  delta.memory_peak = delta.oom_kills = why.As<std::int64_t>();
}

}  // namespace

CgroupDelta Subtract(const Snapshot& before, const Snapshot& after) {
  CgroupDelta delta;
  delta.wall = after.time - before.time;
  delta.effective = after.EffectiveCpu();
  delta.unseen = after.unseen;
  delta.cpu_weight = after.cpu_weight;
  delta.notes = after.notes;
  internal::Compare(before, after, delta.faults, delta.notes);
  if (!delta.faults.empty()) {
    Distrust(delta);
    return delta;
  }
  SetBandwidth(delta, before, after);
  SetUsage(delta, before, after);
  SetOthers(delta, before, after);
  return delta;
}

}  // namespace throttletest
