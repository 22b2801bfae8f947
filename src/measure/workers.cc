#include "throttletest/measure/workers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "measure/batch_answers.h"
#include "throttletest/base/duration.h"

namespace throttletest {
namespace {

using internal::BatchAnswers;
using std::chrono::nanoseconds;

// Through two points goes a straight line whatever they are.
constexpr std::size_t kSmallestBatch = 3;
// How far a fit may be off, as a share of a step: beyond the first it fits nothing, within the
// second two fits are the same.
constexpr double kWorstFit = 0.5;
constexpr double kSameFit = 0.05;
// A quota that is full at the start gives the first answers early, but not all of a step.
constexpr double kEarliestStart = 0.75;

// Why a load says nothing about workers. Empty: it does.
std::string Doubt(const LoadResult& load, const std::vector<BatchAnswers>& batches) {
  if (load.records.empty() || load.not_sent > 0) return "not all requests were sent";
  if (load.failed + load.timed_out > 0) {
    return fmt::format("{} of {} requests failed", load.failed + load.timed_out, load.planned);
  }
  const std::size_t size = batches.front().done.size();
  for (std::size_t i = 1; i < batches.size(); ++i) {
    const BatchAnswers& before = batches[i - 1];
    if (batches[i].done.size() != size) {
      return fmt::format("batches of {} and of {} requests cannot be laid over each other", size,
                         batches[i].done.size());
    }
    if (batches[i].first_sent < before.last_done()) {
      return fmt::format(
          "batch {} was sent before all of batch {} was answered: send them further "
          "apart than {}",
          i + 1, i, ToString(nanoseconds(before.last_done() - before.first_sent)));
    }
  }
  if (size < kSmallestBatch) {
    return fmt::format(
        "how many are worked on at once shows in batches of {} requests or more, "
        "not of {}",
        kSmallestBatch, size);
  }
  return {};
}

std::vector<double> MedianAnswers(const std::vector<BatchAnswers>& batches) {
  std::vector<double> medians;
  for (std::size_t k = 0; k < batches.front().done.size(); ++k) {
    std::vector<std::int64_t> kth;
    kth.reserve(batches.size());
    for (const BatchAnswers& batch : batches) kth.push_back(batch.done[k] - batch.first_sent);
    const auto middle = kth.begin() + static_cast<std::ptrdiff_t>((kth.size() - 1) / 2);
    std::nth_element(kth.begin(), middle, kth.end());
    medians.push_back(static_cast<double>(*middle));
  }
  return medians;
}

struct Fit {
  int workers = 0;
  double step = 0;
  double squares = 0;
  bool possible = false;
};

// All at once: no line, but one height.
Fit FitAtOnce(const std::vector<double>& answers) {
  Fit fit{.workers = static_cast<int>(answers.size()), .possible = true};
  for (const double answer : answers) fit.step += answer / static_cast<double>(answers.size());
  for (const double answer : answers) fit.squares += (answer - fit.step) * (answer - fit.step);
  return fit;
}

Fit FitLine(const std::vector<double>& answers, int workers) {
  const auto n = static_cast<double>(answers.size());
  double mean_x = 0;
  double mean_y = 0;
  const auto x_of = [workers](std::size_t k) {
    const int group = static_cast<int>(k) / workers;
    return static_cast<double>(group + 1);
  };
  for (std::size_t k = 0; k < answers.size(); ++k) {
    mean_x += x_of(k) / n;
    mean_y += answers[k] / n;
  }
  double xx = 0;
  double xy = 0;
  double yy = 0;
  for (std::size_t k = 0; k < answers.size(); ++k) {
    const double x = x_of(k) - mean_x;
    const double y = answers[k] - mean_y;
    xx += x * x;
    xy += x * y;
    yy += y * y;
  }
  Fit fit{.workers = workers, .step = xy / xx};
  fit.squares = std::max(0.0, yy - fit.step * xy);
  const double start = mean_y - fit.step * mean_x;
  fit.possible = fit.step > 0 && start >= -kEarliestStart * fit.step && start <= fit.step;
  return fit;
}

std::vector<Fit> PossibleFits(const std::vector<double>& answers) {
  std::vector<Fit> fits;
  for (int workers = 1; workers < static_cast<int>(answers.size()); ++workers) {
    const Fit fit = FitLine(answers, workers);
    if (fit.possible) fits.push_back(fit);
  }
  fits.push_back(FitAtOnce(answers));
  return fits;
}

}  // namespace

std::string WorkerEstimate::ToString() const {
  if (!most) return fmt::format("{} or more", fewest);
  return fewest == *most ? fmt::format("{}", fewest) : fmt::format("{} to {}", fewest, *most);
}

Outcome<WorkerEstimate> WorkersOf(const Measurement& m) {
  using Result = Outcome<WorkerEstimate>;
  if (!m.validity.trusted()) {
    return Result::Inconclusive("the run cannot be trusted: " + m.validity.ToString());
  }
  const std::vector<BatchAnswers> batches = internal::AnswersByBatch(m.load);
  const std::string doubt = Doubt(m.load, batches);
  if (!doubt.empty()) return Result::Inconclusive(doubt);

  const std::vector<double> answers = MedianAnswers(batches);
  const auto n = static_cast<double>(answers.size());
  const std::vector<Fit> fits = PossibleFits(answers);
  const Fit best = *std::min_element(
      fits.begin(), fits.end(), [](const Fit& a, const Fit& b) { return a.squares < b.squares; });
  if (std::sqrt(best.squares / n) > kWorstFit * best.step) {
    return Result::Inconclusive(
        fmt::format("the answers to a batch fit no number of workers: they are half a step or more "
                    "off the nearest, {}",
                    best.workers));
  }
  const double same = 2 * best.squares + n * std::pow(kSameFit * best.step, 2);
  WorkerEstimate estimate{.fewest = best.workers,
                          .most = best.workers,
                          .batch_size = static_cast<int>(answers.size()),
                          .batches = static_cast<std::int64_t>(batches.size()),
                          .step = nanoseconds(std::llround(best.step))};
  for (const Fit& fit : fits) {
    if (fit.squares > same) continue;
    estimate.fewest = std::min(estimate.fewest, fit.workers);
    estimate.most = std::max(*estimate.most, fit.workers);
  }
  if (*estimate.most == estimate.batch_size) estimate.most.reset();
  for (const double answer : answers) estimate.answers.emplace_back(std::llround(answer));
  return Result::Value(std::move(estimate));
}

}  // namespace throttletest
