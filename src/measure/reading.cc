#include "measure/reading.h"

#include <fmt/format.h>

#include "throttletest/base/duration.h"

namespace throttletest::internal {
namespace {

double Number(double value) { return value; }
double Number(std::int64_t value) { return static_cast<double>(value); }

// A figure that has a value or a reason.
template <typename T>
Reading FromOutcome(const Outcome<T>& outcome, std::string detail = "") {
  Reading reading;
  if (!outcome.has_value()) {
    reading.inconclusive = outcome.reason();
    return reading;
  }
  reading.value = Number(outcome.value());
  reading.detail = std::move(detail);
  return reading;
}

std::string OfPeriods(const CgroupDelta& d) {
  if (!d.periods.has_value()) return "";
  if (!d.throttled_periods.has_value()) return fmt::format("of {} periods", d.periods.value());
  return fmt::format("{} of {} periods", d.throttled_periods.value(), d.periods.value());
}

Reading ReadThrottleRatio(const Measurement& m) {
  const CgroupDelta& d = m.cgroup;
  Reading reading = FromOutcome(d.throttle_ratio, OfPeriods(d));
  if (reading.value && d.periods.has_value() && d.periods.value() < m.bounds.min_periods) {
    reading.inconclusive = fmt::format("a throttle ratio needs at least {} periods, there were {}",
                                       m.bounds.min_periods, d.periods.value());
    reading.too_few = true;
  }
  return reading;
}

Reading ReadThrottling(const Measurement& m, Metric metric) {
  const CgroupDelta& d = m.cgroup;
  Reading reading;
  if (metric == Metric::kThrottledPeriods) {
    reading = FromOutcome(d.throttled_periods, OfPeriods(d));
  } else if (metric == Metric::kThrottledBursts) {
    reading = FromOutcome(m.ThrottledBursts(), fmt::format("of {} bursts", m.batches.size()));
  } else {
    reading = FromOutcome(d.throttled_per_second);
    if (d.throttled_time.has_value()) {
      reading.detail = fmt::format("{} throttled, summed over CPUs, in {}",
                                   ToString(d.throttled_time.value()), ToString(d.wall));
    }
  }
  return reading;
}

Reading ReadCpuUsage(const CgroupDelta& d) {
  Reading reading = FromOutcome(d.usage_cores);
  if (d.usage.has_value()) {
    reading.detail = fmt::format("{} CPU in {}", ToString(d.usage.value()), ToString(d.wall));
  }
  return reading;
}

LatencySamples SamplesOf(const Measurement& m, Metric metric) {
  if (metric == Metric::kResponseTime) return m.load.ResponseTimes();
  if (metric == Metric::kServiceTime) return m.load.ServiceTimes();
  return m.load.StartLags();
}

Reading ReadPercentile(const Measurement& m, Metric metric, Percentile p) {
  Reading reading;
  const LatencySamples samples = SamplesOf(m, metric);
  if (samples.empty()) {
    reading.inconclusive = "no request was sent";
    return reading;
  }
  const Latency latency = samples.At(p);
  reading.no_answer = latency.infinite();
  if (!reading.no_answer) reading.value = Number(latency.value().count());
  reading.detail = fmt::format("nearest rank, {} requests", samples.count());
  if (metric != Metric::kStartLag && m.load.ok == 0) {
    reading.inconclusive = fmt::format("no request succeeded, {} of {} failed",
                                       m.load.failed + m.load.timed_out, m.load.sent);
  } else if (samples.count() < p.SamplesNeeded()) {
    reading.inconclusive = fmt::format("{} needs n >= {}, there are {}", p.ToString(),
                                       p.SamplesNeeded(), samples.count());
    reading.too_few = true;
  }
  return reading;
}

Reading ReadErrors(const LoadResult& load, Metric metric) {
  Reading reading;
  if (load.planned == load.not_sent) {
    reading.inconclusive = "no request was sent";
    return reading;
  }
  const std::int64_t failed = load.failed + load.timed_out;
  reading.value = metric == Metric::kErrorRatio ? load.error_ratio() : Number(failed);
  reading.detail = fmt::format("{} of {} requests failed, {} of them timed out", failed,
                               load.planned - load.not_sent, load.timed_out);
  return reading;
}

}  // namespace

Reading ReadMetric(const Measurement& m, Metric metric,
                   const std::optional<Percentile>& percentile) {
  switch (metric) {
    case Metric::kThrottleRatio:
      return ReadThrottleRatio(m);
    case Metric::kThrottledPeriods:
    case Metric::kThrottledBursts:
    case Metric::kThrottledTimePerSecond:
      return ReadThrottling(m, metric);
    case Metric::kCpuUsage:
      return ReadCpuUsage(m.cgroup);
    case Metric::kResponseTime:
    case Metric::kServiceTime:
    case Metric::kStartLag:
      return ReadPercentile(m, metric, percentile.value_or(Percentile(100)));
    case Metric::kErrorRatio:
    case Metric::kFailedRequests:
      return ReadErrors(m.load, metric);
    case Metric::kMemoryPeak:
      return FromOutcome(m.cgroup.memory_peak);
    case Metric::kOomKills:
      return FromOutcome(m.cgroup.oom_kills);
  }
  return {};
}

}  // namespace throttletest::internal
