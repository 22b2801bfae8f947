// The records of a run before it begins, and its sums after it: both come from the same records, so
// that they always agree.
#pragma once

#include <string>
#include <vector>

#include "throttletest/load/record.h"
#include "throttletest/load/schedule.h"

namespace throttletest::internal {

// One record for each request of the schedule, in its order and not sent yet.
std::vector<RequestRecord> RecordsOf(const Schedule& schedule);

// Sets planned, sent, ok, failed, timed_out, not_sent, retried and late from `result.records`.
void Tally(LoadResult& result);

// Counts one failed or not sent request under its reason. Units: at most 100 distinct reasons, as a
// service may put anything into its answers; further ones are counted as "other reasons".
void CountReason(LoadResult& result, const std::string& reason);

}  // namespace throttletest::internal
