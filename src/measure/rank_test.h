// Rank statistics for a handful of rounds: is one sample higher than another, and by how much?
//
// Latencies under throttling come in steps of a period and have long tails, so nothing here assumes
// a normal distribution. Infinite values (no answer) are allowed and rank above all others.
//
// Source: Mann and Whitney, Annals of Mathematical Statistics 18 (1947); Hodges and Lehmann, ibid.
// 34 (1963).
#pragma once

#include <cstddef>
#include <span>

namespace throttletest::internal {

// What the p value speaks against.
enum class Alternative {
  kTwoSided,  // a and b differ
  kLess,      // a tends to be lower than b
  kGreater,   // a tends to be higher than b
};

struct RankTestResult {
  double u = 0;        // pairs in which a is above b, ties count a half; 0 .. n x m
  double p = 1;        // 0 .. 1
  bool exact = false;  // from all arrangements of the pooled values, not the normal approximation
};

// Most values in both samples together for which p is exact.
inline constexpr std::size_t kExactValues = 60;

// Mann-Whitney U test. Exact up to kExactValues, ties included (the arrangements of the tied values
// themselves are counted, so that ties never make p smaller than it can be); above, the normal
// approximation. Absent: p = 1 when a sample is empty.
RankTestResult MannWhitney(std::span<const double> a, std::span<const double> b,
                           Alternative alternative);

// The same by the normal approximation with corrections for ties and for continuity.
RankTestResult MannWhitneyNormal(std::span<const double> a, std::span<const double> b,
                                 Alternative alternative);

// The smallest p that samples of n and m values can give, when they do not overlap at all:
// 1 / C(n + m, n), twice that for two sides.
double SmallestP(std::size_t n, std::size_t m, Alternative alternative);

// By how much b is above a.
struct ShiftEstimate {
  double estimate = 0;  // median of all differences b - a
  double low = 0;       // ends of the interval; infinite ones are possible
  double high = 0;
  double confidence = 0;  // what the interval really has: at least what was asked for, if possible
};

// Hodges-Lehmann estimate of the shift with the interval that belongs to the Mann-Whitney test.
// Samples too small for the confidence give the widest interval there is, with its confidence.
// Errors: kInvalidArgument when a sample is empty.
ShiftEstimate HodgesLehmann(std::span<const double> a, std::span<const double> b,
                            double confidence);

}  // namespace throttletest::internal
