#include "load/arrivals.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <random>

#include "load/bounds.h"
#include "throttletest/base/duration.h"
#include "throttletest/base/error.h"

namespace throttletest::internal {
namespace {

// Products of two 63-bit numbers: a schedule of hours in nanoseconds times a rate does not fit 64.
using Wide = __int128;

constexpr double kNsPerSecond = 1e9;

[[noreturn]] void RefuseTooMany(std::int64_t duration_ns) {
  throw Error(
      ErrorCode::kInvalidArgument,
      fmt::format("{} of load have more than {} requests; shorten it or lower its rate",
                  throttletest::ToString(std::chrono::nanoseconds(duration_ns)), kMaxRequests));
}

}  // namespace

std::vector<std::int64_t> EvenArrivals(std::int64_t count, std::int64_t per_ns,
                                       std::int64_t duration_ns, std::int64_t most) {
  if (count < 1 || per_ns < 1) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("{} batches per {} ns is no rate: both must be at least 1", count, per_ns));
  }
  if (duration_ns < 0) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("duration {} ns is negative", duration_ns));
  }
  // The number of i >= 0 with i x per / count < duration.
  const Wide all = (static_cast<Wide>(duration_ns) * count + per_ns - 1) / per_ns;
  if (all > most) RefuseTooMany(duration_ns);
  std::vector<std::int64_t> starts(static_cast<std::size_t>(all));
  // floor((2 i per + count) / (2 count)), carried from one i to the next: a wide division for each
  // of millions takes seconds.
  const Wide divisor = 2 * static_cast<Wide>(count);
  const Wide step = 2 * static_cast<Wide>(per_ns);
  const auto whole = static_cast<std::int64_t>(step / divisor);
  const Wide rest = step % divisor;
  std::int64_t start = 0;
  Wide carried = count;
  for (std::int64_t& each : starts) {
    each = start;
    start += whole;
    carried += rest;
    if (carried >= divisor) {
      carried -= divisor;
      ++start;
    }
  }
  return starts;
}

std::vector<std::int64_t> PoissonArrivals(double rate, std::uint64_t seed, std::int64_t duration_ns,
                                          std::int64_t most) {
  std::mt19937_64 random(seed);
  std::vector<std::int64_t> starts;
  double at_ns = 0;
  for (;;) {
    // Not std::exponential_distribution: its numbers differ between standard libraries.
    const double uniform = static_cast<double>(random() >> 11) * 0x1p-53;  // 0 <= uniform < 1
    at_ns += -std::log1p(-uniform) / rate * kNsPerSecond;
    if (!(at_ns < static_cast<double>(duration_ns))) return starts;
    if (static_cast<std::int64_t>(starts.size()) >= most) RefuseTooMany(duration_ns);
    starts.push_back(static_cast<std::int64_t>(at_ns));
  }
}

std::vector<std::int64_t> RampArrivals(double from, double to, std::int64_t duration_ns,
                                       std::int64_t most) {
  const double seconds = static_cast<double>(duration_ns) / kNsPerSecond;
  const double slope = (to - from) / seconds;
  std::vector<std::int64_t> starts;
  for (std::int64_t i = 0;; ++i) {
    // The root of from x t + slope x t^2 / 2 = i, in the form without cancellation.
    const double due = static_cast<double>(i);
    const double square = from * from + 2 * slope * due;
    if (square < 0) return starts;  // more than a falling rate ever gives
    const double t = i == 0 ? 0 : 2 * due / (from + std::sqrt(square));
    const auto start = static_cast<std::int64_t>(std::llround(t * kNsPerSecond));
    if (!(t < seconds) || start >= duration_ns) return starts;
    if (i >= most) RefuseTooMany(duration_ns);
    starts.push_back(start);
  }
}

std::vector<Schedule::Batch> BatchesAt(const std::vector<std::int64_t>& starts, int size) {
  std::vector<Schedule::Batch> batches;
  batches.reserve(starts.size());
  for (const std::int64_t start : starts)
    batches.push_back({std::chrono::nanoseconds(start), size});
  return batches;
}

}  // namespace throttletest::internal
