// Tally: the sums of a LoadResult, taken from its records so that they always agree.
#pragma once

#include "throttletest/load/record.h"

namespace throttletest::internal {

// Sets planned, sent, ok, failed, timed_out, not_sent and retried from `result.records`.
void Tally(LoadResult& result);

// Counts one failed or not sent request under its reason. Units: at most 100 distinct reasons, as a
// service may put anything into its answers; further ones are counted as "other reasons".
void CountReason(LoadResult& result, const std::string& reason);

}  // namespace throttletest::internal
