// Slowness: which requests a latency budget calls slow, and what besides a quota made them so.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "measure/diagnosis.h"
#include "throttletest/measure/measurement.h"

namespace throttletest::internal {

// A request's stretch of time. Absent (failures may lack either): sent when intended, no end
// (time_point::max()).
struct Span {
  std::chrono::steady_clock::time_point begin;
  std::chrono::steady_clock::time_point end;
};

struct SlowRequest {
  Span span;
  std::uint32_t batch = 0;
};

// The requests over the bound and the failed ones, in the order of the plan.
std::vector<SlowRequest> FindSlow(const Measurement& m, const MissedBudget& missed);

// How many of them were under way while the service was held back.
std::int64_t CountHeld(const std::vector<SlowRequest>& slow,
                       const std::vector<ThrottledWindow>& windows);

// The CPU that the work needs against the time it took: does the service compute, does it wait, or
// (with a busy host) can that not be told? Absent: empty, nothing is known.
std::string ServiceText(const Measurement& m, const std::vector<SlowRequest>& slow);

// What else the machine's CPUs did, when that is enough to make a service slow. Absent: empty.
std::string HostText(const Measurement& m);

}  // namespace throttletest::internal
