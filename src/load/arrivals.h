// The instants of the arrival patterns, by formula: nothing drifts and nothing depends on the
// machine.
#pragma once

#include <cstdint>
#include <vector>

#include "throttletest/load/schedule.h"

namespace throttletest::internal {

// All return the starts in ns, 0 <= start < duration_ns, in order. Errors: kInvalidArgument for
// more than `most` of them.

// Number i at i x per_ns / count, rounded to nearest. Units: both >= 1; duration_ns >= 0.
std::vector<std::int64_t> EvenArrivals(std::int64_t count, std::int64_t per_ns,
                                       std::int64_t duration_ns, std::int64_t most);

// A Poisson process: gaps are exponential with the mean 1 / rate. The same seed gives the same
// instants on every machine. Units: rate per second, > 0.
std::vector<std::int64_t> PoissonArrivals(double rate, std::uint64_t seed, std::int64_t duration_ns,
                                          std::int64_t most);

// The rate goes in a straight line from `from` to `to`: number i is at the time by which i arrivals
// are due, the integral of the rate. Units: per second, >= 0, not both 0.
std::vector<std::int64_t> RampArrivals(double from, double to, std::int64_t duration_ns,
                                       std::int64_t most);

// A batch of `size` requests at each of the starts.
std::vector<Schedule::Batch> BatchesAt(const std::vector<std::int64_t>& starts, int size);

}  // namespace throttletest::internal
