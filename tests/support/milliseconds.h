// Times in milliseconds, which most tests of the load engine reckon in.
#pragma once

#include <chrono>
#include <cstdint>

#include "throttletest/load/latency.h"

namespace throttletest::testing_support {

inline constexpr std::int64_t kMs = 1'000'000;  // in ns

inline Latency L(std::int64_t ms) { return Latency(std::chrono::milliseconds(ms)); }

}  // namespace throttletest::testing_support
