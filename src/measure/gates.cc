#include "measure/gates.h"

#include <fmt/format.h>

#include <algorithm>

#include "cgroup/comparable.h"
#include "cgroup/unseen.h"
#include "measure/oom_kills.h"
#include "throttletest/base/duration.h"
#include "throttletest/cgroup/read_back.h"

namespace throttletest::internal {
namespace {

void Add(Validity& validity, ValidityGate gate, std::string text) {
  const bool known = std::any_of(validity.faults.begin(), validity.faults.end(),
                                 [&](const ValidityFault& f) { return f.text == text; });
  if (!known) validity.faults.push_back({gate, std::move(text)});
}

bool Mentions(const std::string& text, const char* word) {
  return text.find(word) != std::string::npos;
}

ValidityGate GateOf(CgroupFault::Kind kind) {
  switch (kind) {
    case CgroupFault::Kind::kIdentity:
      return ValidityGate::kIdentityChanged;
    case CgroupFault::Kind::kLimit:
      return ValidityGate::kLimitChanged;
    case CgroupFault::Kind::kCounter:
      break;
  }
  return ValidityGate::kCountersBackwards;
}

// " at a memory limit of 64 MiB (64 MiB with swap)". Absent: empty, none is known.
std::string AtMemoryLimit(const MemoryCounters& memory) {
  if (!memory.limit || memory.limit->unlimited()) return "";
  std::string text = " at a memory limit of " + ToString(*memory.limit);
  if (memory.swap_limit) text += fmt::format(" ({} with swap)", ToString(*memory.swap_limit));
  return text;
}

// True when the service is gone, whatever else is wrong with the window.
bool JudgeService(const WindowInputs& in, Validity& validity) {
  // That a job ends, and how, is its result.
  if (in.job) {
    if (!in.trouble.empty()) Add(validity, ValidityGate::kMoved, in.trouble);
    return false;
  }
  if (!in.alive) {
    std::string how = in.trouble.empty() ? "no exit status is known" : in.trouble;
    if (Mentions(how, "OOM-killed")) how += AtMemoryLimit(in.before.memory);
    Add(validity, ValidityGate::kServiceGone,
        "the service ended before the second snapshot: " + how);
    return true;
  }
  if (!in.trouble.empty()) {
    Add(validity,
        Mentions(in.trouble, "restarted") ? ValidityGate::kServiceGone : ValidityGate::kMoved,
        in.trouble);
  }
  // The main process may live on and answer 200 without the worker that was killed.
  const std::int64_t kills = in.after ? OomKillsBetween(in.before, *in.after).value_or(0) : 0;
  if (kills > 0) {
    Add(validity, ValidityGate::kServiceGone,
        fmt::format("a process of the service was OOM-killed ({} kill{}){}", kills,
                    kills == 1 ? "" : "s", AtMemoryLimit(in.before.memory)));
  }
  return false;
}

// Between the start of the service, or the moment it was attached to, and the window somebody may
// have changed its limits, too.
void JudgeLimitsBefore(const WindowInputs& in, Validity& validity) {
  if (!in.found) {
    for (const std::string& difference : CheckLimits(in.requested, in.before).differences) {
      Add(validity, ValidityGate::kLimitChanged, "limit changed before the window: " + difference);
    }
    return;
  }
  std::vector<CgroupFault> changes;
  std::vector<std::string> harmless;
  CompareLimits(*in.found, in.before, "since the service was attached to", changes, harmless);
  for (const CgroupFault& change : changes) {
    Add(validity, ValidityGate::kLimitChanged, change.text);
  }
}

void JudgeCounters(const WindowInputs& in, const CgroupDelta& delta, Validity& validity) {
  if (!in.after) {
    Add(validity, ValidityGate::kIdentityChanged,
        "the second snapshot could not be read: " + in.after_error);
    return;
  }
  for (const CgroupFault& fault : delta.faults) {
    Add(validity, GateOf(fault.kind), fault.text);
  }
  JudgeLimitsBefore(in, validity);
  if (IsHeldByUnseen(delta.held_by_unseen)) {
    Add(validity, ValidityGate::kUnseenLimit,
        fmt::format("the service was held for {} by a CPU limit that cannot be seen from here, one "
                    "of {}: the throttle ratio does not count it; measure where no such limit is "
                    "in force, or from the host",
                    throttletest::ToString(delta.held_by_unseen.value()), delta.unseen));
  }
}

void JudgeGenerator(const WindowInputs& in, Validity& validity) {
  const LatencySamples lags = in.load.StartLags();
  if (!lags.empty()) {
    const Percentile p99(99);
    const Latency lag = lags.At(p99);
    const std::chrono::nanoseconds bound = StartLagBound(in);
    if (lag > Latency(bound)) {
      Add(validity, ValidityGate::kStartLag,
          fmt::format("start lag P99 {} is above {} (nearest rank, {} requests): the load "
                      "generator was late",
                      throttletest::ToString(lag), throttletest::ToString(bound), lags.count()));
    }
  }
  if (in.job && in.job->at_most_before > StartLagBound(in)) {
    Add(validity, ValidityGate::kStartLag,
        fmt::format("the job may have begun {} before it was seen to run, above {}: this process "
                    "did not get a CPU in time",
                    throttletest::ToString(in.job->at_most_before),
                    throttletest::ToString(StartLagBound(in))));
  }
  if (in.load.not_sent > 0 && !in.interrupted) {
    Add(validity, ValidityGate::kNotSent,
        fmt::format(
            "{} of {} requests were not sent, above 0: the load generator could not keep to the "
            "plan",
            in.load.not_sent, in.load.planned));
  }
}

// "5 %", "12.3 %".
std::string Percent(double share) { return fmt::format("{:.3g} %", share * 100); }

void JudgeHost(const ValidityBounds& bounds, const HostActivity& host, Validity& validity) {
  const double steal = host.steal.optional().value_or(0);
  if (steal > bounds.max_steal) {
    Add(validity, ValidityGate::kSteal,
        fmt::format("steal {} of the machine's CPU time is above {}: its hypervisor ran others; "
                    "measure on a machine that has its CPUs to itself",
                    Percent(steal), Percent(bounds.max_steal)));
  }
  const double others = host.most_others_cpu.optional().value_or(0);
  if (others > bounds.max_others_cpu) {
    const std::string pressure = host.cpu_pressure.has_value()
                                     ? fmt::format(" (some task waited for a CPU {} of the time)",
                                                   Percent(host.cpu_pressure.value()))
                                     : "";
    const bool alone = host.others_cpu.has_value();
    Add(validity, ValidityGate::kHostBusy,
        fmt::format("{} used {} of the machine's CPU time{}, above {}: {}",
                    alone ? "other processes" : "other processes and the service", Percent(others),
                    pressure, Percent(bounds.max_others_cpu),
                    alone ? "run measurements alone, with ctest's RUN_SERIAL"
                          : "how much of it the service used cannot be read; give it a cpuacct "
                            "cgroup of its own, or raise max_others_cpu"));
  }
  const std::int64_t stopped = host.own_throttled_periods.optional().value_or(0);
  if (stopped > bounds.max_own_throttled_periods) {
    Add(validity, ValidityGate::kOwnThrottled,
        fmt::format("the test process, which sends the load, was itself throttled in {} periods "
                    "by {}, above {}: run it without a CPU limit or with a larger one",
                    stopped, host.own_quota, bounds.max_own_throttled_periods));
  }
  // Periods of such a limit cannot be counted, so the bound on them can only allow all or none.
  if (IsHeldByUnseen(host.own_held_by_unseen) && bounds.max_own_throttled_periods == 0) {
    Add(validity, ValidityGate::kOwnThrottled,
        fmt::format("the test process, which sends the load, was itself held for {} by a CPU limit "
                    "that cannot be seen from here, one of {}: run it without a CPU limit or with "
                    "a larger one",
                    throttletest::ToString(host.own_held_by_unseen.value()), host.own_unseen));
  }
}

void JudgeBackground(const WindowInputs& in, Validity& validity) {
  for (std::string& fault : BackgroundFaults(in.background_before, in.background_after)) {
    Add(validity, ValidityGate::kBackgroundLoad, std::move(fault));
  }
}

bool IsOfTheMachine(ValidityGate gate) {
  return gate == ValidityGate::kStartLag || gate == ValidityGate::kNotSent ||
         gate == ValidityGate::kSteal || gate == ValidityGate::kHostBusy ||
         gate == ValidityGate::kOwnThrottled || gate == ValidityGate::kUnseenLimit;
}

}  // namespace

std::chrono::nanoseconds StartLagBound(const WindowInputs& in) {
  if (in.bounds.start_lag_p99) return *in.bounds.start_lag_p99;
  if (in.job) return DefaultStartLagBound(in.job->ran);
  const LatencySamples responses = in.load.ResponseTimes();
  if (responses.empty()) return DefaultStartLagBound({});
  const Latency median = responses.At(Percentile(50));
  if (median.infinite()) return DefaultStartLagBound({});
  return DefaultStartLagBound(median.value());
}

Validity JudgeValidity(const WindowInputs& in, const CgroupDelta& delta, const HostActivity& host) {
  Validity validity;
  const bool gone = JudgeService(in, validity);
  if (in.interrupted && in.job) {
    Add(validity, ValidityGate::kInterrupted,
        fmt::format("interrupted when the job had run for {}",
                    throttletest::ToString(in.job->ran)));
  } else if (in.interrupted) {
    Add(validity, ValidityGate::kInterrupted,
        fmt::format("interrupted after {} of {} requests", in.load.planned - in.load.not_sent,
                    in.load.planned));
  }
  if (gone) return validity;
  JudgeCounters(in, delta, validity);
  JudgeGenerator(in, validity);
  JudgeHost(in.bounds, host, validity);
  JudgeBackground(in, validity);
  return validity;
}

bool WorthRetrying(const Validity& validity) {
  return !validity.trusted() &&
         std::all_of(validity.faults.begin(), validity.faults.end(),
                     [](const ValidityFault& f) { return IsOfTheMachine(f.gate); });
}

}  // namespace throttletest::internal
