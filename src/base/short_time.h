// ShortTime: a span of time for people who compare it with others of its kind.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <string>

#include "throttletest/base/duration.h"

namespace throttletest::internal {

// "5.2 ms" below a second, "3.01 s" from there on.
inline std::string ShortTime(std::chrono::nanoseconds time) {
  if (time < std::chrono::seconds(1)) return ToMilliseconds(time);
  return fmt::format("{:.2f} s", std::chrono::duration<double>(time).count());
}

}  // namespace throttletest::internal
