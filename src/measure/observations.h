// Observations: what one stretch of a run says about a budget. Pure arithmetic on records and
// samples.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "throttletest/cgroup/snapshot.h"
#include "throttletest/load/record.h"
#include "throttletest/load/schedule.h"
#include "throttletest/measure/budget.h"

namespace throttletest::internal {

// A batch, or as many neighbouring batches as are needed to fill `shortest`: the records [first,
// last) and the time from the first intended start to the next stretch's.
struct Stretch {
  std::size_t first = 0;
  std::size_t last = 0;
  std::chrono::nanoseconds begin{0};
  std::chrono::nanoseconds end{0};
};

// All stretches of a schedule but the last, which has no end.
std::vector<Stretch> StretchesOf(const Schedule& schedule, std::chrono::nanoseconds shortest);

// True when every request of it has met its fate.
bool IsOver(const LoadResult& load, const Stretch& stretch);

// One number a stretch. Units: share 0..1; count >= 0.
struct Observation {
  std::optional<double> share;  // of its requests or periods that are against the budget
  std::int64_t count = 0;       // of what a budget on a count counts
};

// Of requests: for latencies, errors and failures.
Observation ObserveRequests(const LoadResult& load, const Stretch& stretch, const Budget& budget);
// Of counters, between two readings: for throttling. Absent: share, when there was no period.
Observation ObserveCounters(const Cgroup::Quick& from, const Cgroup::Quick& to);

}  // namespace throttletest::internal
