#include "measure/diagnosis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/short_time.h"
#include "base/text.h"
#include "measure/demand.h"
#include "measure/job_demand.h"
#include "measure/slowness.h"
#include "throttletest/base/duration.h"

namespace throttletest::internal {
namespace {

using std::chrono::nanoseconds;

void AddSentence(std::string& text, const std::string& sentence) {
  if (!sentence.empty()) AppendItem(text, sentence, " ");
}

std::string Failures(const LoadResult& load) {
  const std::int64_t failed = load.failed + load.timed_out;
  if (failed == 0) return "";
  std::vector<std::pair<std::int64_t, std::string>> reasons;
  for (const auto& [reason, count] : load.failure_reasons) reasons.emplace_back(count, reason);
  if (load.timed_out > 0) reasons.emplace_back(load.timed_out, "timed out");
  std::sort(reasons.begin(), reasons.end(),
            [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string list;
  for (std::size_t i = 0; i < std::min<std::size_t>(reasons.size(), 3); ++i) {
    list += fmt::format("{}{} ({})", i == 0 ? ": " : ", ", reasons[i].second, reasons[i].first);
  }
  if (reasons.size() > 3) list += fmt::format(" and {} more", reasons.size() - 3);
  return fmt::format("{} of {} requests failed ({:.1f} %){}.", failed, load.planned - load.not_sent,
                     load.error_ratio() * 100, list);
}

std::string PeriodsText(const Measurement& m, const JudgedQuota& quota) {
  const CgroupDelta& d = m.cgroup;
  std::string text =
      fmt::format("{} of {} periods throttled", d.throttled_periods.value(), d.periods.value());
  if (quota.ancestor) {
    text += fmt::format(" by ancestor {} ({})", quota.path, ToString(quota.bandwidth));
    if (d.throttle_ratio.has_value()) {
      text += fmt::format(", ratio {:.2f}", d.throttle_ratio.value());
    }
  }
  return text;
}

// A service that answers less than it is asked gets slower for as long as the load lasts.
std::string Overload(const LoadResult& load) {
  const auto throughput = load.throughput();
  if (!throughput || !throughput->overloaded() || load.StartLags().empty()) return "";
  return fmt::format(
      "Overload: {:.1f} requests/s were offered and {:.1f} answered meanwhile (start lag P99 {}).",
      throughput->offered, throughput->answered, ToString(load.StartLags().At(Percentile(99))));
}

// What it was when it was not the quota.
std::string OtherCauses(const Measurement& m, const std::vector<SlowRequest>& slow) {
  std::string text = ServiceText(m, slow);
  AddSentence(text, HostText(m));
  return text;
}

// Some periods were throttled: how many of the slow requests that explains.
std::string ExplainHeld(const Measurement& m, const JudgedQuota& quota,
                        const std::vector<SlowRequest>& slow) {
  const std::int64_t held = CountHeld(slow, m.throttled_windows);
  std::string text =
      fmt::format("{}; {} of the {} slowest requests overlap a throttled window.",
                  PeriodsText(m, quota), held, static_cast<std::int64_t>(slow.size()));
  if (held == 0) {
    AddSentence(text, "The quota is not their cause.");
    AddSentence(text, OtherCauses(m, slow));
    return text;
  }
  const bool mostly = held * 2 >= static_cast<std::int64_t>(slow.size());
  if (!mostly) {
    AddSentence(text, "The quota alone is not their cause.");
    AddSentence(text, ServiceText(m, slow));
  }
  // Advice about a quota that explains little would be followed in vain.
  if (mostly || held * 4 >= static_cast<std::int64_t>(slow.size())) {
    AddSentence(text, FitText(m, quota));
  }
  AddSentence(text, HostText(m));
  return text;
}

std::string ExplainLatency(const Measurement& m, const MissedBudget& missed) {
  const CgroupDelta& d = m.cgroup;
  const std::vector<SlowRequest> slow = FindSlow(m, missed);
  std::string text = Failures(m.load);
  AddSentence(text, Overload(m.load));
  const std::optional<JudgedQuota> quota = FindJudgedQuota(m);
  if (!quota) {
    AddSentence(text, "No CPU quota is in force: look elsewhere for the cause.");
    AddSentence(text, OtherCauses(m, slow));
  } else if (!d.periods.has_value() || !d.throttled_periods.has_value()) {
    AddSentence(text, "Throttling is not known: " + d.throttled_periods.reason() + ".");
    AddSentence(text, HostText(m));
  } else if (d.throttled_periods.value() == 0) {
    AddSentence(text, fmt::format("Not throttled (0 of {} periods): the quota is not the cause.",
                                  d.periods.value()));
    AddSentence(text, OtherCauses(m, slow));
  } else {
    AddSentence(text, ExplainHeld(m, *quota, slow));
  }
  return text;
}

std::string UsageText(const Measurement& m) {
  const CgroupDelta& d = m.cgroup;
  if (!d.usage_cores.has_value()) return "";
  std::string text = fmt::format("CPU use {:.2f} CPUs", d.usage_cores.value());
  if (d.usage_of_limit.has_value()) {
    text += fmt::format(" = {:.0f} % of the limit of {:.4g}", d.usage_of_limit.value() * 100,
                        d.effective.cpus);
  }
  return text;
}

std::string ExplainThrottling(const Measurement& m, Metric metric) {
  const CgroupDelta& d = m.cgroup;
  const std::optional<JudgedQuota> quota = FindJudgedQuota(m);
  if (!quota || !d.throttled_periods.has_value() || !d.periods.has_value()) return "";
  std::string text;
  // The figure itself already says how many periods.
  const bool said = metric == Metric::kThrottleRatio || metric == Metric::kThrottledPeriods;
  if (!said || quota->ancestor) text = PeriodsText(m, *quota);
  if (d.throttled_time.has_value()) {
    text += fmt::format("{} {} in total over all CPUs", text.empty() ? "Throttled for" : ",",
                        ShortTime(d.throttled_time.value()));
  }
  const std::string usage = UsageText(m);
  if (!usage.empty()) text += "; " + usage;
  if (!m.environment.kernel.empty()) text += "; kernel " + m.environment.kernel;
  text += ".";
  // A budget of "below 0" is missed by a service that was never held back.
  if (d.throttled_periods.value() > 0) {
    AddSentence(text, m.job ? UnthrottledText(m) : FitText(m, *quota));
  }
  return text;
}

std::string WithHost(const Measurement& m, std::string text) {
  AddSentence(text, HostText(m));
  return text;
}

// The limit is what the service time depends on.
std::string ExplainQueue(const Measurement& m) {
  std::string text = Failures(m.load);
  const std::optional<JudgedQuota> quota = FindJudgedQuota(m);
  if (!quota || !m.cgroup.throttled_periods.has_value() || !m.cgroup.periods.has_value()) {
    return text;
  }
  if (m.cgroup.throttled_periods.value() == 0) {
    AddSentence(text, fmt::format("Not throttled (0 of {} periods): a higher limit would not help.",
                                  m.cgroup.periods.value()));
    return text;
  }
  AddSentence(text, PeriodsText(m, *quota) + ": a higher limit would shorten the service time.");
  return text;
}

std::string ExplainMemory(const Measurement& m) {
  if (!m.requested.memory) {
    return m.attached ? "No memory limit is in force." : "No memory limit was asked for.";
  }
  return fmt::format("The memory limit is {}.", ToString(*m.requested.memory));
}

// Why a job failed is what it wrote.
std::string LogText(const Measurement& m) {
  if (!m.job) return "";
  std::string text = FateText(m);
  text.front() = 'T';
  return text + ".";
}

// The lines of deployment files that set the limits a metric is about: what was edited is looked
// for there. Start lag is the generator's.
std::string DeclaredWhere(const Measurement& m, Metric metric) {
  if (metric == Metric::kStartLag || metric == Metric::kExitStatus) return "";
  const bool memory = metric == Metric::kMemoryPeak || metric == Metric::kOomKills;
  std::vector<LimitOrigin> told;
  for (const LimitOrigin& origin : m.limits.origins) {
    const bool of_memory = origin.setting().starts_with("mem");
    if (of_memory == memory) told.push_back(origin);
  }
  return told.empty() ? "" : fmt::format("The limit is declared in {}.", ToString(told));
}

std::string Cause(const Measurement& m, const MissedBudget& missed) {
  switch (missed.metric) {
    case Metric::kThrottleRatio:
    case Metric::kThrottledPeriods:
    case Metric::kThrottledBursts:
    case Metric::kThrottledTimePerSecond:
      return ExplainThrottling(m, missed.metric);
    case Metric::kResponseTime:
    case Metric::kServiceTime:
      return ExplainLatency(m, missed);
    case Metric::kErrorRatio:
    case Metric::kFailedRequests:
      return Failures(m.load);
    case Metric::kCpuUsage: {
      const std::string usage = UsageText(m);
      return usage.empty() ? "" : usage + ".";
    }
    case Metric::kStartLag:
      return WithHost(m,
                      "Start lag is the load generator's, not the service's: this machine was too "
                      "busy to send on time.");
    case Metric::kMemoryPeak:
    case Metric::kOomKills:
      return ExplainMemory(m);
    case Metric::kQueueDepth:
      return ExplainQueue(m);
    case Metric::kWorkers:
      return "";
    case Metric::kUnusedLimit:
      return "More workers, or more threads for one request, could use what is left.";
    case Metric::kThreadsOverQuota: {
      const std::optional<JudgedQuota> quota = FindJudgedQuota(m);
      return quota ? ThreadsText(m, *quota) : "";
    }
    case Metric::kElapsed:
      return ExplainElapsed(m, nanoseconds(std::llround(missed.bound)));
    case Metric::kElapsedRatio:
      return ExplainElapsed(m, missed.elapsed);
    case Metric::kExitStatus:
      return LogText(m);
  }
  return "";
}

}  // namespace

std::string Diagnose(const Measurement& m, const MissedBudget& missed) {
  std::string text = Cause(m, missed);
  AddSentence(text, DeclaredWhere(m, missed.metric));
  return text;
}

}  // namespace throttletest::internal
