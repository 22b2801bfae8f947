#include "throttletest/measure/early.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace throttletest {
namespace {

std::string SizeText(double requests) {
  const double whole = std::round(requests);
  return std::abs(requests - whole) < 0.05 ? fmt::format("{:.0f}", whole)
                                           : fmt::format("about {:.1f}", requests);
}

}  // namespace

const EarlyVerdict* EarlyVerdicts::Decided(const std::string& budget) const {
  const auto found = std::find_if(budgets.begin(), budgets.end(), [&](const EarlyVerdict& v) {
    return v.budget == budget && v.verdict != Verdict::kInconclusive;
  });
  return found == budgets.end() ? nullptr : &*found;
}

std::string EarlyVerdicts::ToString() const {
  std::string text = fmt::format(
      "{} after {} of {} observations of {} request{} ({:.1f} s) at an error rate of {:.4g} % a "
      "budget",
      ended_early ? "ended" : "went on to the plan's end,", observations, planned_observations,
      SizeText(requests_per_observation), requests_per_observation == 1 ? "" : "s",
      std::chrono::duration<double>(duration).count(), error_rate * 100);
  for (const EarlyVerdict& verdict : budgets) {
    const bool open = verdict.verdict == Verdict::kInconclusive;
    text +=
        fmt::format("; {} {}", verdict.budget, open ? "not decided" : VerdictName(verdict.verdict));
    if (verdict.floor) text += fmt::format(" (can be met from {} on)", *verdict.floor);
  }
  // What it costs that requests of a batch mostly share its fate.
  if (requests_per_observation >= 1.5) {
    text += fmt::format(
        "; requests that share a batch count as one, at {} times the requests that independent "
        "ones would need",
        SizeText(requests_per_observation));
  }
  return text;
}

}  // namespace throttletest
