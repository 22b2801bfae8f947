#include "throttletest/measure/rounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text.h"
#include "measure/limit_changes.h"
#include "measure/rank_test.h"
#include "measure/run_range.h"

namespace throttletest {
namespace {

using internal::Alternative;

constexpr double kIntervalConfidence = 0.95;

SettingRounds& FindOrAdd(Rounds& rounds, const std::string& name) {
  const auto found = std::find_if(rounds.settings.begin(), rounds.settings.end(),
                                  [&](const SettingRounds& s) { return s.name == name; });
  if (found != rounds.settings.end()) return *found;
  rounds.settings.push_back({.name = name});
  return rounds.settings.back();
}

std::string KnownNames(const Rounds& rounds) {
  std::string names;
  for (const SettingRounds& setting : rounds.settings) {
    internal::AppendItem(names, fmt::format("\"{}\"", setting.name), ", ");
  }
  return names.empty() ? "none" : names;
}

// One figure of every round. Inconclusive: a round does not have it.
Outcome<std::vector<double>> ValuesOf(const SettingRounds& setting, RunFigure figure) {
  using Result = Outcome<std::vector<double>>;
  if (setting.rounds.empty()) {
    return Result::Inconclusive(fmt::format("\"{}\" has no round", setting.name));
  }
  std::vector<double> values;
  for (const RunFigures& round : setting.rounds) {
    const Outcome<double>& value = round.at(figure);
    if (!value.has_value()) {
      return Result::Inconclusive(fmt::format("round {} of \"{}\" has no {}: {}", values.size() + 1,
                                              setting.name, RunFigureSubject(figure),
                                              value.reason()));
    }
    values.push_back(value.value());
  }
  return Result::Value(std::move(values));
}

// The two samples of a test.
struct Pair {
  const SettingRounds* first = nullptr;
  const SettingRounds* second = nullptr;
  std::vector<double> first_values = {};
  std::vector<double> second_values = {};
};

Outcome<Pair> PairOf(const Rounds& rounds, const std::string& first, const std::string& second,
                     RunFigure figure) {
  using Result = Outcome<Pair>;
  if (!rounds.inconclusive.empty()) return Result::Inconclusive(rounds.inconclusive);
  Pair pair{.first = rounds.Find(first), .second = rounds.Find(second)};
  if (pair.first == nullptr || pair.second == nullptr) {
    return Result::Inconclusive(fmt::format("there is no setting \"{}\", only {}",
                                            pair.first == nullptr ? first : second,
                                            KnownNames(rounds)));
  }
  const auto first_values = ValuesOf(*pair.first, figure);
  if (!first_values.has_value()) return first_values.As<Pair>();
  const auto second_values = ValuesOf(*pair.second, figure);
  if (!second_values.has_value()) return second_values.As<Pair>();
  pair.first_values = first_values.value();
  pair.second_values = second_values.value();
  return Result::Value(std::move(pair));
}

std::string RoundsCount(std::size_t n) { return fmt::format("{} round{}", n, n == 1 ? "" : "s"); }

// "P99 41.0-45.2 ms (4 rounds)".
std::string Described(const std::string& name, const std::vector<double>& values,
                      RunFigure figure) {
  return fmt::format("\"{}\" {} ({})", name, internal::RangeText(figure, values),
                     RoundsCount(values.size()));
}

std::string ShiftText(RunFigure figure, double value) {
  if (std::isinf(value)) return value > 0 ? "without an end" : "without a beginning";
  return fmt::format("{}{}", value >= 0 ? "+" : "", RunFigureText(figure, value));
}

std::string IntervalText(RunFigure figure, const internal::ShiftEstimate& shift) {
  return fmt::format("shift {} (Hodges-Lehmann, {:.0f} % interval {} to {})",
                     ShiftText(figure, shift.estimate), 100 * shift.confidence,
                     ShiftText(figure, shift.low), ShiftText(figure, shift.high));
}

// How many rounds of each setting a test needs at least.
std::size_t RoundsNeeded(Alternative alternative, double alpha) {
  constexpr std::size_t kMost = internal::kExactValues / 2;
  std::size_t rounds = 1;
  while (rounds < kMost && internal::SmallestP(rounds, rounds, alternative) >= alpha) ++rounds;
  return rounds;
}

// Why samples this small show nothing, whatever they hold. Empty: they can.
std::string TooFew(const Pair& pair, Alternative alternative, double alpha) {
  const double smallest =
      internal::SmallestP(pair.first_values.size(), pair.second_values.size(), alternative);
  if (smallest < alpha) return "";
  return fmt::format(
      "{} against {} cannot reach p < {}: the smallest {} p is {:.2g}, and it takes {} of each",
      RoundsCount(pair.first_values.size()), pair.second_values.size(), alpha,
      alternative == Alternative::kTwoSided ? "two-sided" : "one-sided", smallest,
      RoundsCount(RoundsNeeded(alternative, alpha)));
}

std::string TestName(const internal::RankTestResult& result, const char* sides) {
  return fmt::format("Mann-Whitney U test, {}, {}", result.exact ? "exact" : "normal approximation",
                     sides);
}

std::string LimitsDiffer(const SettingRounds& from, const SettingRounds& to) {
  const std::string changes = internal::LimitChanges(internal::LimitTextsOf(from.limits),
                                                     internal::LimitTextsOf(to.limits));
  if (changes.empty()) return "Their limits are the same.";
  return fmt::format("Limits from \"{}\" to \"{}\": {}.", from.name, to.name, changes);
}

std::string DifferenceText(const Pair& pair, RunFigure figure, const Difference& d, double alpha,
                           const internal::ShiftEstimate& shift) {
  const std::string few = TooFew(pair, Alternative::kTwoSided, alpha);
  std::string found = "no difference is shown";
  if (d.significant) found = "they differ";
  if (!few.empty()) found = "no difference can be shown";
  return fmt::format("{} of {} and of {}: {} ({}, p = {:.2g}), {}.{} {}", RunFigureSubject(figure),
                     Described(pair.first->name, pair.first_values, figure),
                     Described(pair.second->name, pair.second_values, figure), found, d.test, d.p,
                     IntervalText(figure, shift), few.empty() ? "" : " " + few + ".",
                     LimitsDiffer(*pair.first, *pair.second));
}

// What both one-sided tests say about "no slower".
struct NoSlowerTests {
  internal::RankTestResult lower;
  internal::RankTestResult higher;
};

NoSlowerTests RunNoSlowerTests(const Pair& pair, const NoSlowerBound& bound) {
  std::vector<double> allowed;
  for (const double value : pair.second_values) {
    allowed.push_back(value + internal::Allowance(bound.figure, value, bound.tolerance));
  }
  return {internal::MannWhitney(pair.first_values, allowed, Alternative::kLess),
          internal::MannWhitney(pair.first_values, allowed, Alternative::kGreater)};
}

std::string NoSlowerText(const Pair& pair, const NoSlowerBound& bound, Verdict verdict,
                         const NoSlowerTests& tests) {
  const double percent = 100 * bound.tolerance;
  std::string claim = fmt::format("is no more than {:.3g} % above", percent);
  if (verdict == Verdict::kMissed) claim = fmt::format("is more than {:.3g} % above", percent);
  if (verdict == Verdict::kInconclusive) {
    claim = fmt::format("is shown neither to be within {:.3g} % of nor above that of", percent);
  }
  const auto& test = verdict == Verdict::kMissed ? tests.higher : tests.lower;
  std::string p_text = fmt::format("p = {:.2g}", test.p);
  if (verdict == Verdict::kInconclusive) {
    p_text = fmt::format("p = {:.2g} for within, {:.2g} for above", tests.lower.p, tests.higher.p);
  }
  const auto shift =
      internal::HodgesLehmann(pair.second_values, pair.first_values, kIntervalConfidence);
  return fmt::format("{} of {} {} {} ({}, {}), {}. {}", RunFigureSubject(bound.figure),
                     Described(pair.first->name, pair.first_values, bound.figure), claim,
                     Described(pair.second->name, pair.second_values, bound.figure),
                     TestName(test, "one-sided"), p_text, IntervalText(bound.figure, shift),
                     LimitsDiffer(*pair.second, *pair.first));
}

// What is wrong with the bound itself. Empty: nothing.
std::string BadBound(const NoSlowerBound& bound) {
  if (!(bound.tolerance >= 0) || std::isinf(bound.tolerance)) {
    return fmt::format("a tolerance of {} is not possible: it must be 0 or more, 0.1 for 10 %",
                       bound.tolerance);
  }
  if (!(bound.alpha > 0 && bound.alpha < 1)) {
    return fmt::format("an alpha of {} is not possible: it must be between 0 and 1", bound.alpha);
  }
  return "";
}

}  // namespace

const SettingRounds* Rounds::Find(const std::string& name) const {
  const auto found = std::find_if(settings.begin(), settings.end(),
                                  [&](const SettingRounds& s) { return s.name == name; });
  return found == settings.end() ? nullptr : &*found;
}

std::string Rounds::ToString() const {
  std::string text;
  for (const SettingRounds& setting : settings) {
    text += fmt::format("\"{}\" ({}), {}:", setting.name,
                        internal::LimitsText(internal::LimitTextsOf(setting.limits)),
                        RoundsCount(setting.rounds.size()));
    const char* separator = " ";
    for (const RunFigure figure : kRunFigures) {
      const auto values = ValuesOf(setting, figure);
      if (!values.has_value()) continue;
      text += fmt::format("{}{} {}", separator, RunFigureSubject(figure),
                          internal::RangeText(figure, values.value()));
      separator = ", ";
    }
    text += "\n";
  }
  if (!inconclusive.empty()) text += "INCONCLUSIVE: " + inconclusive + "\n";
  return text;
}

void AddRound(Rounds& rounds, const std::string& setting, const Measurement& m) {
  SettingRounds& of = FindOrAdd(rounds, setting);
  if (!m.validity.trusted()) {
    if (rounds.inconclusive.empty()) {
      rounds.inconclusive = fmt::format("round {} of \"{}\" cannot be trusted: {}",
                                        of.rounds.size() + 1, setting, m.validity.ToString());
    }
    return;
  }
  of.limits = m.requested;
  of.rounds.push_back(FiguresOf(m));
}

Outcome<FigureRange> RangeOf(const SettingRounds& setting, RunFigure figure) {
  const auto values = ValuesOf(setting, figure);
  if (!values.has_value()) return values.As<FigureRange>();
  const auto [least, most] = std::minmax_element(values.value().begin(), values.value().end());
  return Outcome<FigureRange>::Value({*least, *most});
}

Outcome<Difference> TestDifference(const Rounds& rounds, const std::string& from,
                                   const std::string& to, RunFigure figure, double alpha) {
  const Outcome<Pair> outcome = PairOf(rounds, from, to, figure);
  if (!outcome.has_value()) return outcome.As<Difference>();
  const Pair& pair = outcome.value();
  const auto result =
      internal::MannWhitney(pair.first_values, pair.second_values, Alternative::kTwoSided);
  const auto shift =
      internal::HodgesLehmann(pair.first_values, pair.second_values, kIntervalConfidence);
  Difference d{.test = TestName(result, "two-sided"),
               .u = result.u,
               .p = result.p,
               .significant = result.p < alpha,
               .shift = shift.estimate,
               .low = shift.low,
               .high = shift.high,
               .confidence = shift.confidence};
  d.text = DifferenceText(pair, figure, d, alpha, shift);
  return Outcome<Difference>::Value(std::move(d));
}

BudgetResult JudgeNoSlower(const Rounds& rounds, const std::string& name, const std::string& than,
                           const NoSlowerBound& bound) {
  BudgetResult result;
  result.budget = fmt::format("{} of \"{}\" no slower than \"{}\" + {:.3g} %",
                              RunFigureName(bound.figure), name, than, 100 * bound.tolerance);
  result.explanation = BadBound(bound);
  if (!result.explanation.empty()) return result;
  const Outcome<Pair> outcome = PairOf(rounds, name, than, bound.figure);
  if (!outcome.has_value()) {
    result.explanation = outcome.reason();
    return result;
  }
  const Pair& pair = outcome.value();
  const NoSlowerTests tests = RunNoSlowerTests(pair, bound);
  if (tests.lower.p < bound.alpha) result.verdict = Verdict::kMet;
  if (tests.higher.p < bound.alpha) result.verdict = Verdict::kMissed;
  result.explanation = NoSlowerText(pair, bound, result.verdict, tests);
  if (result.verdict == Verdict::kInconclusive) {
    const std::string few = TooFew(pair, Alternative::kLess, bound.alpha);
    result.explanation +=
        few.empty() ? " More rounds, longer ones or a larger tolerance may tell." : " " + few + ".";
  }
  return result;
}

}  // namespace throttletest
