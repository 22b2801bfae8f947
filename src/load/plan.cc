#include "throttletest/load/plan.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <utility>

#include "base/refuse.h"
#include "load/arrivals.h"
#include "load/bounds.h"
#include "throttletest/base/duration.h"
#include "throttletest/base/error.h"

namespace throttletest {
namespace {

using internal::kMaxInFlight;
using internal::Refuse;
using std::chrono::nanoseconds;

constexpr int kMaxBatchSize = 10'000;
constexpr int kDefaultMaxInFlight = 4096;
constexpr nanoseconds kDefaultWarmUp = std::chrono::seconds(3);
constexpr double kMaxRate = 1e6;
// A rate is an exact fraction of this many seconds, so 0.000001 per second is the finest step.
constexpr std::int64_t kRateSeconds = 1'000'000;
constexpr std::int64_t kNsPerSecond = 1'000'000'000;

// "100", "0.5": a rate without trailing zeros.
std::string RateText(double rate) { return fmt::format("{:.10g}", rate); }

const char* Requests(double count) { return count == 1 ? "request" : "requests"; }

void CheckRate(Rate rate) {
  const double per_second = rate.per_second();
  // Written so that NaN is refused too.
  if (!(per_second * static_cast<double>(kRateSeconds) >= 1 && per_second <= kMaxRate)) {
    Refuse(fmt::format("rate {} per second is out of range 0.000001..{}", RateText(per_second),
                       RateText(kMaxRate)));
  }
}

std::vector<std::int64_t> ConstantRateArrivals(double rate, nanoseconds length) {
  std::int64_t count = std::llround(rate * static_cast<double>(kRateSeconds));
  std::int64_t per = kRateSeconds * kNsPerSecond;
  const std::int64_t common = std::gcd(count, per);
  return internal::EvenArrivals(count / common, per / common, length.count(),
                                internal::kMaxRequests);
}

}  // namespace

std::vector<Schedule::Batch> LoadPlan::Phase::Arrivals(nanoseconds length) const {
  std::vector<std::int64_t> starts;
  switch (pattern) {
    case Pattern::kBatches:
      starts = internal::EvenArrivals(1, interval.count(), length.count(),
                                      internal::kMaxRequests / batch_size);
      break;
    case Pattern::kConstantRate:
      starts = ConstantRateArrivals(rate, length);
      break;
    case Pattern::kPoisson:
      starts = internal::PoissonArrivals(rate, seed, length.count(), internal::kMaxRequests);
      break;
    case Pattern::kRamp:
      starts = internal::RampArrivals(rate, last_rate, length.count(), internal::kMaxRequests);
      break;
  }
  return internal::BatchesAt(starts, batch_size);
}

std::string LoadPlan::Phase::ToString() const {
  std::string text;
  switch (pattern) {
    case Pattern::kBatches:
      text = fmt::format("{} {} every {}", batch_size, Requests(batch_size),
                         throttletest::ToString(interval));
      break;
    case Pattern::kConstantRate:
      text = fmt::format("{} {} per second", RateText(rate), Requests(rate));
      break;
    case Pattern::kPoisson:
      text = fmt::format("{} {} per second at random (Poisson, seed {})", RateText(rate),
                         Requests(rate), seed);
      break;
    case Pattern::kRamp:
      text = fmt::format("{} to {} requests per second", RateText(rate), RateText(last_rate));
      break;
  }
  return text + " for " + throttletest::ToString(duration);
}

LoadPlan LoadPlan::Every(nanoseconds interval) const {
  if (phases_.back().pattern != Phase::Pattern::kBatches) {
    Refuse("Every() belongs to Batches(); a rate spaces its requests itself");
  }
  if (interval.count() <= 0) {
    Refuse(fmt::format("interval {} between batches must be above 0",
                       throttletest::ToString(interval)));
  }
  LoadPlan plan = *this;
  plan.phases_.back().interval = interval;
  return plan;
}

LoadPlan LoadPlan::For(nanoseconds duration) const {
  if (duration.count() <= 0) {
    Refuse(fmt::format("load duration {} must be above 0", throttletest::ToString(duration)));
  }
  LoadPlan plan = *this;
  plan.phases_.back().duration = duration;
  return plan;
}

LoadPlan LoadPlan::WarmUp(nanoseconds duration) const {
  if (duration.count() < 0) {
    Refuse(fmt::format("warm-up {} must not be negative", throttletest::ToString(duration)));
  }
  LoadPlan plan = *this;
  plan.warm_up_ = duration;
  return plan;
}

LoadPlan LoadPlan::MaxInFlight(int requests) const {
  if (requests < 1 || requests > kMaxInFlight) {
    Refuse(fmt::format("in-flight limit {} is out of range 1..{}", requests, kMaxInFlight));
  }
  LoadPlan plan = *this;
  plan.max_in_flight_ = requests;
  return plan;
}

LoadPlan LoadPlan::Then(const LoadPlan& next) const {
  if (next.warm_up_ || next.max_in_flight_) {
    Refuse(fmt::format("{} of a later phase would be ignored: set it on the whole plan",
                       next.warm_up_ ? "WarmUp()" : "MaxInFlight()"));
  }
  LoadPlan plan = *this;
  plan.phases_.insert(plan.phases_.end(), next.phases_.begin(), next.phases_.end());
  return plan;
}

nanoseconds LoadPlan::warm_up_length() const { return warm_up_.value_or(kDefaultWarmUp); }

int LoadPlan::max_in_flight() const { return max_in_flight_.value_or(kDefaultMaxInFlight); }

std::chrono::nanoseconds LoadPlan::length() const {
  std::chrono::nanoseconds sum{0};
  for (const Phase& phase : phases_) sum += phase.duration;
  return sum;
}

bool LoadPlan::is_steady() const {
  return phases_.size() == 1 && phases_.front().pattern != Phase::Pattern::kRamp;
}

PlanUntilDecided LoadPlan::UntilDecided(double error_rate) const {
  return {.plan = *this, .error_rate = error_rate};
}

Schedule LoadPlan::measured() const {
  std::vector<Schedule::Batch> all;
  nanoseconds begin{0};
  for (const Phase& phase : phases_) {
    std::vector<Schedule::Batch> arrivals = phase.Arrivals(phase.duration);
    for (Schedule::Batch& batch : arrivals) batch.start += begin;
    if (all.empty()) {
      all = std::move(arrivals);
    } else {
      all.insert(all.end(), arrivals.begin(), arrivals.end());
    }
    begin += phase.duration;
  }
  if (all.empty()) Refuse(fmt::format("the load plan has no request: {}", ToString()));
  return Schedule(std::move(all));
}

Schedule LoadPlan::warm_up() const {
  if (!has_warm_up()) return {};
  try {
    return Schedule(phases_.front().Arrivals(warm_up_length()));
  } catch (const Error& e) {
    Refuse(fmt::format("warm-up: {}", e.what()));
  }
}

std::string LoadPlan::ToString() const {
  std::string text;
  for (const Phase& phase : phases_) text += (text.empty() ? "" : ", then ") + phase.ToString();
  if (has_warm_up()) {
    text += fmt::format(" after {} of warm-up", throttletest::ToString(warm_up_length()));
  }
  return text;
}

LoadPlan Batches(int size) {
  if (size < 1 || size > kMaxBatchSize) {
    Refuse(fmt::format("batch size {} is out of range 1..{}", size, kMaxBatchSize));
  }
  return LoadPlan({.pattern = LoadPlan::Phase::Pattern::kBatches, .batch_size = size});
}

LoadPlan ConstantRate(Rate rate) {
  CheckRate(rate);
  return LoadPlan({.pattern = LoadPlan::Phase::Pattern::kConstantRate, .rate = rate.per_second()});
}

LoadPlan Poisson(Rate rate, std::uint64_t seed) {
  CheckRate(rate);
  return LoadPlan(
      {.pattern = LoadPlan::Phase::Pattern::kPoisson, .rate = rate.per_second(), .seed = seed});
}

LoadPlan Ramp(Rate from, Rate to) {
  for (const Rate rate : {from, to}) {
    if (rate.per_second() != 0) CheckRate(rate);
  }
  if (from.per_second() == 0 && to.per_second() == 0) Refuse("a ramp from 0 to 0 has no request");
  return LoadPlan({.pattern = LoadPlan::Phase::Pattern::kRamp,
                   .rate = from.per_second(),
                   .last_rate = to.per_second()});
}

LoadPlan Steps(const std::vector<RateStep>& steps) {
  if (steps.empty()) Refuse("no step given: Steps({{50_rps, 10s}, {100_rps, 10s}})");
  LoadPlan plan = ConstantRate(steps.front().rate).For(steps.front().duration);
  for (std::size_t i = 1; i < steps.size(); ++i) {
    plan = plan.Then(ConstantRate(steps[i].rate).For(steps[i].duration));
  }
  return plan;
}

}  // namespace throttletest
