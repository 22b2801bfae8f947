// A measurement for people: one line, or a short table.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "throttletest/measure/budget.h"
#include "throttletest/measure/measurement.h"

namespace throttletest {

// "throttle ratio 0.28 (77 of 277 periods), P50 52.3 ms, P99 285.4 ms, 480 requests, 0.20 CPUs".
std::string Summary(const Measurement& m);

// Several lines: limits, load, latency, throttling, validity, notes.
std::string Details(const Measurement& m);

// Name and value pairs for GoogleTest's XML: "throttle_ratio" -> "0.28", "p99_ms" -> "285.4", ...
// What is not available has the value "n/a: reason".
std::vector<std::pair<std::string, std::string>> Properties(const Measurement& m);

}  // namespace throttletest
