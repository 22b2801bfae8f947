#include <fmt/format.h>

#include <cmath>

#include "measure/diagnosis.h"
#include "measure/interval_of.h"
#include "measure/metric.h"
#include "measure/reading.h"
#include "throttletest/measure/budget.h"

namespace throttletest {
namespace {

const char* Relation(Comparison comparison, bool met) {
  if (comparison == Comparison::kBelow) return met ? "is below" : "is not below";
  return met ? "is at most" : "is above";
}

// ", 9.9 % under the bound": how near the verdict was. Empty for a bound of 0.
std::string Margin(double value, double bound) {
  if (bound <= 0) return "";
  const double percent = (value - bound) / bound * 100;
  if (percent == 0) return ", exactly at the bound";
  return fmt::format(", {:.1f} % {} the bound", std::abs(percent), percent < 0 ? "under" : "over");
}

// How much of the plan a run that was ended early rests on, and whether that decided this budget.
std::string Early(const Measurement& m, const EarlyVerdict* early) {
  if (!m.early || !m.early->ended_early) return "";
  return early == nullptr ? fmt::format(", on the {} of {} observations that were run",
                                        m.early->observations, m.early->planned_observations)
                          : fmt::format(", decided after {} of {} observations",
                                        early->observations, m.early->planned_observations);
}

// Told only when the bound is within the interval: the verdict might be another next time.
std::string NearChance(const Outcome<Interval>& interval, double bound) {
  if (!interval.has_value() || !internal::Contains(interval.value(), bound)) return "";
  if (interval.value().needed > 0) {
    return fmt::format(
        " The interval holds the bound, because it has no upper end: that takes about {} requests.",
        interval.value().needed);
  }
  return " The interval holds the bound: a longer run would tell.";
}

// A bound on a count was chosen for the whole plan: a part of it has only a part of what is
// counted. That there is none at all is different, and is said of what was run.
bool CountsTheWholePlan(const internal::MetricInfo& info, Comparison comparison, double bound) {
  return info.kind == internal::BoundKind::kCount && internal::Holds(comparison, 1, bound);
}

// The service was asked for something, and nothing came of it.
bool NothingServed(const Measurement& m) {
  return m.load.ok == 0 && m.load.failed + m.load.timed_out > 0;
}

// Whether a figure says how the service copes with its load. Errors speak for themselves, a late
// start is the generator's, and an OOM kill is one whatever was served.
bool IsAboutLoad(Metric metric) {
  return metric != Metric::kErrorRatio && metric != Metric::kFailedRequests &&
         metric != Metric::kStartLag && metric != Metric::kOomKills;
}

std::string Parenthesised(const std::string& detail) {
  return detail.empty() ? "" : fmt::format(" ({})", detail);
}

}  // namespace

BudgetResult Budget::Evaluate(const Measurement& m) const {
  using internal::BoundKind;
  const internal::Reading reading = internal::ReadMetric(m, metric_, percentile_);
  const internal::MetricInfo& info = internal::InfoOf(metric_);
  const std::string subject = internal::MetricSubject(metric_, percentile_);

  BudgetResult result;
  result.budget = ToString();
  result.unit = info.unit;
  const double unit = info.kind == BoundKind::kDuration ? 1e6 : 1;
  if (reading.value) result.value = *reading.value / unit;
  std::string figure = subject;
  if (reading.no_answer) figure += " has no answer";
  if (reading.value)
    figure += fmt::format(" {}", internal::ValueText(metric_, *reading.value, bound_));

  const bool met = reading.value && internal::Holds(comparison_, *reading.value, bound_);
  // The figure of a decided budget may rest on few samples, but not contradict the decision: one
  // weighs the observations alike, the other by their requests or periods.
  const EarlyVerdict* early = m.early ? m.early->Decided(result.budget) : nullptr;
  const bool contradicted = early != nullptr && (early->verdict == Verdict::kMet) != met;
  const bool enough = reading.inconclusive.empty() || (early != nullptr && reading.too_few);

  std::string doubt = enough ? "" : reading.inconclusive;
  if (contradicted && m.early->ended_early) {
    doubt = fmt::format(
        "it was called {} after {} observations, and what was measured says otherwise: run the "
        "whole plan",
        VerdictName(early->verdict), early->observations);
  }
  if (contradicted) early = nullptr;
  if (met && early == nullptr && m.early && m.early->ended_early && doubt.empty() &&
      CountsTheWholePlan(info, comparison_, bound_)) {
    doubt = fmt::format(
        "the run was ended after {} of {} observations, and the bound is for the whole plan: name "
        "this budget among those to decide, or bound a ratio",
        m.early->observations, m.early->planned_observations);
  }
  // A service that refuses everything uses no CPU time: a mistyped target must not pass for ever.
  if (met && doubt.empty() && NothingServed(m) && IsAboutLoad(metric_)) {
    doubt = fmt::format(
        "no request succeeded, {} of {} failed: what the service used says nothing of this load",
        m.load.failed + m.load.timed_out, m.load.planned);
  }
  if (!m.validity.trusted()) {
    doubt = fmt::format("the run cannot be trusted: {}", m.validity.ToString());
  }
  if (!doubt.empty() || (!reading.value && !reading.no_answer)) {
    result.explanation =
        fmt::format("{}{} cannot be judged against {}: {}", figure, Parenthesised(reading.detail),
                    internal::BoundText(metric_, bound_), doubt.empty() ? "not measured" : doubt);
    result.interval = Outcome<Interval>::Inconclusive("the verdict is inconclusive");
    return result;
  }
  result.interval =
      reading.value ? internal::IntervalOf(m, metric_, percentile_, *reading.value)
                    : Outcome<Interval>::NotAvailable("the figure is a request without an answer");
  if (result.interval.has_value()) {
    figure += Parenthesised(internal::IntervalText(metric_, result.interval.value()));
  }

  result.verdict = met ? Verdict::kMet : Verdict::kMissed;
  result.explanation = fmt::format(
      "{}{} {} {}{}{}{}.", figure, reading.no_answer ? " and" : "", Relation(comparison_, met),
      internal::BoundText(metric_, bound_), Parenthesised(reading.detail),
      reading.value ? Margin(*reading.value, bound_) : "", Early(m, early));
  // A decision has its own error rate.
  if (early == nullptr) result.explanation += NearChance(result.interval, bound_ / unit);
  if (!met) {
    const std::string why = internal::Diagnose(m, {metric_, comparison_, bound_});
    if (!why.empty()) result.explanation += " " + why;
  }
  return result;
}

}  // namespace throttletest
