#include "throttletest/load/plan.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "throttletest/base/duration.h"
#include "throttletest/base/error.h"

namespace throttletest {
namespace {

// Products of two 63-bit numbers: a schedule of hours in nanoseconds times a rate does not fit 64.
using Wide = __int128;

constexpr std::int64_t kMaxRequests = 20'000'000;
constexpr int kMaxBatchSize = 10'000;
constexpr int kMaxInFlight = 60'000;
constexpr double kMaxRate = 1e6;
// A rate is an exact fraction of this many seconds, so 0.000001 per second is the finest step.
constexpr std::int64_t kRateSeconds = 1'000'000;
constexpr std::int64_t kNsPerSecond = 1'000'000'000;

[[noreturn]] void Refuse(const std::string& message) {
  throw Error(ErrorCode::kInvalidArgument, message);
}

// "100", "0.5": a rate without trailing zeros.
std::string RateText(double rate) { return fmt::format("{:.10g}", rate); }

}  // namespace

Schedule::Schedule(int batch_size, std::int64_t batches, std::chrono::nanoseconds per,
                   std::chrono::nanoseconds duration)
    : batch_size_(batch_size), batches_(batches), per_(per), duration_(duration) {
  if (batch_size < 1) Refuse(fmt::format("batch size {} is out of range: at least 1", batch_size));
  if (batches < 1 || per.count() < 1) {
    Refuse(fmt::format("{} batches per {} ns is no rate: both must be at least 1", batches,
                       per.count()));
  }
  if (duration.count() < 0) {
    Refuse(fmt::format("duration {} ns is negative", duration.count()));
  }
}

std::int64_t Schedule::batch_count() const {
  // The number of b >= 0 with b x per / batches < duration.
  const Wide span = static_cast<Wide>(duration_.count()) * batches_;
  const Wide count = (span + per_.count() - 1) / per_.count();
  return count > INT64_MAX ? INT64_MAX : static_cast<std::int64_t>(count);
}

std::chrono::nanoseconds Schedule::StartOf(std::int64_t batch) const {
  const Wide twice = 2 * static_cast<Wide>(batch) * per_.count() + batches_;
  return std::chrono::nanoseconds(
      static_cast<std::int64_t>(twice / (2 * static_cast<Wide>(batches_))));
}

LoadPlan LoadPlan::Every(std::chrono::nanoseconds interval) const {
  if (rate_ > 0) Refuse("Every() belongs to Batches(); ConstantRate() spaces its requests itself");
  if (interval.count() <= 0) {
    Refuse(fmt::format("interval {} between batches must be above 0",
                       throttletest::ToString(interval)));
  }
  LoadPlan plan = *this;
  plan.interval_ = interval;
  return plan;
}

LoadPlan LoadPlan::For(std::chrono::nanoseconds duration) const {
  if (duration.count() <= 0) {
    Refuse(fmt::format("load duration {} must be above 0", throttletest::ToString(duration)));
  }
  LoadPlan plan = *this;
  plan.duration_ = duration;
  return plan;
}

LoadPlan LoadPlan::WarmUp(std::chrono::nanoseconds duration) const {
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

namespace {

Schedule MakeSchedule(const char* what, int batch_size, double rate,
                      std::chrono::nanoseconds interval, std::chrono::nanoseconds duration) {
  std::int64_t batches = 1;
  std::int64_t per = interval.count();
  if (rate > 0) {
    batches = std::llround(rate * static_cast<double>(kRateSeconds));
    per = kRateSeconds * kNsPerSecond;
    const std::int64_t common = std::gcd(batches, per);
    batches /= common;
    per /= common;
  }
  const Schedule schedule(batch_size, batches, std::chrono::nanoseconds(per), duration);
  if (schedule.batch_count() > kMaxRequests / batch_size) {
    Refuse(fmt::format("{} of {} has more than {} requests; shorten it or lower its rate", what,
                       throttletest::ToString(duration), kMaxRequests));
  }
  return schedule;
}

}  // namespace

Schedule LoadPlan::measured() const {
  return MakeSchedule("load", batch_size_, rate_, interval_, duration_);
}

Schedule LoadPlan::warm_up() const {
  return MakeSchedule("warm-up", batch_size_, rate_, interval_, warm_up_);
}

std::string LoadPlan::ToString() const {
  std::string text;
  if (rate_ > 0) {
    text = fmt::format("{} {} per second", RateText(rate_), rate_ == 1 ? "request" : "requests");
  } else {
    text = fmt::format("{} {} every {}", batch_size_, batch_size_ == 1 ? "request" : "requests",
                       throttletest::ToString(interval_));
  }
  text += " for " + throttletest::ToString(duration_);
  if (has_warm_up()) text += fmt::format(" after {} of warm-up", throttletest::ToString(warm_up_));
  return text;
}

LoadPlan Batches(int size) {
  if (size < 1 || size > kMaxBatchSize) {
    Refuse(fmt::format("batch size {} is out of range 1..{}", size, kMaxBatchSize));
  }
  LoadPlan plan;
  plan.batch_size_ = size;
  return plan;
}

LoadPlan ConstantRate(Rate rate) {
  const double per_second = rate.per_second();
  // Written so that NaN is refused too.
  if (!(per_second * static_cast<double>(kRateSeconds) >= 1 && per_second <= kMaxRate)) {
    Refuse(fmt::format("rate {} per second is out of range 0.000001..{}", RateText(per_second),
                       RateText(kMaxRate)));
  }
  LoadPlan plan;
  plan.rate_ = per_second;
  return plan;
}

}  // namespace throttletest
