#include "throttletest/measure/budget.h"

#include <fmt/format.h>

#include <cmath>

#include "measure/deployed.h"
#include "measure/metric.h"
#include "measure/queue.h"
#include "throttletest/base/error.h"

namespace throttletest {
namespace {

using internal::BoundKind;
using internal::InfoOf;

double Nanoseconds(std::chrono::nanoseconds duration) {
  return static_cast<double>(duration.count());
}

// "has no throttled period" reads better than "of at most 0".
bool ForbidsAny(const internal::MetricInfo& info, Comparison comparison, double bound) {
  return info.kind == BoundKind::kCount && comparison == Comparison::kAtMost && bound == 0;
}

// "a P99 response time", "an error ratio".
std::string NounPhrase(Metric metric, const std::optional<Percentile>& percentile) {
  std::string noun = internal::MetricSubject(metric, percentile);
  if (percentile && metric == Metric::kResponseTime && noun.starts_with('P')) {
    noun += " response time";
  }
  const bool vowel = metric == Metric::kErrorRatio || metric == Metric::kOomKills ||
                     metric == Metric::kUnusedLimit || metric == Metric::kElapsed ||
                     metric == Metric::kElapsedRatio || metric == Metric::kExitStatus;
  return (vowel ? "an " : "a ") + noun;
}

// The metrics whose bound reads better as a sentence of its own. Absent: empty.
std::string Sentence(const Budget& budget, bool negated) {
  if (budget.metric() == Metric::kQueueDepth) {
    return fmt::format("{} a queue depth of {} within {}", negated ? "does not hold" : "holds",
                       budget.depth(), internal::BoundText(budget.metric(), budget.bound()));
  }
  const bool forbids_failure = budget.metric() == Metric::kExitStatus && budget.bound() == 0 &&
                               budget.comparison() == Comparison::kAtMost;
  if (forbids_failure) return negated ? "does not succeed" : "succeeds";
  const bool serial = budget.metric() == Metric::kWorkers && budget.bound() == 1 &&
                      budget.comparison() == Comparison::kAtMost;
  if (!serial) return "";
  return negated ? "works on several requests at once" : "works on one request at a time";
}

std::string Condition(const Budget& budget) {
  return budget.deployed() ? " under " + throttletest::ToString(*budget.deployed()) : "";
}

}  // namespace

const char* VerdictName(Verdict verdict) {
  switch (verdict) {
    case Verdict::kMet:
      return "met";
    case Verdict::kMissed:
      return "missed";
    case Verdict::kInconclusive:
      return "inconclusive";
  }
  return "inconclusive";
}

Budget::Budget(Metric metric, Comparison comparison, double bound)
    : metric_(metric), comparison_(comparison), bound_(bound) {
  const char* subject = InfoOf(metric).subject;
  if (!(bound >= 0) || !std::isfinite(bound)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("a bound of {} for the {} is not possible: it must be 0 or more", bound,
                            subject));
  }
  if (InfoOf(metric).kind == BoundKind::kRatio && bound > 1) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("a bound of {} for the {} is above 1: ratios go from 0 to 1, so write "
                            "0.05 for 5 %",
                            bound, subject));
  }
}

Budget Budget::ThrottleRatio(Comparison c, double bound) {
  return {Metric::kThrottleRatio, c, bound};
}

Budget Budget::ThrottledPeriods(Comparison c, std::int64_t bound) {
  return {Metric::kThrottledPeriods, c, static_cast<double>(bound)};
}

Budget Budget::ThrottledBursts(Comparison c, std::int64_t bound) {
  return {Metric::kThrottledBursts, c, static_cast<double>(bound)};
}

Budget Budget::ThrottledTimePerSecond(Comparison c, double bound) {
  return {Metric::kThrottledTimePerSecond, c, bound};
}

Budget Budget::CpuUsage(Comparison c, double cpus) { return {Metric::kCpuUsage, c, cpus}; }

Budget Budget::ResponseTime(Percentile p, Comparison c, std::chrono::nanoseconds bound) {
  Budget budget(Metric::kResponseTime, c, Nanoseconds(bound));
  budget.percentile_ = p;
  return budget;
}

Budget Budget::ServiceTime(Percentile p, Comparison c, std::chrono::nanoseconds bound) {
  Budget budget(Metric::kServiceTime, c, Nanoseconds(bound));
  budget.percentile_ = p;
  return budget;
}

Budget Budget::ErrorRatio(Comparison c, double bound) { return {Metric::kErrorRatio, c, bound}; }

Budget Budget::FailedRequests(Comparison c, std::int64_t bound) {
  return {Metric::kFailedRequests, c, static_cast<double>(bound)};
}

Budget Budget::StartLag(Percentile p, Comparison c, std::chrono::nanoseconds bound) {
  Budget budget(Metric::kStartLag, c, Nanoseconds(bound));
  budget.percentile_ = p;
  return budget;
}

Budget Budget::MemoryPeak(Comparison c, ByteSize bound) {
  return {Metric::kMemoryPeak, c, static_cast<double>(bound.bytes())};
}

Budget Budget::OomKills(Comparison c, std::int64_t bound) {
  return {Metric::kOomKills, c, static_cast<double>(bound)};
}

Budget Budget::QueueDepth(int depth, std::chrono::nanoseconds timeout) {
  if (depth < 1 || depth > internal::kDeepestQueue) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("a queue depth of {} is not possible: it counts the job that is worked "
                            "on, so it is from 1 to {}",
                            depth, internal::kDeepestQueue));
  }
  Budget budget(Metric::kQueueDepth, Comparison::kAtMost, Nanoseconds(timeout));
  budget.depth_ = depth;
  return budget;
}

Budget Budget::Workers(Comparison c, std::int64_t bound) {
  return {Metric::kWorkers, c, static_cast<double>(bound)};
}

Budget Budget::UnusedLimit(Comparison c, double bound) { return {Metric::kUnusedLimit, c, bound}; }

Budget Budget::ThreadsOverQuota(Comparison c, std::int64_t bound) {
  return {Metric::kThreadsOverQuota, c, static_cast<double>(bound)};
}

Budget Budget::Elapsed(Comparison c, std::chrono::nanoseconds bound) {
  return {Metric::kElapsed, c, Nanoseconds(bound)};
}

Budget Budget::ElapsedRatio(Comparison c, double factor) {
  return {Metric::kElapsedRatio, c, factor};
}

Budget Budget::ExitStatus(Comparison c, std::int64_t bound) {
  return {Metric::kExitStatus, c, static_cast<double>(bound)};
}

Budget Budget::Against(const JobReference& unlimited) const {
  Budget budget = *this;
  budget.reference_ = unlimited;
  return budget;
}

Budget Budget::DeployedUnder(const Limits& declared) const {
  internal::ResolveDeclared(declared);
  Budget budget = *this;
  budget.deployed_ = declared;
  return budget;
}

std::string Budget::ToString() const {
  return fmt::format(
      "{}{}{}{}", internal::MetricName(metric_, percentile_),
      metric_ == Metric::kQueueDepth ? std::to_string(depth_) : "",
      comparison_ == Comparison::kBelow ? "<" : "<=", internal::BoundToken(metric_, bound_));
}

std::string Budget::Describe() const {
  const std::string sentence = Sentence(*this, false);
  if (!sentence.empty()) return sentence + Condition(*this);
  if (ForbidsAny(InfoOf(metric_), comparison_, bound_)) {
    return fmt::format("has no {}", InfoOf(metric_).none) + Condition(*this);
  }
  return fmt::format("has {} {} {}{}", NounPhrase(metric_, percentile_),
                     comparison_ == Comparison::kBelow ? "below" : "of at most",
                     internal::BoundText(metric_, bound_), Condition(*this));
}

std::string Budget::DescribeNegation() const {
  const std::string sentence = Sentence(*this, true);
  if (!sentence.empty()) return sentence + Condition(*this);
  if (ForbidsAny(InfoOf(metric_), comparison_, bound_)) {
    return fmt::format("has at least one {}", InfoOf(metric_).none) + Condition(*this);
  }
  const std::string bound = internal::BoundText(metric_, bound_);
  const std::string noun = NounPhrase(metric_, percentile_);
  return (comparison_ == Comparison::kBelow ? fmt::format("has {} of {} or more", noun, bound)
                                            : fmt::format("has {} above {}", noun, bound)) +
         Condition(*this);
}

}  // namespace throttletest
