#include "throttletest/measure/service_time.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "measure/batch_answers.h"
#include "measure/overlap.h"
#include "throttletest/base/duration.h"
#include "throttletest/measure/workers.h"

namespace throttletest {
namespace {

using std::chrono::nanoseconds;

// From the first send of a batch to its first answer, and from each answer to the next.
LatencySamples StepsOf(const LoadResult& load) {
  std::vector<Latency> steps;
  for (const internal::BatchAnswers& batch : internal::AnswersByBatch(load)) {
    std::int64_t before = batch.first_sent;
    for (const std::int64_t done : batch.done) {
      steps.emplace_back(nanoseconds(done - before));
      before = done;
    }
  }
  return LatencySamples(std::move(steps));
}

// Requests that waited for each other tell the service time only when they were answered one by
// one.
std::string WhyNotFromBatches(const internal::Overlap& overlap,
                              const Outcome<WorkerEstimate>& workers) {
  std::string text = fmt::format(
      "{} of {} requests were sent before an earlier one was answered, so that waiting is in their "
      "times, and ",
      overlap.overlapping, overlap.sent);
  text += workers.has_value()
              ? fmt::format("{} at once were worked on, not one by one", workers.value().ToString())
              : "whether they were answered one by one is not known: " + workers.reason();
  return text +
         fmt::format(". Send one at a time, further apart than {}", ToString(overlap.longest));
}

}  // namespace

std::string ServiceTime::Sample() const {
  return method == Method::kOneAtATime
             ? fmt::format("{} requests sent one at a time", samples.count())
             : fmt::format("{} steps of batches answered one by one", samples.count());
}

std::string ServiceTime::Under() const {
  if (limits.cpu.limited() || limits.cpuset) return throttletest::ToString(limits);
  return fmt::format("no limit of its own ({:.4g} CPU{})", cpus, cpus == 1 ? "" : "s");
}

Outcome<ServiceTime> ServiceTimeOf(const Measurement& m) {
  using Result = Outcome<ServiceTime>;
  if (!m.validity.trusted()) {
    return Result::Inconclusive("the run cannot be trusted: " + m.validity.ToString());
  }
  ServiceTime time{.limits = m.requested, .cpus = m.cgroup.effective.cpus};
  const internal::Overlap overlap = internal::OverlapOf(m.load);
  if (overlap.any()) {
    const Outcome<WorkerEstimate> workers = WorkersOf(m);
    if (!workers.has_value() || !workers.value().is_serial()) {
      return Result::Inconclusive(WhyNotFromBatches(overlap, workers));
    }
    time.method = ServiceTime::Method::kStaircase;
    time.samples = StepsOf(m.load);
  } else {
    time.samples = m.load.ServiceTimes();
  }
  if (time.samples.count() < ServiceTime::kFewestRequests) {
    return Result::Inconclusive(
        fmt::format("the worst of {} service times says nothing of the worst there is: measure {} "
                    "or more",
                    time.samples.count(), ServiceTime::kFewestRequests));
  }
  return Result::Value(std::move(time));
}

}  // namespace throttletest
