#include "measure/observations.h"

#include <algorithm>

#include "measure/metric.h"

namespace throttletest::internal {
namespace {

using std::chrono::nanoseconds;

bool IsAgainst(const RequestRecord& record, const Budget& budget) {
  if (record.fate != RequestFate::kOk) return true;
  const bool latency =
      budget.metric() == Metric::kResponseTime || budget.metric() == Metric::kServiceTime;
  if (!latency) return false;
  const nanoseconds time =
      budget.metric() == Metric::kResponseTime ? record.response_time() : record.service_time();
  return !Holds(budget.comparison(), static_cast<double>(time.count()), budget.bound());
}

}  // namespace

std::vector<Stretch> StretchesOf(const Schedule& schedule, nanoseconds shortest) {
  std::vector<Stretch> stretches;
  Stretch open;
  bool any = false;
  for (const Schedule::Batch& batch : schedule.batches()) {
    if (any && batch.start - open.begin >= shortest) {
      open.end = batch.start;
      stretches.push_back(open);
      open = {.first = open.last, .last = open.last, .begin = batch.start, .end = {}};
    }
    if (!any) open.begin = batch.start;
    any = true;
    open.last += static_cast<std::size_t>(batch.size);
  }
  return stretches;
}

bool IsOver(const LoadResult& load, const Stretch& stretch) {
  const RequestRecord* const records = load.records.data();
  return std::none_of(records + stretch.first, records + stretch.last,
                      [](const RequestRecord& r) { return r.fate == RequestFate::kNotSent; });
}

Observation ObserveRequests(const LoadResult& load, const Stretch& stretch, const Budget& budget) {
  Observation seen;
  for (std::size_t i = stretch.first; i < stretch.last; ++i) {
    if (IsAgainst(load.records[i], budget)) ++seen.count;
  }
  seen.share = static_cast<double>(seen.count) / static_cast<double>(stretch.last - stretch.first);
  return seen;
}

Observation ObserveCounters(const Cgroup::Quick& from, const Cgroup::Quick& to) {
  Observation seen;
  if (!from.counters || !to.counters) return seen;
  seen.count = to.counters->throttled_periods - from.counters->throttled_periods;
  const std::int64_t periods = to.counters->periods - from.counters->periods;
  if (periods > 0 && seen.count >= 0 && seen.count <= periods) {
    seen.share = static_cast<double>(seen.count) / static_cast<double>(periods);
  }
  return seen;
}

}  // namespace throttletest::internal
