#include "burn_request.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "base/number.h"

namespace burn_server {
namespace {

using throttletest::internal::ParseDecimal;
using throttletest::internal::ParseInteger;

std::optional<double> ReadMs(const std::string& text) {
  const auto value = ParseDecimal(text);
  if (!value || std::signbit(*value) || *value > kMaxMs) return std::nullopt;
  return value;
}

std::optional<std::size_t> ReadMb(const std::string& text) {
  const auto value = ParseInteger<std::size_t>(text);
  if (!value || *value > kMaxMb) return std::nullopt;
  return value;
}

}  // namespace

std::uint64_t BurnRequest::Iterations(std::uint64_t iterations_per_ms) const {
  return static_cast<std::uint64_t>(std::llround(ms * static_cast<double>(iterations_per_ms)));
}

std::variant<BurnRequest, BadRequest> ParseBurnRequest(const QueryParameters& parameters) {
  std::optional<double> ms;
  std::optional<std::size_t> mb;
  for (const auto& [name, text] : parameters) {
    if ((name == "ms" && ms) || (name == "mb" && mb)) {
      return BadRequest{fmt::format("parameter \"{}\" is given twice", name)};
    }
    if (name == "ms") {
      ms = ReadMs(text);
      if (!ms) {
        return BadRequest{fmt::format("ms=\"{}\" is not a decimal number of milliseconds in 0..{}",
                                      text, kMaxMs)};
      }
    } else if (name == "mb") {
      mb = ReadMb(text);
      if (!mb) {
        return BadRequest{
            fmt::format("mb=\"{}\" is not a whole number of MiB in 0..{}", text, kMaxMb)};
      }
    } else {
      return BadRequest{
          fmt::format("unknown parameter \"{}\"; /burn takes ms (required) and mb", name)};
    }
  }
  if (!ms) return BadRequest{"parameter \"ms\" is missing, e.g. /burn?ms=20"};
  return BurnRequest{*ms, mb.value_or(0)};
}

}  // namespace burn_server
