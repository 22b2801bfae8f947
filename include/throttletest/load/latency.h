// Exact latency statistics: nearest rank over all samples, in integer arithmetic.
//
// The rule, for n sorted samples and percentile p: the sample at 1-based rank ceil(p x n / 100). No
// interpolation and no buckets, so a percentile is always a latency that really occurred.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace throttletest {

// A latency that may be infinite: a failed or timed-out request never got its answer.
class Latency {
 public:
  constexpr Latency() = default;
  constexpr explicit Latency(std::chrono::nanoseconds value) : ns_(value.count()) {}
  static constexpr Latency Infinite() {
    Latency l;
    l.ns_ = INT64_MAX;
    return l;
  }
  constexpr bool infinite() const { return ns_ == INT64_MAX; }
  // Units: ns. Meaningless (the largest number) when infinite.
  constexpr std::chrono::nanoseconds value() const { return std::chrono::nanoseconds(ns_); }
  friend constexpr auto operator<=>(Latency, Latency) = default;

 private:
  std::int64_t ns_ = 0;
};

// "285.4 ms", or "no answer" when infinite.
std::string ToString(Latency latency);

// A percentile in thousandths of a percent, so that 99.9 is exact. Units: 0 < p <= 100 %.
class Percentile {
 public:
  // Rounds to three decimals. Errors: kInvalidArgument outside 0..100 (0 excluded) or not a number.
  explicit Percentile(double percent);
  std::int64_t milli_percent() const { return milli_percent_; }
  // Samples needed before this percentile differs from the maximum: n >= 100 / (100 - p).
  // p100 needs 1.
  std::int64_t SamplesNeeded() const;
  std::string ToString() const;  // "P99", "P99.9"
  friend bool operator==(Percentile, Percentile) = default;

 private:
  std::int64_t milli_percent_;
};

// A sorted set of latencies.
class LatencySamples {
 public:
  LatencySamples() = default;
  explicit LatencySamples(std::vector<Latency> samples);  // sorts

  std::int64_t count() const { return static_cast<std::int64_t>(sorted_.size()); }
  bool empty() const { return sorted_.empty(); }
  // 1-based rank of p: (milli_percent x n + 99999) / 100000. Errors: kInvalidArgument when empty.
  std::int64_t Rank(Percentile p) const;
  Latency At(Percentile p) const;  // Errors: kInvalidArgument when empty.
  Latency max() const;             // Errors: kInvalidArgument when empty.
  const std::vector<Latency>& sorted() const { return sorted_; }

 private:
  std::vector<Latency> sorted_;
};

}  // namespace throttletest
