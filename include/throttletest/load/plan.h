// LoadPlan: when requests are meant to start - an absolute schedule that no answer can delay.
//
//   Batches(8).Every(1s).For(20s).WarmUp(3s)
//   ConstantRate(100_rps).For(10s)
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

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

// A stretch of schedule: arrival i (0-based) belongs to batch i / batch_size, and batch b is meant
// to start at b x interval. Batch b exists while its start is < duration, so 7 per second for 1.5 s
// is 11.
class Schedule {
 public:
  // Units: batch_size >= 1; interval as batches per `per` (an exact fraction, so that 3 per second
  // does not drift). Errors: kInvalidArgument.
  Schedule(int batch_size, std::int64_t batches, std::chrono::nanoseconds per,
           std::chrono::nanoseconds duration);

  std::int64_t batch_count() const;
  std::int64_t request_count() const { return batch_count() * batch_size_; }
  int batch_size() const { return batch_size_; }
  // Intended start of batch b, from the schedule's own zero. Units: ns, rounded to nearest.
  std::chrono::nanoseconds StartOf(std::int64_t batch) const;
  std::chrono::nanoseconds duration() const { return duration_; }

 private:
  int batch_size_;
  std::int64_t batches_;
  std::chrono::nanoseconds per_;
  std::chrono::nanoseconds duration_;
};

// A warm-up and a measured stretch with the same arrivals. A value; each setter returns a changed
// copy.
class LoadPlan {
 public:
  LoadPlan Every(std::chrono::nanoseconds interval) const;   // between batches; > 0, default 1 s
  LoadPlan For(std::chrono::nanoseconds duration) const;     // measured; > 0, default 20 s
  LoadPlan WarmUp(std::chrono::nanoseconds duration) const;  // >= 0, default 3 s; see below
  // Requests under way at once before further ones are "not sent". Units: 1..60000, default 4096.
  LoadPlan MaxInFlight(int requests) const;

  // Errors (all): kInvalidArgument naming the setting; also when the plan has no batch or more than
  // 20 million requests.
  Schedule measured() const;
  // The same arrivals for the warm-up's length. request_count() is 0 when there is none.
  Schedule warm_up() const;
  bool has_warm_up() const { return warm_up_ > std::chrono::nanoseconds(0); }
  int max_in_flight() const { return max_in_flight_; }

  // "8 requests every 1 s for 20 s after 3 s of warm-up".
  std::string ToString() const;

 private:
  friend LoadPlan Batches(int size);
  friend LoadPlan ConstantRate(Rate rate);
  LoadPlan() = default;

  int batch_size_ = 1;
  double rate_ = 0;  // > 0: constant rate; else batches every interval_
  std::chrono::nanoseconds interval_ = std::chrono::seconds(1);
  std::chrono::nanoseconds duration_ = std::chrono::seconds(20);
  std::chrono::nanoseconds warm_up_ = std::chrono::seconds(3);
  int max_in_flight_ = 4096;
};

// `size` requests whose intended start is the same instant. Units: 1..10000.
// Errors: kInvalidArgument.
LoadPlan Batches(int size);

// One request at a time, number i at i / rate. The rate is exact to a millionth per second.
// Errors: kInvalidArgument unless 0.000001 <= rate <= 1e6.
LoadPlan ConstantRate(Rate rate);

}  // namespace throttletest
