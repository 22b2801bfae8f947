// What each batch cost the service, read off the timeline.
#pragma once

#include <chrono>
#include <vector>

#include "throttletest/cgroup/sampler.h"
#include "throttletest/load/record.h"
#include "throttletest/measure/measurement.h"

namespace throttletest::internal {

// The last of `samples` that is not after `edge`. Absent: null, none is.
const Cgroup::Quick* LastBefore(const std::vector<Cgroup::Quick>& samples,
                                std::chrono::steady_clock::time_point edge);

// One BatchUse per batch of the schedule: the growth of the counters between the last sample before
// the batch's intended start and the last one before the next batch's (the timeline's end for the
// last batch). Throttling is booked at the end of a period, so a burst that is still held when the
// next one starts is booked on the next.
// Absent: an empty list when batches are closer together than five samples, which is too close to
// tell them apart; a single figure when its samples are missing or too far from the edges.
// Errors: none.
std::vector<BatchUse> BatchUses(const LoadResult& load, const Timeline& timeline);
// The same for any instants in ascending order, each in the place of a batch's intended start.
// Units: starts: ns from `epoch`.
std::vector<BatchUse> UsesBetween(std::chrono::steady_clock::time_point epoch,
                                  const std::vector<std::chrono::nanoseconds>& starts,
                                  const Timeline& timeline);

// The intended start of each batch. Units: ns from the load's epoch.
std::vector<std::chrono::nanoseconds> BatchStarts(const LoadResult& load);

}  // namespace throttletest::internal
