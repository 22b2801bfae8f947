#include "throttletest/load/latency.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "throttletest/base/duration.h"
#include "throttletest/base/error.h"

namespace throttletest {
namespace {

constexpr std::int64_t kWhole = 100000;  // 100 % in thousandths of a percent

}  // namespace

std::string ToString(Latency latency) {
  return latency.infinite() ? "no answer" : ToMilliseconds(latency.value());
}

Percentile::Percentile(double percent) : milli_percent_(0) {
  // Compared as a double first: rounding a huge number or NaN to an integer is undefined.
  if (percent > 0 && percent <= 100) milli_percent_ = std::llround(percent * 1000);
  // 99.9999 must not become the maximum by rounding.
  const bool whole = std::abs(percent * 1000 - static_cast<double>(milli_percent_)) < 1e-6;
  if (milli_percent_ < 1 || !whole) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("percentile {} is out of range: it must be above 0 and at most 100, in "
                            "steps of 0.001",
                            percent));
  }
}

std::int64_t Percentile::SamplesNeeded() const {
  const std::int64_t rest = kWhole - milli_percent_;
  if (rest == 0) return 1;
  return (kWhole + rest - 1) / rest;
}

std::string Percentile::ToString() const {
  std::string text = fmt::format("{}.{:03}", milli_percent_ / 1000, milli_percent_ % 1000);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return "P" + text;
}

LatencySamples::LatencySamples(std::vector<Latency> samples) : sorted_(std::move(samples)) {
  std::sort(sorted_.begin(), sorted_.end());
}

std::int64_t LatencySamples::Rank(Percentile p) const {
  if (empty()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} of no samples does not exist", p.ToString()));
  }
  return (p.milli_percent() * count() + kWhole - 1) / kWhole;
}

Latency LatencySamples::At(Percentile p) const {
  return sorted_[static_cast<std::size_t>(Rank(p) - 1)];
}

Latency LatencySamples::max() const {
  if (empty()) {
    throw Error(ErrorCode::kInvalidArgument, "the maximum of no samples does not exist");
  }
  return sorted_.back();
}

}  // namespace throttletest
