#include "measure/run_range.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace throttletest::internal {
namespace {

constexpr double kRatioFloor = 0.01;

bool IsRatio(RunFigure figure) {
  return figure == RunFigure::kThrottleRatio || figure == RunFigure::kErrorRatio;
}

}  // namespace

std::string RangeText(RunFigure figure, std::span<const double> values) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  std::string low = RunFigureText(figure, *least);
  const std::string high = RunFigureText(figure, *most);
  if (low == high) return low;
  // One unit is enough: "41.0-45.2 ms".
  const std::size_t blank = low.find(' ');
  if (blank == std::string::npos || std::isinf(*most)) return low + " to " + high;
  return low.substr(0, blank) + "-" + high;
}

double Allowance(RunFigure figure, double value, double tolerance) {
  if (std::isinf(value)) return 0;
  return std::max(IsRatio(figure) ? kRatioFloor : 0, value * tolerance);
}

}  // namespace throttletest::internal
