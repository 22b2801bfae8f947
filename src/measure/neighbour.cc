#include "throttletest/measure/neighbour.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/refuse.h"
#include "service/host_turn.h"

namespace throttletest {
namespace {

constexpr int kMostRounds = 30;

void RequireOptions(const Traffic& probe, const NeighbourOptions& options) {
  if (options.rounds < 1 || options.rounds > kMostRounds) {
    internal::Refuse(
        fmt::format("{} rounds are not possible: it must be 1 to {}", options.rounds, kMostRounds));
  }
  Validate(probe, options.measure);
  if (options.measure.until_decided) {
    internal::Refuse("rounds cannot be ended once decided: only whole ones compare");
  }
}

// One comparison under way.
class Turns {
 public:
  Turns(Service& probed, const Traffic& probe, const NeighbourOptions& options)
      : probed_(probed), probe_(probe), options_(options) {}

  void Round(const char* when, int round) {
    const Measurement m = MeasureService(probed_, probe_, options_.measure);
    if (options_.on_round) options_.on_round(when, round, m);
    AddRound(result.rounds, when, m);
  }

  void RoundBeside(Service& neighbour, const Traffic& load, int round) {
    BackgroundLoad background(neighbour, load, options_.background);
    Round(kDuringNeighbour, round);
    result.loads.push_back(background.Stop());
    const BackgroundUse& use = result.loads.back();
    if (use.trouble.empty() || !trusted()) return;
    result.rounds.inconclusive =
        fmt::format("round {} of \"{}\" was beside a neighbour \"{}\" that cannot be relied on: {}",
                    round, kDuringNeighbour, use.service, use.trouble);
  }

  bool trusted() const { return result.rounds.inconclusive.empty(); }

  NeighbourComparison result;

 private:
  Service& probed_;
  const Traffic& probe_;
  const NeighbourOptions& options_;
};

// "The neighbour "heavy" used 0.97 to 0.98 of 1 CPUs, 48 of 48 requests answered."
std::string NeighbourText(const std::vector<BackgroundUse>& loads) {
  if (loads.empty()) return "";
  std::int64_t ok = 0;
  std::int64_t sent = 0;
  std::vector<double> cpus;
  for (const BackgroundUse& use : loads) {
    ok += use.ok;
    sent += use.sent;
    if (use.cgroup.usage_cores.has_value()) cpus.push_back(use.cgroup.usage_cores.value());
  }
  std::string used = "CPU time that is not known";
  if (!cpus.empty()) {
    const auto [least, most] = std::minmax_element(cpus.begin(), cpus.end());
    used = fmt::format("{:.2f}..{:.2f} of {:.4g} CPUs", *least, *most,
                       loads.front().cgroup.effective.cpus);
  }
  return fmt::format(" Meanwhile its neighbour \"{}\" used {}, {} of {} requests answered.",
                     loads.front().service, used, ok, sent);
}

}  // namespace

NeighbourComparison CompareNeighbour(Service& probed, const Traffic& probe, Service& neighbour,
                                     const Traffic& load, const NeighbourOptions& options) {
  if (&probed == &neighbour) {
    internal::Refuse("a service cannot be its own neighbour: start two of them");
  }
  RequireOptions(probe, options);
  load.measured();  // what is wrong with it shows before anything is measured
  const internal::HostTurn turn(options.measure.stop);
  Turns turns(probed, probe, options);
  for (int round = 1; round <= options.rounds; ++round) {
    turns.Round(kBeforeNeighbour, round);
    if (!turns.trusted()) break;
    turns.RoundBeside(neighbour, load, round);
    if (!turns.trusted()) break;
  }
  return std::move(turns.result);
}

BudgetResult JudgeNeighbour(const NeighbourComparison& comparison, const NoSlowerBound& bound) {
  BudgetResult result = JudgeNoSlower(comparison.rounds, kDuringNeighbour, kBeforeNeighbour, bound);
  result.explanation += NeighbourText(comparison.loads);
  return result;
}

}  // namespace throttletest
