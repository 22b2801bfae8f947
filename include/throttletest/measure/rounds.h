// Rounds: the figures of several settings, measured in turns, and tests of whether they differ.
//
//   Rounds rounds;
//   AddRound(rounds, "old", m1);  AddRound(rounds, "new", m2);  // ... A B A B
//   std::cout << TestDifference(rounds, "old", "new", RunFigure::kP99).value().text;
//
// Here is the arithmetic; CompareRounds() in compare.h runs a service under several limits.
#pragma once

#include <string>
#include <vector>

#include "throttletest/base/outcome.h"
#include "throttletest/cgroup/limits.h"
#include "throttletest/measure/budget.h"
#include "throttletest/measure/figures.h"
#include "throttletest/measure/measurement.h"

namespace throttletest {

// The rounds of one setting, in the order they were run.
struct SettingRounds {
  std::string name = {};
  ResolvedLimits limits = {};
  std::vector<RunFigures> rounds = {};
};

// Plain data: settings in the order in which they were first added.
struct Rounds {
  std::vector<SettingRounds> settings = {};
  // Why nothing may be concluded: an untrusted round. Empty: every round is trusted.
  std::string inconclusive = {};

  // Absent: nullptr, no setting has this name.
  const SettingRounds* Find(const std::string& name) const;
  // One line a setting: its limits and the range of each figure over its rounds.
  std::string ToString() const;
};

// Adds one round of `setting`; its figures are dropped and the rounds become inconclusive when the
// run is not trusted. Errors: none.
void AddRound(Rounds& rounds, const std::string& setting, const Measurement& m);

struct FigureRange {
  double least = 0;
  double most = 0;  // infinite when a percentile fell on a request without an answer
};
// Least and most over the rounds. Inconclusive: a round does not have the figure, or there is none.
Outcome<FigureRange> RangeOf(const SettingRounds& setting, RunFigure figure);

// A tested difference: is `to` lower or higher than `from`?
struct Difference {
  // "Mann-Whitney U test, exact, two-sided" on the figures of the rounds.
  std::string test = {};
  double u = 0;  // pairs of rounds in which `from` is above `to`
  double p = 1;
  // p is below alpha. False is no proof that they are equal, least of all with few rounds: `text`
  // says when that many rounds cannot give a p below alpha whatever they show.
  bool significant = false;
  // How far `to` is above `from` in the figure's unit: Hodges-Lehmann estimate and its interval.
  double shift = 0;
  double low = 0;
  double high = 0;
  double confidence = 0;  // of the interval, 0..1; 4 rounds each give 0.97, 3 give 0.90
  std::string text = {};  // all of it in a sentence or two
};
// Units: alpha 0..1, default 0.05. Inconclusive: an untrusted round, an unknown setting, or a round
// without the figure. Errors: none.
Outcome<Difference> TestDifference(const Rounds& rounds, const std::string& from,
                                   const std::string& to, RunFigure figure, double alpha = 0.05);

// What "no slower" means.
struct NoSlowerBound {
  RunFigure figure = RunFigure::kP99;
  // How much higher is still no slower, as a share. Units: >= 0, default 0.1, that is 10 %. For the
  // two ratios 0.01 is allowed in any case: a tenth of 0 would be 0.
  double tolerance = 0.10;
  // Units: 0..1 (both excluded), default 0.05.
  double alpha = 0.05;
};

// Is `name` no slower than `than`? The rounds of `name` are tested against those of `than` raised
// by the tolerance, with two one-sided Mann-Whitney tests. Met: they are lower with p < alpha.
// Missed: they are higher with p < alpha. Inconclusive: neither is shown, so that noise and too few
// rounds never pass. Two times 4 rounds are the fewest that can show anything at 5 % (3 and 3 give
// p = 0.05 at best). Errors: none; what cannot be judged is inconclusive with the reason.
BudgetResult JudgeNoSlower(const Rounds& rounds, const std::string& name, const std::string& than,
                           const NoSlowerBound& bound = {});

}  // namespace throttletest
