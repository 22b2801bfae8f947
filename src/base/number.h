// Strict reading of numbers: the whole text or nothing, no locale, no leading blanks or '+'.
#pragma once

#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

namespace throttletest::internal {

// A decimal integer that fits T. Absent: anything else, including trailing characters.
template <typename T>
std::optional<T> ParseInteger(std::string_view text) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [ptr, ec] = std::from_chars(text.data(), end, value);
  if (ec != std::errc{} || ptr != end) return std::nullopt;
  return value;
}

// A finite decimal number such as "0.05". Absent: anything else, including "nan", "inf" and "0x1".
inline std::optional<double> ParseDecimal(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [ptr, ec] = std::from_chars(text.data(), end, value, std::chars_format::fixed);
  if (ec != std::errc{} || ptr != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

}  // namespace throttletest::internal
