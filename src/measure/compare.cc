#include "throttletest/measure/compare.h"

#include <fmt/format.h>

#include <set>

#include "base/refuse.h"
#include "throttletest/base/error.h"
#include "throttletest/cgroup/cpu_set.h"

namespace throttletest {
namespace {

constexpr int kMostRounds = 30;

void RequireSettings(const std::vector<LimitSetting>& settings) {
  if (settings.size() < 2) {
    internal::Refuse(fmt::format("{} setting{} cannot be compared: it takes two or more",
                                 settings.size(), settings.size() == 1 ? "" : "s"));
  }
  std::set<std::string> names;
  for (const LimitSetting& setting : settings) {
    if (setting.name.empty()) internal::Refuse("a setting to compare has no name");
    if (!names.insert(setting.name).second) {
      internal::Refuse(fmt::format("two settings to compare are named \"{}\"", setting.name));
    }
    // The last one's mistake would otherwise show only after the first was measured.
    ResolveLimits(setting.limits, OnlineCpus());
  }
}

void RequireOptions(const CompareOptions& options) {
  if (options.rounds < 1 || options.rounds > kMostRounds) {
    internal::Refuse(
        fmt::format("{} rounds are not possible: it must be 1 to {}", options.rounds, kMostRounds));
  }
  Validate(options.measure);
  if (options.measure.until_decided) {
    internal::Refuse("rounds cannot be ended once decided: only whole ones compare");
  }
}

// Stops at the first round that cannot be trusted.
Rounds RunRounds(Service& service, const std::vector<LimitSetting>& settings,
                 const Traffic& traffic, const CompareOptions& options) {
  Rounds rounds;
  for (int round = 1; round <= options.rounds; ++round) {
    for (const LimitSetting& setting : settings) {
      service.Update(setting.limits);
      const Measurement m = MeasureService(service, traffic, options.measure);
      if (options.on_round) options.on_round(setting.name, round, m);
      AddRound(rounds, setting.name, m);
      if (!rounds.inconclusive.empty()) return rounds;
    }
  }
  return rounds;
}

}  // namespace

Rounds CompareRounds(Service& service, const std::vector<LimitSetting>& settings,
                     const Traffic& traffic, const CompareOptions& options) {
  RequireSettings(settings);
  RequireOptions(options);
  const Limits before = service.spec().limits;
  Rounds rounds;
  try {
    rounds = RunRounds(service, settings, traffic, options);
  } catch (...) {
    try {
      if (service.alive()) service.Update(before);
    } catch (const Error&) {
      // The first failure is the one to tell.
    }
    throw;
  }
  if (service.alive()) service.Update(before);
  return rounds;
}

Rounds CompareRounds(Service& service, const std::vector<LimitSetting>& settings,
                     const LoadPlan& plan, const Request& request, const CompareOptions& options) {
  return CompareRounds(service, settings, Traffic(plan, request), options);
}

}  // namespace throttletest
