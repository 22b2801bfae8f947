#include "throttletest/measure/baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/refuse.h"
#include "base/text.h"
#include "measure/limit_changes.h"
#include "measure/run_range.h"

namespace throttletest {
namespace {

using TextMap = std::map<std::string, std::string>;

std::string OrUnknown(const std::string& text) { return text.empty() ? "unknown" : text; }

TextMap EnvironmentOf(const Measurement& m) {
  const Environment& env = m.environment;
  return {{"kernel", OrUnknown(env.kernel)},
          {"cpu_model", OrUnknown(env.cpu_model)},
          {"online_cpus", env.online_cpus == 0 ? "unknown" : fmt::format("{}", env.online_cpus)},
          {"cgroup_mode", OrUnknown(env.cgroup_mode)},
          {"launcher", OrUnknown(m.launcher)}};
}

// What makes two runs incomparable: "kernel \"6.1\" -> \"6.5\"". Empty: nothing.
std::vector<std::string> Incomparable(const BaselineRuns& stored, const Measurement& m) {
  std::vector<std::string> differences;
  const auto compare = [&](const std::string& field, const std::string& before,
                           const std::string& now) {
    if (before != now) {
      differences.push_back(fmt::format("{} \"{}\" -> \"{}\"", field, before, now));
    }
  };
  for (const auto& [field, now] : EnvironmentOf(m)) {
    const auto before = stored.environment.find(field);
    compare(field, before == stored.environment.end() ? "unknown" : before->second, now);
  }
  compare("plan", stored.plan, m.plan);
  compare("request", stored.request, m.request);
  return differences;
}

// The group with the fewest differences. Absent: nullptr, there is no group.
const BaselineRuns* Nearest(const std::vector<BaselineRuns>& groups, const Measurement& m) {
  const auto nearest = std::min_element(
      groups.begin(), groups.end(), [&](const BaselineRuns& a, const BaselineRuns& b) {
        return Incomparable(a, m).size() < Incomparable(b, m).size();
      });
  return nearest == groups.end() ? nullptr : &*nearest;
}

// 99 % quantiles of Student's t distribution for 1 .. kMostBaselineRuns - 1 degrees of freedom.
constexpr std::array<double, kMostBaselineRuns - 1> kStudent99 = {
    31.821, 6.965, 4.541, 3.747, 3.365, 3.143, 2.998, 2.896, 2.821};

// The stored values of one figure, and how high the next one may be.
struct Expected {
  std::vector<double> values = {};
  double mean = 0;
  double deviation = 0;  // standard deviation of the sample
  double most = 0;
};

std::vector<double> StoredValues(const BaselineRuns& stored, RunFigure figure) {
  std::vector<double> values;
  for (const BaselineRun& run : stored.runs) {
    if (run.figures.at(figure).has_value()) values.push_back(run.figures.at(figure).value());
  }
  return values;
}

// Needs two values or more.
Expected Expect(RunFigure figure, std::vector<double> values, double tolerance) {
  const auto n = static_cast<double>(values.size());
  Expected e;
  e.mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  const double squares = std::accumulate(
      values.begin(), values.end(), 0.0,
      [&](double sum, double value) { return sum + (value - e.mean) * (value - e.mean); });
  e.deviation = std::sqrt(squares / (n - 1));
  const double t = kStudent99.at(std::min(values.size() - 2, kStudent99.size() - 1));
  const double spread = t * e.deviation * std::sqrt(1 + 1 / n);
  e.most = e.mean + std::max(spread, internal::Allowance(figure, e.mean, tolerance));
  e.values = std::move(values);
  return e;
}

constexpr const char* kEndedEarly =
    "the run was ended once its budgets were decided, and runs of different lengths do not compare";

// What became of all figures of one run.
struct Findings {
  std::string worse = {};    // with old, new and interval
  std::string unknown = {};  // cannot be judged, with the reason
  std::string fine = {};
  std::string missing = {};  // figures that no stored run has
};

std::string WorseText(RunFigure figure, double value, const Expected& e) {
  return fmt::format("{} old {}, new {}, expected at most {}", RunFigureSubject(figure),
                     internal::RangeText(figure, e.values), RunFigureText(figure, value),
                     RunFigureText(figure, e.most));
}

std::string FineText(RunFigure figure, double value, const Expected& e) {
  return fmt::format("{} {} (at most {})", RunFigureSubject(figure), RunFigureText(figure, value),
                     RunFigureText(figure, e.most));
}

// A quota that was taken away leaves no throttle ratio to judge, and that is no lack.
bool HasNoQuotaNow(RunFigure figure, const Measurement& m) {
  const EffectiveCpuLimit& effective = m.cgroup.effective;
  return figure == RunFigure::kThrottleRatio && !effective.ancestors_hidden &&
         !(effective.quota && effective.quota->limited());
}

void JudgeFigure(RunFigure figure, const BaselineRuns& stored, const Measurement& m,
                 double tolerance, Findings& findings) {
  std::vector<double> values = StoredValues(stored, figure);
  if (HasNoQuotaNow(figure, m)) return;
  const char* subject = RunFigureSubject(figure);
  if (values.empty()) return internal::AppendItem(findings.missing, subject, ", ");
  const Outcome<double> now = FiguresOf(m).at(figure);
  if (!now.has_value()) {
    internal::AppendItem(findings.unknown, fmt::format("{}: {}", subject, now.reason()), "; ");
    return;
  }
  if (values.size() < kFewestBaselineRuns) {
    internal::AppendItem(
        findings.unknown,
        fmt::format("{}: only {} of the stored runs have it", subject, values.size()), "; ");
    return;
  }
  const Expected expected = Expect(figure, std::move(values), tolerance);
  if (now.value() > expected.most) {
    internal::AppendItem(findings.worse, WorseText(figure, now.value(), expected), "; ");
  } else {
    internal::AppendItem(findings.fine, FineText(figure, now.value(), expected), ", ");
  }
}

std::string Method(const BaselineRuns& stored, double tolerance) {
  return fmt::format(
      "expected at most: one-sided 99 % prediction interval of {} runs (Student's t), or {:.3g} % "
      "above their mean where that is more",
      stored.runs.size(), 100 * tolerance);
}

// How the sentence on the limits begins when a figure is worse.
std::string CauseText(const std::string& changes) {
  if (changes.empty()) return "The limits are those of the stored runs.";
  return fmt::format("Likely cause: limit {}.", changes);
}

std::string RunsText(const BaselineRuns& stored) {
  return fmt::format("{} runs, {} to {}", stored.runs.size(), stored.runs.front().date,
                     stored.runs.back().date);
}

BudgetResult JudgeComparable(const BaselineRuns& stored, const std::string& name,
                             const Measurement& m, double tolerance) {
  Findings findings;
  for (const RunFigure figure : kRunFigures) JudgeFigure(figure, stored, m, tolerance, findings);
  const std::string changes =
      internal::LimitChanges(stored.limits, internal::LimitTextsOf(m.requested));
  BudgetResult result;
  if (!findings.worse.empty()) {
    result.verdict = Verdict::kMissed;
    result.explanation =
        fmt::format("worse than baseline \"{}\" ({}): {}. {} ({}).", name, RunsText(stored),
                    findings.worse, CauseText(changes), Method(stored, tolerance));
  } else if (!findings.unknown.empty() || findings.fine.empty()) {
    result.explanation =
        fmt::format("cannot be judged against baseline \"{}\": {}", name,
                    findings.unknown.empty() ? "its runs have no figure in common with this one"
                                             : findings.unknown);
  } else {
    result.verdict = Verdict::kMet;
    result.explanation = fmt::format("no worse than baseline \"{}\" ({}): {} ({}).", name,
                                     RunsText(stored), findings.fine, Method(stored, tolerance));
    if (!findings.missing.empty()) {
      result.explanation +=
          fmt::format(" Not judged, as no stored run has it: {}.", findings.missing);
    }
    if (!changes.empty()) {
      result.explanation += fmt::format(
          " The limits changed ({}) and nothing is worse; write new runs if that is meant.",
          changes);
    }
  }
  return result;
}

std::string WithHint(std::string text, const BaselineBound& bound) {
  if (!bound.hint.empty()) text += "; " + bound.hint;
  return text;
}

// Why nothing stored under the name can be compared. Empty: it can.
std::string NothingToCompare(const BaselineFile& file, const std::string& name,
                             const BaselineRuns* nearest, const Measurement& m,
                             const BaselineBound& bound) {
  if (nearest == nullptr) {
    return WithHint(fmt::format("there is no baseline \"{}\" in {}", name, file.path), bound);
  }
  std::string differences;
  for (const std::string& difference : Incomparable(*nearest, m)) {
    internal::AppendItem(differences, difference, ", ");
  }
  if (!differences.empty()) {
    return WithHint(fmt::format("baseline \"{}\" in {} was measured under other conditions: {}",
                                name, file.path, differences),
                    bound);
  }
  const std::size_t runs = nearest->runs.size();
  if (runs >= kFewestBaselineRuns) return "";
  return WithHint(
      fmt::format(
          "baseline \"{}\" in {} has {} run{}, it takes {} to know their spread: {} missing", name,
          file.path, runs, runs == 1 ? "" : "s", kFewestBaselineRuns, kFewestBaselineRuns - runs),
      bound);
}

void RequireStorable(const std::string& name, const Measurement& m) {
  if (name.empty()) internal::Refuse("a baseline needs a name");
  if (!m.validity.trusted()) {
    internal::Refuse(fmt::format("baseline \"{}\" is not written: the run cannot be trusted: {}",
                                 name, m.validity.ToString()));
  }
  if (m.early && m.early->ended_early) {
    internal::Refuse(fmt::format("baseline \"{}\" is not written: {}", name, kEndedEarly));
  }
  const RunFigures figures = FiguresOf(m);
  for (const RunFigure figure : kRunFigures) {
    const Outcome<double>& value = figures.at(figure);
    if (!value.has_value() || std::isfinite(value.value())) continue;
    internal::Refuse(
        fmt::format("baseline \"{}\" is not written: {} of this run fell on a request that was "
                    "never answered",
                    name, RunFigureSubject(figure)));
  }
}

BaselineRuns EmptyGroup(const Measurement& m) {
  return {.environment = EnvironmentOf(m),
          .plan = m.plan,
          .request = m.request,
          .limits = internal::LimitTextsOf(m.requested)};
}

// The runs of this environment.
BaselineRuns& GroupFor(std::vector<BaselineRuns>& groups, const BaselineRuns& wanted) {
  const auto found = std::find_if(groups.begin(), groups.end(), [&](const BaselineRuns& group) {
    return group.environment == wanted.environment;
  });
  if (found != groups.end()) return *found;
  groups.push_back(wanted);
  return groups.back();
}

// What the test no longer asks for. Empty: the stored runs still describe it.
std::string Outdated(const BaselineRuns& group, const BaselineRuns& wanted) {
  if (group.plan != wanted.plan || group.request != wanted.request) return "of another load";
  const std::string changes = internal::LimitChanges(group.limits, wanted.limits);
  return changes.empty() ? "" : fmt::format("under other limits ({})", changes);
}

}  // namespace

std::string AddBaselineRun(BaselineFile& file, const std::string& name, const Measurement& m) {
  RequireStorable(name, m);
  const BaselineRuns wanted = EmptyGroup(m);
  BaselineRuns& group = GroupFor(file.baselines[name], wanted);
  std::string replaced;
  if (const std::string outdated = Outdated(group, wanted); !outdated.empty()) {
    replaced = fmt::format(", in place of {} {}", group.runs.size(), outdated);
    group = wanted;
  }
  group.runs.push_back({.date = m.environment.timestamp, .figures = FiguresOf(m)});
  if (group.runs.size() > kMostBaselineRuns) {
    group.runs.erase(group.runs.begin(),
                     group.runs.end() - static_cast<std::ptrdiff_t>(kMostBaselineRuns));
  }
  std::string text = fmt::format("wrote run {} of baseline \"{}\" to {}{}", group.runs.size(), name,
                                 file.path, replaced);
  std::string lacking;
  for (const RunFigure figure : kRunFigures) {
    const Outcome<double>& value = group.runs.back().figures.at(figure);
    if (value.has_value()) continue;
    internal::AppendItem(lacking, fmt::format("{}: {}", RunFigureSubject(figure), value.reason()),
                         "; ");
  }
  if (!lacking.empty()) text += fmt::format(" without {}", lacking);
  if (group.runs.size() < kFewestBaselineRuns) {
    text += fmt::format("; {} more needed", kFewestBaselineRuns - group.runs.size());
  }
  return text;
}

BudgetResult JudgeBaseline(const BaselineFile& file, const std::string& name, const Measurement& m,
                           const BaselineBound& bound) {
  BudgetResult result;
  if (!m.validity.trusted()) {
    result.explanation =
        fmt::format("cannot be judged against baseline \"{}\": the run cannot be trusted: {}", name,
                    m.validity.ToString());
  } else if (m.early && m.early->ended_early) {
    result.explanation =
        fmt::format("cannot be judged against baseline \"{}\": {}", name, kEndedEarly);
  } else if (!(bound.tolerance >= 0) || std::isinf(bound.tolerance)) {
    result.explanation = fmt::format(
        "a tolerance of {} is not possible: it must be 0 or more, 0.05 for 5 %", bound.tolerance);
  } else {
    const auto found = file.baselines.find(name);
    const BaselineRuns* nearest =
        found == file.baselines.end() ? nullptr : Nearest(found->second, m);
    result.explanation = NothingToCompare(file, name, nearest, m, bound);
    if (result.explanation.empty()) {
      result = JudgeComparable(*nearest, name, m, bound.tolerance);
    }
  }
  result.budget = fmt::format("no worse than baseline \"{}\"", name);
  return result;
}

}  // namespace throttletest
