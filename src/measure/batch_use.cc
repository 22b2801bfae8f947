#include "measure/batch_use.h"

#include <fmt/format.h>

#include <algorithm>

#include "throttletest/base/duration.h"

namespace throttletest::internal {
namespace {

using std::chrono::nanoseconds;
using TimePoint = std::chrono::steady_clock::time_point;

constexpr int kSamplesPerBatch = 5;

bool TooClose(const std::vector<nanoseconds>& starts, nanoseconds interval) {
  for (std::size_t i = 1; i < starts.size(); ++i) {
    if (starts[i] - starts[i - 1] < interval * kSamplesPerBatch) return true;
  }
  return false;
}

// Absent: none, or it is older than a few intervals, so that work of the batch may hide between the
// two.
const Cgroup::Quick* SampleBefore(const Timeline& timeline, TimePoint edge) {
  const Cgroup::Quick* sample = LastBefore(timeline.samples, edge);
  const bool stale =
      sample != nullptr && edge - sample->time > timeline.interval * kSamplesPerBatch;
  return stale ? nullptr : sample;
}

template <typename T>
Outcome<T> Growth(T from, T to) {
  if (to < from) return Outcome<T>::Inconclusive("the counter went backwards");
  return Outcome<T>::Value(to - from);
}

void Fill(BatchUse& use, const Cgroup::Quick& from, const Cgroup::Quick& to) {
  use.cpu = from.usage && to.usage
                ? Growth(*from.usage, *to.usage)
                : Outcome<nanoseconds>::NotAvailable("no CPU accounting for this cgroup");
  if (!from.counters || !to.counters) {
    constexpr const char* kNoQuota = "no CPU quota in force";
    use.periods = Outcome<std::int64_t>::NotAvailable(kNoQuota);
    use.throttled_periods = Outcome<std::int64_t>::NotAvailable(kNoQuota);
    use.throttled_time = Outcome<nanoseconds>::NotAvailable(kNoQuota);
    return;
  }
  use.periods = Growth(from.counters->periods, to.counters->periods);
  use.throttled_periods = Growth(from.counters->throttled_periods, to.counters->throttled_periods);
  use.throttled_time = Growth(from.counters->throttled_time, to.counters->throttled_time);
}

}  // namespace

const Cgroup::Quick* LastBefore(const std::vector<Cgroup::Quick>& samples, TimePoint edge) {
  const auto after =
      std::partition_point(samples.begin(), samples.end(),
                           [&](const Cgroup::Quick& sample) { return sample.time <= edge; });
  return after == samples.begin() ? nullptr : &*std::prev(after);
}

std::vector<nanoseconds> BatchStarts(const LoadResult& load) {
  std::vector<nanoseconds> starts;
  for (const RequestRecord& record : load.records) {
    if (record.batch >= starts.size()) starts.emplace_back(record.intended_ns);
  }
  return starts;
}

std::vector<BatchUse> BatchUses(const LoadResult& load, const Timeline& timeline) {
  return UsesBetween(load.epoch, BatchStarts(load), timeline);
}

std::vector<BatchUse> UsesBetween(TimePoint epoch, const std::vector<nanoseconds>& starts,
                                  const Timeline& timeline) {
  if (TooClose(starts, timeline.interval)) return {};
  std::vector<BatchUse> uses(starts.size());
  for (std::size_t i = 0; i < starts.size(); ++i) {
    uses[i].batch = static_cast<std::int64_t>(i);
    const Cgroup::Quick* from = SampleBefore(timeline, epoch + starts[i]);
    const Cgroup::Quick* to = nullptr;
    if (i + 1 < starts.size()) {
      to = SampleBefore(timeline, epoch + starts[i + 1]);
    } else if (!timeline.samples.empty() && timeline.stopped_because.empty()) {
      to = &timeline.samples.back();
    }
    if (from != nullptr && to != nullptr) {
      Fill(uses[i], *from, *to);
      continue;
    }
    const std::string reason = "no timeline sample near the batch's edges";
    uses[i].cpu = Outcome<nanoseconds>::NotAvailable(reason);
    uses[i].periods = Outcome<std::int64_t>::NotAvailable(reason);
    uses[i].throttled_periods = Outcome<std::int64_t>::NotAvailable(reason);
    uses[i].throttled_time = Outcome<nanoseconds>::NotAvailable(reason);
  }
  return uses;
}

}  // namespace throttletest::internal
