#include "measure/cluster_interval.h"

#include <algorithm>
#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

namespace throttletest::internal {
namespace {

constexpr double kTail = (1 - kConfidence) / 2;

// Real-valued quantiles of the binomial distribution, because an effective number is no whole one.
using MathPolicy = boost::math::policies::policy<
    boost::math::policies::discrete_quantile<boost::math::policies::real>,
    boost::math::policies::promote_double<false>>;
using Beta = boost::math::beta_distribution<double, MathPolicy>;
using Normal = boost::math::normal_distribution<double, MathPolicy>;
using StudentsT = boost::math::students_t_distribution<double, MathPolicy>;
using Binomial = boost::math::binomial_distribution<double, MathPolicy>;

double NormalQuantile() { return boost::math::quantile(Normal(), 1 - kTail); }

double StudentQuantile(std::int64_t degrees_of_freedom) {
  return boost::math::quantile(StudentsT(static_cast<double>(degrees_of_freedom)), 1 - kTail);
}

// How a ratio of sums varies with the units it is made of.
struct Spread {
  double ratio = 0;
  double variance = 0;  // of the ratio, linearised
  double whole = 0;
  std::int64_t units = 0;

  // Of counts, which are no finer than one event: units that are all alike may have differed by it.
  double CountVariance() const { return std::max(variance, 1 / (whole * whole)); }
};

std::optional<Spread> SpreadOf(std::span<const UnitShare> shares) {
  Spread spread;
  double part = 0;
  for (const UnitShare& share : shares) {
    if (share.whole <= 0) continue;
    part += share.part;
    spread.whole += share.whole;
    ++spread.units;
  }
  if (spread.units < kFewestUnits) return std::nullopt;
  spread.ratio = part / spread.whole;
  double squares = 0;
  for (const UnitShare& share : shares) {
    if (share.whole > 0) squares += std::pow(share.part - spread.ratio * share.whole, 2);
  }
  const auto units = static_cast<double>(spread.units);
  spread.variance = units / (units - 1) * squares / (spread.whole * spread.whole);
  return spread;
}

// The exact range of a proportion of which `hits` of `count` were seen.
Range Exact(std::int64_t hits, std::int64_t count) {
  const auto x = static_cast<double>(hits);
  const auto n = static_cast<double>(count);
  return {.low = hits == 0 ? 0 : boost::math::quantile(Beta(x, n - x + 1), kTail),
          .high = hits == count ? 1 : boost::math::quantile(Beta(x + 1, n - x), 1 - kTail),
          .exact = true};
}

// How units divide.
struct Division {
  std::int64_t with = 0;       // units with some part
  std::int64_t without = 0;    // units that are not wholly it
  bool all_or_nothing = true;  // each is the one or the other, and all weigh the same
};

Division Divide(std::span<const UnitShare> shares) {
  Division division;
  double weight = 0;
  for (const UnitShare& share : shares) {
    if (share.whole <= 0) continue;
    if (weight <= 0) weight = share.whole;
    const bool some = share.part > 0;
    const bool all = share.part >= share.whole;
    if (some) ++division.with;
    if (!all) ++division.without;
    if (some != all || share.whole != weight) division.all_or_nothing = false;
  }
  return division;
}

// Wilson's range of a proportion `value` of `count` observations.
Range Wilson(double value, double count, double quantile) {
  const double z2 = quantile * quantile;
  const double centre = (value + z2 / (2 * count)) / (1 + z2 / count);
  const double half = quantile / (1 + z2 / count) *
                      std::sqrt(value * (1 - value) / count + z2 / (4 * count * count));
  return {std::max(0.0, centre - half), std::min(1.0, centre + half)};
}

// How much more the share of samples below `at` varies than that of as many independent samples
// would. Units: > 0; less than 1 when units are more alike than chance makes them. Not "up to": a
// percentile that is the maximum must have samples on both sides.
double DesignEffect(const UnitSamples& samples, Latency at) {
  std::vector<UnitShare> shares(samples.unit_count);
  for (std::size_t i = 0; i < samples.values.size(); ++i) {
    UnitShare& share = shares[samples.units[i]];
    share.whole += 1;
    if (samples.values[i] < at) share.part += 1;
  }
  const std::optional<Spread> spread = SpreadOf(shares);
  if (!spread || spread->ratio <= 0 || spread->ratio >= 1) return 1;
  const double independent = spread->ratio * (1 - spread->ratio) / spread->whole;
  return spread->CountVariance() / independent;
}

// Independent samples worth as much, less what estimating the design effect costs.
double EffectiveCount(double count, double effect, std::int64_t units) {
  const double inflation = std::pow(StudentQuantile(units - 1) / NormalQuantile(), 2) * effect;
  return std::max(1.0, count / inflation);
}

// The ranks that `effective` independent samples give, spread over `count`.
RankRange RanksAround(double p, double effective, std::int64_t count) {
  const Binomial below(effective, p);
  const double scale = (static_cast<double>(count) + 1) / (effective + 1);
  RankRange ranks;
  if (boost::math::cdf(below, 0) <= kTail) {
    const double low = (boost::math::quantile(below, kTail) + 1) * scale;
    ranks.low = static_cast<std::int64_t>(std::floor(low));
  }
  const double high = (boost::math::quantile(boost::math::complement(below, kTail)) + 1) * scale;
  // A whole effective number must not become the next rank by rounding.
  ranks.high = static_cast<std::int64_t>(std::ceil(high - 1e-9));
  // All samples may be below the percentile by chance. However alike the units are, that takes this
  // many samples to rule out.
  const double needed = std::log(kTail) / std::log(p);
  const double worth = std::min(effective, static_cast<double>(count));
  if (worth < needed) ranks.high = count + 1;
  if (ranks.high > count) {
    const double more = std::ceil(needed * static_cast<double>(count) / worth);
    ranks.needed = std::max(static_cast<std::int64_t>(more), count + 1);
  }
  return ranks;
}

std::int64_t UnitsWithSamples(const UnitSamples& samples) {
  std::vector<bool> seen(samples.unit_count);
  for (const std::uint32_t unit : samples.units) seen[unit] = true;
  return std::count(seen.begin(), seen.end(), true);
}

}  // namespace

std::optional<Range> ProportionRange(std::span<const UnitShare> shares, double value) {
  const std::optional<Spread> spread = SpreadOf(shares);
  if (!spread) return std::nullopt;
  if (value <= 0) return Exact(0, spread->units);
  if (value >= 1) return Exact(spread->units, spread->units);
  const Division units = Divide(shares);
  if (units.all_or_nothing && units.with > 0 && units.without > 0) {
    return Exact(units.with, spread->units);
  }
  // Of a rare event only the units that have some tell how much units differ.
  const std::int64_t telling = std::min(units.with, units.without) + 1;
  return Wilson(value, value * (1 - value) / spread->CountVariance(),
                StudentQuantile(std::min(telling, spread->units - 1)));
}

std::optional<Range> MeanRange(std::span<const UnitShare> shares, double value) {
  const std::optional<Spread> spread = SpreadOf(shares);
  if (!spread || spread->ratio <= 0) return std::nullopt;
  const double half =
      StudentQuantile(spread->units - 1) * std::sqrt(spread->variance) * value / spread->ratio;
  return Range{std::max(0.0, value - half), value + half};
}

std::optional<RankRange> PercentileRanks(const UnitSamples& samples, const LatencySamples& sorted,
                                         Percentile p) {
  const std::int64_t units = UnitsWithSamples(samples);
  if (units < kFewestUnits || p.milli_percent() >= 100'000) return std::nullopt;
  const double fraction = static_cast<double>(p.milli_percent()) / 100'000;
  const std::int64_t count = sorted.count();
  const auto around = [&](double effective) { return RanksAround(fraction, effective, count); };
  if (units == count) {
    RankRange exact = around(static_cast<double>(count));
    exact.independent = true;
    return exact;
  }
  const auto at = [&](std::int64_t rank) {
    return DesignEffect(samples, sorted.sorted()[static_cast<std::size_t>(rank - 1)]);
  };
  double effect = at(sorted.Rank(p));
  const auto effective = [&] { return EffectiveCount(static_cast<double>(count), effect, units); };
  const RankRange first = around(effective());
  // Few samples lie beyond a high percentile, so how they gather in units shows better at the end
  // nearer to the median.
  const std::int64_t inner = fraction < 0.5 ? first.high : first.low;
  if (inner >= 1 && inner <= count) effect = at(inner);
  return around(effective());
}

}  // namespace throttletest::internal
