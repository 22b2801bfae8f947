#include "measure/batch_answers.h"

#include <algorithm>

namespace throttletest::internal {

std::vector<BatchAnswers> AnswersByBatch(const LoadResult& load) {
  std::vector<BatchAnswers> batches;
  const RequestRecord* previous = nullptr;
  for (const RequestRecord& r : load.records) {
    if (previous == nullptr || previous->batch != r.batch) {
      batches.push_back({.first_sent = r.sent_ns, .done = {}});
    }
    previous = &r;
    batches.back().first_sent = std::min(batches.back().first_sent, r.sent_ns);
    batches.back().done.push_back(r.done_ns);
  }
  for (BatchAnswers& batch : batches) std::sort(batch.done.begin(), batch.done.end());
  return batches;
}

}  // namespace throttletest::internal
