#include "measure/units.h"

#include <algorithm>

#include "measure/batch_use.h"
#include "measure/demand.h"

namespace throttletest::internal {
namespace {

using std::chrono::nanoseconds;

// Enough for a t quantile near the normal one, and few enough for each to outlast what it began in.
constexpr std::int64_t kMostStretches = 30;

nanoseconds Apart(const Measurement& m) {
  const auto quota = FindJudgedQuota(m);
  return 2 * (quota ? nanoseconds(quota->bandwidth.period) : std::chrono::milliseconds(100));
}

void CutIntoStretches(Units& units, const std::vector<nanoseconds>& starts, std::int64_t count) {
  units.name = "stretches of time";
  const nanoseconds begin = starts.front();
  const nanoseconds length = units.end - begin;
  for (std::int64_t i = 0; i < count; ++i) units.begins.push_back(begin + length / count * i);
  for (const nanoseconds start : starts) {
    const auto after = std::upper_bound(units.begins.begin(), units.begins.end(), start);
    units.of_batch.push_back(static_cast<std::uint32_t>(after - units.begins.begin() - 1));
  }
}

}  // namespace

double Units::LengthOf(std::size_t unit) const {
  const nanoseconds stop = unit + 1 < begins.size() ? begins[unit + 1] : end;
  return static_cast<double>((stop - begins[unit]).count());
}

Units UnitsOf(const Measurement& m) {
  const std::vector<nanoseconds> starts = BatchStarts(m.load);
  Units units;
  if (starts.size() < 2 || starts.back() <= starts.front()) return units;
  const nanoseconds gap =
      (starts.back() - starts.front()) / static_cast<std::int64_t>(starts.size() - 1);
  // The last batch has its share of the time like every other.
  units.end = starts.back() + std::max(gap, nanoseconds(1));
  if (gap < Apart(m)) {
    const std::int64_t most = (units.end - starts.front()) / Apart(m);
    if (most >= 1) CutIntoStretches(units, starts, std::min(most, kMostStretches));
    return units;
  }
  units.name = "batches";
  units.begins = starts;
  for (std::uint32_t i = 0; i < starts.size(); ++i) units.of_batch.push_back(i);
  return units;
}

std::vector<BatchUse> UsesOf(const Measurement& m, const Units& units) {
  if (units.are_batches()) return m.batches;
  return UsesBetween(m.load.epoch, units.begins, m.timeline);
}

}  // namespace throttletest::internal
