#include "throttletest/base/duration.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "base/number.h"
#include "base/text.h"
#include "throttletest/base/error.h"

namespace throttletest {
namespace {

struct Unit {
  const char* name;
  double nanoseconds;
};
// Longest names first, so that "ms" is not read as "s" with an "m" left over.
constexpr std::array<Unit, 5> kUnits = {
    {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}}};

// At most three decimals, without trailing zeros.
std::string Decimal(double value) {
  std::string text = fmt::format("{:.3f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

}  // namespace

std::chrono::nanoseconds ParseDuration(std::string_view text) {
  const std::string_view trimmed = internal::Trim(text);
  for (const Unit& unit : kUnits) {
    const std::string_view name = unit.name;
    if (!trimmed.ends_with(name)) continue;
    const auto number =
        internal::ParseDecimal(internal::Trim(trimmed.substr(0, trimmed.size() - name.size())));
    if (!number) break;
    const double ns = *number * unit.nanoseconds;
    if (ns < 0 || ns > 9e18) {
      throw Error(
          ErrorCode::kInvalidArgument,
          fmt::format("duration \"{}\" is out of range: it must be from 0 to 292 years", text));
    }
    return std::chrono::nanoseconds(std::llround(ns));
  }
  if (internal::ParseDecimal(trimmed)) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("duration \"{}\" has no unit: write {}ms or {}s", text, trimmed, trimmed));
  }
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("\"{}\" is not a duration: write a number with ns, us, ms, s or m, "
                          "such as 150ms",
                          text));
}

std::string ToString(std::chrono::nanoseconds duration) {
  const double ns = static_cast<double>(duration.count());
  const double magnitude = std::abs(ns);
  if (magnitude >= 1e9) return Decimal(ns / 1e9) + " s";
  if (magnitude >= 1e6) return Decimal(ns / 1e6) + " ms";
  if (magnitude >= 1e3) return Decimal(ns / 1e3) + " us";
  return Decimal(ns) + (duration.count() == 0 ? " s" : " ns");
}

std::string ToMilliseconds(std::chrono::nanoseconds duration) {
  return fmt::format("{:.1f} ms", static_cast<double>(duration.count()) / 1e6);
}

}  // namespace throttletest
