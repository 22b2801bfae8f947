#include "throttletest/measure/early.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "throttletest/base/duration.h"

namespace throttletest {
namespace {

std::string SizeText(double requests) {
  const double whole = std::round(requests);
  return std::abs(requests - whole) < 0.05 ? fmt::format("{:.0f}", whole)
                                           : fmt::format("about {:.1f}", requests);
}

// What counting a batch as one observation costs: requests of a batch mostly share its fate, and if
// they did not, each could count.
std::string FloorText(const EarlyVerdict& verdict, double requests) {
  const std::int64_t floor = *verdict.floor;
  std::string text =
      fmt::format("{} can be met after {} observations at the soonest", verdict.budget, floor);
  if (requests < 1.5) return text;
  return text + fmt::format(" = {:.0f} requests ({} if the requests of one were independent)",
                            static_cast<double>(floor) * requests, floor);
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
      "{} after {} of {} observations of {} request{} ({}) at an error rate of {:.4g} % a budget",
      ended_early ? "decided" : "went on to the plan's end, ", observations, planned_observations,
      SizeText(requests_per_observation), requests_per_observation == 1 ? "" : "s",
      ToMilliseconds(duration), error_rate * 100);
  for (const EarlyVerdict& verdict : budgets) {
    if (verdict.verdict == Verdict::kInconclusive) {
      text += fmt::format("; {} not decided", verdict.budget);
    }
    if (verdict.floor) text += "; " + FloorText(verdict, requests_per_observation);
  }
  return text;
}

}  // namespace throttletest
