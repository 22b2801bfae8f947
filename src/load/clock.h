// Clock: where the scheduling logic takes the time from, so that tests can turn it by hand.
#pragma once

#include <cstdint>
#include <limits>

namespace throttletest::internal {

// A point in time that never comes.
inline constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

// A monotonic clock. Units: ns from the run's epoch; negative before it.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual std::int64_t Now() const = 0;
};

}  // namespace throttletest::internal
