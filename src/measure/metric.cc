#include "measure/metric.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "base/text.h"
#include "throttletest/base/duration.h"

namespace throttletest::internal {
namespace {

constexpr std::array<MetricInfo, 19> kMetrics = {{
    {Metric::kThrottleRatio, "throttle_ratio", "throttle ratio", "", "ratio", BoundKind::kRatio},
    {Metric::kThrottledPeriods, "throttled_periods", "throttled period count", "throttled period",
     "periods", BoundKind::kCount},
    {Metric::kThrottledBursts, "throttled_bursts", "throttled burst count", "throttled burst",
     "bursts", BoundKind::kCount},
    {Metric::kThrottledTimePerSecond, "throttled_time_per_second", "throttled time per second", "",
     "s/s", BoundKind::kNumber},
    {Metric::kCpuUsage, "cpu_usage", "CPU usage", "", "CPUs", BoundKind::kNumber},
    {Metric::kResponseTime, "", "response time", "", "ms", BoundKind::kDuration},
    {Metric::kServiceTime, "service_", "service time", "", "ms", BoundKind::kDuration},
    {Metric::kErrorRatio, "error_ratio", "error ratio", "", "ratio", BoundKind::kRatio},
    {Metric::kFailedRequests, "failed_requests", "failed request count", "failed request",
     "requests", BoundKind::kCount},
    {Metric::kStartLag, "start_lag_", "start lag", "", "ms", BoundKind::kDuration},
    {Metric::kMemoryPeak, "memory_peak", "memory peak", "", "bytes", BoundKind::kBytes},
    {Metric::kOomKills, "oom_kills", "OOM kill count", "OOM-killed process", "kills",
     BoundKind::kCount},
    {Metric::kQueueDepth, "queue_depth_", "worst service time", "", "ms", BoundKind::kDuration},
    {Metric::kWorkers, "workers", "number of requests worked on at once", "request worked on",
     "workers", BoundKind::kCount},
    {Metric::kUnusedLimit, "unused_limit", "unused share of the limit", "", "ratio",
     BoundKind::kRatio},
    {Metric::kThreadsOverQuota, "threads_over_quota", "number of threads over the quota",
     "thread that the quota cannot keep busy", "threads", BoundKind::kCount},
    {Metric::kElapsed, "elapsed", "elapsed time", "", "ms", BoundKind::kDuration},
    {Metric::kElapsedRatio, "elapsed_ratio", "elapsed time against that of the unlimited run", "",
     "times", BoundKind::kNumber},
    {Metric::kExitStatus, "exit_status", "exit status", "failure", "status", BoundKind::kCount},
}};

std::chrono::nanoseconds ToNanoseconds(double ns) {
  return std::chrono::nanoseconds(std::llround(ns));
}

ByteSize ToByteSize(double bytes) { return ByteSize(std::llround(bytes)); }

// The largest unit that holds the duration as a whole number.
std::string DurationToken(std::chrono::nanoseconds duration) {
  const std::int64_t ns = duration.count();
  if (ns % 1'000'000'000 == 0) return fmt::format("{}s", ns / 1'000'000'000);
  if (ns % 1'000'000 == 0) return fmt::format("{}ms", ns / 1'000'000);
  if (ns % 1'000 == 0) return fmt::format("{}us", ns / 1'000);
  return fmt::format("{}ns", ns);
}

std::string BytesToken(std::int64_t bytes) {
  constexpr std::array<std::pair<int, const char*>, 3> kUnits = {
      {{30, "GiB"}, {20, "MiB"}, {10, "KiB"}}};
  for (const auto& [shift, suffix] : kUnits) {
    const std::int64_t scale = std::int64_t{1} << shift;
    if (bytes > 0 && bytes % scale == 0) return fmt::format("{}{}", bytes / scale, suffix);
  }
  return fmt::format("{}", bytes);
}

std::string WithUnit(const MetricInfo& info, const std::string& number) {
  return info.kind == BoundKind::kNumber ? number + " " + info.unit : number;
}

}  // namespace

const MetricInfo& InfoOf(Metric metric) { return kMetrics.at(static_cast<std::size_t>(metric)); }

std::span<const MetricInfo> AllMetrics() { return kMetrics; }

bool Holds(Comparison comparison, double value, double bound) {
  return comparison == Comparison::kBelow ? value < bound : value <= bound;
}

std::string MetricName(Metric metric, const std::optional<Percentile>& percentile) {
  std::string name = InfoOf(metric).name;
  if (!percentile) return name;
  return name + (percentile->milli_percent() == 100'000 ? "max" : Lower(percentile->ToString()));
}

std::string MetricSubject(Metric metric, const std::optional<Percentile>& percentile) {
  std::string quantity = InfoOf(metric).subject;
  if (!percentile) return quantity;
  if (percentile->milli_percent() == 100'000) return "maximum " + quantity;
  // Response time is what budgets are about: "P99" alone means it.
  if (metric == Metric::kResponseTime) return percentile->ToString();
  return quantity + " " + percentile->ToString();
}

std::string BoundToken(Metric metric, double bound) {
  switch (InfoOf(metric).kind) {
    case BoundKind::kDuration:
      return DurationToken(ToNanoseconds(bound));
    case BoundKind::kBytes:
      return BytesToken(std::llround(bound));
    case BoundKind::kCount:
      return fmt::format("{}", std::llround(bound));
    case BoundKind::kRatio:
    case BoundKind::kNumber:
      break;
  }
  return fmt::format("{}", bound);
}

std::string BoundText(Metric metric, double bound) {
  const MetricInfo& info = InfoOf(metric);
  if (info.kind == BoundKind::kDuration) return ToString(ToNanoseconds(bound));
  if (info.kind == BoundKind::kBytes) return ToString(ToByteSize(bound));
  return WithUnit(info, BoundToken(metric, bound));
}

std::string ValueText(Metric metric, double value, double bound) {
  const MetricInfo& info = InfoOf(metric);
  switch (info.kind) {
    case BoundKind::kCount:
      return fmt::format("{}", std::llround(value));
    case BoundKind::kBytes: {
      // 64.04 MiB against 64 MiB must not read "64.0 MiB is not below 64 MiB".
      const bool close = std::abs(value - bound) < 0.01 * bound;
      return close ? fmt::format("{} bytes", std::llround(value)) : ToString(ToByteSize(value));
    }
    case BoundKind::kDuration: {
      // A sum of jobs is compared with a time-out in seconds, and so is one job.
      if (metric == Metric::kQueueDepth || metric == Metric::kElapsed)
        return ToString(ToNanoseconds(value));
      const bool fine = value < 1e6 || std::abs(value - bound) < 1e5;
      return fine ? ToString(ToNanoseconds(value)) : ToMilliseconds(ToNanoseconds(value));
    }
    case BoundKind::kRatio:
    case BoundKind::kNumber:
      break;
  }
  const bool fine = (value != 0 && value < 0.1) || std::abs(value - bound) < 0.01;
  return WithUnit(info, fine ? fmt::format("{:.4f}", value) : fmt::format("{:.2f}", value));
}

}  // namespace throttletest::internal
