// The largest loads that are taken.
#pragma once

#include <cstdint>

namespace throttletest::internal {

// Requests of one schedule. Records of them take some 50 bytes each.
inline constexpr std::int64_t kMaxRequests = 20'000'000;
// Requests under way at once: local ports to one address end soon after.
inline constexpr int kMaxInFlight = 60'000;

}  // namespace throttletest::internal
