// BatchAnswers: when the requests of one batch were answered.
#pragma once

#include <cstdint>
#include <vector>

#include "throttletest/load/record.h"

namespace throttletest::internal {

// Units: ns from the load's epoch.
struct BatchAnswers {
  std::int64_t first_sent = 0;
  std::vector<std::int64_t> done;  // ascending, never empty

  std::int64_t last_done() const { return done.back(); }
};

// One for each batch, in the order of their starts. Needs records that were all sent and are over.
// Errors: none.
std::vector<BatchAnswers> AnswersByBatch(const LoadResult& load);

}  // namespace throttletest::internal
