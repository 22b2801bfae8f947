#include "throttletest/base/byte_size.h"

#include <fmt/format.h>

#include <array>

#include "base/number.h"
#include "base/text.h"
#include "throttletest/base/error.h"

namespace throttletest {
namespace {

struct Unit {
  const char* suffix;
  int shift;
};
constexpr std::array<Unit, 11> kUnits = {{{"kib", 10},
                                          {"mib", 20},
                                          {"gib", 30},
                                          {"kb", 10},
                                          {"mb", 20},
                                          {"gb", 30},
                                          {"k", 10},
                                          {"m", 20},
                                          {"g", 30},
                                          {"b", 0},
                                          {"", 0}}};

}  // namespace

ByteSize ParseByteSize(std::string_view text) {
  const std::string lower = internal::Lower(internal::Trim(text));
  if (lower == "-1" || lower == "unlimited") return ByteSize::Unlimited();
  for (const Unit& unit : kUnits) {
    if (!lower.ends_with(unit.suffix)) continue;
    const std::string_view digits = internal::Trim(
        std::string_view(lower).substr(0, lower.size() - std::string_view(unit.suffix).size()));
    const auto number = internal::ParseDecimal(digits);
    if (!number || *number < 0) break;
    const double bytes = *number * static_cast<double>(std::int64_t{1} << unit.shift);
    if (bytes > 9e18) break;
    return ByteSize(static_cast<std::int64_t>(bytes));
  }
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("\"{}\" is not a memory size: write bytes or a number with k, m or g, "
                          "such as 64m, or -1 for unlimited",
                          text));
}

std::string ToString(ByteSize size) {
  if (size.unlimited()) return "unlimited";
  constexpr std::array<Unit, 3> kShown = {{{"GiB", 30}, {"MiB", 20}, {"KiB", 10}}};
  for (const Unit& unit : kShown) {
    const std::int64_t scale = std::int64_t{1} << unit.shift;
    if (size.bytes() < scale) continue;
    if (size.bytes() % scale == 0) return fmt::format("{} {}", size.bytes() / scale, unit.suffix);
    return fmt::format("{:.1f} {}", static_cast<double>(size.bytes()) / static_cast<double>(scale),
                       unit.suffix);
  }
  return fmt::format("{} bytes", size.bytes());
}

}  // namespace throttletest
