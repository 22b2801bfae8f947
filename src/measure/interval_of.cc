#include "measure/interval_of.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "measure/cluster_interval.h"
#include "measure/metric.h"
#include "measure/units.h"

namespace throttletest::internal {
namespace {

using Result = Outcome<Interval>;

Interval Made(const Range& range, const char* method, const Units& units) {
  Interval interval;
  interval.low = range.low;
  interval.high = range.high;
  interval.confidence = kConfidence;
  interval.method = method;
  interval.units = units.count();
  interval.unit_name = units.name;
  return interval;
}

Result TooFew(const Units& units) {
  return Result::NotAvailable(
      fmt::format("an interval takes {} batches or more that are apart, there are {}", kFewestUnits,
                  units.count()));
}

Result OfProportion(const std::vector<UnitShare>& shares, double value, const Units& units) {
  const auto range = ProportionRange(shares, value);
  if (!range) return TooFew(units);
  return Result::Value(Made(*range, range->exact ? "clopper_pearson" : "wilson", units));
}

Result OfMean(const std::vector<UnitShare>& shares, double value, const Units& units) {
  const auto range = MeanRange(shares, value);
  if (!range && value <= 0) return Result::NotAvailable("a mean of 0 shows no spread");
  if (!range) return TooFew(units);
  return Result::Value(Made(*range, "student_t", units));
}

// A share of every unit by what it cost. Absent: the figures of most units are not known.
template <typename ShareOf>
std::optional<std::vector<UnitShare>> Shares(const std::vector<BatchUse>& uses, ShareOf share_of) {
  std::vector<UnitShare> shares;
  for (std::size_t i = 0; i < uses.size(); ++i) {
    if (const std::optional<UnitShare> share = share_of(uses[i], i)) shares.push_back(*share);
  }
  if (shares.empty() || shares.size() * 2 < uses.size()) return std::nullopt;
  return shares;
}

Result NoFigures() {
  return Result::NotAvailable("the timeline does not tell what each batch or stretch of time cost");
}

// The timeline sums up all levels that have a quota: of several, none is known by itself.
bool HasOneQuota(const Measurement& m) { return m.cgroup.levels.size() == 1; }

Result OfThrottleRatio(const Measurement& m, double value, const Units& units) {
  if (!HasOneQuota(m)) return NoFigures();
  const auto shares =
      Shares(UsesOf(m, units), [](const BatchUse& use, std::size_t) -> std::optional<UnitShare> {
        if (!use.periods.has_value() || !use.throttled_periods.has_value()) return std::nullopt;
        return UnitShare{static_cast<double>(use.throttled_periods.value()),
                         static_cast<double>(use.periods.value())};
      });
  return shares ? OfProportion(*shares, value, units) : NoFigures();
}

// A time per second: throttled time or CPU time.
Result OfTime(const Measurement& m, Outcome<std::chrono::nanoseconds> BatchUse::*time, double value,
              const Units& units) {
  const auto shares = Shares(
      UsesOf(m, units), [&](const BatchUse& use, std::size_t unit) -> std::optional<UnitShare> {
        if (!(use.*time).has_value()) return std::nullopt;
        return UnitShare{static_cast<double>((use.*time).value().count()), units.LengthOf(unit)};
      });
  return shares ? OfMean(*shares, value, units) : NoFigures();
}

// As a count of bursts, like the figure.
Result OfThrottledBursts(const Measurement& m, double value, const Units& units) {
  std::vector<UnitShare> shares(units.begins.size());
  for (std::size_t i = 0; i < m.batches.size() && i < units.of_batch.size(); ++i) {
    UnitShare& share = shares[units.of_batch[i]];
    share.whole += 1;
    if (m.batches[i].throttled_periods.value() > 0) share.part += 1;
  }
  const auto bursts = static_cast<double>(m.batches.size());
  Result ratio = OfProportion(shares, value / bursts, units);
  if (!ratio.has_value()) return ratio;
  Interval interval = ratio.value();
  interval.low *= bursts;
  interval.high = *interval.high * bursts;
  return Result::Value(interval);
}

Result OfErrorRatio(const LoadResult& load, double value, const Units& units) {
  std::vector<UnitShare> shares(units.begins.size());
  for (const RequestRecord& r : load.records) {
    if (r.fate == RequestFate::kNotSent) continue;
    UnitShare& share = shares[units.of_batch[r.batch]];
    share.whole += 1;
    if (r.fate != RequestFate::kOk) share.part += 1;
  }
  return OfProportion(shares, value, units);
}

// Absent: the request has no part in the percentiles of the metric.
std::optional<Latency> SampleOf(const RequestRecord& r, Metric metric) {
  if (r.fate == RequestFate::kNotSent) return std::nullopt;
  if (metric == Metric::kStartLag) {
    return r.sent_ns < 0 ? std::nullopt : std::optional(Latency(r.start_lag()));
  }
  if (r.fate != RequestFate::kOk) return Latency::Infinite();
  return Latency(metric == Metric::kResponseTime ? r.response_time() : r.service_time());
}

UnitSamples UnitSamplesOf(const LoadResult& load, Metric metric, const Units& units) {
  UnitSamples samples;
  samples.unit_count = static_cast<std::uint32_t>(units.count());
  for (const RequestRecord& r : load.records) {
    const std::optional<Latency> sample = SampleOf(r, metric);
    if (!sample) continue;
    samples.values.push_back(*sample);
    samples.units.push_back(units.of_batch[r.batch]);
  }
  return samples;
}

double Milliseconds(Latency latency) { return static_cast<double>(latency.value().count()) / 1e6; }

Result OfPercentile(const LoadResult& load, Metric metric, Percentile p, const Units& units) {
  if (p.milli_percent() == 100'000) return Result::NotAvailable("a maximum has no interval");
  const UnitSamples samples = UnitSamplesOf(load, metric, units);
  const LatencySamples sorted(samples.values);
  const auto ranks = PercentileRanks(samples, sorted, p);
  if (!ranks) return TooFew(units);
  const auto at = [&](std::int64_t rank) {
    return sorted.sorted()[static_cast<std::size_t>(rank - 1)];
  };
  Interval interval = Made({}, ranks->independent ? "order_statistics" : "woodruff", units);
  // No latency is below 0.
  interval.low = ranks->low < 1 ? 0 : Milliseconds(at(ranks->low));
  interval.needed = ranks->needed;
  interval.high.reset();
  if (ranks->high <= sorted.count() && !at(ranks->high).infinite()) {
    interval.high = Milliseconds(at(ranks->high));
  }
  return Result::Value(interval);
}

// Counts and peaks are what happened, not estimates of anything.
bool IsEstimate(Metric metric) {
  return metric != Metric::kThrottledPeriods && metric != Metric::kFailedRequests &&
         metric != Metric::kMemoryPeak && metric != Metric::kOomKills &&
         metric != Metric::kQueueDepth && metric != Metric::kWorkers &&
         metric != Metric::kUnusedLimit && metric != Metric::kThreadsOverQuota && !IsOfAJob(metric);
}

int Digits(const MetricInfo& info, double largest) {
  if (info.kind == BoundKind::kCount) return 1;
  if (info.kind == BoundKind::kDuration) return largest < 1 ? 3 : 1;
  return largest < 0.1 ? 4 : 2;
}

std::string UnitOf(const MetricInfo& info) {
  const bool named = info.kind == BoundKind::kDuration || info.kind == BoundKind::kNumber;
  return named ? fmt::format(" {}", info.unit) : "";
}

}  // namespace

Outcome<Interval> IntervalOf(const Measurement& m, Metric metric,
                             const std::optional<Percentile>& percentile, double value) {
  // A job is one observation.
  if (m.job) return Result::NotAvailable("the figure is of one job");
  const Units units = UnitsOf(m);
  if (IsEstimate(metric) && units.count() < kFewestUnits) return TooFew(units);
  switch (metric) {
    case Metric::kThrottleRatio:
      return OfThrottleRatio(m, value, units);
    case Metric::kThrottledTimePerSecond:
      return HasOneQuota(m) ? OfTime(m, &BatchUse::throttled_time, value, units) : NoFigures();
    case Metric::kCpuUsage:
      return OfTime(m, &BatchUse::cpu, value, units);
    case Metric::kThrottledBursts:
      return OfThrottledBursts(m, value, units);
    case Metric::kErrorRatio:
      return OfErrorRatio(m.load, value, units);
    case Metric::kResponseTime:
    case Metric::kServiceTime:
    case Metric::kStartLag:
      return OfPercentile(m.load, metric, percentile.value_or(Percentile(100)), units);
    case Metric::kThrottledPeriods:
    case Metric::kFailedRequests:
    case Metric::kMemoryPeak:
    case Metric::kOomKills:
    case Metric::kQueueDepth:
    case Metric::kWorkers:
    case Metric::kUnusedLimit:
    case Metric::kThreadsOverQuota:
    case Metric::kElapsed:
    case Metric::kElapsedRatio:
    case Metric::kExitStatus:
      break;
  }
  return Result::NotAvailable("the figure is what happened in this run, not an estimate");
}

std::string IntervalText(Metric metric, const Interval& interval) {
  const MetricInfo& info = InfoOf(metric);
  const int digits = Digits(info, interval.high.value_or(interval.low));
  const std::string ends =
      interval.high ? fmt::format("{:.{}f}..{:.{}f}{}", interval.low, digits, *interval.high,
                                  digits, UnitOf(info))
                    : fmt::format("{:.{}f}{} and above", interval.low, digits, UnitOf(info));
  return fmt::format("{:.0f} % interval {}, {} {}", interval.confidence * 100, ends, interval.units,
                     interval.unit_name);
}

bool Contains(const Interval& interval, double bound) {
  return interval.low < bound && (!interval.high || bound < *interval.high);
}

}  // namespace throttletest::internal
