#include <fmt/format.h>

#include <cmath>

#include "measure/deployed.h"
#include "measure/diagnosis.h"
#include "measure/interval_of.h"
#include "measure/job_demand.h"
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

// The figure of a decided budget may rest on few samples, but not contradict the decision: one
// weighs the observations alike, the other by their requests or periods.
bool Contradicts(const EarlyVerdict* early, bool met) {
  return early != nullptr && (early->verdict == Verdict::kMet) != met;
}

// A mean or ratio of a job that was stopped; what is counted or adds up is at least that much.
bool IsPartOnly(const Measurement& m, Metric metric) {
  const internal::BoundKind kind = internal::InfoOf(metric).kind;
  return m.job && m.job->timed_out && metric != Metric::kElapsedRatio &&
         (kind == internal::BoundKind::kRatio || kind == internal::BoundKind::kNumber);
}

// Why the figure gives no verdict, the weightiest reason alone. Empty: it gives one. `early`: the
// decision about this budget, if there is one; `met`: the figure keeps to the bound.
std::string Doubt(const Measurement& m, Metric metric, const internal::Reading& reading,
                  const EarlyVerdict* early, bool met) {
  if (!m.validity.trusted()) {
    return fmt::format("the run cannot be trusted: {}", m.validity.ToString());
  }
  if (Contradicts(early, met) && m.early->ended_early) {
    return fmt::format(
        "it was called {} after {} observations, and what was measured says otherwise: run the "
        "whole plan",
        VerdictName(early->verdict), early->observations);
  }
  const bool enough = reading.inconclusive.empty() || (early != nullptr && reading.too_few);
  if (!enough) return reading.inconclusive;
  if (IsPartOnly(m, metric)) {
    return fmt::format("{}: a part says nothing of the whole", internal::FateText(m));
  }
  return reading.value || reading.no_answer ? "" : "not measured";
}

// Why a figure that keeps to its bound proves nothing all the same. Empty: it does.
std::string DoubtOfMet(const Measurement& m, Metric metric, bool counts_the_whole_plan) {
  // One that fails early is quick.
  const bool about_success = metric == Metric::kExitStatus || metric == Metric::kOomKills;
  if (m.job && !m.job->succeeded() && (!about_success || m.job->timed_out)) {
    return internal::FateText(m);
  }
  if (counts_the_whole_plan && m.early && m.early->ended_early) {
    return fmt::format(
        "the run was ended after {} of {} observations, and the bound is for the whole plan: name "
        "this budget among those to decide, or bound a ratio",
        m.early->observations, m.early->planned_observations);
  }
  // A service that refuses everything uses no CPU time: a mistyped target must not pass for ever.
  if (NothingServed(m) && IsAboutLoad(metric)) {
    return fmt::format(
        "no request succeeded, {} of {} failed: what the service used says nothing of this load",
        m.load.failed + m.load.timed_out, m.load.planned);
  }
  return {};
}

// The subject of a sentence: "P99", "8 x worst service time".
std::string SubjectOf(const Budget& budget) {
  std::string subject = internal::MetricSubject(budget.metric(), budget.percentile());
  if (budget.metric() != Metric::kQueueDepth) return subject;
  return fmt::format("{} x {}", budget.depth(), subject);
}

// Why the limits that the run was measured under make it worthless. Empty: they do not.
std::string WrongLimits(const Budget& budget, const Measurement& m) {
  if (!budget.deployed()) return "";
  const std::string difference = internal::LimitsDiffer(*budget.deployed(), m);
  if (difference.empty()) return "";
  return fmt::format(
      "it was measured under other limits than are declared for deployment ({}), and "
      "it is a function of the limit: measure under the declared ones",
      difference);
}

// Why a figure that is only known to lie in a range gives no verdict. Empty: it does.
std::string DoubtOfRange(const Budget& budget, const internal::Reading& reading) {
  if (!reading.value || !reading.up_to) return "";
  if (internal::IsOfAJob(budget.metric()) && std::isinf(*reading.up_to)) {
    return internal::Holds(budget.comparison(), *reading.value, budget.bound())
               ? "nobody knows how much longer it would have taken: give it a longer timeout"
               : "";
  }
  const bool lowest = internal::Holds(budget.comparison(), *reading.value, budget.bound());
  const bool highest = internal::Holds(budget.comparison(), *reading.up_to, budget.bound());
  return lowest == highest ? "" : "the bound is within what it can be: " + reading.narrows;
}

// The elapsed time at which a ratio would just be at its bound. Absent: 0, it is no such budget.
std::chrono::nanoseconds LongestElapsed(const Budget& budget) {
  if (!budget.reference() || !budget.reference()->elapsed.has_value()) return {};
  return std::chrono::nanoseconds(std::llround(
      budget.bound() * static_cast<double>(budget.reference()->elapsed.value().count())));
}

std::string Parenthesised(const std::string& detail) {
  return detail.empty() ? "" : fmt::format(" ({})", detail);
}

}  // namespace

BudgetResult Budget::Evaluate(const Measurement& m) const {
  using internal::BoundKind;
  const internal::Reading reading = internal::ReadMetric(m, *this);
  const internal::MetricInfo& info = internal::InfoOf(metric_);
  const std::string subject = SubjectOf(*this);

  BudgetResult result;
  result.budget = ToString();
  if (deployed_) result.budget += " under " + throttletest::ToString(*deployed_);
  result.unit = info.unit;
  const double unit = info.kind == BoundKind::kDuration ? 1e6 : 1;
  if (reading.value) result.value = *reading.value / unit;
  std::string figure = subject;
  if (reading.no_answer) figure += m.job ? " is none" : " has no answer";
  if (reading.value)
    figure += fmt::format(" {}", internal::ValueText(metric_, *reading.value, bound_));

  const bool met = reading.value && internal::Holds(comparison_, *reading.value, bound_);
  const EarlyVerdict* early = m.early ? m.early->Decided(ToString()) : nullptr;
  std::string doubt = m.validity.trusted() ? WrongLimits(*this, m) : "";
  if (doubt.empty()) doubt = Doubt(m, metric_, reading, early, met);
  if (doubt.empty()) doubt = DoubtOfRange(*this, reading);
  if (Contradicts(early, met)) early = nullptr;
  if (doubt.empty() && met) {
    doubt =
        DoubtOfMet(m, metric_, early == nullptr && CountsTheWholePlan(info, comparison_, bound_));
  }
  if (!doubt.empty()) {
    result.explanation =
        fmt::format("{}{} cannot be judged against {}: {}", figure, Parenthesised(reading.detail),
                    internal::BoundText(metric_, bound_), doubt);
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
  if (!reading.advice.empty()) result.explanation += " " + reading.advice;
  if (!met) {
    const std::string why =
        internal::Diagnose(m, {metric_, comparison_, bound_, LongestElapsed(*this)});
    if (!why.empty()) result.explanation += " " + why;
  }
  return result;
}

}  // namespace throttletest
