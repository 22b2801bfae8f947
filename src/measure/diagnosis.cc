#include "measure/diagnosis.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "measure/demand.h"
#include "throttletest/base/duration.h"

namespace throttletest::internal {
namespace {

using std::chrono::nanoseconds;

void AddSentence(std::string& text, const std::string& sentence) {
  if (sentence.empty()) return;
  if (!text.empty()) text += " ";
  text += sentence;
}

struct Overlap {
  std::int64_t slow = 0;
  std::int64_t held = 0;  // of the slow ones, those that overlap a throttled window
};

// A request's stretch of time. Absent (failures may lack either): sent when intended, no end.
struct Span {
  std::chrono::steady_clock::time_point begin;
  std::chrono::steady_clock::time_point end;
};

Span SpanOf(const LoadResult& load, const RequestRecord& r, bool from_intended) {
  const std::int64_t begin = from_intended || r.sent_ns < 0 ? r.intended_ns : r.sent_ns;
  return {load.epoch + nanoseconds(begin), r.done_ns < 0
                                               ? std::chrono::steady_clock::time_point::max()
                                               : load.epoch + nanoseconds(r.done_ns)};
}

bool Overlaps(const std::vector<ThrottledWindow>& windows, const Span& span) {
  // Windows are sorted and do not overlap: the first that ends after the start decides.
  const auto window = std::partition_point(
      windows.begin(), windows.end(), [&](const ThrottledWindow& w) { return w.end < span.begin; });
  return window != windows.end() && window->begin <= span.end;
}

// The requests over the bound, and how many of them were under way while the service was held back.
Overlap CountOverlap(const Measurement& m, const MissedBudget& missed) {
  const bool response = missed.metric == Metric::kResponseTime;
  Overlap overlap;
  for (const RequestRecord& r : m.load.records) {
    if (r.fate == RequestFate::kNotSent) continue;
    const Span span = SpanOf(m.load, r, response);
    const auto ns = static_cast<double>(nanoseconds(span.end - span.begin).count());
    const bool within =
        missed.comparison == Comparison::kBelow ? ns < missed.bound : ns <= missed.bound;
    if (within && r.fate == RequestFate::kOk) continue;
    ++overlap.slow;
    if (Overlaps(m.throttled_windows, span)) ++overlap.held;
  }
  return overlap;
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

// What a burst costs on the CPUs at hand, when no quota stands in its way.
std::string CpuBound(const Measurement& m) {
  const int usable = UsableCpus(m);
  const Outcome<nanoseconds> batch = m.MedianBatchCpu();
  if (!m.is_burst_load || usable == 0 || !batch.has_value()) return "";
  return fmt::format(
      "One burst needs {} CPU, which takes at least {} on the {} the service may "
      "use.",
      ToMilliseconds(batch.value()), ToMilliseconds(batch.value() / usable),
      usable == 1 ? "1 CPU" : fmt::format("{} CPUs", usable));
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

std::string ExplainLatency(const Measurement& m, const MissedBudget& missed) {
  const CgroupDelta& d = m.cgroup;
  std::string text = Failures(m.load);
  AddSentence(text, Overload(m.load));
  const std::optional<JudgedQuota> quota = FindJudgedQuota(m);
  if (!quota) {
    AddSentence(text, "No CPU quota is in force: look elsewhere for the cause.");
    AddSentence(text, CpuBound(m));
    return text;
  }
  if (!d.periods.has_value() || !d.throttled_periods.has_value()) {
    AddSentence(text, "Throttling is not known: " + d.throttled_periods.reason() + ".");
    return text;
  }
  if (d.throttled_periods.value() == 0) {
    AddSentence(text, fmt::format("Not throttled (0 of {} periods): the quota is not the cause.",
                                  d.periods.value()));
    AddSentence(text, CpuBound(m));
    return text;
  }
  const Overlap overlap = CountOverlap(m, missed);
  AddSentence(text, fmt::format("{}; {} of the {} slowest requests overlap a throttled window.",
                                PeriodsText(m, *quota), overlap.held, overlap.slow));
  if (overlap.held == 0) {
    AddSentence(text, "The quota is not their cause.");
    return text;
  }
  if (overlap.held * 2 < overlap.slow) {
    AddSentence(text, "The quota alone is not their cause.");
  }
  AddSentence(text, FitText(m, *quota));
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

// "5.2 ms", "30.03 s": one unit too few is worse than one digit too few.
std::string Total(nanoseconds time) {
  if (time < std::chrono::seconds(1)) return ToMilliseconds(time);
  return fmt::format("{:.2f} s", std::chrono::duration<double>(time).count());
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
                        Total(d.throttled_time.value()));
  }
  const std::string usage = UsageText(m);
  if (!usage.empty()) text += "; " + usage;
  if (!m.environment.kernel.empty()) text += "; kernel " + m.environment.kernel;
  text += ".";
  // A budget of "below 0" is missed by a service that was never held back.
  if (d.throttled_periods.value() > 0) AddSentence(text, FitText(m, *quota));
  return text;
}

std::string ExplainMemory(const Measurement& m) {
  if (!m.requested.memory) return "No memory limit was asked for.";
  return fmt::format("The memory limit is {}.", ToString(*m.requested.memory));
}

}  // namespace

std::string Diagnose(const Measurement& m, const MissedBudget& missed) {
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
      return "Start lag is the load generator's, not the service's: this machine was too busy to "
             "send on time.";
    case Metric::kMemoryPeak:
    case Metric::kOomKills:
      return ExplainMemory(m);
  }
  return "";
}

}  // namespace throttletest::internal
