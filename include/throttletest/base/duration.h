// Durations as people write them: "20s", "150ms", "2.5ms", "100us". A number without a unit is
// refused, because the kernel's files take microseconds and people mean milliseconds.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace throttletest {

// Reads a decimal number with a unit ns, us, ms, s or m (minute), e.g. "1.5s".
// Units:  the result is in nanoseconds; negative numbers are refused.
// Errors: kInvalidArgument quoting the text and, when the unit is missing, saying so.
std::chrono::nanoseconds ParseDuration(std::string_view text);

// The shortest exact-looking form with an ASCII unit and at most three decimals: "150 ms", "2.5 s",
// "85 us".
std::string ToString(std::chrono::nanoseconds duration);

// Always in milliseconds with one decimal ("285.4 ms"): latencies side by side need one unit.
std::string ToMilliseconds(std::chrono::nanoseconds duration);

}  // namespace throttletest
