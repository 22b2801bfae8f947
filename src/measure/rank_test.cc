#include "measure/rank_test.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/refuse.h"

namespace throttletest::internal {
namespace {

// The pooled values' ranks, doubled so that the middle rank of a tie is a whole number.
struct PooledRanks {
  std::vector<std::int64_t> doubled;  // those of a first
  std::int64_t sum_a = 0;             // of a, doubled
  double tie_term = 0;                // sum of t^3 - t over all groups of t tied values
};

PooledRanks RankTogether(std::span<const double> a, std::span<const double> b) {
  std::vector<double> values(a.begin(), a.end());
  values.insert(values.end(), b.begin(), b.end());
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());

  PooledRanks ranks;
  for (const double value : values) {
    const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), value);
    // Ranks first+1 .. last (1-based), whose middle is their sum's half.
    ranks.doubled.push_back((first - sorted.begin()) + 1 + (last - sorted.begin()));
    // Each of t tied values adds (t^3 - t) / t.
    const auto tied = static_cast<double>(last - first);
    ranks.tie_term += tied * tied - 1;
  }
  ranks.sum_a = std::accumulate(ranks.doubled.begin(),
                                ranks.doubled.begin() + static_cast<std::ptrdiff_t>(a.size()),
                                std::int64_t{0});
  return ranks;
}

double UOf(const PooledRanks& ranks, std::size_t n) {
  const auto size = static_cast<double>(n);
  return static_cast<double>(ranks.sum_a) / 2 - size * (size + 1) / 2;
}

// How many ways there are to choose `n` of the ranks, by their sum.
std::vector<double> WaysBySum(const std::vector<std::int64_t>& ranks, std::size_t n) {
  const auto total =
      static_cast<std::size_t>(std::accumulate(ranks.begin(), ranks.end(), std::int64_t{0}));
  std::vector<std::vector<double>> ways(n + 1, std::vector<double>(total + 1, 0));
  ways[0][0] = 1;
  std::size_t seen = 0;
  for (const std::int64_t rank : ranks) {
    ++seen;
    const auto step = static_cast<std::size_t>(rank);
    for (std::size_t k = std::min(seen, n); k >= 1; --k) {
      for (std::size_t sum = step; sum <= total; ++sum) ways[k][sum] += ways[k - 1][sum - step];
    }
  }
  return ways[n];
}

double Choose(std::size_t n, std::size_t k) {
  double result = 1;
  for (std::size_t i = 1; i <= k; ++i) {
    result = result * static_cast<double>(n - k + i) / static_cast<double>(i);
  }
  return std::round(result);
}

double Combine(double less, double greater, Alternative alternative) {
  switch (alternative) {
    case Alternative::kLess:
      return less;
    case Alternative::kGreater:
      return greater;
    case Alternative::kTwoSided:
      break;
  }
  return std::min(1.0, 2 * std::min(less, greater));
}

double ExactP(const PooledRanks& ranks, std::size_t n, Alternative alternative) {
  const std::vector<double> ways = WaysBySum(ranks.doubled, n);
  const double all = std::accumulate(ways.begin(), ways.end(), 0.0);
  const auto observed = ways.begin() + static_cast<std::ptrdiff_t>(ranks.sum_a);
  const double less = std::accumulate(ways.begin(), observed + 1, 0.0) / all;
  const double greater = std::accumulate(observed, ways.end(), 0.0) / all;
  return Combine(less, greater, alternative);
}

// P(Z >= z).
double UpperTail(double z) { return std::erfc(z / std::sqrt(2.0)) / 2; }

double NormalP(const PooledRanks& ranks, std::size_t n, std::size_t m, Alternative alternative) {
  const double pairs = static_cast<double>(n) * static_cast<double>(m);
  const auto all = static_cast<double>(n + m);
  const double variance = pairs / 12 * (all + 1 - ranks.tie_term / (all * (all - 1)));
  if (variance <= 0) return 1;  // every value is the same
  const double above = UOf(ranks, n) - pairs / 2;
  const double deviation = std::sqrt(variance);
  const double less = UpperTail((-above - 0.5) / deviation);
  const double greater = UpperTail((above - 0.5) / deviation);
  return Combine(less, greater, alternative);
}

// P(U <= u) for u = 0 .. n x m, of two samples without ties.
std::vector<double> CumulativeU(std::size_t n, std::size_t m) {
  PooledRanks ranks;
  for (std::size_t i = 1; i <= n + m; ++i) {
    ranks.doubled.push_back(2 * static_cast<std::int64_t>(i));
  }
  const bool exact = n + m <= kExactValues;
  const std::vector<double> ways = exact ? WaysBySum(ranks.doubled, n) : std::vector<double>();
  const double all = Choose(n + m, n);
  std::vector<double> up_to;
  double sum = 0;
  for (std::size_t u = 0; u <= n * m; ++u) {
    const std::size_t doubled_sum = 2 * u + n * (n + 1);
    ranks.sum_a = static_cast<std::int64_t>(doubled_sum);
    sum = exact ? sum + ways[doubled_sum] / all : NormalP(ranks, n, m, Alternative::kLess);
    up_to.push_back(sum);
  }
  return up_to;
}

// Two that were never answered do not differ.
double Minus(double b, double a) { return a == b ? 0 : b - a; }

std::vector<double> SortedDifferences(std::span<const double> a, std::span<const double> b) {
  std::vector<double> differences;
  differences.reserve(a.size() * b.size());
  for (const double x : a) {
    for (const double y : b) differences.push_back(Minus(y, x));
  }
  std::sort(differences.begin(), differences.end());
  return differences;
}

double MedianOf(const std::vector<double>& sorted) {
  const std::size_t middle = sorted.size() / 2;
  if (sorted.size() % 2 == 1 || sorted[middle] == sorted[middle - 1]) return sorted[middle];
  return sorted[middle - 1] / 2 + sorted[middle] / 2;
}

}  // namespace

RankTestResult MannWhitney(std::span<const double> a, std::span<const double> b,
                           Alternative alternative) {
  if (a.empty() || b.empty() || a.size() + b.size() > kExactValues) {
    return MannWhitneyNormal(a, b, alternative);
  }
  const PooledRanks ranks = RankTogether(a, b);
  return {.u = UOf(ranks, a.size()), .p = ExactP(ranks, a.size(), alternative), .exact = true};
}

RankTestResult MannWhitneyNormal(std::span<const double> a, std::span<const double> b,
                                 Alternative alternative) {
  if (a.empty() || b.empty()) return {};
  const PooledRanks ranks = RankTogether(a, b);
  return {.u = UOf(ranks, a.size()),
          .p = std::min(1.0, NormalP(ranks, a.size(), b.size(), alternative)),
          .exact = false};
}

double SmallestP(std::size_t n, std::size_t m, Alternative alternative) {
  if (n == 0 || m == 0) return 1;
  const double one_sided = 1 / Choose(n + m, n);
  return alternative == Alternative::kTwoSided ? std::min(1.0, 2 * one_sided) : one_sided;
}

ShiftEstimate HodgesLehmann(std::span<const double> a, std::span<const double> b,
                            double confidence) {
  if (a.empty() || b.empty()) Refuse("a shift needs at least one value on each side");
  const std::vector<double> differences = SortedDifferences(a, b);
  // The k-th smallest and the k-th largest difference, for the largest k whose tails P(U <= k - 1)
  // leave enough; k = 1 when none does.
  const double tail = (1 - confidence) / 2;
  const std::vector<double> up_to = CumulativeU(a.size(), b.size());
  std::size_t k = 1;
  while (k < (differences.size() + 1) / 2 && up_to[k] <= tail) ++k;
  return {.estimate = MedianOf(differences),
          .low = differences[k - 1],
          .high = differences[differences.size() - k],
          .confidence = std::max(0.0, 1 - 2 * up_to[k - 1])};
}

}  // namespace throttletest::internal
