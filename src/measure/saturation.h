// Saturation: how much of the limit one request uses while it alone is worked on.
#pragma once

#include <cstdint>

#include "throttletest/base/outcome.h"
#include "throttletest/measure/measurement.h"

namespace throttletest::internal {

struct Saturation {
  double used_cpus = 0;   // mean over `periods`
  double limit_cpus = 0;  // > 0
  std::int64_t periods = 0;
  std::int64_t requests = 0;  // that had a whole period
  // Share of the limit that was left. Units: 0..1.
  double unused() const;
};

// CPU time in whole enforcement periods within the requests, without the first period of each:
// there the quota was full, whatever the request needs. Without a quota (a cpuset) a period is 100
// ms. Not available: no limit below the machine's CPUs is in force, no CPU accounting.
// Inconclusive: the run is not trusted, requests overlapped, fewer than kFewestPeriods. Errors:
// none.
Outcome<Saturation> SaturationOf(const Measurement& m);

// One period more or less of a request's end would be seen as a tenth.
inline constexpr std::int64_t kFewestPeriods = 10;

}  // namespace throttletest::internal
