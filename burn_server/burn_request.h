// The parameters of /burn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace burn_server {

// Query parameters in the order they came, decoded.
using QueryParameters = std::vector<std::pair<std::string, std::string>>;

// Work and memory one request asks for.
//
// Units: ms is milliseconds of CPU time when nothing else runs, 0..600000, fractions allowed;
//        mb is MiB held while working, 0..65536, whole numbers.
struct BurnRequest {
  double ms = 0;
  std::size_t mb = 0;

  // Rounded to the nearest whole iteration.
  std::uint64_t Iterations(std::uint64_t iterations_per_ms) const;
  bool operator==(const BurnRequest&) const = default;
};

inline constexpr double kMaxMs = 600000;
inline constexpr std::size_t kMaxMb = 65536;

// Why a request was refused, for a 400: quotes the parameter and says the range.
struct BadRequest {
  std::string reason;
};

// Reads "ms" (required) and "mb" (default 0). Refuses values out of range, unknown names and names
// given twice: a typo must not silently measure something else.
std::variant<BurnRequest, BadRequest> ParseBurnRequest(const QueryParameters& parameters);

}  // namespace burn_server
