// Overlap: whether requests were sent one at a time.
#pragma once

#include <chrono>
#include <cstdint>

#include "throttletest/load/record.h"

namespace throttletest::internal {

struct Overlap {
  // Requests that were sent before an earlier one was over.
  std::int64_t overlapping = 0;
  std::int64_t sent = 0;
  // The longest of all requests. Absent: 0, none was sent.
  std::chrono::nanoseconds longest{0};
  bool any() const { return overlapping > 0; }
};

// Errors: none.
Overlap OverlapOf(const LoadResult& load);

}  // namespace throttletest::internal
