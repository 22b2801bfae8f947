// Confidence intervals from units (batches) that are independent of each other, while what is
// within one unit need not be. Pure statistics; sources of the methods are named at Interval.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "throttletest/load/latency.h"

namespace throttletest::internal {

constexpr double kConfidence = 0.95;
// With fewer the variance between units is a guess.
constexpr std::int64_t kFewestUnits = 5;

// What one unit adds to a ratio of sums, such as 3 throttled of 10 periods.
struct UnitShare {
  double part = 0;
  double whole = 0;
};

struct Range {
  double low = 0;
  double high = 0;
  bool exact = false;  // from the binomial distribution, not from an estimated variance
};

// Of a proportion, sum(part) / sum(whole). `value` is the estimate the range is around, which may
// come from more than the units. Units: 0..1. Exact for the number of units at 0 and 1, which show
// no variance, and when each unit is wholly the one or the other. Absent: fewer than kFewestUnits
// units with a whole. Errors: none.
std::optional<Range> ProportionRange(std::span<const UnitShare> shares, double value);

// Of a rate or a mean, sum(part) / sum(whole), >= 0. Absent: as above; all parts are 0.
std::optional<Range> MeanRange(std::span<const UnitShare> shares, double value);

// Samples with the unit each is from, in any order.
struct UnitSamples {
  std::vector<Latency> values;
  std::vector<std::uint32_t> units;  // one a value
  std::uint32_t unit_count = 0;      // every unit is below it
};

// Ranks (1-based) between whose samples a percentile lies.
struct RankRange {
  std::int64_t low = 0;      // 0: below the smallest sample
  std::int64_t high = 0;     // above the number of samples: beyond the largest
  std::int64_t needed = 0;   // about how many samples `high` takes. 0: it is there
  bool independent = false;  // each sample is a unit of its own: the ranks are exact
};

// Of a percentile below 100. `sorted` holds the same values. Absent: fewer than kFewestUnits units
// with a sample. Errors: none.
std::optional<RankRange> PercentileRanks(const UnitSamples& samples, const LatencySamples& sorted,
                                         Percentile p);

}  // namespace throttletest::internal
