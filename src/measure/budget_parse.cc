#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <vector>

#include "base/number.h"
#include "base/text.h"
#include "measure/metric.h"
#include "throttletest/base/duration.h"
#include "throttletest/base/error.h"
#include "throttletest/measure/budget.h"

namespace throttletest {
namespace {

using internal::BoundKind;
using internal::MetricInfo;

// Usual first: of equally near names the suggestion is the earlier one.
constexpr std::array<const char*, 6> kPercentiles = {"p99", "p50", "p90", "p95", "p99.9", "max"};

struct MetricRef {
  Metric metric;
  std::optional<Percentile> percentile;
  int depth = 1;  // of a queue
};

[[noreturn]] void Refuse(std::string_view text, const std::string& why) {
  throw Error(ErrorCode::kInvalidArgument, fmt::format("budget \"{}\": {}", text, why));
}

std::vector<std::string> KnownNames() {
  std::vector<std::string> names;
  for (const MetricInfo& info : internal::AllMetrics()) {
    if (!internal::TakesPercentile(info)) {
      names.push_back(info.metric == Metric::kQueueDepth ? std::string(info.name) + "8"
                                                         : info.name);
      continue;
    }
    for (const char* percentile : kPercentiles)
      names.push_back(std::string(info.name) + percentile);
  }
  return names;
}

// Number of single-character edits between two names.
std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

[[noreturn]] void RefuseMetric(std::string_view text, std::string_view name) {
  const std::vector<std::string> known = KnownNames();
  const std::string lower = internal::Lower(name);
  std::string nearest;
  // A suggestion that shares less than half of the name is a guess, not a help.
  std::size_t best = name.size() / 2 + 1;
  for (const std::string& candidate : known) {
    const std::size_t distance = EditDistance(lower, candidate);
    if (distance >= best) continue;
    best = distance;
    nearest = candidate;
  }
  Refuse(text, fmt::format("unknown metric \"{}\"; {}known: {}", name,
                           nearest.empty() ? "" : fmt::format("did you mean \"{}\"? ", nearest),
                           fmt::join(known, ", ")));
}

// "p99.9" or "max". Absent: not a percentile.
std::optional<Percentile> ParsePercentile(std::string_view text) {
  if (text == "max") return Percentile(100);
  if (!text.starts_with('p')) return std::nullopt;
  const auto percent = internal::ParseDecimal(text.substr(1));
  if (!percent) return std::nullopt;
  try {
    return Percentile(*percent);
  } catch (const Error&) {
    return std::nullopt;  // out of range, or finer than a percentile can be
  }
}

// Of "queue_depth_8".
int ParseDepth(std::string_view text, std::string_view name) {
  const std::string_view digits =
      name.substr(std::string_view(internal::InfoOf(Metric::kQueueDepth).name).size());
  const auto depth = internal::ParseInteger<int>(digits);
  if (depth) return *depth;
  Refuse(text, fmt::format("\"{}\" names no depth: write the number of jobs that may be in the "
                           "queue, such as queue_depth_8",
                           name));
}

MetricRef ParseMetric(std::string_view text, std::string_view name) {
  for (const MetricInfo& info : internal::AllMetrics()) {
    if (info.metric == Metric::kQueueDepth) {
      if (name.starts_with(info.name)) return {info.metric, std::nullopt, ParseDepth(text, name)};
      continue;
    }
    if (!internal::TakesPercentile(info)) {
      if (name == info.name) return {info.metric, std::nullopt};
      continue;
    }
    if (!name.starts_with(info.name)) continue;
    const auto percentile = ParsePercentile(name.substr(std::string_view(info.name).size()));
    if (percentile) return {info.metric, percentile};
  }
  RefuseMetric(text, name);
}

double ParseNumber(std::string_view text, std::string_view bound, const MetricInfo& info) {
  const auto number = internal::ParseDecimal(bound);
  if (number) return *number;
  const char* example = info.kind == BoundKind::kRatio ? "a number from 0 to 1, such as 0.05"
                                                       : "a number without a unit, such as 0.5";
  Refuse(text,
         fmt::format("\"{}\" is not a bound for the {}: write {}", bound, info.subject, example));
}

std::int64_t ParseCount(std::string_view text, std::string_view bound, const MetricInfo& info) {
  const auto count = internal::ParseInteger<std::int64_t>(bound);
  if (count) return *count;
  Refuse(text, fmt::format("\"{}\" is not a bound for the {}: write a whole number, such as 3",
                           bound, info.subject));
}

Budget MakeBudget(std::string_view text, const MetricRef& ref, Comparison c,
                  std::string_view bound) {
  const MetricInfo& info = internal::InfoOf(ref.metric);
  switch (ref.metric) {
    case Metric::kThrottleRatio:
      return Budget::ThrottleRatio(c, ParseNumber(text, bound, info));
    case Metric::kThrottledPeriods:
      return Budget::ThrottledPeriods(c, ParseCount(text, bound, info));
    case Metric::kThrottledBursts:
      return Budget::ThrottledBursts(c, ParseCount(text, bound, info));
    case Metric::kThrottledTimePerSecond:
      return Budget::ThrottledTimePerSecond(c, ParseNumber(text, bound, info));
    case Metric::kCpuUsage:
      return Budget::CpuUsage(c, ParseNumber(text, bound, info));
    case Metric::kResponseTime:
      return Budget::ResponseTime(*ref.percentile, c, ParseDuration(bound));
    case Metric::kServiceTime:
      return Budget::ServiceTime(*ref.percentile, c, ParseDuration(bound));
    case Metric::kErrorRatio:
      return Budget::ErrorRatio(c, ParseNumber(text, bound, info));
    case Metric::kFailedRequests:
      return Budget::FailedRequests(c, ParseCount(text, bound, info));
    case Metric::kStartLag:
      return Budget::StartLag(*ref.percentile, c, ParseDuration(bound));
    case Metric::kMemoryPeak:
      return Budget::MemoryPeak(c, ParseByteSize(bound));
    case Metric::kOomKills:
      return Budget::OomKills(c, ParseCount(text, bound, info));
    case Metric::kQueueDepth:
      if (c != Comparison::kAtMost) {
        Refuse(text, "a queue that ends exactly at the time-out holds, so write <= instead of <");
      }
      return Budget::QueueDepth(ref.depth, ParseDuration(bound));
    case Metric::kWorkers:
      return Budget::Workers(c, ParseCount(text, bound, info));
    case Metric::kUnusedLimit:
      return Budget::UnusedLimit(c, ParseNumber(text, bound, info));
    case Metric::kThreadsOverQuota:
      return Budget::ThreadsOverQuota(c, ParseCount(text, bound, info));
    case Metric::kElapsed:
      return Budget::Elapsed(c, ParseDuration(bound));
    case Metric::kElapsedRatio:
      return Budget::ElapsedRatio(c, ParseNumber(text, bound, info));
    case Metric::kExitStatus:
      return Budget::ExitStatus(c, ParseCount(text, bound, info));
  }
  RefuseMetric(text, info.name);
}

std::string WithoutBlanks(std::string_view text) {
  std::string out;
  std::copy_if(text.begin(), text.end(), std::back_inserter(out),
               [](char c) { return c != ' ' && c != '\t'; });
  return out;
}

}  // namespace

Budget ParseBudget(std::string_view text) {
  const std::string compact = WithoutBlanks(text);
  const std::size_t at = compact.find_first_of("<>=!");
  const std::string_view name = std::string_view(compact).substr(0, at);
  if (name.empty()) Refuse(text, "no metric; write a metric and its bound, such as p99<150ms");
  if (at == std::string::npos) {
    const MetricRef ref = ParseMetric(text, name);
    const char* example = internal::InfoOf(ref.metric).kind == BoundKind::kDuration ? "150ms" : "3";
    Refuse(text, fmt::format("no bound; write {}<{} or {}<={}", name, example, name, example));
  }
  if (compact[at] != '<') {
    Refuse(text, fmt::format("only < and <= are possible: a budget is an upper bound, and "
                             "throttling or latency that must be high is no promise to keep"));
  }
  const bool at_most = compact.compare(at, 2, "<=") == 0;
  const MetricRef ref = ParseMetric(text, name);
  const std::string_view bound = std::string_view(compact).substr(at + (at_most ? 2 : 1));
  if (bound.empty()) Refuse(text, fmt::format("no bound after {}", at_most ? "<=" : "<"));
  try {
    return MakeBudget(text, ref, at_most ? Comparison::kAtMost : Comparison::kBelow, bound);
  } catch (const Error& e) {
    const std::string message = e.what();
    if (message.starts_with("budget ")) throw;
    Refuse(text, message);
  }
}

}  // namespace throttletest
