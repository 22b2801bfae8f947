// Figures of several runs side by side: their range as text, and how much more is still no
// difference.
#pragma once

#include <span>
#include <string>

#include "throttletest/measure/figures.h"

namespace throttletest::internal {

// "41.0-45.2 ms", or "30.0 ms" when all print alike. Needs at least one value.
std::string RangeText(RunFigure figure, std::span<const double> values);

// How far above `value` is no difference that matters: a share of it, but for ratios at least 0.01
// (a share of 0 would be 0). Units: the figure's.
double Allowance(RunFigure figure, double value, double tolerance);

}  // namespace throttletest::internal
