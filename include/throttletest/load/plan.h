// LoadPlan: when requests are meant to start - an absolute schedule that no answer can delay.
//
//   Batches(8).Every(1s).For(20s).WarmUp(3s)
//   ConstantRate(100_rps).For(10s)
//   Poisson(100_rps, 42).For(10s)
//   Ramp(10_rps, 200_rps).For(30s).Then(ConstantRate(200_rps).For(60s))
//   Steps({{50_rps, 10s}, {100_rps, 10s}, {200_rps, 10s}})
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "throttletest/load/schedule.h"

namespace throttletest {

// Requests per second. A bare integer does not convert to it. Units: > 0, finite.
class Rate {
 public:
  constexpr explicit Rate(double per_second) : per_second_(per_second) {}
  constexpr double per_second() const { return per_second_; }
  friend constexpr bool operator==(Rate, Rate) = default;

 private:
  double per_second_;
};

inline namespace literals {
constexpr Rate operator""_rps(unsigned long long n) { return Rate(static_cast<double>(n)); }
constexpr Rate operator""_rps(long double n) { return Rate(static_cast<double>(n)); }
}  // namespace literals

struct PlanUntilDecided;

// One phase or several, one after the other, and a warm-up. A value; each setter returns a changed
// copy.
//
// The count of a phase: arrival i exists while its start is < the phase's duration, so 7 requests
// per second for 1.5 s are 11. The next phase begins at that duration, whether an arrival is there
// or not.
class LoadPlan {
 public:
  // Between the batches of the last phase. Units: > 0, default 1 s.
  LoadPlan Every(std::chrono::nanoseconds interval) const;
  // How long the last phase is. Units: > 0, default 20 s.
  LoadPlan For(std::chrono::nanoseconds duration) const;
  // The first phase, over this length instead of its own: a ramp goes from its first rate to its
  // last one. Units: >= 0, default 3 s.
  LoadPlan WarmUp(std::chrono::nanoseconds duration) const;
  // Requests under way at once before further ones are "not sent". Units: 1..60000, default 4096.
  LoadPlan MaxInFlight(int requests) const;
  // The phases of `next` after these. Warm-up and in-flight limit are those of this plan.
  // Errors: kInvalidArgument when `next` sets one of them.
  LoadPlan Then(const LoadPlan& next) const;

  // This plan, but only as much of it as the budgets it is measured for need. It must be steady,
  // because its beginning stands for all of it. Units: as UntilDecided::error_rate.
  PlanUntilDecided UntilDecided(double error_rate = 0.05) const;

  // Errors (both): kInvalidArgument when the plan has no request at all or more than 20 million.
  Schedule measured() const;
  // No batch at all when there is no warm-up.
  Schedule warm_up() const;
  // True when the load is the same from start to end: one phase, and no ramp.
  bool is_steady() const;
  // How long the phases take together, without the warm-up.
  std::chrono::nanoseconds length() const;
  bool has_warm_up() const { return warm_up_length() > std::chrono::nanoseconds(0); }
  int max_in_flight() const;

  // "8 requests every 1 s for 20 s after 3 s of warm-up".
  std::string ToString() const;

 private:
  friend LoadPlan Batches(int size);
  friend LoadPlan ConstantRate(Rate rate);
  friend LoadPlan Poisson(Rate rate, std::uint64_t seed);
  friend LoadPlan Ramp(Rate from, Rate to);

  struct Phase {
    enum class Pattern { kBatches, kConstantRate, kPoisson, kRamp };
    Pattern pattern = Pattern::kBatches;
    int batch_size = 1;
    double rate = 0;
    double last_rate = 0;  // of a ramp
    std::uint64_t seed = 0;
    std::chrono::nanoseconds interval = std::chrono::seconds(1);
    std::chrono::nanoseconds duration = std::chrono::seconds(20);

    std::vector<Schedule::Batch> Arrivals(std::chrono::nanoseconds length) const;
    std::string ToString() const;
  };

  explicit LoadPlan(const Phase& phase) : phases_{phase} {}
  std::chrono::nanoseconds warm_up_length() const;

  std::vector<Phase> phases_;  // never empty
  std::optional<std::chrono::nanoseconds> warm_up_;
  std::optional<int> max_in_flight_;
};

// What LoadPlan::UntilDecided() makes. A type of its own, because it needs budgets to be measured.
struct PlanUntilDecided {
  LoadPlan plan;
  double error_rate = 0.05;
};

// `size` requests whose intended start is the same instant. Units: 1..10000.
// Errors: kInvalidArgument.
LoadPlan Batches(int size);

// One request at a time, number i at i / rate. The rate is exact to a millionth per second.
// Errors: kInvalidArgument unless 0.000001 <= rate <= 1e6.
LoadPlan ConstantRate(Rate rate);

// Requests that know nothing of each other: a Poisson process with this mean rate. The same seed
// gives the same instants on every machine. Errors: as ConstantRate().
LoadPlan Poisson(Rate rate, std::uint64_t seed);

// The rate goes in a straight line from `from` to `to` over the phase. Units: 0 <= rate <= 1e6, not
// both 0. Errors: kInvalidArgument.
LoadPlan Ramp(Rate from, Rate to);

// Constant rates one after the other.
struct RateStep {
  Rate rate;
  std::chrono::nanoseconds duration;
};
// Errors: kInvalidArgument for no step at all, or as ConstantRate() and For().
LoadPlan Steps(const std::vector<RateStep>& steps);

}  // namespace throttletest
